"""What every question about a problem comes with: a law, a tolerance, and how many layers it may cost."""

from __future__ import annotations

import warnings

from sojourn._validation import check_positive, check_whole
from sojourn.errors import WideBracketWarning
from sojourn.laws import LengthLaw
from sojourn.planning._problem import Problem

__all__ = ["MAX_LAYERS", "SPARE_DIGITS", "TRUNCATION_SHARE", "check_request", "warn_if_wide"]

MAX_LAYERS = 1_000_000
"""Layers that are computed one by one, at most, unless more are asked for."""

TRUNCATION_SHARE = 0.75
"""Part of the tolerance that may be spent on what comes after the last layer; the rest is for rounding."""

_OVERFLOW = 1e280

SPARE_DIGITS = 1e-4
"""Where layers are nearly free, the truncation is made this much smaller than was asked for."""


def check_request(problem: Problem, law: LengthLaw, tolerance: float, max_layers: int) -> tuple[float, int]:
    """Return the tolerance and the layers allowed, checked."""
    if not isinstance(law, LengthLaw):
        raise TypeError(f"law must be a LengthLaw, such as Geometric(0.95); got {law!r}.")
    largest = problem.largest_reward * law.mean
    if not largest < _OVERFLOW:
        raise ValueError(f"max|rewards| times the mean length must be < {_OVERFLOW:g}; got {largest:g}.")
    return check_positive("tolerance", tolerance), check_whole("max_layers", max_layers, least=1)


def warn_if_wide(
    what: str, width: float, tolerance: float, max_layers: int, *, rounding: float = 0.0
) -> None:
    """Say so if a bracket is wider than was asked for, and what would help."""
    if not width <= tolerance:
        remedy = f"raise max_layers (now {max_layers:,}) or the tolerance"
        if rounding > tolerance / 2.0:
            remedy = f"{rounding:.1e} of it is the rounding of floats, so only a larger tolerance helps"
        warning = WideBracketWarning(
            f"{what}: the certified bracket is {width:.1e} wide, above the tolerance {tolerance:g}; {remedy}."
        )
        warning.width = width
        warnings.warn(warning, stacklevel=3)
