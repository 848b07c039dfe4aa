"""What the wrappers share of a law: its text, its lengths and its weights, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn._validation import check_whole
from sojourn.laws import LengthLaw, parse_law

__all__ = ["Lengths", "StepTable", "as_law", "check_seed", "check_seeds", "record_law"]

_MOST_LETTERS = 1_000
"""A law whose text is longer is recorded as it is."""

_BLOCK = 256
"""Lengths that are drawn at a time."""

_MOST_STEPS = 2**20
"""Steps that a table is kept for; later ones are computed when they come."""


def as_law(law: LengthLaw | str) -> LengthLaw:
    """Return the law, read from its text if it is one."""
    if isinstance(law, str):
        return parse_law(law)
    if not isinstance(law, LengthLaw):
        raise TypeError(f"law must be a LengthLaw, such as Geometric(0.95), or its text; got {law!r}.")
    return law


def record_law(law: LengthLaw) -> LengthLaw | str:
    """Return the text that makes the law, where there is one, so that an environment's spec can be JSON."""
    text = repr(law)
    if len(text) > _MOST_LETTERS:
        return law
    try:
        found = parse_law(text)
    except (TypeError, ValueError):  # a law of the user's own
        return law
    return text if type(found) is type(law) else law


class Lengths:
    """The lengths of one episode after another, from a stream of their own.

    The stream is the first child of the seed, as in `sojourn.learn`: the same seed gives the same lengths
    here and there, whatever is played.
    """

    def __init__(self, law: LengthLaw, seed: int | None) -> None:
        self._law = law
        self.reseed(seed)

    def reseed(self, seed: int | None) -> None:
        """Begin again with this seed, or with one that nobody knows."""
        self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
        self._drawn: Iterator[int] = iter(())

    def draw(self) -> int:
        """Return the next length."""
        length = next(self._drawn, None)
        if length is None:
            # A block takes the same numbers from the stream as single draws would.
            self._drawn = iter(self._law.sample(self._rng, _BLOCK).tolist())
            length = next(self._drawn)
        return length


class StepTable:
    """A function of the step, such as γ or ρ, in a table that grows as steps are reached."""

    def __init__(self, function: Callable[[Any], FloatArray]) -> None:
        self._function = function
        self._values = function(np.arange(1, 65))

    def at(self, h: int) -> float:
        """Return the value at step h, counted from 1."""
        if h <= self._values.size:
            return float(self._values[h - 1])
        return float(self.at_all(np.array([h]))[0])

    def at_all(self, h: IntArray) -> FloatArray:
        """Return the values at several steps."""
        last = int(h.max(initial=1))
        if last > _MOST_STEPS:
            return self._function(h)
        if last > self._values.size:
            size = min(max(last, 2 * self._values.size), _MOST_STEPS)
            self._values = self._function(np.arange(1, size + 1))
        return self._values[h - 1]


def check_seed(seed: int | None) -> int | None:
    """Return a seed, or None."""
    return None if seed is None else check_whole("seed", seed, least=0)


def check_seeds(seed: Any, n_envs: int) -> list[int | None] | None:
    """Return one seed for each environment, from several or as s, s + 1, … from a single one; or None."""
    if isinstance(seed, (list, tuple, range, np.ndarray)):
        return [check_seed(own) for own in seed]
    first = check_seed(seed)
    return None if first is None else list(range(first, first + n_envs))
