"""Formats numbers, percentages and laws for people to read."""

from __future__ import annotations

import math

from sojourn.laws import Fit, label

__all__ = ["EDGE_NOTE", "gamma_words", "law_words", "number", "percent"]

EDGE_NOTE = (
    "either equivalent to a simpler law, whose parameters BIC and AIC overcount, or limited by the range of "
    "its family where the data would go further"
)
"""Explains what it means that a law is at the edge of its family."""


def number(value: float) -> str:
    """Format a number with about three digits and thousands separators."""
    if not math.isfinite(value) or abs(value) >= 1e15:
        return f"{value:.3g}"
    if abs(value) >= 1000.0 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def percent(share: float) -> str:
    """Format a share in percent; only exact shares are shown as 0% or 100%."""
    hundred = 100.0 * share
    if share in (0.0, 1.0):
        return f"{hundred:.0f}%"
    if hundred < 0.01:
        return "less than 0.01%"
    if hundred > 99.99:
        return "more than 99.99%"
    return f"{hundred:.2g}%" if hundred < 99.0 else f"{hundred:.4g}%"


def law_words(fit: Fit) -> str:
    """Return a short name of a fitted law with its parameters."""
    if fit.family != "mixture":
        return label(fit.law)
    weight, one, other = fit.parameters.values()
    first, second = (f"Geometric({gamma_words(gamma)})" for gamma in (one, other))
    return f"Mixture({weight:.3g} of {first}, {1.0 - weight:.3g} of {second})"


def gamma_words(gamma: float) -> str:
    """Format γ with four digits, or with as many as show three digits of 1 − γ."""
    if not 0.0 < gamma < 1.0:
        return f"{gamma:.4g}"
    decimals = max(4, 2 - math.floor(math.log10(1.0 - gamma)))
    return f"{gamma:.{decimals}f}".rstrip("0") if decimals <= 16 else repr(gamma)
