"""A test of a fitted law by its mean length up to a step that many sessions reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.laws import Band, LengthLaw, Sample
from sojourn.sessions.analysis._coverage import SMALL_DIFFERENCE, last_of_many, mean_up_to
from sojourn.sessions.analysis._hazard_test import MAX_TESTED, numbers_at_risk

__all__ = ["MeanTest", "compare_means"]

_CLEAR_ERRORS = 3.48
"""Number of standard errors from which on a mean rejects a law, at the 0.05% level."""


@dataclass(frozen=True)
class MeanTest:
    """Test of whether sessions last as long as a law says, up to a step.

    Small differences between the chances of leaving add up over many steps, and the mean is what planning
    uses.

    Attributes:
        last: The last step that counts: the last at which 10 sessions are at risk.
        observed: Mean number of steps up to it by Kaplan–Meier, from the first step that the data show.
        expected: The same by the law.
        error: Standard error of the difference if the law is right.
    """

    last: int
    observed: float
    expected: float
    error: float

    @property
    def is_rejected(self) -> bool:
        """Whether the mean rejects the law at the 0.05% level."""
        return abs(self.observed - self.expected) > _CLEAR_ERRORS * self.error

    @property
    def contradicts(self) -> bool:
        """Whether it does, and differs by enough to matter."""
        return self.is_rejected and abs(self.observed - self.expected) > SMALL_DIFFERENCE * self.observed


def compare_means(sample: Sample, band: Band, law: LengthLaw) -> MeanTest | None:
    """Compare the mean lengths up to a step by a law and by Kaplan–Meier; None if there are too many steps.

    The variance is that of the Kaplan–Meier mean (Klein and Moeschberger 2003, section 4.5) with the law's
    chances of leaving: Σ_h A(h)² q(h) / ((1 − q(h)) n(h)), where A(h) is the mean number of steps after h up
    to the last one, q(h) the chance of leaving and n(h) the number at risk.
    """
    first, (last, _) = band.first, last_of_many(sample)
    if last > MAX_TESTED:
        return None
    steps = np.arange(first, last + 1)
    survival, hazard = band.of_law(law, steps), law.hazard(steps)
    at_risk = numbers_at_risk(sample, last)[first - 1 :]
    after = np.append(np.cumsum(survival[:0:-1])[::-1], 0.0)  # A(h)
    with np.errstate(divide="ignore", invalid="ignore"):  # of steps that the law rules out, or no row shows
        parts = np.where(after > 0.0, after**2 * hazard / ((1.0 - hazard) * at_risk), 0.0)
    return MeanTest(
        last=last,
        observed=mean_up_to(band, last) - (first - 1),
        expected=float(survival.sum()),
        error=float(np.sqrt(parts.sum())),
    )
