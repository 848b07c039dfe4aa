"""A test of a fitted law by the chances of leaving, step by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.laws import LengthLaw, Sample

__all__ = ["HazardTest", "compare_hazards"]

_MAX_STEPS = 1 << 18
"""No test for longer logs: it would compute the chance of leaving at every step."""

_LEAST_EXPECTED = 5.0
"""Least number of expected ends, and of expected stays, of a cell; usual for χ² tests."""

_MAX_CELLS = 100


@dataclass(frozen=True)
class HazardTest:
    """Pearson's test of whether sessions leave as a law says, in cells of one or more steps.

    The confidence band looks at survival, which adds up what happened at all steps before; a law can stay
    inside of it although the chances of leaving, which planning uses, are off at many steps.

    Attributes:
        statistic: Σ (ends − expected)² / variance over the cells.
        freedom: Degrees of freedom: the number of cells minus that of fitted parameters.
        p_value: Probability of a statistic at least this large if the law is right.
        first, last: Steps of the cell with the largest contribution.
        observed: Share of the sessions at risk that left in that cell, per step.
        expected: The same by the law.
    """

    statistic: float
    freedom: int
    p_value: float
    first: int
    last: int
    observed: float
    expected: float


def compare_hazards(sample: Sample, law: LengthLaw, *, n_parameters: int) -> HazardTest | None:
    """Test a law by its hazards; None if the log is too small or has too many steps."""
    from scipy.special import gammaincc  # noqa: PLC0415

    longest = sample.longest
    if longest > _MAX_STEPS:
        return None
    at_risk, ended = _risks(sample, longest)
    hazard = law.hazard(np.arange(1, longest + 1))
    expected, variance = at_risk * hazard, at_risk * hazard * (1.0 - hazard)
    starts = _cells(expected, at_risk - expected)
    freedom = starts.size - n_parameters
    if freedom < 1:
        return None
    risk, ends, means, spreads = (np.add.reduceat(x, starts) for x in (at_risk, ended, expected, variance))
    parts = (ends - means) ** 2 / spreads
    worst = int(np.argmax(parts))
    last = longest if worst + 1 == starts.size else int(starts[worst + 1])
    statistic = float(parts.sum())
    return HazardTest(
        statistic=statistic,
        freedom=int(freedom),
        p_value=float(gammaincc(freedom / 2.0, statistic / 2.0)),
        first=int(starts[worst]) + 1,
        last=last,
        observed=float(ends[worst] / risk[worst]),
        expected=float(means[worst] / risk[worst]),
    )


def _risks(sample: Sample, longest: int) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of sessions at risk and of ends at steps 1, …, longest."""
    change = np.zeros(longest + 2)
    change[sample.entries] += sample.entry_counts
    change[sample.censored] -= sample.censored_counts
    change[sample.ends + 1] -= sample.end_counts  # a session that ends at a step is at risk there
    ended = np.zeros(longest + 2)
    ended[sample.ends] = sample.end_counts
    return np.cumsum(change)[1:-1], ended[1:-1]


def _cells(ends: FloatArray, stays: FloatArray) -> IntArray:
    """Return where cells start that have enough expected ends and stays each; what is left joins the last."""
    least = max(_LEAST_EXPECTED, float(ends.sum()) / _MAX_CELLS)
    starts, n_ends, n_stays = [0], 0.0, 0.0
    for i, (end, stay) in enumerate(zip(ends.tolist(), stays.tolist(), strict=True)):
        n_ends, n_stays = n_ends + end, n_stays + stay
        if n_ends >= least and n_stays >= _LEAST_EXPECTED:
            starts.append(i + 1)
            n_ends = n_stays = 0.0
    if len(starts) > 1:
        starts.pop()  # the rest, which may be empty, joins the last cell
    return np.array(starts)
