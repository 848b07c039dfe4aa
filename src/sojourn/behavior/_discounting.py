"""Discount functions of decision makers: beta-delta laws, their long-run view, and the law from step 2 on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray
from sojourn._validation import check_closed_unit, check_whole
from sojourn.laws import Geometric, LengthLaw, QuasiHyperbolic, Tabulated

__all__ = ["FromSecondStep", "beta_delta", "long_run_discount"]

_LEAST_STEPS, _SAME = 4, 1e-12


def beta_delta(beta: float, delta: float = 1.0, *, steps: int | None = None) -> LengthLaw:
    """Return beta-delta discounting as a law: 1 now, and βδ^j for rewards j steps away.

    Args:
        beta: Present bias, in [0, 1]; 1 is none.
        delta: Long-run discount factor per step, in [0, 1].
        steps: Number of steps that count. It is needed if delta is 1, because the weights would have an
            infinite sum.

    Example:
        >>> beta_delta(0.5, steps=4)
        Tabulated(survival=(1.0, 0.5, 0.5, 0.5))
        >>> beta_delta(0.7, 0.95)
        QuasiHyperbolic(beta=0.7, gamma=0.95)
    """
    beta, delta = check_closed_unit("beta", beta), check_closed_unit("delta", delta)
    if steps is not None:
        n = check_whole("steps", steps, least=1)
        return Tabulated(np.append(1.0, beta * delta ** np.arange(1.0, n)))
    if delta == 1.0:
        raise ValueError("delta must be < 1 without a last step; got 1. Pass steps=n.")
    return Geometric(delta) if beta == 1.0 else QuasiHyperbolic(beta, delta)


def long_run_discount(law: LengthLaw, deadline: int | None) -> float | None:
    """Return δ if the law discounts by βδ^j for all j ≥ 1 that count, else None.

    β is at most 1. With fewer than four steps any weights have this form, so that nothing shows it.
    """
    last = deadline if deadline is not None else law.longest
    if last is None:
        delta = float(law.continuation(2)) if law.memoryless_from in (1, 2) else None
    elif last < _LEAST_STEPS:
        delta = None
    else:
        ratios = law.continuation(np.arange(2, last))
        delta = float(ratios[0]) if np.ptp(ratios) <= _SAME else None
    return delta if delta is not None and float(law.continuation(1)) <= delta + _SAME else None


@dataclass(frozen=True, repr=False)
class FromSecondStep(LengthLaw):
    """The law of the steps from the second on, given that there is a second step.

    Args:
        law: A law with more than one step.
    """

    law: LengthLaw

    @property
    def longest(self) -> int | None:
        """One step less than the law's longest length, or None."""
        return None if self.law.longest is None else self.law.longest - 1

    @property
    def memoryless_from(self) -> int | None:
        """One step earlier than the law's, at least 1, or None."""
        start = self.law.memoryless_from
        return None if start is None else max(start - 1, 1)

    def _log_survival(self, h: FloatArray) -> FloatArray:
        return np.asarray(self.law.log_survival(h + 1.0) - self.law.log_survival(2))

    def _continuation(self, h: FloatArray) -> FloatArray:
        return self.law.continuation(h + 1.0)

    def _hazard(self, h: FloatArray) -> FloatArray:
        return self.law.hazard(h + 1.0)

    def _remaining(self, h: FloatArray) -> FloatArray:
        return self.law.remaining(h + 1.0)
