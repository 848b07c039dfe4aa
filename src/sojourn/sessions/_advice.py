"""What a session log says, in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sojourn.laws import MAX_STEP, Geometric, LengthLaw, quantile
from sojourn.sessions._format import gamma_words, law_words, number, percent

if TYPE_CHECKING:
    from sojourn.sessions._analysis import Analysis
    from sojourn.sessions._groups import GroupTest

__all__ = ["advise", "group_words"]

_FEW = 10
"""With fewer sessions nothing is told for sure."""

_OFF = 0.01
"""By how much of the sessions the best law must leave the band before no family is said to fit."""

_SELDOM = 1e-6
"""A chance that nobody meets."""

_SURE = 10.0
"""How much larger the log-likelihood ratio to a geometric law must be before leaving is said to change."""


def advise(analysis: Analysis) -> tuple[tuple[str, str], ...]:
    """Return headings with a paragraph each."""
    found = [
        ("The sessions", _sessions(analysis)),
        ("How long they last", _lengths(analysis)),
        ("How people leave", _leaving(analysis)),
        ("The law", _law(analysis)),
        ("A single γ", _single(analysis)),
        ("How far to plan", _horizons(analysis)),
    ]
    if analysis.price is not None:
        found.append(("On the problem", _priced(analysis)))
    if analysis.groups is not None:
        found.append((f"{analysis.groups.what.capitalize()}s", group_words(analysis.groups)))
    return tuple(found)


def _sessions(analysis: Analysis) -> str:
    log = analysis.log
    n, late = len(log), int(log.counts[log.entry > 1].sum())
    text = f"{n:,} session{'s' * (n != 1)}"
    if n < _FEW:
        text += " (too few to tell one law from another: take what follows as a guess)"
    if log.n_open:
        text += (
            f", of which {log.n_open:,} ({percent(log.n_open / n)}) are open: of these it is known only that "
            "they got as far as they did, and they count as such."
        )
    else:
        text += ", all of them seen to their end."
    if late:
        text += (
            f" {late:,} came under observation after their first step, and count from there on: sessions "
            "that ended before they could be seen are missing from the log, and this makes up for it."
        )
    if analysis.first > 1:
        text += (
            f" None was seen before step {analysis.first:,}: the data say what becomes of those who get that "
            "far, and laws are held against them given that. What a law says of earlier steps, and so its "
            "mean length, is no more than how its family goes on backwards."
        )
    if log.account.n_rejected:
        bad = log.account.n_rejected
        text += f" {bad:,} row{'s' * (bad != 1)} of the file could not be used."
    if log.account.columns:
        taken = [f"{what} from {name!r}" for what, name in log.account.columns]
        text += f" Taken: {', '.join(taken)}."
    return text


def _lengths(analysis: Analysis) -> str:
    law, first = analysis.law, analysis.first
    if not analysis.determines_remaining:
        return _undetermined(analysis)
    half, tenth = (number(_gone(analysis, left)) for left in (0.5, 0.1))
    if first > 1:
        text = (
            f"No session was seen before step {first:,}, so the log does not determine the mean length. "
            f"Those who get that far last {_steps(analysis.remaining)} on average from there on"
            f"{_interval(analysis)}: half of them end by step {half}, and one in ten after step {tenth}."
        )
    else:
        text = f"{_own_mean(analysis)}{_steps(law.mean)} on average{_interval(analysis)}"
        text += f"; half of them last at most {half}, and one in ten more than {tenth}."
    if analysis.best.fit.edge:
        text += (
            f" The best fit is at the edge of its family ({', '.join(analysis.best.fit.edge)}), as good as a "
            "simpler law there; the data reach far enough for the mean not to depend on it."
        )
    unseen = analysis.unseen
    if unseen > 0.02:
        text += (
            f" {percent(unseen)} of that mean lie past the longest session of the log: they come from the "
            "fitted law and not from the data."
        )
    return text


def _own_mean(analysis: Analysis) -> str:
    """Return how the mean of the law is to be told: after that of the data, where no family fits them."""
    own = analysis.kaplan_meier
    if own is None or analysis.best.excess < _OFF:
        return "A session lasts "
    return (
        f"A session lasts {_steps(own.mean)} on average by the data themselves (Kaplan–Meier). No family "
        "fits them; by the best one it is "
    )


def _gone(analysis: Analysis, left: float) -> int:
    """Return the step after which no more than a share is left of those who got to the first one seen."""
    return quantile(analysis.law, left * float(analysis.law.survival(analysis.first)))


def _undetermined(analysis: Analysis) -> str:
    """Return what is known of lengths where the mean is the fitted law's word and not the data's."""
    law, edge, longest, first = analysis.law, analysis.best.fit.edge, analysis.log.longest, analysis.first
    mean = law.mean if first == 1 else analysis.remaining
    why = f"{percent(analysis.unseen)} of the {number(mean)} steps that the best fit makes it lie past the "
    why += "longest session"
    if edge:
        why = f"the best fit is at the edge of its family ({', '.join(edge)})"
    whose = f"those who get to step {first:,} last" if first > 1 else "sessions last"
    what = f"mean from step {first:,} on, where the first was seen" if first > 1 else "mean length"
    text = f"The log does not determine the {what}: {why}. Counted up to step {longest:,}, the longest "
    text += f"session, {whose} {_steps(analysis.seen_mean - (first - 1))} on average"
    text += " from there on" if first > 1 else ""
    half = _gone(analysis, 0.5)
    if half <= longest:
        text += f"; half of them {'end by step' if first > 1 else 'last at most'} {number(half)}"
    return f"{text}. More data, or longer ones, would settle it."


def _steps(count: float) -> str:
    """Return a number of steps, one step or several."""
    return f"{number(count)} step{'s' * (number(count) != '1')}"


def _interval(analysis: Analysis) -> str:
    """Return the 95% interval of the mean from the first step seen, on a logarithmic scale, if it has one."""
    fit, mean = analysis.best.fit, analysis.remaining
    error = fit.error_of(lambda law: float(law.remaining(analysis.first)))
    if not error > 0.0 or fit.edge:
        return ""
    times = math.exp(1.96 * error / mean)
    return f" (95% interval {number(mean / times)} to {number(mean * times)})"


def _leaving(analysis: Analysis) -> str:
    law, first = analysis.law, analysis.first
    early = max(_first_at_risk(law), first)
    late = min(max(_gone(analysis, 0.1), early + 1), MAX_STEP)
    if not analysis.determines_remaining:
        late = min(late, max(analysis.log.longest, early + 1))
    begin, end = float(law.hazard(early)), float(law.hazard(late))
    if begin > 1.0 - _SELDOM:
        return f"Nobody leaves before step {early:,}; there all do." if early > 1 else "All leave at once."
    text = f"Nobody leaves before step {early:,}; then" if early > 1 else "After the first step"
    if early == first > 1:
        text = f"Of those who reach step {early:,},"
    text += f" {percent(begin)} leave; of those who reach step {late:,}, {percent(end)} leave there."
    sure = 2.0 * (analysis.best.fit.log_likelihood - analysis.ranked("geometric").fit.log_likelihood) > _SURE
    if not sure or 0.9 < end / begin < 1.1:
        since = f"From step {early:,} on leaving" if early > 1 else "Leaving"
        return f"{text} {since} is about as likely at every step."
    if end < begin and not analysis.determines_remaining:
        return (
            f"{text} Leaving slows down: who has stayed long will stay longer, how long the log does not say."
        )
    if end < begin:
        stay, fresh = number(float(law.remaining(late))), number(float(law.remaining(early)))
        return (
            f"{text} Leaving slows down: who has stayed long will stay longer, {stay} more steps on average "
            f"from step {late:,} on, against {fresh} from step {early} on."
        )
    return f"{text} Leaving speeds up: the longer a session has lasted, the likelier its end."


def _first_at_risk(law: LengthLaw) -> int:
    """Return the first step at which a session can end."""
    return quantile(law, 1.0 - 1e-12)


def _law(analysis: Analysis) -> str:
    best = analysis.best
    text = f"By BIC the best of {len(analysis.fits)} families is {law_words(best.fit)}"
    ahead = [one for one in analysis.fits if one.bic_gap < best.bic_gap]
    if ahead:
        names = " and ".join(law_words(one.fit) for one in ahead)
        text += f" (not {names}, {best.bic_gap:.2g} smaller, but at the edge of what its family allows)"
    rivals = [one for one in analysis.fits[1:] if one.bic_gap < 6.0 and one not in ahead]
    if rivals:
        names = " and ".join(law_words(one.fit) for one in rivals[:2])
        text += f", but {names} {'is' if len(rivals) == 1 else 'are'} almost as likely"
    width = f"{100.0 * analysis.band.confidence:g}%"
    if best.in_band:
        return f"{text}. It stays inside the {width} band around the data at every step."
    if best.excess < _OFF:
        return (
            f"{text}. It leaves the {width} band around the data, by {percent(best.excess)} of the sessions "
            f"at most (at step {best.step:,}): the log is long enough to tell, but little depends on it."
        )
    return (
        f"{text}. It leaves the {width} band around the data by {percent(best.excess)} of the sessions at "
        f"step {best.step:,}: no family here fits, and what follows is only as good as that. Use the table "
        "of the data itself."
    )


def _single(analysis: Analysis) -> str:
    law, gamma = analysis.law, analysis.geometric.gamma
    if isinstance(law, Geometric):
        exact = f"{gamma:.6g}" if gamma < 0.9999995 else repr(gamma)
        return f"{_unsure(analysis)}A single γ is all there is to it: discount with γ = {exact}."
    share = analysis.gap / law.mean
    usual = analysis.usual.gamma
    other = (
        f" (not {gamma_words(usual)}, as the mean length would have it)" if abs(gamma - usual) > 5e-4 else ""
    )
    cost = f"The best single γ is {gamma_words(gamma)}{other}. "
    cost += (
        f"Its discount function is off by Σ|γ − γ'| = {number(analysis.gap)} steps, {percent(share)} of the "
        f"mean length: planning with it loses at most that much, for rewards in [0, 1]"
    )
    cost += f" (with {gamma_words(usual)}, {number(analysis.usual_gap)}). "
    if share <= 0.02:
        return f"{_unsure(analysis)}A single γ is good enough. {cost}".strip()
    if share <= 0.1:
        unsure = _unsure(analysis)
        return f"{unsure}A single γ will do if a loss of a few percent does not matter. {cost}".strip()
    return (
        f"{_unsure(analysis)}A single γ is not good enough. {cost}Use ρ(h) = γ(h+1)/γ(h), which changes with "
        "the step, and a policy that knows the step."
    )


def _unsure(analysis: Analysis) -> str:
    """Return a warning where what follows rests on steps that are not in the log."""
    if analysis.determines_mean:
        return ""
    if analysis.determines_remaining:
        where = f"before step {analysis.first:,}, where the first session was seen"
    else:
        where = "past its longest session"
    return f"The log does not determine this, which rests on steps {where}. By the best fit: "


def _horizons(analysis: Analysis) -> str:
    parts = []
    for left in analysis.truncations:
        reach = analysis.horizon(left)
        parts.append(f"{'more than 2^53' if reach is None else f'{reach:,}'} for Δ = {left:g}")
    return (
        f"{_unsure(analysis)}Past the effective horizon all steps together weigh no more than Δ: it is "
        + ", ".join(parts)
        + " (the longest session of the log has "
        + f"{_steps(analysis.log.longest)})."
    )


def _priced(analysis: Analysis) -> str:
    price = analysis.price
    if price is None:
        return ""
    if price.loss <= max(price.width, 1e-9 * abs(price.best)):
        return (
            f"On {price.problem} the policy that is best under γ = {gamma_words(price.gamma)} is best under "
            f"the fitted law as well: {price.best:.6g} a session."
        )
    share = percent(price.loss / abs(price.best)) if price.best else "all"
    return (
        f"On {price.problem} the best policy earns {price.best:.6g} a session. The one that is best under "
        f"γ = {gamma_words(price.gamma)} earns {price.geometric:.6g}: the geometric assumption costs "
        f"{price.loss:.4g}, {share}."
    )


_BROKEN = {
    "group": (
        "That breaks two things. One law for all mixes several: it is right for a session of which nothing "
        "is known, and wrong for one whose group is seen; fit each group by itself. And if the group is a "
        "state that changes within a session, the end depends on what happens, so no law of lengths is a "
        "discount: make leaving part of the problem's transitions."
    ),
    "state": (
        "That breaks the discount: the end depends on what happens, so the reward at step h does not count "
        "with the chance of getting that far whatever one does. Make leaving part of the problem's "
        "transitions (terminated), and fit a law to what is left."
    ),
}


def group_words(test: GroupTest) -> str:
    """Return what a test of groups means."""
    chance = f"p = {test.p_value:.2g}" if test.p_value >= 1e-4 else "p < 0.0001"
    freedom = f"{test.freedom} degree{'s' * (test.freedom > 1)} of freedom"
    result = f"(log-rank χ² = {test.statistic:.4g} on {freedom}, {chance})"
    if not test.depends:
        sure = "is not seen to depend" if test.p_value >= 1e-3 else "hardly depends"
        return f"Leaving {sure} on the {test.what} {result}: one law for all is fair."
    known = [(ratio, i + 1) for i, ratio in enumerate(test.ratios) if not math.isnan(ratio)]
    (low, quiet), (high, hasty) = min(known), max(known)
    return (
        f"Leaving depends on the {test.what} {result}: {test.what} {hasty} ends {high:.2f} times as often as "
        f"it would if all left alike, {test.what} {quiet} {low:.2f} times. {_BROKEN[test.what]}"
    )
