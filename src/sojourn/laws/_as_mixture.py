"""Laws as mixtures of geometric laws, with a certified error."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import nnls

from sojourn._typing import FloatArray
from sojourn._validation import check_nonnegative, check_whole
from sojourn.laws._base import MAX_STEP, LengthLaw
from sojourn.laws._distance import distance
from sojourn.laws.families._geometric import Geometric
from sojourn.laws.families._mixture import Mixture

__all__ = ["as_mixture"]

_SPACINGS = (3.0, 2.5, 2.0, 1.6, 1.3, 1.1, 0.9, 0.75, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1)
"""Distances between neighboring rates on a logarithmic scale, coarse first: fewer heads."""

_SHIFTS = (0.0, 0.25, 0.5, 0.75)
_FIT_STEPS = 300
_FASTEST, _SLOWEST = 40.0, 0.05
"""Rates −ln γ run from `_SLOWEST` / last to `_FASTEST`; at the latter only the first step counts."""

_MOST_STALLED = 3
"""The search ends if the error has not been halved on more than this many grids in a row."""

_FINE = 0.02
"""Distance between the rates, on a logarithmic scale, among which heads are exchanged."""

_EXCHANGES, _REFINEMENTS = 30, 16
"""Number of times that heads are exchanged, and that their rates are moved after that."""

_MOST_DIFFERENCES = 24
_CHECKED_STEPS = 4_096
_LAW_ERROR = 1e-12
"""Laws are exact to this relative error, so a difference of order k is known to 2^k times as much."""


def as_mixture(law: LengthLaw, tolerance: float, last: int | None) -> Mixture:
    """Return a mixture of geometric laws close to `law`; see `LengthLaw.as_mixture`."""
    tolerance = check_nonnegative("tolerance", tolerance)
    last = None if last is None else check_whole("last", last, least=1)
    exact = law._geometric_parts()
    if exact is not None:
        return _mixture(exact)
    if tolerance == 0.0:
        raise ValueError(f"{law!r} is not a finite mixture of geometric laws; tolerance must be > 0.")
    violated = _first_violated_difference(law, last)
    if violated is None:
        error, mixture = _smallest_fit(law, tolerance, last)
        if error <= tolerance:
            return mixture
        if law.longest is None or (last is not None and last <= law.longest):
            raise ValueError(
                f"tolerance must be larger for {law!r}: the closest mixture of geometric laws that was found "
                f"has an error of {error:.2g}; got {tolerance:g}. With last=n only the first n steps count."
            )
        # At the last step but one, the difference of order k is γ(L − 1) − k γ(L): negative for large k.
        before, at_end = (Fraction(value) for value in law.survival([law.longest - 1, law.longest]).tolist())
        violated = math.floor(before / at_end) + 1, law.longest - 1
    k, h = violated
    raise ValueError(
        f"{law!r} is not a mixture of geometric laws: (−1)^k Δ^k γ(h) must be ≥ 0 for all k and h; got "
        f"{float(_difference(law, k, h)):.3g} at k = {k}, h = {h}."
    )


def _mixture(parts: list[tuple[float, float]]) -> Mixture:
    """Return the mixture of (weight, gamma) pairs, sorted by gamma; equal gammas are merged."""
    merged: dict[float, float] = {}
    for weight, gamma in sorted(parts, key=lambda part: part[1]):
        if weight > 0.0:
            merged[gamma] = merged.get(gamma, 0.0) + weight
    total = math.fsum(merged.values())
    return Mixture([weight / total for weight in merged.values()], [Geometric(gamma) for gamma in merged])


def _first_violated_difference(law: LengthLaw, last: int | None) -> tuple[int, int] | None:
    """Return the order k and step h of the first negative (−1)^k Δ^k γ(h), lowest order first, or None.

    Differences whose sign rounding may have changed do not count.
    """
    end = MAX_STEP if law.longest is None else law.longest + _MOST_DIFFERENCES
    n = min(_CHECKED_STEPS, MAX_STEP if last is None else last, end)
    survival = law.survival(np.arange(1, n + 1))
    differences = survival.copy()
    for k in range(1, min(_MOST_DIFFERENCES, n - 1) + 1):
        differences = differences[:-1] - differences[1:]
        negative = differences < -(2.0**k) * _LAW_ERROR * survival[: differences.size]
        if negative.any():
            return k, int(np.argmax(negative)) + 1
    return None


def _difference(law: LengthLaw, k: int, h: int) -> Fraction:
    """Return (−1)^k Δ^k γ(h) of the survival function's floats, exactly."""
    n = k if law.longest is None else min(k, law.longest + 1 - h)
    values = law.survival(np.arange(h, h + n + 1)).tolist()
    return sum(
        ((-1) ** j * math.comb(k, j) * Fraction(value) for j, value in enumerate(values)), start=Fraction(0)
    )


_Parts: TypeAlias = list[tuple[float, float]]
"""Pairs of a weight and a rate −ln γ, which is inf for γ = 0."""


def _smallest_fit(law: LengthLaw, tolerance: float, last: int | None) -> tuple[float, Mixture]:
    """Return the error and the mixture of the coarsest grid of rates that reaches the tolerance.

    If none does, heads are exchanged one by one, which finds single heads too. The closest mixture is
    returned. Errors are estimated first and certified last.
    """
    end = float(last) if last is not None else _end_of_fit(law, tolerance)
    best: tuple[float, _Parts] = (math.inf, [(1.0, math.inf)])
    n_stalled = 0
    for logs in _grids(end):
        found = [(error > tolerance, len(parts), error, parts) for error, parts in _fit_all(law, end, logs)]
        error, parts = min(found)[2:] if found else (math.inf, [])
        n_stalled = 0 if error < 0.5 * best[0] else n_stalled + 1
        if error < best[0]:
            best = error, parts
        certified = _certify(law, parts, last) if error <= 2.0 * tolerance else None
        if certified is not None and certified[0] <= tolerance:
            return certified
        if n_stalled > _MOST_STALLED:
            break
    return _certify(law, _exchange_heads(law, end, best, tolerance), last)


def _exchange_heads(law: LengthLaw, end: float, best: tuple[float, _Parts], tolerance: float) -> _Parts:
    """Return the heads of a close fit whose rates are not bound to a grid.

    First by conditional gradients: the rates at which one more head would lower the squared error fastest are
    added, and the fit drops those that have become useless. Then the rates in use are moved, on grids around
    them that get finer by a factor of three.
    """
    fine = np.arange(math.log(max(_SLOWEST / end, 2.0**-52)), math.log(_FASTEST), _FINE)
    target = _FitTarget.of(law, end)
    slopes_of = (target.heads(np.exp(fine)) * target.scale[:, np.newaxis]).T
    current = best
    for k in range(_EXCHANGES + _REFINEMENTS):
        if best[0] <= 0.5 * tolerance:
            break
        logs = np.log([rate for _, rate in current[1] if rate < math.inf])
        if k < _EXCHANGES:
            slopes = slopes_of @ target.residual(current[1])
            is_peak = np.r_[True, slopes[1:] > slopes[:-1]] & np.r_[slopes[:-1] >= slopes[1:], True]
            logs = np.append(logs, fine[is_peak & (slopes > 0.0)])
        else:
            steps = _FINE * 3.0 ** (_EXCHANGES - k) * np.arange(-2, 3)
            logs = (logs[:, np.newaxis] + steps).ravel()
        fits = _fit_all(law, end, [np.unique(logs)])
        if not fits:
            break
        current = fits[0]
        best = min(best, current)
    return best[1]


def _certify(law: LengthLaw, parts: _Parts, last: int | None) -> tuple[float, Mixture]:
    mixture = _mixture([(weight, math.exp(-rate)) for weight, rate in parts])
    return distance(law, mixture, last=last), mixture


def _grids(end: float) -> Iterator[list[FloatArray]]:
    """Yield equidistant grids of ln rate, coarse first; those of one spacing differ by a shift.

    For smooth completely monotone laws the error falls exponentially with 1/spacing, as it does for
    trapezoidal sums.
    """
    for spacing in _SPACINGS:
        slowest = math.log(max(_SLOWEST / end, 2.0**-52))
        yield [np.arange(slowest + shift * spacing, math.log(_FASTEST), spacing) for shift in _SHIFTS]


def _end_of_fit(law: LengthLaw, tolerance: float) -> float:
    """Return a step after which the law's tail is a small part of the tolerance."""
    end = 2.0
    while end < MAX_STEP and float(law.tail(end)) > 0.1 * tolerance:
        end *= 2.0
    return end


class _FitTarget(NamedTuple):
    """The survival function at steps that are spread evenly on a logarithmic scale."""

    away: FloatArray  # number of steps after the first
    survival: FloatArray
    width: FloatArray  # number of steps that each stands for
    scale: FloatArray  # root of the width, which turns sums over steps into sums of squares

    @classmethod
    def of(cls, law: LengthLaw, end: float) -> _FitTarget:
        h = np.unique(np.geomspace(1.0, end, _FIT_STEPS).round())
        width = np.gradient(h) if h.size > 1 else np.ones(1)
        return cls(h - 1.0, law.survival(h), width, np.sqrt(width))

    def heads(self, rates: FloatArray) -> FloatArray:
        """Return the survival functions of geometric laws, one per column."""
        away = self.away[:, np.newaxis]
        return np.asarray(np.exp(-np.where(away > 0.0, rates, 0.0) * np.maximum(away, 1.0)))

    def residual(self, parts: _Parts) -> FloatArray:
        """Return what a fit is short of, scaled."""
        shares, rates = np.array(parts).T
        return np.asarray((self.survival - self.heads(rates) @ shares) * self.scale)


def _fit_all(law: LengthLaw, end: float, grids: list[FloatArray]) -> list[tuple[float, _Parts]]:
    """Return the estimated error and the heads of a fit for each grid of ln rate; some may fail.

    Weights are nonnegative least squares.
    """
    target, fits = _FitTarget.of(law, end), []
    for logs in grids:
        rates = np.append(np.exp(logs), math.inf)
        heads, scale = target.heads(rates), target.scale
        try:
            shares, _ = nnls(heads * scale[:, np.newaxis], target.survival * scale, maxiter=50 * rates.size)
        except RuntimeError:  # it cycles on some fine grids
            continue
        error = float((np.abs(heads @ shares - target.survival) * target.width).sum())
        used = shares > 0.0
        fits.append((error, list(zip(shares[used].tolist(), rates[used].tolist(), strict=True))))
    return fits
