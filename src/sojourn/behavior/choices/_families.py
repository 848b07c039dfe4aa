"""Families of discount functions for choices between dated rewards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray

__all__ = ["FAMILIES", "DiscountFamily"]

_LogDiscount = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class DiscountFamily:
    """A family of discount functions D(t) of a delay t ≥ 0.

    Attributes:
        name: Its name.
        formula: D(t) in words.
        source: Where it comes from.
        parameters: Names of the parameters; all are > 0 and are estimated on a logarithmic scale.
        log_discount: Returns ln D(t) and its derivatives by the logarithms of the parameters, `(p, n)`.
        start: Logarithms of typical values, for delays that were divided by their median.
    """

    name: str
    formula: str
    source: str
    parameters: tuple[str, ...]
    log_discount: _LogDiscount
    start: tuple[float, ...]


def _exponential(logs: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    rate = np.exp(logs[0]) * t
    return -rate, -rate[np.newaxis]


def _mazur(logs: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    x = np.exp(logs[0]) * t
    return -np.log1p(x), -(x / (1.0 + x))[np.newaxis]


def _green_myerson(logs: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    x, s = np.exp(logs[0]) * t, np.exp(logs[1])
    value = -s * np.log1p(x)
    return value, np.stack([-s * x / (1.0 + x), value])


def _rachlin(logs: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    s = np.exp(logs[1])
    log_t = np.log(np.where(t > 0.0, t, 1.0))
    x = np.where(t > 0.0, np.exp(np.minimum(logs[0] + s * log_t, 700.0)), 0.0)
    share = x / (1.0 + x)
    return -np.log1p(x), np.stack([-share, -share * s * log_t])


def _beta_delta(logs: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    later, rate = (t > 0.0).astype(np.float64), np.exp(logs[1]) * t
    return later * logs[0] - rate, np.stack([later, -rate])


FAMILIES: dict[str, DiscountFamily] = {
    family.name: family
    for family in (
        DiscountFamily("exponential", "exp(−k t)", "Samuelson (1937)", ("k",), _exponential, (-1.5,)),
        DiscountFamily("mazur", "1/(1 + k t)", "Mazur (1987)", ("k",), _mazur, (-1.0,)),
        DiscountFamily(
            "green_myerson",
            "1/(1 + k t)^s",
            "Green, Fry and Myerson (1994)",
            ("k", "s"),
            _green_myerson,
            (-1.0, 0.0),
        ),
        DiscountFamily("rachlin", "1/(1 + k t^s)", "Rachlin (2006)", ("k", "s"), _rachlin, (-1.0, 0.0)),
        DiscountFamily(
            "beta_delta",
            "1 at t = 0, else β exp(−k t) = β δ^t",
            "Phelps and Pollak (1968); Laibson (1997)",
            ("beta", "k"),
            _beta_delta,
            (-0.2, -1.5),
        ),
    )
}
"""The families by name."""
