"""Compares a fitted law with the sessions that it was fitted to."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.laws import Band, Fit, Sample
from sojourn.sessions.analysis._hazard_test import (
    REJECTED,
    HazardTest,
    Surprise,
    compare_hazards,
    find_surprise,
    matters,
)

__all__ = ["MISFIT", "FitCheck", "check_fit"]

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
    """

    excess: float
    step: int
    hazards: HazardTest | None
    surprise: Surprise | None

    @property
    def hazards_are_rejected(self) -> bool:
        """Whether the chances of leaving reject the law at the 1% level."""
        return self.hazards is not None and self.hazards.p_value < REJECTED

    @property
    def hazards_contradict(self) -> bool:
        """Whether the chances of leaving reject the law, and differ by enough to matter."""
        test = self.hazards
        return test is not None and self.hazards_are_rejected and matters(test.observed, test.expected)

    @property
    def surprise_contradicts(self) -> bool:
        """Whether `surprise` is large enough to matter."""
        return self.surprise is not None and matters(self.surprise.observed, self.surprise.expected)

    @property
    def is_rejected(self) -> bool:
        """Whether the data contradict the law, even if by little."""
        return self.excess >= MISFIT or self.hazards_are_rejected or self.surprise is not None

    @property
    def is_contradicted(self) -> bool:
        """Whether the data contradict the law by enough to matter."""
        return self.excess >= MISFIT or self.hazards_contradict or self.surprise_contradicts


def check_fit(sample: Sample, band: Band, fit: Fit, *, cells_of: Fit | None = None) -> FitCheck:
    """Compare a fitted law with the data.

    Args:
        sample: The sessions.
        band: The 95% band around their survival.
        fit: The fit.
        cells_of: The fit whose law determines the cells of the test of hazards; by default `fit`.
    """
    n_parameters = len(fit.parameters) - len(fit.edge)
    cells = None if cells_of is None else cells_of.law
    hazards = compare_hazards(sample, fit.law, n_parameters=n_parameters, cells_of=cells)
    return FitCheck(*band.excess(fit.law), hazards, find_surprise(sample, fit.law))
