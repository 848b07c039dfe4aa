"""Compares a fitted law with the sessions that it was fitted to."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.laws import Band, Fit, Sample
from sojourn.sessions.analysis._hazard_test import (
    HazardTest,
    Surprise,
    compare_hazards,
    find_surprise,
    matters,
)
from sojourn.sessions.analysis._mean_test import MeanTest, compare_means

__all__ = ["MISFIT", "FitCheck", "check_fit", "hazards_of"]

MISFIT = 0.01
"""A law that leaves the band by more than this share of sessions does not fit."""


@dataclass(frozen=True)
class FitCheck:
    """How a fitted law differs from the data.

    Attributes:
        excess: Largest distance of its survival outside the 95% band; ≤ 0 if it stays inside.
        step: The step of that distance.
        hazards: Test of its chances of leaving, in cells of steps; None if the log is too small or too long.
        surprise: A step at which far more sessions left than it says; None if there is none.
        mean: Test of its mean length up to a step that many sessions reach; None if the log is too long.
    """

    excess: float
    step: int
    hazards: HazardTest | None
    surprise: Surprise | None
    mean: MeanTest | None

    @property
    def hazards_are_rejected(self) -> bool:
        """Whether the chances of leaving reject the law."""
        return self.hazards is not None and self.hazards.is_rejected

    @property
    def hazards_contradict(self) -> bool:
        """Whether the chances of leaving reject the law, and differ by enough to matter."""
        return self.hazards is not None and self.hazards.is_rejected and self.hazards.is_large

    @property
    def surprise_contradicts(self) -> bool:
        """Whether `surprise` is large enough to matter."""
        return self.surprise is not None and matters(self.surprise.observed, self.surprise.expected)

    @property
    def mean_is_rejected(self) -> bool:
        """Whether the mean rejects the law."""
        return self.mean is not None and self.mean.is_rejected

    @property
    def mean_contradicts(self) -> bool:
        """Whether the mean rejects the law, and differs by enough to matter."""
        return self.mean is not None and self.mean.contradicts

    @property
    def is_rejected(self) -> bool:
        """Whether the data contradict the law, even if by little."""
        return (
            self.excess >= MISFIT
            or self.hazards_are_rejected
            or self.surprise is not None
            or self.mean_is_rejected
        )

    @property
    def is_contradicted(self) -> bool:
        """Whether the data contradict the law by enough to matter."""
        return (
            self.excess >= MISFIT
            or self.hazards_contradict
            or self.surprise_contradicts
            or self.mean_contradicts
        )


def check_fit(sample: Sample, band: Band, fit: Fit) -> FitCheck:
    """Compare a fitted law with the data.

    Args:
        sample: The sessions.
        band: The 95% band around their survival.
        fit: The fit.
    """
    hazards = hazards_of(sample, fit)
    surprise, mean = find_surprise(sample, fit.law), compare_means(sample, band, fit.law)
    return FitCheck(*band.excess(fit.law), hazards, surprise, mean)


def hazards_of(sample: Sample, fit: Fit, *, cells_of: Fit | None = None) -> HazardTest | None:
    """Test the hazards of a fit; `cells_of` is the fit whose law determines the cells, by default itself."""
    cells = None if cells_of is None else cells_of.law
    n_parameters = len(fit.parameters) - len(fit.edge)
    return compare_hazards(sample, fit.law, n_parameters=n_parameters, cells_of=cells)
