"""Formats numbers, percentages and laws for people to read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sojourn.laws import Fit, label

if TYPE_CHECKING:
    from sojourn.sessions.analysis._groups import GroupTest, RangeTest
    from sojourn.sessions.analysis._hazard_test import HazardTest

__all__ = [
    "EDGE_NOTE",
    "chi_squared_words",
    "gamma_words",
    "join_words",
    "law_words",
    "number",
    "percent",
    "step_words",
]

EDGE_NOTE = (
    "either equivalent to a simpler law, whose parameters BIC and AIC overcount, or limited by the range of "
    "its family where the data would go further"
)
"""Explains what it means that a law is at the edge of its family."""


def number(value: float) -> str:
    """Format a number with about three digits and thousands separators."""
    if not math.isfinite(value) or abs(value) >= 1e15:
        return f"{value:.3g}"
    if abs(value) >= 999.5 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def percent(share: float, *, digits: int = 2) -> str:
    """Format a share in percent; only exact shares are shown as 0% or 100%."""
    hundred = 100.0 * share
    if share in (0.0, 1.0):
        return f"{hundred:.0f}%"
    if hundred < 1e-4:
        return "less than 0.0001%"
    if hundred > 99.99:
        return "more than 99.99%"
    return f"{hundred:.{digits}g}%" if hundred < 99.0 else f"{hundred:.4g}%"


def law_words(fit: Fit) -> str:
    """Return a short name of a fitted law with its parameters."""
    if fit.family != "mixture":
        return label(fit.law)
    weight, one, other = fit.parameters.values()
    first, second = (f"Geometric({gamma_words(gamma)})" for gamma in (one, other))
    return f"Mixture({_share(weight)} of {first}, {_share(1.0 - weight)} of {second})"


def _share(weight: float) -> str:
    """Format a weight with three digits, or with as many as tell it from 1."""
    return f"{weight:.3g}" if weight < 0.9995 else gamma_words(weight)


def gamma_words(gamma: float, rest: float | None = None) -> str:
    """Format γ with four digits, or with as many as show three digits of 1 − γ, at most ten.

    Below 0.001 it has three digits.

    Args:
        gamma: The number, in [0, 1].
        rest: 1 − γ, where it is known more exactly than from γ.
    """
    rest = 1.0 - gamma if rest is None else rest
    if gamma < 1e-3 or not rest > 0.0:
        return f"{gamma:.3g}"
    decimals = max(4, 2 - math.floor(math.log10(rest)))
    return f"{gamma:.{decimals}f}".rstrip("0").rstrip(".") if decimals <= 10 else f"1 − {rest:.3g}"


def step_words(count: float) -> str:
    """Return a number of steps, with "step" or "steps"."""
    return f"{number(count)} step{'s' * (number(count) != '1')}"


def join_words(parts: list[str]) -> str:
    """Join parts of a sentence with commas, and the last one with "and"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def chi_squared_words(test: GroupTest | HazardTest | RangeTest) -> str:
    """Return the result of a χ² test."""
    digits = 3 if f"{test.p_value:.2g}" in ("0.05", "0.01") else 2  # so that a level is not met by rounding
    chance = f"p = {test.p_value:.{digits}g}" if test.p_value >= 1e-4 else "p < 0.0001"
    freedom = f"{test.freedom} degree{'s' * (test.freedom > 1)} of freedom"
    return f"χ² = {test.statistic:.4g} on {freedom}, {chance}"
