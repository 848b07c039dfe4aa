"""The base class of all laws: it derives every quantity from a survival function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from sojourn._typing import ArrayLike, FloatArray, IntArray
from sojourn._validation import check_not_masked

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sojourn.laws.families._mixture import Mixture

__all__ = ["MAX_STEP", "LengthLaw", "steps"]

MAX_STEP = 2**53
"""The largest step: up to here every whole number is exactly representable as a float."""

_TINY = 1e-290
"""Below this, floats lose digits, so that products are computed in logarithms."""

_MAX_CORRECTIONS = 32
"""Largest number of unit steps by which a guessed inverse is corrected before bisection takes over."""

_MAX_TABLE = 2**16
"""If all drawn lengths are at most this, the survival function is inverted by a table, else by bisection."""


def steps(h: ArrayLike) -> FloatArray:
    """Return steps as floats of the same shape; they must be whole numbers from 1 to 2**53."""
    alone: Any = h
    if type(alone) is int and 1 <= alone <= MAX_STEP:  # the general way takes 12 µs longer
        return np.array(float(alone))
    check_not_masked("h", h)
    rule = "h must be whole numbers from 1 to 2**53"
    try:
        given = np.asarray(h)
    except (ValueError, OverflowError):
        given = np.empty((), dtype=object)
    if given.dtype.kind == "O" and all(isinstance(one, int) for one in given.flat):  # beyond 64 bits
        raise ValueError(f"{rule}; got {_short(h)}.")
    if given.dtype.kind not in "iuf":
        raise TypeError(f"{rule}; got {_short(h)}.")
    numbers = given.astype(np.float64)
    wrong = ~((given >= 1) & (given <= MAX_STEP))
    if given.dtype.kind == "f":
        wrong |= np.floor(numbers) != numbers
    if wrong.any():
        raise ValueError(f"{rule}; got {given[wrong].ravel()[0]}.")
    return numbers


class LengthLaw:
    """A distribution of episode lengths H ≥ 1 with a finite mean, and so a discount function.

    γ(h) = P(H ≥ h) is the weight of step h; Γ(h) = Σ_{j≥h} γ(j) is the weight of all steps from h on. Steps
    `h` are 1-based whole numbers, scalars or arrays of any shape; results have the same shape.

    To define a law, write a frozen dataclass that derives from this class and defines `survival`, and also
    `tail` or `remaining` unless there is a `longest` length. Everything else is derived, and
    `sojourn.testing.check_law` tests it. Where a derived value would lose digits, override the formula behind
    it instead: `_log_survival`, `_remaining`, `_continuation` or `_hazard`. These are called with flat arrays
    of floats that do not exceed `longest`.

    Example:
        >>> from dataclasses import dataclass
        >>> from sojourn.laws import LengthLaw, steps
        >>> @dataclass(frozen=True)
        ... class Halving(LengthLaw):
        ...     def survival(self, h):
        ...         return 0.5 ** (steps(h) - 1.0)
        ...     def tail(self, h):
        ...         return 2.0 * self.survival(h)
        >>> Halving().mean, Halving().hazard([1, 2, 3])
        (2.0, array([0.5, 0.5, 0.5]))
    """

    @property
    def longest(self) -> int | None:
        """The largest possible length, or None if there is none."""
        return None

    @property
    def memoryless_from(self) -> int | None:
        """The first step from which ρ(h) is constant, or None if there is none."""
        return None

    @property
    def mean(self) -> float:
        """The mean length, Γ(1)."""
        return float(self.remaining(1))

    def survival(self, h: ArrayLike) -> FloatArray:
        """Return γ(h) = P(H ≥ h)."""
        return self._evaluate(self._survival, h, past=0.0)

    def log_survival(self, h: ArrayLike) -> FloatArray:
        """Return ln γ(h), even where γ(h) is too small for a float; −inf past the longest length."""
        return self._evaluate(self._log_survival, h, past=-math.inf)

    def tail(self, h: ArrayLike) -> FloatArray:
        """Return Γ(h) = Σ_{j≥h} γ(j), the full infinite sum."""
        return self._evaluate(self._tail, h, past=0.0)

    def continuation(self, h: ArrayLike) -> FloatArray:
        """Return ρ(h) = γ(h+1)/γ(h), accurate even where γ underflows; 0 where γ(h) = 0."""
        return self._evaluate(self._continuation, h, past=0.0)

    def remaining(self, h: ArrayLike) -> FloatArray:
        """Return Γ(h)/γ(h), the mean number of steps from h on given H ≥ h; 0 past the longest length."""
        return self._evaluate(self._remaining, h, past=0.0)

    def pmf(self, h: ArrayLike) -> FloatArray:
        """Return P(H = h)."""
        return self._evaluate(self._pmf, h, past=0.0)

    def hazard(self, h: ArrayLike) -> FloatArray:
        """Return P(H = h | H ≥ h) = 1 − ρ(h), without loss of digits where it is small."""
        return self._evaluate(self._hazard, h, past=1.0)

    def effective_horizon(self, truncation: float) -> int:
        """Return the smallest N ≥ 1 with Γ(N) ≤ truncation, at most `longest`.

        Args:
            truncation: Largest weight given up beyond N, ≥ 0 (> 0 for a law with no longest length).

        Raises:
            ValueError: If truncation is out of range, or N would be above 2**53.
        """
        if isinstance(truncation, (bool, str, bytes)) or not isinstance(truncation, (int, float, np.number)):
            raise TypeError(f"truncation must be a number ≥ 0; got {truncation!r}.")
        if not truncation >= 0 or (self.longest is None and not truncation > 0):
            rule = "> 0 for a law with no longest length" if self.longest is None else "≥ 0"
            raise ValueError(f"truncation must be {rule}; got {truncation!r}.")
        low, high = 0, self.longest or MAX_STEP  # Γ(low) > truncation ≥ Γ(high)
        if self.longest is None and self.tail(high) > truncation:
            raise ValueError(f"truncation must be larger for {self!r}: N is above 2**53; got {truncation!r}.")
        while high - low > 1:
            grid = np.unique(np.geomspace(low + 1, high, 64).round())
            enough = int(np.argmax(np.append(self.tail(grid) <= truncation, True)))
            high = int(grid[enough]) if enough < grid.size else high
            low = int(grid[enough - 1]) if enough > 0 else low
        return high

    @overload
    def sample(self, rng: np.random.Generator, size: None = None) -> int: ...

    @overload
    def sample(self, rng: np.random.Generator, size: int | tuple[int, ...]) -> IntArray: ...

    def sample(self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None) -> int | IntArray:
        """Draw lengths by inversion: the largest h with γ(h) ≥ U, with one uniform U in (0, 1] per draw.

        With equal generator states, draws from different laws are coupled: a law whose survival function is
        at least as large everywhere never draws a shorter length.

        Raises:
            ValueError: If a length above 2**53 is drawn.
        """
        if not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng must be a numpy.random.Generator; got {rng!r}.")
        try:
            uniforms = np.asarray(1.0 - rng.random(size))
        except (TypeError, ValueError) as error:
            rule = "size must be a whole number ≥ 0, several of them, or None"
            raise type(error)(f"{rule}; got {_short(size)}.") from error
        lengths = self._invert(uniforms.ravel())
        if lengths.size and not lengths.max() <= MAX_STEP:
            raise ValueError(f"{self!r} drew a length above 2**53.")
        drawn: IntArray = lengths.astype(np.int64).reshape(uniforms.shape)
        return int(drawn) if size is None else drawn

    def as_mixture(self, tolerance: float = 1e-3, *, last: int | None = None) -> Mixture:
        """Return a mixture of geometric laws that is close to this law, with a certified error.

        There is one if and only if the law is completely monotone: (−1)^k Δ^k γ(h) ≥ 0 for all k and h. The
        value of any policy changes by at most the largest |reward| times the error. The number of geometric
        laws, called heads in deep learning, grows with the logarithm of 1/tolerance. Laws that are finite
        mixtures of geometric laws are returned exactly, such as `QuasiHyperbolic` with the heads {0, γ}.

        Args:
            tolerance: Largest error Σ_h |γ(h) − γ'(h)|, in steps; 0 accepts only finite mixtures.
            last: Last step that counts; by default all steps do.

        Raises:
            ValueError: If the law is not completely monotone (the error names the first difference with the
                wrong sign), or if no mixture within the tolerance is found.

        Example:
            >>> from sojourn.laws import Polynomial, QuasiHyperbolic, distance
            >>> QuasiHyperbolic(0.7, 0.9).as_mixture()
            Mixture(weights=(0.30000000000000004, 0.7), laws=(Geometric(gamma=0.0), Geometric(gamma=0.9)))
            >>> law = Polynomial(2.0)
            >>> mixture = law.as_mixture(1e-4)
            >>> len(mixture.laws) < 40, distance(law, mixture) <= 1e-4
            (True, True)
        """
        from sojourn.laws._as_mixture import as_mixture  # noqa: PLC0415 - mixtures are laws too

        return as_mixture(self, tolerance, last)

    def _geometric_parts(self) -> list[tuple[float, float]] | None:
        """Return (weight, gamma) pairs if the law is exactly a finite mixture of geometric laws, else None.

        A law that is memoryless from step 2 on is c·γ^(h−1) there, so it has the heads 0 and γ.
        """
        if self.longest == 1:
            return [(1.0, 0.0)]
        if self.memoryless_from not in (1, 2):
            return None
        gamma = float(self.continuation(2))
        share = 1.0 if self.memoryless_from == 1 else float(self.survival(2)) / gamma
        return [(1.0 - share, 0.0), (share, gamma)] if share <= 1.0 else None

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the law beside the geometric law of the same mean; see `sojourn.plots.law_figure`.

        The figure is not shown in a window: `law.plot().savefig("law.pdf")` writes it (`.pdf`, `.svg` or
        `.png`), and a notebook shows it if it is the last line of a cell.
        """
        from sojourn.plots import law_figure  # noqa: PLC0415

        return law_figure(self, ax=ax)

    def _overrides(self, method: str) -> bool:
        """Return whether this law's class overrides a method of the base class."""
        return getattr(type(self), method) is not getattr(LengthLaw, method)

    def _survival(self, h: FloatArray) -> FloatArray:
        if self._overrides("_log_survival"):
            return np.exp(self._log_survival(h))
        if self._overrides("survival"):
            return np.asarray(self.survival(h))
        raise TypeError(f"{type(self).__name__} must define survival.")

    def _log_survival(self, h: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.log(self._survival(h))

    def _continuation(self, h: FloatArray) -> FloatArray:
        return np.exp(self._log_continuation(h))

    def _hazard(self, h: FloatArray) -> FloatArray:
        return -np.expm1(self._log_continuation(h))

    def _log_continuation(self, h: FloatArray) -> FloatArray:
        """Return ln ρ(h); −inf where γ(h) is 0 or underflows to 0."""
        here, later = self._log_survival(h), self.log_survival(h + 1.0)
        return np.subtract(later, here, out=np.full_like(here, -math.inf), where=here > -math.inf)

    def _pmf(self, h: FloatArray) -> FloatArray:
        return self._survival(h) * self._hazard(h)

    def _remaining(self, h: FloatArray) -> FloatArray:
        if self._overrides("remaining"):
            return np.asarray(self.remaining(h))
        if self._overrides("tail"):
            survival = self._survival(h)
            return np.divide(self.tail(h), survival, out=np.zeros_like(survival), where=survival > 0.0)
        if self.longest is None:
            raise TypeError(f"{type(self).__name__} must define tail, remaining or longest.")
        survival = self._survival(np.arange(1.0, self.longest + 1.0))
        sums = np.cumsum(survival[::-1])[::-1]
        at = h.astype(np.int64) - 1
        return np.asarray(sums[at] / survival[at])

    def _tail(self, h: FloatArray) -> FloatArray:
        survival, remaining = self._survival(h), self._remaining(h)
        product = survival * remaining
        small = survival < _TINY
        if np.any(small):
            product[small] = np.exp(self._log_survival(h[small]) + np.log(remaining[small]))
        return product

    def _invert(self, uniforms: FloatArray) -> FloatArray:
        """Return the largest h with γ(h) ≥ u for each u in (0, 1], as floats; inf above 2**53."""
        if not uniforms.size:
            return uniforms
        least = uniforms.min()
        powers = 2.0 ** np.arange(54)
        below = self.survival(powers) < least
        if not below.any():
            return self._bisect(uniforms, float(MAX_STEP))
        high = powers[int(np.argmax(below))]
        if high > _MAX_TABLE:
            return self._bisect(uniforms, high)
        survival = self.survival(np.arange(1.0, high + 1.0))
        return np.maximum(np.searchsorted(-survival, -uniforms, side="right"), 1).astype(np.float64)

    def _bisect(self, uniforms: FloatArray, above: float) -> FloatArray:
        """Invert each draw separately: a coarse grid first, then interpolation and bisection in turn."""
        order = np.argsort(-uniforms)
        drawn = uniforms[order]
        grid = np.unique(np.geomspace(1.0, above, 512).round())
        survival = self.survival(grid)
        cell = np.clip(np.searchsorted(-survival, -drawn, side="right"), 1, grid.size - 1)
        low, high = grid[cell - 1], grid[cell]
        at_low, at_high = survival[cell - 1], survival[cell]
        turn = 0
        while np.any(open_ := high - low > 1.0):
            share = np.full_like(low, 0.5)
            if turn % 3 < 2:
                np.divide(at_low - drawn, at_low - at_high, out=share, where=at_low > at_high)
            middle = np.clip(np.floor(low + share * (high - low)), low + 1.0, high - 1.0)[open_]
            # Draws are sorted, so equal steps are neighbors: each is evaluated once.
            fresh = np.append(True, np.diff(middle) != 0.0)
            here = self.survival(middle[fresh])[np.cumsum(fresh) - 1]
            alive = here >= drawn[open_]
            low[open_], at_low[open_] = np.where(alive, (middle, here), (low[open_], at_low[open_]))
            high[open_], at_high[open_] = np.where(alive, (high[open_], at_high[open_]), (middle, here))
            turn += 1
        result = np.empty_like(low)
        result[order] = np.where(at_high >= drawn, math.inf, low)
        return result

    def _correct_guesses(self, guesses: FloatArray, uniforms: FloatArray) -> FloatArray:
        """Correct guessed inverses that are wrong by rounding errors only; return inf above 2**53."""
        beyond = ~(guesses < MAX_STEP)
        lengths = np.clip(guesses, 1.0, MAX_STEP - 1.0)
        for _ in range(_MAX_CORRECTIONS):
            up = ~beyond & (lengths < MAX_STEP) & (self.survival(lengths + 1.0) >= uniforms)
            down = ~beyond & ~up & (lengths > 1.0) & (self.survival(lengths) < uniforms)
            if not (up.any() or down.any()):
                return np.where(beyond, math.inf, lengths)
            lengths += up
            lengths -= down
        return self._bisect(uniforms, float(MAX_STEP))  # a guess was far off

    def _evaluate(
        self, formula: Callable[[FloatArray], FloatArray], h: ArrayLike, *, past: float
    ) -> FloatArray:
        """Apply a formula to the steps up to the longest length; all later steps get the value `past`."""
        given = steps(h)
        flat = given.ravel()
        with np.errstate(under="ignore"):  # late steps underflow to 0, whatever `np.seterr` was told
            if self.longest is None:
                result = formula(flat)
            else:
                inside = flat <= self.longest
                result = np.full(flat.shape, past)
                if inside.any():
                    result[inside] = formula(flat[inside])
        shaped: FloatArray = result.reshape(given.shape)[()]
        return shaped

    def _set(self, **values: Any) -> None:
        """Store checked parameters of a frozen law."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _parameters(self) -> dict[str, Any]:
        """Return the constructor arguments of this law by name."""
        names: dict[str, Any] = getattr(self, "__dataclass_fields__", {})
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self._parameters().items())
        return f"{type(self).__name__}({arguments})"

    def _details(self) -> list[tuple[str, object]]:
        """Return rows about the law that its card in a notebook shows on request: by default arguments."""
        return [(name, _short(value)) for name, value in self._parameters().items()]

    def _repr_html_(self) -> str:
        from sojourn.laws._card import law_card  # noqa: PLC0415 - the card knows families of laws

        return law_card(self, self._details())


def _short(value: object, *, width: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= width else f"{text[: width - 1]}…"
