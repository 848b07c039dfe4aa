"""What is said about the law: how people leave, which law fits, a single γ, and how far to plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sojourn.laws import (
    MAX_STEP,
    Fit,
    Geometric,
    LengthLaw,
    closest_geometric,
    distance,
    quantile,
)
from sojourn.sessions._analysis import MISFIT, SMALL_DIFFERENCE, STRONG_EVIDENCE, matters
from sojourn.sessions._format import chi_squared_words, gamma_words, law_words, number, percent
from sojourn.sessions._hazard_shape import FEW_ENDS, Change
from sojourn.sessions._hazard_test import MAX_TESTED, REJECTED

if TYPE_CHECKING:
    from sojourn.sessions._analysis import Analysis, RankedFit

__all__ = [
    "gamma_advice",
    "horizon_words",
    "law_advice",
    "leaving_words",
    "needs_more",
    "unknown_price",
]

_NEGLIGIBLE = 1e-6
"""A probability that is treated as zero."""

_DOUBTFUL = 0.05
"""If the test of the chances of leaving has a smaller p-value, they are said to be those of the best fit."""

_RARE_COMPONENT = 0.05
"""A component of a mixture with a smaller weight, and of few sessions, is hardly in the data."""


def leaving_words(analysis: Analysis) -> str:
    """Describe how the chance of leaving changes with the step."""
    law = analysis.described_law
    if law is not analysis.law:
        return _data_leaving(law)
    data_law = analysis.kaplan_meier
    if analysis.best_is_contradicted and analysis.first == 1 and data_law is not None:
        return _first_leaving(data_law)
    return _law_leaving(analysis)


def _data_leaving(law: LengthLaw) -> str:
    """Describe how people leave by the data themselves, which the best fit does not describe."""
    steps = dict.fromkeys(max(quantile(law, share), 1) for share in (1.0 - 1e-12, 0.5, 0.1))
    parts = [f"{number(float(law.remaining(step)))} from step {step:,} on" for step in steps]
    return (
        f"{_first_leaving(law)} How many steps remain on average for those who get there: {', '.join(parts)}."
    )


def _first_leaving(law: LengthLaw) -> str:
    """Say how many leave after the first step by the data, or where the first ones do."""
    early = max(quantile(law, 1.0 - 1e-12), 1)
    share = percent(float(law.hazard(early)))
    if early > 1:
        return f"By the data, no one leaves before step {early:,}; there {share} leave."
    return f"By the data, {share} leave after the first step."


def _law_leaving(analysis: Analysis) -> str:
    """Describe how people leave by the best fit."""
    law, first, (early, late) = analysis.law, analysis.first, analysis.leaving_range
    begin, end = float(law.hazard(early)), float(law.hazard(late))
    if begin > 1.0 - _NEGLIGIBLE:
        if analysis.still_open or not analysis.determines_remaining:
            return f"No session was seen to go on after step {early:,}."
        return f"No one leaves before step {early:,}; there all do." if early > 1 else "All leave at once."
    data_law, by = analysis.kaplan_meier, "By the best fit,"
    if data_law is not None and first == 1:
        text = f"{_first_leaving(data_law)} {by}"
    elif early == first > 1:
        text = f"{by} of those who reach step {early:,}, {percent(begin)} leave;"
    elif early > 1:
        text = f"{by} no one leaves before step {early:,}; there {percent(begin)} leave;"
    else:
        text = f"{by} {percent(begin)} leave after the first step;"
    text += f" of those who reach step {late:,}, {percent(end)} leave there."
    if analysis.best_is_contradicted:
        return text  # how leaving changes would be a property of its family
    if isinstance(law, Geometric):
        return f"{text} The log does not show that this changes with the step."
    shape, step = analysis.leaving_shape
    if analysis.leaving_change is not None:
        data = change_words(analysis.leaving_change)
        return f"{text} {by} leaving {_SHAPES[shape]}, but the data show something else: {data}."
    if shape == "flat":
        if analysis.rules_out_geometric:
            return (
                f"{text} Between these two steps leaving changes little; over all steps it changes by more "
                "than chance explains."
            )
        since = f"From step {early:,} on leaving" if early > 1 else "Leaving"
        return f"{text} {since} is about as likely at every step."
    if not analysis.rules_out_geometric:
        return (
            f"{text} This may be chance: with a choice among {len(analysis.fits)} families, the log does not "
            "rule out at the 1% level that leaving is as likely at every step."
        )
    words = _change_words(analysis, shape, step, early, late)
    return f"{text} {by} l{words[1:]}{_doubts(analysis, shape)}"


def change_words(change: Change) -> str:
    """Return what shares of the sessions left in two successive ranges of steps."""
    ranges = [(change.before, change.first, change.middle), (change.after, change.middle + 1, change.last)]
    one, other = (
        (percent(share), f"at step {a:,}" if a == b else f"from step {a:,} to {b:,}")
        for share, a, b in ranges
    )
    return f"per step, {one[0]} left {one[1]}, and {other[0]} {other[1]}"


_SHAPES = {
    "flat": "is about as likely at every step",
    "peak": "first speeds up, then slows down",
    "dip": "first slows down, then speeds up",
    "down": "slows down",
    "up": "speeds up",
}


def _doubts(analysis: Analysis, shape: str) -> str:
    """Return which law that fits about as well says something else about how leaving changes."""
    for one in analysis.tied_fits:
        other, _ = analysis.shape_of(one.fit.law)
        if other != shape:
            return f" By {law_words(one.fit)}, which fits about as well, leaving {_SHAPES[other]}."
    return ""


def _change_words(analysis: Analysis, shape: str, step: int, early: int, late: int) -> str:
    """Describe how the chance of leaving changes by the best fit."""
    law: LengthLaw = analysis.law
    if shape in ("peak", "dip"):
        first, then = _SHAPES[shape].split(", ")
        return f"Leaving {first}, to {percent(float(law.hazard(step)))} at step {step:,}, {then}."
    if shape == "up":
        return "Leaving speeds up: the longer a session has lasted, the more likely it is to end."
    if not analysis.determines_remaining:
        return (
            "Leaving slows down. Those who have stayed long tend to stay longer; how much longer, the log "
            "does not say."
        )
    data, by, unseen = analysis.kaplan_meier, "by the best fit ", ""
    is_seen = late <= analysis.last_of_many and analysis.unended <= SMALL_DIFFERENCE * _survival(data, late)
    if data is not None and is_seen:
        law, by = data, "by the data "
    stay, fresh = float(law.remaining(late)), float(law.remaining(early))
    past = min(analysis.log.longest + 1, MAX_STEP)
    if float(law.tail(past)) > 0.5 * float(law.tail(late)):
        by, unseen = "by the best fit ", "most of them beyond the longest session, "
    steps = (
        f"{number(stay)} more steps on average from step {late:,} on, {unseen}against {number(fresh)} from "
        f"step {early} on"
    )
    if stay <= fresh:  # by the data
        return f"Leaving slows down, but those who have stayed long do not tend to stay longer: {by}{steps}."
    return f"Leaving slows down. Those who have stayed long tend to stay longer: {by}{steps}."


def _shares_words(where: str, observed: float, expected: float) -> str:
    """Return what share of the sessions left at some steps, and what share by the law."""
    left, said = percent(observed), percent(expected)
    if left == said:
        return f"{where} {observed / expected:.2g} times as many left as the law says"
    return f"{where} {left} left, and the law says {said}"


def _survival(law: LengthLaw | None, step: int) -> float:
    return 0.0 if law is None else float(law.survival(step))


def law_advice(analysis: Analysis) -> str:
    """Describe the best fit, its rivals and what the data say against it."""
    best = analysis.best
    text = f"By BIC the best of {len(analysis.fits)} families is {_fit_words(analysis, best.fit)}"
    ahead = [one for one in analysis.fits if one.bic_gap < best.bic_gap]
    if ahead:
        names = " and ".join(law_words(one.fit) for one in ahead)
        text += (
            f" (not {names}, whose BIC is {best.bic_gap:.2g} smaller but which is at the edge of its family)"
        )
    rivals = [one for one in analysis.fits[1:] if one.bic_gap < STRONG_EVIDENCE and one not in ahead]
    if rivals:
        rivals.sort(key=lambda one: one.bic_gap)
        names = " and ".join(
            f"{_fit_words(analysis, one.fit)} ({_evidence(one.bic_gap)})" for one in rivals[:2]
        )
        text += f"; next {'come' if len(rivals) > 1 else 'comes'} {names}"
    text += _resampled(analysis)
    width = f"{100.0 * analysis.band.confidence:g}%"
    if best.excess >= MISFIT:
        return (
            f"{text}. It leaves the {width} band around the data by {percent(best.excess)} of the sessions "
            f"at step {best.step:,}: {_misfit(analysis)}"
        )
    if best.in_band:
        text += f". Its survival stays inside the {width} band around the data at every step"
    else:
        text += (
            f". It leaves the {width} band around the data by at most {percent(best.excess)} of the sessions "
            f"(at step {best.step:,}), which is little"
        )
    test, surprise, change = analysis.hazard_test, analysis.surprise, analysis.leaving_change
    is_rejected = test is not None and test.p_value < REJECTED and matters(test.observed, test.expected)
    if surprise is not None and analysis.surprise_matters and not is_rejected:
        clause = _shares_words(f"at step {surprise.step:,}", surprise.observed, surprise.expected)
        return f"{text}, but {clause}. So {_misfit(analysis)}"
    if change is not None and analysis.change_matters and not is_rejected:
        shape, _ = analysis.leaving_shape
        clause = f"by it leaving {_SHAPES[shape]}, while in the data, {change_words(change)}"
        return f"{text}, but {clause}. So {_misfit(analysis)}"
    if test is None:
        why = "too few steps have enough ends"
        if analysis.log.longest > MAX_TESTED:
            why = f"there are more than {MAX_TESTED:,} steps"
        return f"{text}. Its chances of leaving at each step could not be tested: {why}."
    result = chi_squared_words(test)
    if test.p_value >= REJECTED:
        level = " at the 1% level" * (test.p_value < _DOUBTFUL)
        return f"{text}, and the chances of leaving at each step do not contradict it{level} ({result})."
    is_one = test.first == test.last
    where = f"at step {test.first:,}" if is_one else f"per step, from step {test.first:,} to {test.last:,},"
    shares = _shares_words(where, test.observed, test.expected)
    cells = "in wide cells of steps" if test.is_wide else "at each step"
    rejected = f"the chances of leaving {cells} reject it ({result})"
    if not analysis.best_is_contradicted:
        little = "by less than 2 percentage points, and less than a factor of 2,"
        return f"{text}. T{rejected[1:]}, {little} where it is clearest: {shares}."
    return f"{text}, but {rejected}: {shares}. So {_misfit(analysis)}"


_TABLE = '--table FILE writes it, and tabulated("FILE") is a law.'


def _misfit(analysis: Analysis) -> str:
    """Return that the best family, or every family, does not fit, and what to use."""
    others = [f"{law_words(one.fit)} (ΔBIC {one.bic_gap:,.1f})" for one in analysis.others_that_fit[:2]]
    who = f"it does not fit, nor does any other family within ΔBIC {STRONG_EVIDENCE:g}"
    use = "the table of the data itself"
    if others:
        who = f"it does not fit, while the data do not contradict {' and '.join(others)}"
        use = f"such a law or {use}"
    return f"{who}. Use {use}: {_TABLE}" if analysis.has_table else f"{who}."


def _fit_words(analysis: Analysis, fit: Fit) -> str:
    """Return the name of a fitted law; a mixture with a component that the data hardly show is marked."""
    words = law_words(fit)
    if fit.family != "mixture":
        return words
    weight, *gammas = fit.parameters.values()
    for share, gamma in zip((weight, 1.0 - weight), gammas, strict=True):
        mean = 1.0 / (1.0 - gamma)
        component = f"its component of {percent(share)} of the sessions"
        if share < _RARE_COMPONENT and share * len(analysis.log) < FEW_ENDS:
            shown = f"the data hardly show {component}, with a mean of {number(mean)}"
            return f"{words}, a degenerate mixture ({shown})"
        if gamma**analysis.log.longest > 0.5:  # most of that mean is beyond the data
            return f"{words} (the mean of {component} is beyond the longest session, and not known)"
    return words


def _resampled(analysis: Analysis) -> str:
    """Return how often resampled logs lead to the same family, and the interval of the discount."""
    found = analysis.bootstrap
    if found is None:
        return ""
    times = found.families.get(analysis.best.fit.family, 0)
    text = f"; {times} of {found.n} resampled logs choose the same family"
    if analysis.best.fit.edge or analysis.best_is_rejected:
        return text  # the family limits the discounts
    late = min(analysis.quantile_from_first(0.1), max(analysis.last_at_risk, analysis.first))
    where = [0, int(np.searchsorted(found.steps, late, side="right")) - 1]
    ends = {i: dict.fromkeys(map(gamma_words, found.discount[:, i].tolist())) for i in where}
    parts = [f"{' to '.join(words)} at step {found.steps[i]:,}" for i, words in ends.items()]
    return f"{text}, and the 95% interval of the discount ρ(h) is {' and '.join(parts)}"


def _evidence(bic_gap: float) -> str:
    """Return how strong the evidence against a fit is, in the words of Raftery (1995)."""
    return f"weak evidence against it, ΔBIC {bic_gap:.1f}" if bic_gap < 2.0 else f"ΔBIC {bic_gap:.1f}"


def gamma_advice(analysis: Analysis) -> str:
    """Say whether a single γ is good enough, and what it costs."""
    law, geometric, usual = analysis.described_law, analysis.described_geometric, analysis.usual
    if not analysis.determines_mean:
        return (
            "The log does not determine whether a single γ is good enough, nor which one: that depends on "
            f"steps {_unseen_steps(analysis)}."
            + f" For steps that the log covers, use the table of the data: {_TABLE}"
            * analysis.has_table
        )
    if isinstance(law, Geometric):
        return f"By the best fit a single γ is enough: discount with γ = {gamma_words(geometric.gamma)}."
    share = analysis.gap / law.mean
    whose = "" if law is analysis.law else "from the data "
    cost = (
        f"The best single γ is {gamma_words(geometric.gamma)}. Its discount function is off {whose}by "
        f"Σ|γ − γ'| = {number(analysis.gap)} steps, {percent(share)} of the mean length: planning with it "
        f"loses at most that much, for rewards in [0, 1] ({gamma_words(usual.gamma)}, which has the same "
        f"mean length, at most {number(analysis.usual_gap)})."
    )
    if share <= SMALL_DIFFERENCE:
        return f"A single γ is good enough. {cost}"
    if share <= 0.1:
        return f"A single γ will do if the loss below does not matter. {cost}"
    enough = next((one for one in analysis.others_that_fit if not needs_more(one)), None) if whose else None
    if enough is not None:
        return (
            "By the data themselves a single γ is not good enough, but by "
            f"{law_words(enough.fit)}, which the data do not contradict, it is. {cost}"
        )
    if not analysis.rules_out_geometric:
        return (
            f"By {'the data' if whose else 'the best fit'} a single γ is not good enough, but the log does "
            f"not rule one out at the 1% level (ΔBIC {analysis.ranked('geometric').bic_gap:.1f}). {cost}"
        )
    price = analysis.price
    if price is not None and price.is_slight and not analysis.best_is_contradicted:
        much = "is good enough" if price.is_free else f"costs only {percent(price.loss / abs(price.best))}"
        return f"On {price.problem} a single γ {much}; on other problems it may cost more. {cost}"
    return (
        f"A single γ is not good enough. {cost} Use ρ(h) = γ(h+1)/γ(h), which changes with the step, and a "
        "policy that knows the step."
    )


def needs_more(one: RankedFit) -> bool:
    """Whether a single γ is not good enough by a fit."""
    law = one.fit.law
    return distance(law, closest_geometric(law)) > 0.1 * law.mean


def _unseen_steps(analysis: Analysis) -> str:
    """Return which steps the log says nothing about."""
    if analysis.determines_remaining:
        return f"before step {analysis.first:,}, the first step seen"
    before = f"before step {analysis.first:,}, and " if analysis.first > 1 else ""
    if analysis.unended > max(analysis.still_open, analysis.unseen):
        return f"{before}that hardly any of its sessions reach"
    return f"{before}beyond its longest session"


def unknown_price(analysis: Analysis) -> str:
    """Say that what a single γ costs on a problem is not determined."""
    return f"The log does not determine what a single γ costs: it depends on steps {_unseen_steps(analysis)}."


def horizon_words(analysis: Analysis) -> str:
    """Describe the effective horizons."""
    longest = f"the longest session of the log reaches step {analysis.log.longest:,}"
    if not analysis.determines_mean:
        return (
            "The log does not determine the effective horizon: it depends on steps "
            f"{_unseen_steps(analysis)} ({longest})."
        )
    horizons = [(analysis.horizon(truncation), truncation) for truncation in analysis.truncations]
    parts = [f"{'more than 2^53' if n is None else f'{n:,}'} for Δ = {delta:g}" for n, delta in horizons]
    text = f"From the effective horizon on all steps together weigh at most Δ: it is {', '.join(parts)}"
    law = analysis.described_law
    if law.longest is not None and any(n == law.longest and law.tail(n) > delta for n, delta in horizons):
        weight = number(float(law.tail(law.longest)))
        text += f"; it is never above {law.longest:,}, the last step, which weighs {weight}"
    is_far = any(n is None or n > analysis.log.longest for n, _ in horizons)
    last = analysis.last_of_many
    is_thin = any(n is not None and last < n <= analysis.log.longest for n, _ in horizons)
    thin = f"; fewer than 10 sessions show the steps after {last:,}" * is_thin
    return f"{text} ({longest}{thin}{'; what is beyond is extrapolated' * is_far})."
