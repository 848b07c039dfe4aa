"""From a session log to a law: every family fitted, ranked and held against the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn._validation import check_positive
from sojourn.laws import (
    FAMILIES,
    MAX_STEP,
    Band,
    Fit,
    Geometric,
    KaplanMeier,
    LengthLaw,
    Sample,
    band_of_sample,
    closest_geometric,
    distance,
    fit_sample,
)
from sojourn.sessions._groups import GroupTest, compare_groups, group_samples
from sojourn.sessions._log import SessionLog
from sojourn.sessions._price import ProblemPrice, price_geometric

if TYPE_CHECKING:
    from sojourn.mdps import TabularMDP

__all__ = ["Analysis", "RankedFit", "analyse", "analyze"]

_ALIKE = 2.0
"""Two BIC that differ by no more are as good as one another (Raftery 1995: hardly worth a mention).

A family at the edge of its range is then a simpler one in disguise, whose BIC counts too many parameters, or
would go further than it may; so one that is at no edge is taken.
"""

_NEGLIGIBLE = 0.02
"""A share of the mean, or of the sessions, on which nothing depends."""

_MOST_STAIRS = 1_000_000
_GROUP_DISTINCT = 1 << 12
"""So many distinct values of a group are kept apart where its laws are fitted."""


@dataclass(frozen=True)
class RankedFit:
    """A family's most likely law, and how it stands beside the others and the data.

    Attributes:
        fit: The law and its likelihood.
        bic_gap: How much larger its BIC is than the smallest.
        aic_gap: How much larger its AIC is than the smallest.
        excess: By how much γ leaves the simultaneous band where it does so most; ≤ 0 if it never does.
        step: Where that is.
    """

    fit: Fit
    bic_gap: float
    aic_gap: float
    excess: float
    step: int

    @property
    def in_band(self) -> bool:
        """Whether the data, at the band's confidence, leave room for this law."""
        return self.excess <= 1e-12


@dataclass(frozen=True, eq=False)
class Analysis:
    """What a session log says.

    Attributes:
        log: The log.
        band: Kaplan–Meier's survival with a simultaneous band.
        fits: Every family, the smallest BIC first; within 2 of it, those first that are at no edge.
        geometric: The geometric law closest to the best fit, by Σ|γ − γ'|: the best that a single γ can do.
        truncations: For which weights left (Δ) effective horizons are wanted.
        groups: Whether leaving depends on the group, or on the state; None where there is none.
        price: What the geometric law costs on a problem; None where none was given.
    """

    log: SessionLog
    band: Band
    fits: tuple[RankedFit, ...]
    geometric: Geometric
    truncations: tuple[float, ...]
    groups: GroupTest | None
    price: ProblemPrice | None

    @property
    def first(self) -> int:
        """The step at which the first session came under observation; nothing before it is in the log."""
        return self.band.first

    @property
    def best(self) -> RankedFit:
        """The fit with the smallest BIC, or one within 2 of it that is at no edge of its family."""
        return self.fits[0]

    @property
    def law(self) -> LengthLaw:
        """The law of the best fit."""
        return self.best.fit.law

    def ranked(self, family: str) -> RankedFit:
        """Return the fit of a family."""
        return next(one for one in self.fits if one.fit.family == family)

    @cached_property
    def usual(self) -> Geometric:
        """The geometric law that is usually assumed: the one with the mean of the best fit."""
        return Geometric(min(1.0 - 1.0 / self.law.mean, 1.0 - 2.0**-53))

    @cached_property
    def gap(self) -> float:
        """Σ|γ − γ'| for the closest geometric law, in steps."""
        return distance(self.law, self.geometric)

    @cached_property
    def usual_gap(self) -> float:
        """Σ|γ − γ'| for the geometric law of the same mean, in steps."""
        return distance(self.law, self.usual)

    @cached_property
    def kaplan_meier(self) -> KaplanMeier | None:
        """Kaplan–Meier's law with a geometric tail, given H ≥ `first`.

        None where late entries leave it undefined, or where it would have over a million stairs.
        """
        log = self.log
        if log.lengths.size > _MOST_STAIRS:
            return None
        try:
            return KaplanMeier(log.lengths, log.observed, counts=log.counts, entry=log.entry)
        except ValueError:
            return None

    @cached_property
    def group_fits(self) -> tuple[Fit | None, ...]:
        """The best fit of each group that was compared; None where nobody was seen to leave."""
        if self.groups is None or self.groups.what != "group":
            return ()
        samples, _ = group_samples(self.log)
        thin = (sample.thinned(_GROUP_DISTINCT) for sample in samples)
        return tuple(_ranked(sample)[0] if sample.n_observed else None for sample in thin)

    @property
    def remaining(self) -> float:
        """How many steps, by the best fit, those who get to step `first` last from there on, on average."""
        return float(self.law.remaining(self.first))

    @property
    def unseen(self) -> float:
        """The share of the best fit's mean, from step `first` on, past the longest session of the log."""
        past = self.log.longest + 1
        whole = float(self.law.tail(self.first))
        return float(self.law.tail(past)) / whole if past <= MAX_STEP and whole > 0.0 else 0.0

    @property
    def still_open(self) -> float:
        """The share of those who get to step `first` that the longest session stands for, if it is open."""
        at_end = self.log.lengths == self.log.longest
        return 0.0 if self.log.observed[at_end].all() else float(self.band.estimate[-1])

    @property
    def determines_remaining(self) -> bool:
        """Whether the log tells the mean from step `first` on: at least half of it is in the data.

        Where the best fit is at an edge of its family, almost all of it must be: what lies past the data is
        then as the edge would have it.
        """
        if self.best.fit.edge and max(self.unseen, self.still_open) > _NEGLIGIBLE:
            return False
        return self.unseen <= 0.5

    @property
    def determines_mean(self) -> bool:
        """Whether the log tells the mean: it begins at the first step, and tells the mean from there on."""
        return self.first == 1 and self.determines_remaining

    @property
    def seen_mean(self) -> float:
        """Kaplan–Meier's mean of min(H, L), L the longest session: what the data say without any law."""
        return float(np.dot(self.band.estimate, np.diff(self.band.steps, prepend=0)))

    def horizon(self, truncation: float) -> int | None:
        """Return the smallest N with Γ(N) ≤ truncation; None above 2**53."""
        law = self.law
        if law.longest is None and float(law.tail(MAX_STEP)) > truncation:
            return None
        return law.effective_horizon(truncation)

    def advice(self) -> tuple[tuple[str, str], ...]:
        """Return what it means in plain words, as headings with a paragraph each."""
        from sojourn.sessions._advice import advise  # noqa: PLC0415

        return advise(self)

    def as_dict(self, *, labels: bool = False) -> dict[str, Any]:
        """Return all of it as plain data, for JSON; groups by what the log calls them only if asked."""
        from sojourn.sessions._as_dict import record  # noqa: PLC0415

        return record(self, labels=labels)

    def plot(self) -> Any:
        """Draw survival, hazard and implied discount; see `sojourn.plots.session_figure`."""
        from sojourn.plots import session_figure  # noqa: PLC0415

        return session_figure(self)


def analyze(
    log: SessionLog,
    *,
    confidence: float = 0.95,
    truncations: Sequence[float] = (1.0, 0.1, 0.01),
    problem: TabularMDP | None = None,
    test: GroupTest | None = None,
) -> Analysis:
    """Fit every family of laws to a session log, rank them, and hold them against the data.

    Args:
        log: Sessions, at least one of which was seen to end.
        confidence: Of the band around Kaplan–Meier's survival.
        truncations: Weights Δ > 0 for which effective horizons are wanted.
        problem: A problem on which to price the geometric assumption.
        test: Whether leaving depends on the state, from `StepLog.leaving_by_state`; by default the log's
            groups are compared.

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
            "and nothing is known of how long sessions are."
        )
    if (log.entry > 1).any() and not (log.lengths > log.entry).any():
        raise ValueError(
            f"{log.name} must have a session that was seen to survive a step: all {len(log):,} came under "
            "observation at their last one; is the column of entries the right one?"
        )
    groups = test or compare_groups(log)  # first: of millions of rows, one kind of counts at a time
    sample = log.sample
    band = band_of_sample(sample, confidence=confidence)
    fits = _ranked(sample)
    bic, aic = min(one.bic for one in fits), min(one.aic for one in fits)
    ranked = tuple(RankedFit(one, one.bic - bic, one.aic - aic, *band.excess(one.law)) for one in fits)
    geometric = closest_geometric(fits[0].law)
    price = None if problem is None else price_geometric(problem, fits[0].law, geometric)
    return Analysis(log, band, ranked, geometric, wanted, groups, price)


analyse = analyze
"""The same function under its British spelling."""


def _ranked(sample: Sample) -> list[Fit]:
    """Return every family's fit, the smallest BIC first; of those almost as good, such at no edge first."""
    sample = sample.thinned()
    fits = [fit_sample(sample, family) for family in FAMILIES]
    enough = min(one.bic for one in fits) + _ALIKE
    return sorted(fits, key=lambda one: (one.bic > enough or bool(one.edge), one.bic))
