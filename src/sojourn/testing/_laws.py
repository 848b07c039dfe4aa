"""The conformance suite of length laws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sojourn._typing import ArrayLike, FloatArray
from sojourn.laws import LAWS, LengthLaw, parse_law

__all__ = ["check_law"]

_NORMAL = 1e-290
"""Below this, products and quotients of floats lose digits, so they are not compared."""


def check_law(law: LengthLaw, *, tolerance: float = 1e-10, draws: int = 20_000, seed: int = 0) -> None:
    """Check that a law has the properties that all of Sojourn relies on.

    Call it in the tests of your own law. It draws with a fixed seed, so it always gives the same result.

    Args:
        law: Any length law.
        tolerance: Largest relative error of an identity.
        draws: Number of lengths to draw for the comparison with the probabilities; 0 skips it.
        seed: Seed of the draws.

    Raises:
        AssertionError: If the law breaks a rule; one line names the rule and the step.
        TypeError: If it is not a `LengthLaw`.

    Example:
        >>> from sojourn.laws import Uniform
        >>> check_law(Uniform(2, 9))
    """
    if not isinstance(law, LengthLaw):
        raise TypeError(f"law must be a LengthLaw, such as Geometric(0.95); got {law!r}.")
    h = _grid(law)
    _check_survival(law, h, tolerance)
    _check_mass(law, h, tolerance)
    _check_ratios(law, h, tolerance)
    _check_longest(law)
    _check_memoryless(law)
    _check_effective_horizon(law)
    _check_shapes(law)
    _check_text(law)
    if draws and law.survival(2**53) * draws < 1e-3:  # lengths above 2**53 cannot be drawn
        _check_inversion(law, seed)
        _check_frequencies(law, draws, seed)


def _grid(law: LengthLaw) -> FloatArray:
    """Return the first 129 steps and then increasingly sparse ones, up to and past the longest length."""
    far = np.unique(np.geomspace(1, 2**40, 200).round())
    h = np.union1d(np.arange(1.0, 130.0), far)
    if law.longest is not None:
        edge = law.longest + np.arange(-2.0, 3.0)
        h = np.union1d(h[h <= law.longest], edge[(edge >= 1) & (edge < 2**53)])
    return h


def _require(holds: ArrayLike, law: LengthLaw, rule: str, h: FloatArray, *shown: FloatArray) -> None:
    failed = np.flatnonzero(~np.asarray(holds))
    if failed.size:
        at = failed[0]
        values = " and ".join(repr(float(np.broadcast_to(one, h.shape)[at])) for one in shown)
        raise AssertionError(f"{law!r}: {rule} at h = {h[at]:.0f}; got {values}.")


def _fail_unless(holds: bool, law: LengthLaw, rule: str, got: object) -> None:
    if not holds:
        raise AssertionError(f"{law!r}: {rule}; got {got!r}.")


def _close(a: FloatArray, b: FloatArray, tolerance: float, scale: ArrayLike | None = None) -> Any:
    size = np.maximum(np.abs(a), np.abs(b)) if scale is None else np.asarray(scale)
    return np.abs(a - b) <= tolerance * size + 1e-300


def _check_survival(law: LengthLaw, h: FloatArray, tolerance: float) -> None:
    survival, log_survival = law.survival(h), law.log_survival(h)
    _require(_close(survival[:1], np.ones(1), tolerance), law, "survival must be 1", h[:1], survival[:1])
    rises = np.diff(survival) > 1e-13 * survival[:-1]
    _require(~rises, law, "survival must not rise from here on", h[:-1], survival[:-1], survival[1:])
    same = _close(np.exp(log_survival), survival, tolerance) | (survival < _NORMAL)
    _require(same, law, "exp(log_survival) must be survival", h, np.exp(log_survival), survival)
    finite = np.isfinite(log_survival) | (survival == 0.0)
    _require(finite, law, "log_survival must be finite or survival 0", h, log_survival, survival)


def _check_mass(law: LengthLaw, h: FloatArray, tolerance: float) -> None:
    pmf = law.pmf(h)
    _require(pmf >= 0.0, law, "pmf must be ≥ 0", h, pmf)
    first = np.arange(1.0, 1001.0)
    total = np.cumsum(law.pmf(first)) + law.survival(first + 1.0)
    rule = "pmf up to here and survival after it must sum to 1"
    _require(_close(total, np.ones_like(total), tolerance), law, rule, first, total)
    tail, after, survival = law.tail(h), law.tail(h + 1.0), law.survival(h)
    exact = _close(tail - after, survival, tolerance, scale=np.maximum(tail, survival))
    _require(exact, law, "tail(h) − tail(h + 1) must be survival(h)", h, tail - after, survival)
    _fail_unless(
        math.isclose(law.tail(1), law.mean, rel_tol=tolerance), law, "mean must be tail(1)", law.mean
    )


def _check_ratios(law: LengthLaw, h: FloatArray, tolerance: float) -> None:
    survival, after, tail = law.survival(h), law.survival(h + 1.0), law.tail(h)
    continuation, hazard, remaining = law.continuation(h), law.hazard(h), law.remaining(h)
    inside = (continuation >= 0.0) & (continuation <= 1.0)
    _require(inside, law, "continuation must be in [0, 1]", h, continuation)
    sums = continuation + hazard
    _require(np.abs(sums - 1.0) <= 1e-12, law, "continuation and hazard must sum to 1", h, sums)
    normal = (survival > _NORMAL) & (after > _NORMAL)
    same = _close(survival * continuation, after, tolerance) | ~normal
    rule = "survival(h) · continuation(h) must be survival(h + 1)"
    _require(same, law, rule, h, survival * continuation, after)
    same = _close(survival * remaining, tail, tolerance) | ~normal
    _require(same, law, "survival · remaining must be tail", h, survival * remaining, tail)
    same = _close(survival * hazard, law.pmf(h), tolerance) | ~normal
    _require(same, law, "survival · hazard must be pmf", h, survival * hazard, law.pmf(h))
    chain = 1.0 + continuation * law.remaining(h + 1.0)
    past = h > (law.longest or math.inf)
    # A ρ that is derived from ln γ has the rounding error of that logarithm.
    slack = tolerance + 1e-15 * np.abs(np.where(past, 0.0, law.log_survival(h)))
    same = _close(remaining, np.where(past, 0.0, chain), 1.0, scale=slack * np.maximum(remaining, chain))
    _require(same, law, "remaining(h) must be 1 + continuation(h) remaining(h + 1)", h, remaining, chain)


def _check_longest(law: LengthLaw) -> None:
    end = law.longest
    if end is None or end >= 2**53:
        return
    _fail_unless(float(law.survival(end)) > 0.0, law, "survival(longest) must be > 0", law.survival(end))
    after = np.array([float(end + 1), min(2.0 * end + 2.0, 2.0**53)])
    for name, value in (
        ("survival", 0.0),
        ("tail", 0.0),
        ("pmf", 0.0),
        ("continuation", 0.0),
        ("remaining", 0.0),
    ):
        found = getattr(law, name)(after)
        _require(found == value, law, f"{name} past the longest length must be {value}", after, found)
    _fail_unless(float(law.hazard(end)) == 1.0, law, "hazard(longest) must be 1", law.hazard(end))


def _check_memoryless(law: LengthLaw) -> None:
    start = law.memoryless_from
    if start is None:
        return
    _fail_unless(law.longest is None, law, "a law with a longest length must not be memoryless", start)
    h = start + np.unique(np.geomspace(1, 2**40, 60).round()) - 1.0
    ratios = law.continuation(h)
    slack = 1e-12 + 1e-15 * np.abs(law.log_survival(h))
    rule = "continuation must be constant from memoryless_from on"
    _require(np.abs(ratios - ratios[0]) <= slack * ratios[0], law, rule, h, ratios, ratios[:1])


def _check_effective_horizon(law: LengthLaw) -> None:
    for truncation in (2.0 * law.mean, law.mean / 3.0, law.mean / 50.0):
        if law.longest is None and law.tail(2**40) > truncation:
            continue
        n = law.effective_horizon(truncation)
        enough = n == law.longest or law.tail(n) <= truncation
        least = n == 1 or law.tail(n - 1) > truncation
        rule = f"effective_horizon({truncation!r}) must be the smallest N ≥ 1 with tail(N) ≤ truncation"
        _fail_unless(bool(enough and least), law, rule, n)


def _check_shapes(law: LengthLaw) -> None:
    table = np.array([[1, 2, 3], [4, 5, 6]])
    for name in ("survival", "log_survival", "tail", "continuation", "remaining", "pmf", "hazard"):
        method = getattr(law, name)
        alone, square = method(2), method(table)
        _fail_unless(isinstance(alone, np.float64), law, f"{name}(2) must be a numpy float64", type(alone))
        _fail_unless(square.shape == (2, 3), law, f"{name} must keep the shape (2, 3)", square.shape)
        _fail_unless(method([]).shape == (0,), law, f"{name}([]) must be empty", method([]))
        same = np.allclose(square[0, 1], alone, rtol=1e-14, equal_nan=False) or square[0, 1] == alone
        _fail_unless(bool(same), law, f"{name} must be the same alone and in an array", (alone, square[0, 1]))
    for wrong in (0, -1, 1.5, math.nan, math.inf, True, "1", None):
        try:
            found = law.survival(wrong)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue
        raise AssertionError(
            f"{law!r}: survival({wrong!r}) must raise a TypeError or ValueError; got {found!r}."
        )


def _check_text(law: LengthLaw) -> None:
    _fail_unless(hash(law) == hash(law) and law == law, law, "a law must be hashable and equal itself", law)  # noqa: PLR0124
    if type(law) in LAWS.values():
        again = parse_law(repr(law))
        _fail_unless(again == law, law, "parse_law(repr(law)) must be the law", again)


def _check_inversion(law: LengthLaw, seed: int) -> None:
    """Check that a draw uses one uniform U in (0, 1] and is the largest h with survival(h) ≥ U."""
    lengths = np.asarray(law.sample(np.random.default_rng(seed), 500))
    uniforms = 1.0 - np.random.default_rng(seed).random(500)
    _fail_unless(lengths.dtype == np.int64, law, "sample must give int64", lengths.dtype)
    alone = law.sample(np.random.default_rng(seed))
    _fail_unless(type(alone) is int and alone == lengths[0], law, f"one draw must be {lengths[0]}", alone)
    h = lengths.astype(np.float64)
    slack = 1e-13 * uniforms
    right = ((law.survival(h) >= uniforms - slack) | (h == 1.0)) & (
        (law.survival(h + 1.0) < uniforms + slack) | (h == 2.0**53)
    )
    _require(right, law, "a draw must be the largest h with survival(h) ≥ U", h, uniforms)


def _check_frequencies(law: LengthLaw, draws: int, seed: int) -> None:
    """Check Pearson's chi-square over cells with at least 20 expected draws, at five standard deviations."""
    lengths = np.asarray(law.sample(np.random.default_rng([seed, 1]), draws))
    edges, left = [1.0], 1.0
    for h in np.unique(np.geomspace(2, max(int(lengths.max()), 2) + 1, 400).round()):
        here = float(law.survival(h))
        if (left - here) * draws >= 20.0 and here * draws >= 20.0:
            edges.append(float(h))
            left = here
    expected = -np.diff(np.append(law.survival(np.array(edges)), 0.0)) * draws
    seen = np.histogram(lengths, bins=[*edges, math.inf])[0]
    statistic = float(((seen - expected) ** 2 / expected).sum())
    freedom = len(edges) - 1
    if freedom == 0:
        return
    # Wilson and Hilferty: the cube root of chi-square over its degrees of freedom is nearly normal.
    spread = 2.0 / (9.0 * freedom)
    limit = freedom * (1.0 - spread + 5.0 * math.sqrt(spread)) ** 3
    _fail_unless(statistic <= limit, law, f"chi-square of the draws must be ≤ {limit:.1f}", statistic)
