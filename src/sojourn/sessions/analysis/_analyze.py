"""Fits every family of laws to a session log, ranks the fits and compares them with the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sojourn._typing import BoolArray
from sojourn._validation import check_positive, check_whole
from sojourn.laws import Fit, band_of_sample, closest_geometric
from sojourn.sessions._log import SessionLog
from sojourn.sessions._step_log import StepLog
from sojourn.sessions.analysis._analysis import CONFIDENCE, Analysis
from sojourn.sessions.analysis._bootstrap import resample
from sojourn.sessions.analysis._coverage import find_hole, first_of_many
from sojourn.sessions.analysis._groups import GroupTest, compare_groups
from sojourn.sessions.analysis._price import held_out_loss, price_geometric
from sojourn.sessions.analysis._ranking import choose_best, compare_fits, rank_fits

if TYPE_CHECKING:
    from sojourn.mdps import TabularMDP

__all__ = ["analyse", "analyze"]


def analyze(
    log: SessionLog,
    *,
    confidence: float = CONFIDENCE,
    truncations: Sequence[float] = (1.0, 0.1, 0.01),
    problem: TabularMDP | None = None,
    test: GroupTest | None = None,
    steps: StepLog | None = None,
    resamples: int = 0,
    seed: int = 0,
) -> Analysis:
    """Fit every family of laws to a session log, rank the fits and compare them with the data.

    Args:
        log: Sessions; at least one must have been seen to end.
        confidence: Confidence level of the band around the Kaplan–Meier survival function.
        truncations: Values Δ > 0 for which effective horizons are reported.
        problem: A problem on which to price the assumption of a geometric law.
        test: A test of whether leaving depends on the state, from `StepLog.leaving_by_state`; by default the
            log's groups are compared.
        steps: The step log from which the problem was estimated: with resamples, the price then gets an
            interval from data that were not used to plan.
        resamples: Number of resampled logs on which the whole procedure is repeated, with the choice of the
            family, for the intervals of the mean and of the discount.
        seed: Seed of the resampling.

    Raises:
        ValueError: If no session was seen to end, or all came under observation at their last step.

    Example:
        >>> import numpy as np, sojourn as sj
        >>> lengths = sj.BetaGeometric(3.0, 6.0).sample(np.random.default_rng(0), 5_000)
        >>> found = analyze(sj.sessions.SessionLog.from_columns(lengths))
        >>> found.best.fit.family, found.best.in_band, found.ranked("geometric").in_band
        ('beta_geometric', True, False)
    """
    wanted = tuple(check_positive(f"truncations[{i}]", value) for i, value in enumerate(truncations))
    if not log.observed.any():
        raise ValueError(
            f"{log.name} must have a session that was seen to end: all {len(log):,} are open, "
            "so nothing is known about how long sessions last."
        )
    if (log.entry > 1).any() and not (log.lengths > log.entry).any():
        raise ValueError(
            f"{log.name} must have a session that was seen to survive a step: all {len(log):,} came under "
            "observation at their last one; is the entry column the right one?"
        )
    groups = test or compare_groups(log)  # first, so that large logs hold one set of counts at a time
    part = _without_holes(log)
    log, sample = part.log, part.log.sample
    band = band_of_sample(sample, confidence=confidence)
    fits = rank_fits(sample)
    ranked = compare_fits(fits, band)
    geometric = closest_geometric(fits[0].law)
    found = Analysis(
        log,
        band,
        ranked,
        geometric,
        wanted,
        groups,
        None,
        None,
        problem,
        part.n_before,
        part.hole,
        part.n_after,
    )
    if found.is_constant:
        found = replace(found, geometric=closest_geometric(found.law))
    if check_whole("resamples", resamples, least=0) and found.shows_a_family:
        bootstrap = resample(log, fits, choose_best, first=band.first, n=resamples, seed=seed)
        found = replace(found, bootstrap=bootstrap)
    if problem is None or not found.determines_mean:
        return found
    price = price_geometric(problem, found.law, found.geometric)
    if steps is not None and found.bootstrap is not None:
        merged = steps.merged()
        held_out = held_out_loss(merged, _best_fit, resamples=max(resamples // 5, 2), seed=seed)
        price = replace(price, held_out=held_out)
    return replace(found, price=price)


analyse = analyze
"""Alias with British spelling."""


class _Part(NamedTuple):
    """The part of a log at whose steps enough sessions were observed."""

    log: SessionLog
    n_before: int | None = None
    """Number of sessions that get no further than earlier steps; None if none were observed there."""
    hole: tuple[int, int] | None = None
    """Steps that hardly any session shows, at which the part ends, or after which it begins."""
    n_after: int = 0
    """Number of sessions that came under observation after the hole at which the part ends."""


def _without_holes(log: SessionLog) -> _Part:
    """Return the part of a log at whose steps enough sessions were observed.

    Of the parts before and after steps that hardly any session shows, it is the one with more observed ends.
    """
    if not (log.entry > 1).any():
        return _Part(log)
    part = _from_step(_Part(log), first_of_many(log.sample))
    while (hole := find_hole(part.log.sample)) is not None:
        start, end = hole
        ends = part.log.lengths[part.log.observed]
        counts = part.log.counts[part.log.observed]
        n_before, n_after = int(counts[ends < start].sum()), int(counts[ends > end].sum())
        if n_before >= n_after:
            return _up_to(part, hole) if n_before else part
        later = _from_step(part, end + 1)
        if later is part:
            return part
        part = later._replace(hole=hole)
    return part


def _from_step(part: _Part, first: int) -> _Part:
    """Return a part from a step on, or the same part if nothing is earlier or nothing would be left."""
    log = part.log
    kept = log.lengths >= first
    if first <= log.entry.min() or not (log.observed & kept & (log.lengths > first)).any():
        return part
    n_before = (part.n_before or 0) + int(log.counts[~kept].sum())
    return part._replace(log=_rows(log, kept, entry=np.maximum(log.entry, first)), n_before=n_before)


def _up_to(part: _Part, hole: tuple[int, int]) -> _Part:
    """Return a part up to a hole; sessions that get there count as open."""
    log, start = part.log, hole[0]
    kept = log.entry < start
    lengths, observed = np.minimum(log.lengths, start), log.observed & (log.lengths < start)
    return part._replace(
        log=_rows(log, kept, lengths=lengths, observed=observed),
        hole=hole,
        n_after=int(log.counts[~kept].sum()),
    )


def _rows(log: SessionLog, kept: BoolArray, **changed: Any) -> SessionLog:
    """Return a log with some of its rows, and with changed columns."""
    names = ("lengths", "observed", "entry", "group", "counts")
    return replace(log, **{name: changed.get(name, getattr(log, name))[kept] for name in names})


def _best_fit(log: SessionLog) -> Fit:
    return rank_fits(_without_holes(log).log.sample)[0]
