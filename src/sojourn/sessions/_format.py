"""How figures and laws are told."""

from __future__ import annotations

import math

from sojourn.laws import Fit, label

__all__ = ["EDGE_NOTE", "gamma_words", "law_words", "number", "percent"]

EDGE_NOTE = (
    "a simpler law in disguise, whose parameters BIC and AIC count too high, or one that the data would take "
    "further than its family goes"
)
"""What a law at the edge of its family is."""


def number(value: float) -> str:
    """Return a number as people read it: three digits or so, thousands apart."""
    if not math.isfinite(value) or abs(value) >= 1e15:
        return f"{value:.3g}"
    if abs(value) >= 1000.0 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def percent(share: float) -> str:
    """Return a share in percent, never 0% or 100% for what is only near."""
    hundred = 100.0 * share
    if share in (0.0, 1.0):
        return f"{hundred:.0f}%"
    if hundred < 0.01:
        return "less than 0.01%"
    if hundred > 99.99:
        return "more than 99.99%"
    return f"{hundred:.2g}%" if hundred < 99.0 else f"{hundred:.4g}%"


def law_words(fit: Fit) -> str:
    """Return a fitted law in few words."""
    if fit.family != "mixture":
        return label(fit.law)
    weight, one, other = fit.parameters.values()
    first, second = (f"Geometric({gamma_words(gamma)})" for gamma in (one, other))
    return f"Mixture({weight:.3g} of {first}, {1.0 - weight:.3g} of {second})"


def gamma_words(gamma: float) -> str:
    """Return γ to four digits, or in full where that would make it 1."""
    short = f"{gamma:.4g}"
    return repr(gamma) if short == "1" else short
