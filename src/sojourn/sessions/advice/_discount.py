"""What is said about a single γ and about how far to plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.laws import Geometric, closest_geometric, distance, effective_horizon
from sojourn.sessions._format import gamma_words, join_words, law_words, number, percent
from sojourn.sessions.analysis._coverage import Unknown

if TYPE_CHECKING:
    from sojourn.sessions.analysis._analysis import Analysis
    from sojourn.sessions.analysis._ranking import RankedFit

__all__ = ["NEARLY_ENOUGH", "horizon_words", "needs_more", "single_gamma_words", "unknown_price"]

_FAR = 10
"""Horizons beyond this multiple of the longest session are not named: the family alone decides them."""

_ROUNDING = 1e-9
"""Relative difference of shares that may be a rounding error."""

_DIFFERENT = 1.5
"""Horizons of other laws are given if one of them differs by more than this factor."""

NEARLY_ENOUGH = 0.1
"""A single γ is called nearly enough if it loses at most this share of the mean length."""


def single_gamma_words(analysis: Analysis) -> str:
    """Give the best single γ, and bound what planning with it loses."""
    law = analysis.described_law
    if not analysis.determines_mean:
        return (
            "The log does not determine whether a single γ is good enough, nor which one: "
            f"{_what_is_missing(analysis)}."
        )
    gamma = gamma_words(analysis.described_geometric.gamma)
    if isinstance(law, Geometric):
        return f"The law is one of a single γ: {gamma}.{_by_other_fits(analysis, 0.0)}"
    share, is_of_data = analysis.gap / law.mean, law is not analysis.law
    usual = gamma_words(analysis.usual.gamma)
    most = number(min(analysis.usual_gap, law.mean))  # no policy loses more than a session can earn
    whose, right = ("the data", "these are") if is_of_data else ("that of the law", "the law is")
    return (
        f"The best single γ is {gamma}. Its discount function is off from {whose} by Σ|γ − γ'| = "
        f"{number(analysis.gap)} steps, {percent(share)} of the mean length: if {right} right, planning with "
        f"it loses at most that much, for rewards in [0, 1] ({usual}, which has the same mean length, at "
        f"most {most}).{_by_other_fits(analysis, share)}"
    )


def _by_other_fits(analysis: Analysis, share: float) -> str:
    """Return how far a single γ is off by another law that the data do not contradict, if that is more."""
    worst = max(analysis.rivals, key=_gap_share, default=None)
    if worst is None or _gap_share(worst) <= max(share, NEARLY_ENOUGH):
        return ""
    return (
        f" By {law_words(worst.fit)}, which the data do not contradict either, a single γ is off by "
        f"{percent(_gap_share(worst))}."
    )


def needs_more(one: RankedFit) -> bool:
    """Whether a single γ is not good enough by a fit."""
    return _gap_share(one) > NEARLY_ENOUGH


def _gap_share(one: RankedFit) -> float:
    """Return Σ|γ − γ'| between a fit and the closest geometric law, as a share of its mean."""
    law = one.fit.law
    return distance(law, closest_geometric(law)) / law.mean


def _what_is_missing(analysis: Analysis) -> str:
    """Return which steps that matter the log says nothing about."""
    if analysis.unknown is Unknown.TOO_LONG:
        return "no law fits, and the data have too many steps for a table"
    return f"that depends on steps {_unseen_steps(analysis)}"


def _unseen_steps(analysis: Analysis) -> str:
    if analysis.determines_remaining:
        return f"before step {analysis.first:,}"
    before = f"before step {analysis.first:,}, and " if analysis.first > 1 else ""
    if analysis.ends_at_hole and analysis.hole is not None:
        return f"{before}from {analysis.hole[0]:,} on, at the first of which hardly any session was observed"
    if analysis.unended > max(analysis.still_open, analysis.unseen) * (1.0 + _ROUNDING):
        return f"{before}that hardly any of its sessions reach"
    return f"{before}beyond its longest session"


def unknown_price(analysis: Analysis) -> str:
    """Say that what a single γ costs on a problem is not determined."""
    return f"The log does not determine what a single γ costs: {_what_is_missing(analysis)}."


def horizon_words(analysis: Analysis) -> str:
    """Describe the effective horizons."""
    longest = f"the data reach step {analysis.log.longest:,}"
    if not analysis.determines_mean:
        return f"The log does not determine the effective horizon: {_what_is_missing(analysis)} ({longest})."
    law = analysis.described_law
    far = _FAR * analysis.log.longest if law is analysis.law else analysis.log.longest
    horizons = {delta: analysis.horizon(delta) for delta in analysis.truncations}
    all_steps = [
        delta for delta, n in horizons.items() if n is not None and law.tail(n) > delta * (1.0 + _ROUNDING)
    ]
    text = "From the effective horizon on, all steps together weigh at most Δ"
    named = _list_horizons({delta: n for delta, n in horizons.items() if delta not in all_steps}, far)
    text += f": it is {named}" if named else ""
    text += f"; for Δ = {_list(all_steps)}, plan every step" if all_steps else ""
    is_far = any(n is None or n > analysis.log.longest for n in horizons.values())
    last = analysis.last_of_many
    is_thin = any(n is not None and last < n <= analysis.log.longest for n in horizons.values())
    thin = f"; fewer than 10 sessions show the steps after {last:,}" * is_thin
    text = f"{text} ({longest}{thin}{'; what is beyond is extrapolated' * is_far})."
    return text if law is not analysis.law else text + _other_horizons(analysis, horizons, far)


def _other_horizons(analysis: Analysis, horizons: dict[float, int | None], far: int) -> str:
    """Return the horizons of another law that the data do not contradict, if they are quite different."""
    most, found = _DIFFERENT, ""
    for one in analysis.rivals:
        others = {delta: effective_horizon(one.fit.law, delta) for delta in horizons}
        pairs = [(min(n or far, far), min(others[delta] or far, far)) for delta, n in horizons.items()]
        factor = max(max(pair) / min(pair) for pair in pairs)
        if factor > most:
            name = law_words(one.fit)
            found = (
                f" By {name}, which the data do not contradict either, it is {_list_horizons(others, far)}."
            )
            most = factor
    return found


def _list_horizons(horizons: dict[float, int | None], far: int) -> str:
    """Return the horizons for each Δ; those above `far` only as such."""
    near = {delta: n for delta, n in horizons.items() if n is not None and n <= far}
    parts = [f"{n:,} for Δ = {delta:g}" for delta, n in near.items()]
    beyond = [delta for delta in horizons if delta not in near]
    return ", ".join(parts + [f"more than {far:,} for Δ = {_list(beyond)}"] * bool(beyond))


def _list(truncations: list[float]) -> str:
    return join_words([f"{delta:g}" for delta in truncations])
