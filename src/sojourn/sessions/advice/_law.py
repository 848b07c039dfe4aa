"""What is said about the fitted law: which it is, whether it fits, its mean and its discount."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sojourn.laws import Fit, Geometric
from sojourn.sessions._format import (
    chi_squared_words,
    gamma_words,
    join_words,
    law_words,
    number,
    percent,
    step_words,
)
from sojourn.sessions.advice._sessions import hole_words, seen_before
from sojourn.sessions.analysis._coverage import MAX_TABLE_STEPS, SMALL_DIFFERENCE, Unknown
from sojourn.sessions.analysis._fit_check import MISFIT, FitCheck
from sojourn.sessions.analysis._hazard_test import MAX_TESTED
from sojourn.sessions.analysis._ranking import STRONG_EVIDENCE, RankedFit, evidence_words

if TYPE_CHECKING:
    from sojourn.sessions.analysis._analysis import Analysis

__all__ = ["discount_words", "law_advice", "mean_words"]

_DOUBTFUL = 0.05
"""If a test has a smaller p-value, its level is stated even if it does not reject."""

_RARE_COMPONENT, _FEW_SESSIONS, _HARDLY_ANY = 0.05, 10, 5
"""A component of a mixture is hardly in the data if it is rare and of few sessions, or of hardly any."""

_MUCH = 0.1
"""Least share of a mean that is pointed out if fewer than 10 sessions show it."""


def law_advice(analysis: Analysis) -> str:
    """Name the best fit and its rivals, and say what the data say against it."""
    best, check = analysis.best, analysis.check
    text = f"{_ranking(analysis)}{_resampled_families(analysis)}. "
    width = f"{100.0 * analysis.band.confidence:g}%"
    if check.excess >= MISFIT:
        return (
            f"{text}It does not fit: it leaves the 95% band around the data by {percent(check.excess)} of "
            f"the sessions at step {check.step:,}. {_instead(analysis)}"
        )
    if check.is_contradicted:
        return f"{text}It does not fit: {_contradiction(check)}. {_instead(analysis)}"
    if best.in_band:
        text += f"Its survival stays inside the {width} band around the data at every step"
    else:
        text += (
            f"Its survival leaves the {width} band around the data by at most {percent(best.excess)} of the "
            f"sessions (at step {best.step:,})"
        )
    test = check.hazards
    if test is None:
        why = "too few steps have enough ends"
        if analysis.log.longest > MAX_TESTED:
            why = f"there are more than {MAX_TESTED:,} steps"
        return f"{text}. Its chances of leaving at each step could not be tested: {why}."
    if not test.is_rejected and not check.is_rejected:
        level = " at the 1% level" * (test.p_value < _DOUBTFUL)
        result = chi_squared_words(test)
        return f"{text}, and the chances of leaving at each step do not contradict it{level} ({result})."
    return f"{text}. But {_contradiction(check)}: {_why_little(check)}, so it counts as a fit."


def _ranking(analysis: Analysis) -> str:
    """Return which law is best by BIC, and which come next."""
    best = analysis.best
    text = f"By BIC the best of {len(analysis.fits)} families is {_fit_words(analysis, best.fit)}"
    ahead = [one for one in analysis.fits if one.bic_gap < best.bic_gap]
    if ahead:
        names = join_words([law_words(one.fit) for one in ahead])
        text += (
            f" (not {names}, whose BIC is {best.bic_gap:.2g} smaller but which is at the edge of its family)"
        )
    if "q" in analysis.ranked("discrete_weibull").fit.edge:
        text += " (discrete Weibull laws are fitted up to q = 1 − 1e-13 only, and may fit better beyond)"
    rivals = [one for one in analysis.fits[1:] if one.bic_gap < STRONG_EVIDENCE and one not in ahead]
    if rivals:
        rivals.sort(key=lambda one: one.bic_gap)
        rejected = [", and the data reject it" * (one not in analysis.others_that_fit) for one in rivals]
        pairs = list(zip(rivals, rejected, strict=True))[:2]
        words = [f"{_fit_words(analysis, one.fit)} ({_gap_words(one)}{more})" for one, more in pairs]
        text += f"; next {'come' if len(rivals) > 1 else 'comes'} {join_words(words)}"
    return text


def _gap_words(one: RankedFit) -> str:
    """Return ΔBIC of a fit, and how strong the evidence against it is."""
    return f"ΔBIC {one.bic_gap:.1f}, {evidence_words(one.bic_gap)}"


def _fit_words(analysis: Analysis, fit: Fit) -> str:
    """Return the name of a fitted law; a mixture without two components that the data show is marked."""
    words = law_words(fit)
    if fit.family != "mixture":
        return words
    weight, *gammas = fit.parameters.values()
    if len({gamma_words(gamma) for gamma in gammas}) == 1:
        return f"{words}, a degenerate mixture (both components are alike)"
    for share, gamma in zip((weight, 1.0 - weight), gammas, strict=True):
        mean = 1.0 / (1.0 - gamma)
        component = f"its component of {percent(share)} of the sessions"
        n = share * len(analysis.log)
        if n < _HARDLY_ANY or (share < _RARE_COMPONENT and n < _FEW_SESSIONS):
            shown = f"the data hardly show {component}, with a mean of {number(mean)}"
            return f"{words}, a degenerate mixture ({shown})"
        if gamma**analysis.log.longest > 0.5:  # most of that mean is beyond the data
            return f"{words} (the mean of {component} is beyond the longest session, and not known)"
    return words


def _resampled_families(analysis: Analysis) -> str:
    """Return how often resampled logs lead to the same family."""
    found = analysis.bootstrap
    if found is None:
        return ""
    times = found.families.get(analysis.best.fit.family, 0)
    return f"; {times} of {found.n} resampled logs choose the same family"


def _contradiction(check: FitCheck) -> str:
    """Return what contradicts a fit most clearly: its chances of leaving, ends at a step, or its mean."""
    parts = []
    if check.hazards is not None and check.hazards.is_rejected:
        test = check.hazards
        is_one = test.first == test.last
        where = (
            f"at step {test.first:,}" if is_one else f"per step, from step {test.first:,} to {test.last:,},"
        )
        shares = _shares_words(where, test.observed, test.expected)
        cells = "in wide ranges of steps" if test.is_wide else "at each step"
        clause = f"the chances of leaving {cells} reject it ({chi_squared_words(test)}); {shares}"
        parts.append((check.hazards_contradict, clause))
    if check.surprise is not None:
        found = check.surprise
        where = f"at step {found.step:,}, where {found.n_at_risk:,} sessions were at risk,"
        parts.append((check.surprise_contradicts, _shares_words(where, found.observed, found.expected)))
    if check.mean is not None and check.mean.is_rejected:
        mean = check.mean
        clause = (
            f"up to step {mean.last:,} sessions last {mean.observed:.4g} steps on average, and the law says "
            f"{mean.expected:.4g} (standard error {mean.error:.2g})"
        )
        parts.append((check.mean_contradicts, clause))
    return next((clause for matters, clause in parts if matters), parts[0][1])


def _why_little(check: FitCheck) -> str:
    """Return why the difference of `_contradiction` does not matter."""
    if check.hazards_are_rejected:
        return (
            "less than a factor of 2 apart, and less than 2 percentage points in the share that stays, as in "
            "all cells of steps that reject the law by themselves"
        )
    if check.surprise is not None:
        return "less than 2 percentage points and less than a factor of 2 apart"
    return "less than 2% apart"


def _shares_words(where: str, observed: float, expected: float) -> str:
    """Return what share of the sessions left at some steps, and what share by the law."""
    left, said = percent(observed, digits=3), percent(expected, digits=3)
    if left == said:
        return f"{where} {observed / expected:.2g} times as many left as the law says"
    return f"{where} {left} left, and the law says {said}"


def _instead(analysis: Analysis) -> str:
    """Return what to use instead of a fit that the data contradict."""
    others = [f"{law_words(one.fit)} ({_gap_words(one)})" for one in analysis.replacements[:2]]
    table = 'the table of the data itself: --table FILE writes it, and tabulated("FILE") is a law'
    if others:
        text = f"The data do not contradict {join_words(others)}."
        return f"{text} Use such a law, or {table}." if analysis.has_table else text
    names = [law_words(one.fit) for one in analysis.others_that_fit[:2]]
    if names:
        none = f"{join_words(names)} hardly fit{'s' * (len(names) == 1)} better."
    elif any(one.bic_gap < STRONG_EVIDENCE for one in analysis.fits[1:]):
        none = f"Nor does any other family within ΔBIC {STRONG_EVIDENCE:g}."
    else:
        none = f"No other family is within ΔBIC {STRONG_EVIDENCE:g}."
    return f"{none} Use {table}." if analysis.has_table else none


def mean_words(analysis: Analysis) -> str:
    """Say what the mean length is, and where it comes from, or why the log does not determine it."""
    first, described = analysis.first, analysis.described_law
    if analysis.unknown is not None:
        since = f" from step {first:,} on" if first > 1 else ""
        why = _unknown_words(analysis, analysis.unknown)
        more = "More sessions, or sessions observed for longer," if analysis.log.n_open else "More sessions"
        if analysis.unknown is Unknown.TOO_LONG:
            more = "Longer steps"
        elif analysis.unknown is Unknown.HOLE:
            more = "Sessions that were observed there"
        return f"The log does not determine it{since}: {why}. {more} may settle it."
    tail = ", with a geometric tail after the longest session" if analysis.still_open else ""
    if analysis.best_is_contradicted and first > 1:
        more = step_words(analysis.described_remaining)
        return (
            f"The log does not determine it, because {seen_before(analysis)}. By the data "
            f"(Kaplan–Meier{tail}), sessions that reach step {first:,} last {more} from there on; the law "
            "does not fit."
        )
    if described is not analysis.law:
        mean = described.mean if analysis.still_open else analysis.seen_mean
        return (
            f"{step_words(mean)} by the data (Kaplan–Meier{tail}), because the law does not fit."
            f"{_few_long(analysis)}"
        )
    text = f"{step_words(analysis.remaining)} by the law{_interval(analysis)}"
    if first > 1:
        text = (
            f"The log does not determine it, because {seen_before(analysis)}. Sessions that reach step "
            f"{first:,} last {text}, from there on"
        )
    text += "."
    if analysis.best.fit.edge:
        text += f" The law is at the edge of its family ({_edge_words(analysis)})."
    if analysis.bootstrap and first == 1 and analysis.seen_mean > analysis.bootstrap.remaining[1]:
        text += (
            f" The data's own mean, {number(analysis.seen_mean)}, is above: the longest sessions stand out."
        )
    if analysis.unseen > 0.02:
        text += (
            f" {percent(analysis.unseen)} of that lies beyond the longest session of the log, and rests on "
            "the law alone."
        )
    return text


def _unknown_words(analysis: Analysis, why: Unknown) -> str:
    """Return why the log does not determine the mean."""
    fit, reach = analysis.best.fit, percent(float(analysis.band.estimate[-1]))
    still = "all" if analysis.still_open == 1.0 else percent(analysis.still_open)
    if why is Unknown.EDGE and fit.without_mean:
        return f"the most likely member of the best family, {fit.without_mean}, has no mean"
    endless = next((one for one in analysis.fits if one.fit.without_mean), None)
    tied = next((law_words(one.fit) for one in analysis.tied_beyond), "")
    edge = f"the law is at the edge of its family ({_edge_words(analysis)})"
    return {
        Unknown.TOO_SMALL: Unknown.TOO_SMALL.value,
        Unknown.MOST_OPEN: f"by Kaplan–Meier {reach} of the sessions reach the longest length, and {still} "
        "are still open there",
        Unknown.NO_MEAN: f"{endless and endless.fit.without_mean}, which fits about as well, has no mean",
        Unknown.NO_FIT: _no_fit(analysis),
        Unknown.EDGE: f"{edge}, and {_beyond(analysis)}",
        Unknown.BEYOND: _beyond(analysis),
        Unknown.TIED_BEYOND: f"{tied}, which fits about as well, has most of its mean beyond the longest "
        "session",
        Unknown.UNENDED: _unended(analysis),
        Unknown.TOO_LONG: "the law does not fit, and the data have too many steps for a table (more than "
        f"{MAX_TABLE_STEPS:,})",
        Unknown.HOLE: f"hardly any session was observed at {hole_words(analysis)}",
        Unknown.UNBOUNDED: "its 95% interval, from resampled logs, has no upper limit",
    }[why]


def _no_fit(analysis: Analysis) -> str:
    if analysis.unended > SMALL_DIFFERENCE:
        return f"the law does not fit, and {_unended(analysis)}"
    still = f", and by Kaplan–Meier {percent(analysis.still_open)} of the sessions outlast the data"
    return "the law does not fit" + still * bool(analysis.still_open)


def _edge_words(analysis: Analysis) -> str:
    return f"parameter {join_words(list(analysis.best.fit.edge))}"


def _unended(analysis: Analysis) -> str:
    return f"the data hardly show when {percent(analysis.unended)} of the sessions end"


def _beyond(analysis: Analysis) -> str:
    if analysis.unseen <= analysis.unended:
        return _unended(analysis)
    return f"{percent(analysis.unseen)} of the law's mean lies beyond the longest session"


def _interval(analysis: Analysis) -> str:
    """Return the 95% interval of the mean from step `first` on; empty if there is none.

    From resampled logs, or from a log scale and standard errors, which leave out the choice of the family.
    """
    if analysis.bootstrap is not None:
        low, high = analysis.bootstrap.remaining
        if low == high:  # all sessions are alike, so that resampling shows nothing
            return ""
        rough = "; its upper end is rough, and --resamples 1000 makes it finer" * analysis.bootstrap.is_rough
        return f" (95% interval from {number(low)} to {number(high)}, with the choice of the family{rough})"
    fit, mean = analysis.best.fit, analysis.remaining
    error = fit.error_of(lambda law: float(law.remaining(analysis.first)))
    if not error > 0.0 or fit.edge:
        return ""
    factor = math.exp(1.96 * error / mean)
    return f" (95% interval from {number(mean / factor)} to {number(mean * factor)}, given the family)"


def _few_long(analysis: Analysis) -> str:
    """Return how much of the mean of the data comes from a few long sessions, if that is much."""
    last = analysis.last_of_many
    share = 1.0 - analysis.mean_up_to(last) / analysis.described_law.mean
    if share <= _MUCH:
        return ""
    return (
        f" {percent(share)} of that mean comes from steps after {last:,}, which fewer than 10 sessions show: "
        "it is hardly known."
    )


def discount_words(analysis: Analysis) -> str:
    """Give the discount ρ(h) of the law at a few steps, and how many steps it expects from there on."""
    law = analysis.law
    if analysis.best_is_contradicted:
        table = " Take ρ(h) = γ(h+1)/γ(h) from the table of the data (--table FILE)." * analysis.has_table
        return f"The law does not fit, so its discounts are not shown.{table}"
    chance = "By the law, the chance of one more step, ρ(h), is"
    first, last = analysis.first, max(analysis.log.longest - 1, analysis.first)
    middle = [min(max(analysis.quantile_from_first(share), first), last) for share in (0.5, 0.1)]
    steps = list(dict.fromkeys([first, *middle]))
    intervals = [_discount_interval(analysis, h) for h in steps]
    if isinstance(law, Geometric):
        text = f"{chance} {gamma_words(law.gamma)} at every step"
        pairs = zip(steps, intervals, strict=True)
        ranges = join_words([f"{one} at step {h:,}" for h, one in pairs if one])
        also = "; 95% intervals from resampled logs, which may lead to other families, are "
        return f"{text}{also}{ranges}." if ranges else f"{text}."
    rates = [gamma_words(float(law.continuation(h)), float(law.hazard(h))) for h in steps]
    values = [
        f"{rate}{f' ({one})' if one else ''} at step {h:,}"
        for h, rate, one in zip(steps, rates, intervals, strict=True)
    ]
    text = f"{chance} {join_words(values)}{_RESAMPLED * any(intervals)}"
    if analysis.determines_remaining and len(steps) > 1:
        more = join_words([number(float(law.remaining(h))) for h in steps])
        text += f"; counted from these steps on, it expects {more} steps"
    return f"{text}."


_RESAMPLED = ", with 95% intervals from resampled logs"


def _discount_interval(analysis: Analysis, step: int) -> str:
    """Return the interval of ρ at a step; empty if there is none, or if its family limits it."""
    found = analysis.bootstrap
    if found is None or analysis.best.fit.edge or analysis.check.is_rejected:
        return ""
    if step < analysis.log.sample.ends[0]:  # no session was seen to end so early: only the family limits it
        return ""
    low, high = (gamma_words(float(np.interp(step, found.steps, ends))) for ends in found.discount)
    return "" if low == high else f"{low} to {high}"
