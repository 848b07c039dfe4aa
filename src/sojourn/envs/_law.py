"""Parts of the wrappers that deal with a law: parsing, drawing lengths, tables by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn._validation import check_whole
from sojourn.laws import LengthLaw, draw_lengths, parse_law

__all__ = ["LengthStream", "StepTable", "as_law", "check_seed", "check_seeds", "record_law"]

_MOST_LETTERS = 1_000
"""A law with a longer text is recorded as an object."""

_BLOCK = 256
"""Number of lengths drawn at a time."""

_MOST_STEPS = 2**20
"""Largest number of steps in a table; values of later steps are computed when needed."""


def as_law(law: LengthLaw | str) -> LengthLaw:
    """Return the law, parsed if it is given as text."""
    if isinstance(law, str):
        return parse_law(law)
    if not isinstance(law, LengthLaw):
        raise TypeError(f"law must be a LengthLaw, such as Geometric(0.95), or its text; got {law!r}.")
    return law


def record_law(law: LengthLaw) -> LengthLaw | str:
    """Return a text that parses to the law if there is one, so that an environment's spec can be JSON."""
    text = repr(law)
    if len(text) > _MOST_LETTERS:
        return law
    try:
        found = parse_law(text)
    except (TypeError, ValueError):  # a law class defined by the user
        return law
    return text if type(found) is type(law) else law


class LengthStream:
    """Draws the length of each episode from a separate random stream.

    The stream is the first child of the seed, as in `sojourn.learn`, so the same seed gives the same lengths
    in both, whatever actions are played.
    """

    def __init__(self, law: LengthLaw, seed: int | None) -> None:
        self._law = law
        self.reseed(seed)

    def reseed(self, seed: int | None) -> None:
        """Restart the stream with this seed, or with a random seed if it is None."""
        self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
        self._drawn: Iterator[int] = iter(())

    def draw(self) -> int:
        """Return the next length."""
        length = next(self._drawn, None)
        if length is None:
            # A block uses the same numbers of the stream as single draws would.
            self._drawn = iter(draw_lengths(self._law, self._rng, _BLOCK).tolist())
            length = next(self._drawn)
        return length


class StepTable:
    """Tabulates a function of the step, such as γ or ρ; the table grows when later steps are requested."""

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
    """Return a valid seed, or None."""
    return None if seed is None else check_whole("seed", seed, least=0)


def check_seeds(seed: Any, n_envs: int) -> list[int | None] | None:
    """Return one seed per environment: those given, or s, s + 1, … for a single seed s; None for None."""
    if isinstance(seed, (list, tuple, range, np.ndarray)):
        return [check_seed(one) for one in seed]
    first = check_seed(seed)
    return None if first is None else list(range(first, first + n_envs))
