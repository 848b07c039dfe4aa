"""Explains an analysis of a session log in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sojourn.laws import MAX_STEP, Geometric, LengthLaw, quantile
from sojourn.sessions._analysis import MISFIT, REJECTED, SMALL_DIFFERENCE
from sojourn.sessions._format import gamma_words, law_words, number, percent

if TYPE_CHECKING:
    from sojourn.sessions._analysis import Analysis
    from sojourn.sessions._groups import GroupTest
    from sojourn.sessions._hazard_test import HazardTest
    from sojourn.sessions._log import SessionLog
    from sojourn.sessions._price import ProblemPrice

__all__ = ["advise", "group_words"]

_FEW_SESSIONS = 10
"""With fewer sessions, the advice is called a guess."""

_PILE = 0.02
"""Least share of sessions with the largest length that may be a cut-off."""

_NEGLIGIBLE = 1e-6
"""A probability that is treated as zero."""

_UNBOUNDED = 100.0
"""An interval that ends above this multiple of the mean is said to have no upper limit."""

_CLEAR_CHANGE = 10.0
"""Minimum log-likelihood ratio statistic, against a geometric law, to report that leaving changes."""


def advise(analysis: Analysis) -> tuple[tuple[str, str], ...]:
    """Return pairs of a heading and a paragraph."""
    found = [
        ("In short", _in_short(analysis)),
        ("The sessions", _sessions(analysis)),
        ("How long they last", _lengths(analysis)),
        ("How people leave", _leaving(analysis)),
        ("The law", _law(analysis)),
        ("A single γ", _single_gamma(analysis)),
        ("How far to plan", _horizons(analysis)),
    ]
    if analysis.price is not None:
        found.append(("On the problem", _price(analysis)))
    if analysis.groups is not None:
        found.append((f"{analysis.groups.what.capitalize()}s", group_words(analysis.groups)))
    return tuple(found)


def _in_short(analysis: Analysis) -> str:
    """Return what to do."""
    groups = analysis.groups
    differ = groups is not None and groups.depends and groups.largest_difference > SMALL_DIFFERENCE
    rest = f" The {groups.what}s differ: see below." if groups is not None and differ else ""
    if not analysis.determines_mean:
        return (
            "The log does not show enough to choose a discount for all steps. Use the table of the data for "
            f"the steps that it covers (--table FILE).{rest}"
        )
    if analysis.no_family_fits:
        return f"No family of laws fits. Plan with the table of the data: --table FILE writes it.{rest}"
    gamma, share = gamma_words(analysis.geometric.gamma), analysis.gap / analysis.law.mean
    if share <= SMALL_DIFFERENCE:
        return f"One discount is enough: γ = {gamma}.{rest}"
    if share > 0.1 and not _rules_out_geometric(analysis):
        return (
            f"The log is too small to tell whether one discount is enough: if so, it is γ = {gamma}. By the "
            f"best fit a discount that changes with the step is better.{rest}"
        )
    if share <= 0.1:
        return (
            f"One discount, γ = {gamma}, will do for most purposes; a discount that changes with the step is "
            f"more exact.{rest}"
        )
    return (
        "No single γ is good enough. Discount step h by ρ(h) of the law at the end (--schedule FILE writes "
        f"it), and let the policy know the step.{rest}"
    )


def _sessions(analysis: Analysis) -> str:
    log = analysis.log
    n, late = len(log), int(log.counts[log.entry > 1].sum())
    text = f"{n:,} session{'s' * (n != 1)}"
    if n < _FEW_SESSIONS:
        text += " (too few to tell one law from another: take what follows as a guess)"
    if log.n_open:
        text += (
            f". {log.n_open:,} of them ({percent(log.n_open / n)}) are open: it is known only that they "
            "lasted at least this long, and they count as such."
        )
    else:
        text += (
            ", all seen to their end."
            if _says_ends(log)
            else (", all counted as seen to their end (no column that says so is used).")
        )
    if late:
        text += (
            f" {late:,} came under observation after their first step, and count only from there on. This "
            "corrects for the sessions that ended before they could be seen, which are missing from the log."
        )
    if analysis.first > 1:
        text += (
            f" No session was seen before step {analysis.first:,}: the data describe only sessions that get "
            "that far, and laws are compared with the data under that condition. What a law says about "
            "earlier steps, and so its mean length, is an extrapolation by its family."
        )
    text += _pile(analysis)
    if log.account.n_rejected:
        bad = log.account.n_rejected
        text += f" {bad:,} row{'s' * (bad != 1)} of the file could not be used."
    if log.account.columns:
        used = [f"{what} from {name!r}" for what, name in log.account.columns]
        text += f" Columns used: {', '.join(used)}."
    return text


def _says_ends(log: SessionLog) -> bool:
    """Whether a column says which sessions ended; true of logs that were not read from columns of lengths."""
    used = {what for what, _ in log.account.columns}
    return "lengths" not in used or not used.isdisjoint(("ends", "open sessions"))


def _pile(analysis: Analysis) -> str:
    """Return a warning if many sessions end at the largest length, as if the log were cut off there."""
    log = analysis.log
    n_end, n = int(log.counts[(log.lengths == log.longest) & log.observed].sum()), len(log)
    if n_end < max(_FEW_SESSIONS, _PILE * n):
        return ""
    before = log.lengths < log.longest
    largest = int(np.bincount(log.lengths[before], log.counts[before]).max()) if before.any() else n
    if n_end <= 2 * largest:
        return ""
    return (
        f" {n_end:,} of them ({percent(n_end / n)}) have the largest length, {log.longest:,}: if the log or "
        "the sessions were cut off there, mark these as open."
    )


def _lengths(analysis: Analysis) -> str:
    law, first = analysis.law, analysis.first
    if not analysis.determines_remaining:
        return _undetermined(analysis)
    if first > 1:
        half, tenth = (number(_quantile_from_first(analysis, share)) for share in (0.5, 0.1))
        text = (
            f"No session was seen before step {first:,}, so the log does not determine the mean length. "
            f"Sessions that get that far last {_steps(analysis.remaining)} on average from there on"
            f"{_interval(analysis)}: half of them end by step {half}, and one in ten after step {tenth}."
        )
    else:
        data_law = analysis.kaplan_meier if analysis.no_family_fits else None
        mean = f"{_steps(law.mean)} on average{_interval(analysis)}"
        if data_law is None:
            text = f"A session lasts {mean}{_shares(law, analysis)}."
        else:  # no family fits: the data come first
            text = f"A session lasts {_steps(data_law.mean)} on average by the data themselves (Kaplan–Meier)"
            text += f"{_shares(data_law, analysis)}. No family fits the data; by the best one it is {mean}."
    if analysis.best.fit.edge:
        text += (
            f" The best fit is at the edge of its family ({', '.join(analysis.best.fit.edge)}), where it is "
            "equivalent to a simpler law; the data reach far enough that the mean does not depend on this."
        )
    unseen = analysis.unseen
    if unseen > 0.02:
        text += (
            f" {percent(unseen)} of that mean lies beyond the longest session of the log and comes from the "
            "fitted law, not from the data."
        )
    return text


def _shares(law: LengthLaw, analysis: Analysis) -> str:
    """Return after which steps half and a tenth of the sessions remain, with a word if no data are there."""
    half, tenth = quantile(law, 0.5), quantile(law, 0.1)
    text = f"; half of them last at most {number(half)}, and one in ten more than {number(tenth)}"
    return f"{text}, which no session of the log reached" if tenth > analysis.log.longest else text


def _quantile_from_first(analysis: Analysis, share: float) -> int:
    """Return the step after which at most this share remains of the sessions that reach step `first`."""
    return quantile(analysis.law, share * float(analysis.law.survival(analysis.first)))


def _undetermined(analysis: Analysis) -> str:
    """Describe the lengths where the mean would come from the fitted law rather than from the data."""
    law, edge, longest, first = analysis.law, analysis.best.fit.edge, analysis.log.longest, analysis.first
    mean = law.mean if first == 1 else analysis.remaining
    why = f"{percent(analysis.unseen)} of the best fit's {number(mean)} steps lie beyond the longest session"
    if edge:
        why = f"the best fit is at the edge of its family ({', '.join(edge)})"
    if analysis.best.fit.without_mean:
        why = f"the most likely member of the best family, {analysis.best.fit.without_mean}, has no mean"
    whose = f"sessions that reach step {first:,} last" if first > 1 else "sessions last"
    what = f"mean from step {first:,} on, the first step seen" if first > 1 else "mean length"
    text = f"The log does not determine the {what}: {why}. Counted up to step {longest:,}, the longest "
    text += f"session, {whose} {_steps(analysis.seen_mean - (first - 1))} on average"
    text += " from there on" if first > 1 else ""
    data_law = analysis.kaplan_meier
    half = _quantile_from_first(analysis, 0.5) if data_law is None else quantile(data_law, 0.5)
    if half <= longest:
        text += f"; half of them {'end by step' if first > 1 else 'last at most'} {number(half)}"
    return f"{text}. More data, or longer sessions, would settle it."


def _steps(count: float) -> str:
    """Return a number of steps, with "step" or "steps"."""
    return f"{number(count)} step{'s' * (number(count) != '1')}"


def _interval(analysis: Analysis) -> str:
    """Return the 95% interval of the mean from step `first` on; empty if there is none.

    From resampled logs, or from a log scale and standard errors, which leave out the choice of the family.
    """
    if analysis.bootstrap is not None:
        low, high = analysis.bootstrap.remaining
        above = f"to {number(high)}" if high < _UNBOUNDED * analysis.remaining else "on, with no upper limit"
        return f" (95% interval from {number(low)} {above}, with the choice of the family)"
    fit, mean = analysis.best.fit, analysis.remaining
    error = fit.error_of(lambda law: float(law.remaining(analysis.first)))
    if not error > 0.0 or fit.edge:
        return ""
    factor = math.exp(1.96 * error / mean)
    return f" (95% interval {number(mean / factor)} to {number(mean * factor)}, given the family)"


def _leaving(analysis: Analysis) -> str:
    law, first = analysis.law, analysis.first
    early = max(_first_possible_end(law), first)
    late = min(max(_quantile_from_first(analysis, 0.1), early + 1), MAX_STEP)
    late = min(late, max(analysis.log.longest, early + 1))
    begin, end = float(law.hazard(early)), float(law.hazard(late))
    if begin > 1.0 - _NEGLIGIBLE:
        return f"No one leaves before step {early:,}; there all do." if early > 1 else "All leave at once."
    text = f"No one leaves before step {early:,}; then" if early > 1 else "After the first step"
    if early == first > 1:
        text = f"Of those who reach step {early:,},"
    text += f" {percent(begin)} leave; of those who reach step {late:,}, {percent(end)} leave there."
    steps = np.unique(np.geomspace(early, late, 200).round())
    some = law.hazard(steps)
    if some.max() < 1.1 * some.min():
        since = f"From step {early:,} on leaving" if early > 1 else "Leaving"
        return f"{text} {since} is about as likely at every step."
    if not _rules_out_geometric(analysis):
        return f"{text} The log is too small to tell this from leaving that is as likely at every step."
    peak, log = int(steps[np.argmax(some)]), analysis.log
    n_before = int(log.counts[log.observed & (log.lengths <= peak)].sum())
    if some.max() > 1.1 * max(begin, end) and n_before >= _FEW_SESSIONS:  # else only its family says so
        return f"{text} Leaving first speeds up, to {percent(some.max())} at step {peak:,}, then slows down."
    if some.min() < 0.9 * min(begin, end):
        dip = int(steps[np.argmin(some)])
        return f"{text} Leaving first slows down, to {percent(some.min())} at step {dip:,}, then speeds up."
    if end < begin and not analysis.determines_remaining:
        return (
            f"{text} Leaving slows down. Those who have stayed long tend to stay longer; how much longer, "
            "the log does not say."
        )
    if end < begin:
        stay, fresh = number(float(law.remaining(late))), number(float(law.remaining(early)))
        return (
            f"{text} Leaving slows down. Those who have stayed long tend to stay longer: {stay} more steps "
            f"on average from step {late:,} on, against {fresh} from step {early} on."
        )
    return f"{text} Leaving speeds up: the longer a session has lasted, the more likely it is to end."


def _rules_out_geometric(analysis: Analysis) -> bool:
    """Whether the log shows that the chance of leaving changes with the step."""
    geometric = analysis.ranked("geometric")
    gain = 2.0 * (analysis.best.fit.log_likelihood - geometric.fit.log_likelihood)
    return gain > _CLEAR_CHANGE and geometric.bic_gap >= 2.0


def _first_possible_end(law: LengthLaw) -> int:
    """Return the first step at which a session can end."""
    return quantile(law, 1.0 - 1e-12)


def _law(analysis: Analysis) -> str:
    best = analysis.best
    text = f"By BIC the best of {len(analysis.fits)} families is {law_words(best.fit)}"
    ahead = [one for one in analysis.fits if one.bic_gap < best.bic_gap]
    if ahead:
        names = " and ".join(law_words(one.fit) for one in ahead)
        text += (
            f" (not {names}, whose BIC is {best.bic_gap:.2g} smaller but which is at the edge of its family)"
        )
    rivals = [one for one in analysis.fits[1:] if one.bic_gap < 6.0 and one not in ahead]
    if rivals:
        names = " and ".join(f"{law_words(one.fit)} ({_evidence(one.bic_gap)})" for one in rivals[:2])
        text += f"; the data do not rule out {names}"
    text += _resampled(analysis)
    width = f"{100.0 * analysis.band.confidence:g}%"
    if best.excess >= MISFIT:
        return (
            f"{text}. It leaves the {width} band around the data by {percent(best.excess)} of the sessions "
            f"at step {best.step:,}: {_NO_FAMILY}"
        )
    if best.in_band:
        text += f". Its survival stays inside the {width} band around the data at every step"
    else:
        text += (
            f". It leaves the {width} band around the data by at most {percent(best.excess)} of the sessions "
            f"(at step {best.step:,}): the log is large enough to show a difference, but it matters little"
        )
    test = analysis.hazard_test
    if test is None:
        return f"{text}."
    if test.p_value >= REJECTED:
        return f"{text}, and the chances of leaving at each step do not contradict it ({_chi_squared(test)})."
    is_one = test.first == test.last
    where = f"at step {test.first:,}" if is_one else f"per step, from step {test.first:,} to {test.last:,},"
    shares = f"{where} {percent(test.observed)} left, and the law says {percent(test.expected)}"
    if not analysis.no_family_fits:
        return (
            f"{text}. The chances of leaving at each step reject it ({_chi_squared(test)}), but by little: "
            f"{shares}."
        )
    return (
        f"{text}, but the chances of leaving at each step reject it ({_chi_squared(test)}): {shares}. So "
        f"{_NO_FAMILY}"
    )


_NO_FAMILY = (
    "no family fits, and what follows is only as good as that. Use the table of the data itself: --table "
    'FILE writes it, and tabulated("FILE") is a law.'
)


def _resampled(analysis: Analysis) -> str:
    """Return how often resampled logs lead to the same family, and the interval of the discount."""
    found = analysis.bootstrap
    if found is None:
        return ""
    times = found.families.get(analysis.best.fit.family, 0)
    text = f"; {times} of {found.n} resampled logs choose the same family"
    where = [0, int(np.searchsorted(found.steps, min(_quantile_from_first(analysis, 0.1), found.steps[-1])))]
    parts = [
        f"{' to '.join(map(gamma_words, found.discount[:, i].tolist()))} at step {found.steps[i]:,}"
        for i in dict.fromkeys(where)
    ]
    return f"{text}, and the 95% interval of the discount ρ(h) is {' and '.join(parts)}"


def _evidence(bic_gap: float) -> str:
    """Return how strong the evidence against a fit is, in the words of Raftery (1995)."""
    return f"weak evidence against it, ΔBIC {bic_gap:.1f}" if bic_gap < 2.0 else f"ΔBIC {bic_gap:.1f}"


def _single_gamma(analysis: Analysis) -> str:
    law, gamma = analysis.law, analysis.geometric.gamma
    if not analysis.determines_mean:
        return (
            "The log does not determine whether a single γ is good enough, nor which one: that depends on "
            f"steps {_unseen_steps(analysis)}. {_WITHIN_THE_LOG}"
        )
    if isinstance(law, Geometric):
        return f"By the best fit a single γ is enough: discount with γ = {gamma_words(gamma)}."
    share = analysis.gap / law.mean
    usual = analysis.usual.gamma
    cost = f"The best single γ is {gamma_words(gamma)}. "
    cost += (
        f"Its discount function is off by Σ|γ − γ'| = {number(analysis.gap)} steps, {percent(share)} of the "
        f"mean length: planning with it loses at most that much, for rewards in [0, 1]"
    )
    cost += f" ({gamma_words(usual)}, which has the same mean length, at most {number(analysis.usual_gap)}). "
    if share <= SMALL_DIFFERENCE:
        return f"A single γ is good enough. {cost}".strip()
    if share <= 0.1:
        return f"A single γ will do if a loss of a few percent does not matter. {cost}".strip()
    if not _rules_out_geometric(analysis):
        return (
            f"By the best fit a single γ is not good enough, but the log is too small to rule one out (ΔBIC "
            f"{analysis.ranked('geometric').bic_gap:.1f}). {cost}".strip()
        )
    return (
        f"A single γ is not good enough. {cost}Use ρ(h) = γ(h+1)/γ(h), which changes with the step, and a "
        "policy that knows the step."
    )


_WITHIN_THE_LOG = (
    "For steps that the log covers, use the table of the data: --table FILE writes it, and "
    'tabulated("FILE") is a law.'
)


def _unseen_steps(analysis: Analysis) -> str:
    """Return which steps the log says nothing about."""
    if analysis.determines_remaining:
        return f"before step {analysis.first:,}, the first step seen"
    return "beyond its longest session"


def _horizons(analysis: Analysis) -> str:
    longest = f"the longest session of the log has {_steps(analysis.log.longest)}"
    if not analysis.determines_mean:
        return (
            "The log does not determine the effective horizon: it depends on steps "
            f"{_unseen_steps(analysis)} ({longest})."
        )
    parts = []
    for truncation in analysis.truncations:
        horizon = analysis.horizon(truncation)
        parts.append(f"{'more than 2^53' if horizon is None else f'{horizon:,}'} for Δ = {truncation:g}")
    return (
        "Beyond the effective horizon all steps together weigh at most Δ: it is "
        + ", ".join(parts)
        + f" ({longest})."
    )


def _price(analysis: Analysis) -> str:
    price = analysis.price
    if price is None:
        return ""
    if price.loss <= max(price.width, 1e-9 * abs(price.best)):
        return (
            f"On {price.problem} the policy that is best under γ = {gamma_words(price.gamma)} is best under "
            f"the fitted law as well: {price.best:.6g} per session."
        )
    share = percent(price.loss / abs(price.best)) if price.best else "all"
    text = (
        f"On {price.problem} the best policy earns {price.best:.6g} per session. The one that is best under "
        f"γ = {gamma_words(price.gamma)} earns {price.geometric:.6g}: the geometric assumption costs "
        f"{price.loss:.4g}, {share}."
    )
    return text + _held_out(price) + _group_values(analysis)


def _group_values(analysis: Analysis) -> str:
    """Return what plans for each group gain over one plan for all."""
    gains = [
        f"{best - common:.3g} in group {i + 1}"
        for i, (best, common) in enumerate(values or (0.0, 0.0) for values in analysis.group_values)
    ]
    return f" A plan for each group's law gains {', '.join(gains)} over one plan for all." if gains else ""


def _held_out(price: ProblemPrice) -> str:
    """Return what the two plans differ by on data that were not used to plan."""
    if price.held_out is None:
        return ""
    low, high = price.held_out
    text = f" On steps that were not used to plan it costs {low:.3g} to {high:.3g} (95% interval)"
    return f"{text}." if low > 0.0 else f"{text}: the log does not show that it costs anything."


_CONSEQUENCES = {
    "group": (
        "This has two consequences. One law for all is a mixture: it is right for a session whose group is "
        "unknown, and wrong if the group is known; fit each group by itself. And if the group is a state "
        "that changes within a session, the end depends on what happens, so no law of lengths is a discount: "
        "make leaving part of the problem's transitions."
    ),
    "state": (
        "So no law of lengths is a discount here: the end depends on what happens, and the chance of "
        "reaching step h is not the same for every policy. Make leaving part of the problem's transitions "
        "(terminated), and fit a law to the remaining ends."
    ),
}


def group_words(test: GroupTest) -> str:
    """Explain the result of a test of groups."""
    what, result = test.what, f"(log-rank {_chi_squared(test)})"
    known = [(ratio, i + 1) for i, ratio in enumerate(test.ratios) if not math.isnan(ratio)]
    (low, quiet), (high, hasty) = min(known), max(known)
    sizes = (
        f"{what} {hasty} ends {high:.2f} times as often as expected if all left at the same rate, "
        f"{what} {quiet} {low:.2f} times"
    )
    if not test.depends:
        return (
            f"The log shows no difference between {what}s at the 5% level {result}: {sizes}. This does not "
            "show that there is none; a larger log may find one."
        )
    if test.largest_difference <= SMALL_DIFFERENCE:
        return f"Leaving depends on the {what} at the 5% level {result}, but little: {sizes}."
    return f"Leaving depends on the {what} at the 5% level {result}: {sizes}. {_CONSEQUENCES[what]}"


def _chi_squared(test: GroupTest | HazardTest) -> str:
    """Return the result of a χ² test."""
    digits = 3 if f"{test.p_value:.2g}" in ("0.05", "0.01") else 2  # so that a level is not met by rounding
    chance = f"p = {test.p_value:.{digits}g}" if test.p_value >= 1e-4 else "p < 0.0001"
    freedom = f"{test.freedom} degree{'s' * (test.freedom > 1)} of freedom"
    return f"χ² = {test.statistic:.4g} on {freedom}, {chance}"
