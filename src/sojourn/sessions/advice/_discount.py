"""What is said about a single γ and about how far to plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.laws import Geometric, closest_geometric, distance
from sojourn.sessions._format import gamma_words, join_words, number, percent

if TYPE_CHECKING:
    from sojourn.sessions.analysis._analysis import Analysis
    from sojourn.sessions.analysis._ranking import RankedFit

__all__ = ["NEARLY_ENOUGH", "horizon_words", "needs_more", "single_gamma_words", "unknown_price"]

NEARLY_ENOUGH = 0.1
"""A single γ is called nearly enough if it loses at most this share of the mean length."""


def single_gamma_words(analysis: Analysis) -> str:
    """Give the best single γ, and bound what planning with it loses."""
    law, usual = analysis.described_law, analysis.usual
    if not analysis.determines_mean:
        return (
            "The log does not determine whether a single γ is good enough, nor which one: that depends on "
            f"steps {_unseen_steps(analysis)}."
        )
    gamma = gamma_words(analysis.described_geometric.gamma)
    if isinstance(law, Geometric):
        return f"The law is one of a single γ: {gamma}.{_by_other_fits(analysis, 0.0)}"
    share, is_of_data = analysis.gap / law.mean, law is not analysis.law
    whose, right = ("the data", "these are") if is_of_data else ("that of the law", "the law is")
    return (
        f"The best single γ is {gamma}. Its discount function is off from {whose} by Σ|γ − γ'| = "
        f"{number(analysis.gap)} steps, {percent(share)} of the mean length: if {right} right, planning with "
        f"it loses at most that much, for rewards in [0, 1] ({gamma_words(usual.gamma)}, which has the same "
        f"mean length, at most {number(analysis.usual_gap)}).{_by_other_fits(analysis, share)}"
    )


def _by_other_fits(analysis: Analysis, share: float) -> str:
    """Return how far a single γ is off by other laws that the data do not contradict, if that is more."""
    worst = max((_gap_share(one) for one in analysis.rivals), default=0.0)
    if worst <= max(share, NEARLY_ENOUGH):
        return ""
    return f" By other laws that the data do not contradict, a single γ is off by up to {percent(worst)}."


def needs_more(one: RankedFit) -> bool:
    """Whether a single γ is not good enough by a fit."""
    return _gap_share(one) > NEARLY_ENOUGH


def _gap_share(one: RankedFit) -> float:
    """Return Σ|γ − γ'| between a fit and the closest geometric law, as a share of its mean."""
    law = one.fit.law
    return distance(law, closest_geometric(law)) / law.mean


def _unseen_steps(analysis: Analysis) -> str:
    """Return which steps the log says nothing about."""
    if analysis.determines_remaining:
        return f"before step {analysis.first:,}"
    before = f"before step {analysis.first:,}, and " if analysis.first > 1 else ""
    if analysis.unended > max(analysis.still_open, analysis.unseen):
        return f"{before}that hardly any of its sessions reach"
    return f"{before}beyond its longest session"


def unknown_price(analysis: Analysis) -> str:
    """Say that what a single γ costs on a problem is not determined."""
    return f"The log does not determine what a single γ costs: it depends on steps {_unseen_steps(analysis)}."


def horizon_words(analysis: Analysis) -> str:
    """Describe the effective horizons."""
    longest = f"the data reach step {analysis.log.longest:,}"
    if not analysis.determines_mean:
        return (
            "The log does not determine the effective horizon: it depends on steps "
            f"{_unseen_steps(analysis)} ({longest})."
        )
    horizons = [(analysis.horizon(truncation), truncation) for truncation in analysis.truncations]
    law = analysis.described_law
    all_steps = [delta for n, delta in horizons if n is not None and law.tail(n) > delta]
    parts = [
        f"{'more than 2^53' if n is None else f'{n:,}'} for Δ = {delta:g}"
        for n, delta in horizons
        if delta not in all_steps
    ]
    text = "From the effective horizon on, all steps together weigh at most Δ"
    text += f": it is {', '.join(parts)}" if parts else ""
    if all_steps:
        text += f"; for Δ = {join_words([f'{delta:g}' for delta in all_steps])}, plan every step"
    is_far = any(n is None or n > analysis.log.longest for n, _ in horizons)
    last = analysis.last_of_many
    is_thin = any(n is not None and last < n <= analysis.log.longest for n, _ in horizons)
    thin = f"; fewer than 10 sessions show the steps after {last:,}" * is_thin
    return f"{text} ({longest}{thin}{'; what is beyond is extrapolated' * is_far})."
