"""A test of a fitted law by the chances of leaving, step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.laws import LengthLaw, Sample
from sojourn.sessions.analysis._coverage import FEW_AT_RISK, SMALL_DIFFERENCE

__all__ = [
    "MAX_TESTED",
    "REJECTED",
    "HazardTest",
    "Surprise",
    "compare_hazards",
    "find_surprise",
    "matters",
    "numbers_at_risk",
]

MAX_TESTED = 1 << 18
"""No test for longer logs: it would compute the chance of leaving at every step."""

_LEAST_EXPECTED = 5.0
"""Least number of expected ends, and of expected stays, of a cell; usual for χ² tests."""

_NUMBERS_OF_CELLS = (100, 20, 10, 5)
"""Largest numbers of cells of the tests: a small difference over many steps shows only in wide cells."""

REJECTED = 0.01
"""Level at which the chances of leaving reject a law, in as many cells as the data allow."""

_WIDE_LEVEL, _STEP_LEVEL = 0.0005, 0.001
"""Levels of the tests in wide cells, and at single steps, so that all together keep to about 1%."""

_STEPS_TRIED = 50
"""Number of steps at which the shares that are left are compared."""

_CLEAR = 6.63
"""Contribution of a cell from which on it alone rejects the law at the 1% level."""


@dataclass(frozen=True)
class HazardTest:
    """Pearson's test of whether sessions leave as a law says, in cells of one or more steps.

    The confidence band looks at survival, which adds up what happened at all steps before; a law can stay
    inside of it although the chances of leaving, which planning uses, are off at many steps.

    Several tests are made, in cells of different width. This is the first that rejects the law by a
    difference that matters; or the first that rejects it; or that with the most cells.

    Attributes:
        statistic: Σ (ends − expected)² / variance over the cells.
        freedom: Degrees of freedom: the number of cells minus that of fitted parameters.
        p_value: Probability of a statistic at least this large if the law is right.
        first, last: Steps of the cell with the largest contribution; of several that reject the law at the 1%
            level by themselves, of one where the difference matters, if there is any.
        observed: Share of the sessions at risk that left in that cell, per step.
        expected: The same by the law.
        is_large: Whether the difference matters there.
        is_wide: Whether the cells are wider than the data require.
        is_rejected: Whether the test rejects the law at its level: 1%, or 0.05% in wide cells.
        least_p_value: The smallest p-value of all tests.
    """

    statistic: float
    freedom: int
    p_value: float
    first: int
    last: int
    observed: float
    expected: float
    is_large: bool
    is_wide: bool
    is_rejected: bool
    least_p_value: float


def compare_hazards(
    sample: Sample, law: LengthLaw, *, n_parameters: int, cells_of: LengthLaw | None = None
) -> HazardTest | None:
    """Test a law by its hazards; None if the log is too small or has too many steps.

    Args:
        sample: The sessions.
        law: The law.
        n_parameters: Number of its parameters that were fitted to the sessions.
        cells_of: The law whose expected ends determine the cells; by default `law`.
    """
    longest = sample.longest
    if longest > MAX_TESTED:
        return None
    at_risk, ended = numbers_at_risk(sample, longest), np.zeros(longest)
    ended[sample.ends - 1] = sample.end_counts
    steps = np.arange(1, longest + 1)
    hazard = law.hazard(steps)
    expected = at_risk * (hazard if cells_of is None else cells_of.hazard(steps))
    tests: list[HazardTest] = []
    n_cells = 0
    for most in _NUMBERS_OF_CELLS:
        starts = _cells(expected, at_risk - expected, most)
        if starts.size > n_parameters and starts.size != n_cells:
            tests.append(_test(at_risk, ended, hazard, starts, n_parameters, is_wide=n_cells > 0))
            n_cells = starts.size
    if not tests:
        return None
    rejected = [one for one in tests if one.is_rejected]
    found = next((one for one in rejected if one.is_large), (rejected or tests)[0])
    least = min(one.p_value for one in tests)
    return replace(found, first=max(found.first, int(sample.entries[0])), least_p_value=least)


def _test(
    at_risk: FloatArray,
    ended: FloatArray,
    hazard: FloatArray,
    starts: IntArray,
    n_parameters: int,
    *,
    is_wide: bool,
) -> HazardTest:
    """Return the test with cells that start at some steps, counted from 0."""
    from scipy.special import gammaincc  # noqa: PLC0415

    expected, variance = at_risk * hazard, at_risk * hazard * (1.0 - hazard)
    risk, ends, means, spreads = (np.add.reduceat(x, starts) for x in (at_risk, ended, expected, variance))
    with np.errstate(divide="ignore", invalid="ignore"):  # a law may rule out ends, or stays, in a cell
        parts = np.where(ends == means, 0.0, (ends - means) ** 2 / spreads)
    observed, said = ends / risk, means / risk
    sizes = np.diff(starts, append=hazard.size)
    large = np.array(
        [parts[i] >= _CLEAR and matters(observed[i], said[i], sizes[i]) for i in range(starts.size)]
    )
    clear = np.where(large, parts, 0.0)
    worst = int(np.argmax(clear if clear.any() else parts))
    statistic, freedom = float(parts.sum()), int(starts.size - n_parameters)
    p_value = float(gammaincc(freedom / 2.0, statistic / 2.0))
    return HazardTest(
        statistic=statistic,
        freedom=freedom,
        p_value=p_value,
        first=int(starts[worst]) + 1,
        last=int(starts[worst] + sizes[worst]),
        observed=float(observed[worst]),
        expected=float(said[worst]),
        is_large=matters(observed[worst], said[worst], sizes[worst]),
        is_wide=is_wide,
        is_rejected=p_value < (_WIDE_LEVEL if is_wide else REJECTED),
        least_p_value=p_value,
    )


def matters(one: float, other: float, n_steps: int = 1) -> bool:
    """Whether two shares that leave per step differ by a factor of 2, or by much in who stays.

    They do if, after as many steps as tell most, up to `n_steps`, the shares that are left differ by 2
    percentage points.
    """
    low, high = sorted((float(one), float(other)))
    if high >= 2.0 * low:
        return True
    steps = np.geomspace(1.0, n_steps, _STEPS_TRIED)
    return bool(((1.0 - low) ** steps - (1.0 - high) ** steps).max() >= SMALL_DIFFERENCE)


def numbers_at_risk(sample: Sample, last: int) -> FloatArray:
    """Return the numbers of sessions at risk at steps 1, …, last."""
    change = np.zeros(last + 2)
    for at, counts in (
        (sample.entries, sample.entry_counts),
        (sample.censored, -sample.censored_counts),
        (sample.ends + 1, -sample.end_counts),  # a session that ends at a step is at risk there
    ):
        is_inside = at <= last
        change[at[is_inside]] += counts[is_inside]
    return np.cumsum(change)[1:-1]


def _cells(ends: FloatArray, stays: FloatArray, most: int) -> IntArray:
    """Return where at most `most` cells start that have enough expected ends and stays each.

    What is left over joins the last cell.
    """
    least = max(_LEAST_EXPECTED, float(ends.sum()) / most)
    starts, n_ends, n_stays = [0], 0.0, 0.0
    for i, (end, stay) in enumerate(zip(ends.tolist(), stays.tolist(), strict=True)):
        n_ends, n_stays = n_ends + end, n_stays + stay
        if n_ends >= least and n_stays >= _LEAST_EXPECTED:
            starts.append(i + 1)
            n_ends = n_stays = 0.0
    if len(starts) > 1:
        starts.pop()  # the rest, which may be empty, joins the last cell
    return np.array(starts)


class Surprise(NamedTuple):
    """A step at which far more sessions left than a law says."""

    step: int
    n_at_risk: int
    observed: float  # share of the sessions at risk that left
    expected: float  # the same by the law


def find_surprise(sample: Sample, law: LengthLaw) -> Surprise | None:
    """Return the step with the most improbable number of ends under a law; None if all are credible.

    Steps with fewer than 10 sessions at risk hardly show whether sessions end there, and are not tested.

    The cells of `compare_hazards` can hide ends at a step where the law expects hardly any. This is an exact
    binomial test of too many ends at a step, at the 0.1% level for all steps together, also those without
    ends. Sessions that are open at a step count as at risk there: where a log is cut off, only the few ends
    would be left otherwise.
    """
    from scipy.special import betainc  # noqa: PLC0415

    at_risk, hazard = sample.at_risk(sample.ends), law.hazard(sample.ends)
    n = sample.kept_at_risk().at_risk(sample.ends)
    chance = betainc(sample.end_counts, n - sample.end_counts + 1.0, hazard)
    chance = np.where(at_risk >= FEW_AT_RISK, chance, 1.0)
    worst = int(np.argmin(chance))
    if not chance[worst] * sample.longest < _STEP_LEVEL:
        return None
    return Surprise(
        step=int(sample.ends[worst]),
        n_at_risk=int(at_risk[worst]),
        observed=float(sample.end_counts[worst] / at_risk[worst]),
        expected=float(hazard[worst]),
    )
