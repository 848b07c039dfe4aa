"""Default limits of planning, validation of its arguments, and the warning about wide brackets."""

from __future__ import annotations

import warnings

from sojourn._validation import check_positive, check_whole
from sojourn.errors import WideBracketWarning
from sojourn.laws import LengthLaw
from sojourn.mdps import default_tolerance
from sojourn.planning._sparse_problem import SparseProblem

__all__ = [
    "MAX_LAYERS",
    "OWN_VALUE_SHARE",
    "SPARE_DIGITS",
    "TRUNCATION_SHARE",
    "check_planning_arguments",
    "warn_if_wide",
]

MAX_LAYERS = 1_000_000
"""Default maximum number of layers that are computed one by one."""

TRUNCATION_SHARE = 0.75
"""Share of the tolerance for truncation after the last layer; the rest is for rounding errors."""

OWN_VALUE_SHARE = 1e-2
"""The value of a plan's own policy is computed to this share of the tolerance."""

_OVERFLOW = 1e280

SPARE_DIGITS = 1e-4
"""Factor by which the truncation error is reduced further where additional layers cost almost nothing."""


def check_planning_arguments(
    problem: SparseProblem, law: LengthLaw, tolerance: float | None, max_layers: int
) -> tuple[float, int]:
    """Validate the arguments of a planning function; return the tolerance and `max_layers`."""
    if not isinstance(law, LengthLaw):
        raise TypeError(f"law must be a LengthLaw, such as Geometric(0.95); got {law!r}.")
    largest = problem.largest_reward * law.mean
    if not largest < _OVERFLOW:
        raise ValueError(f"max|rewards| times the mean length must be < {_OVERFLOW:g}; got {largest:g}.")
    given = default_tolerance(problem.largest_reward) if tolerance is None else tolerance
    return check_positive("tolerance", given), check_whole("max_layers", max_layers, least=1)


def warn_if_wide(
    what: str,
    width: float,
    tolerance: float,
    max_layers: int,
    *,
    rounding: float = 0.0,
    stacklevel: int = 3,
) -> None:
    """Warn if a bracket is wider than the tolerance, with a remedy."""
    if not width <= tolerance:
        remedy = f"raise max_layers (now {max_layers:,}) or the tolerance"
        if rounding > tolerance / 2.0:
            remedy = f"{rounding:.1e} of it is the rounding of floats, so only a larger tolerance helps"
        warning = WideBracketWarning(
            f"{what}: the certified bracket is {width:.1e} wide, above the tolerance {tolerance:g}; {remedy}."
        )
        warning.width = width
        warnings.warn(warning, stacklevel=stacklevel)
