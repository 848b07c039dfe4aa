"""Draws episode lengths from a law and checks them: a user's own law may return anything."""

from __future__ import annotations

import numpy as np

from sojourn._typing import IntArray
from sojourn._validation import check_not_masked
from sojourn.laws._base import MAX_STEP, LengthLaw

__all__ = ["draw_lengths"]


def draw_lengths(law: LengthLaw, rng: np.random.Generator, n: int) -> IntArray:
    """Return `law.sample(rng, n)`.

    Raises:
        TypeError: If the law does not draw numbers.
        ValueError: If it does not draw n whole numbers from 1 to 2**53.
    """
    given = law.sample(rng, n)
    check_not_masked(f"{type(law).__name__}.sample(rng, {n})", given)
    drawn = np.asarray(given)
    rule = f"{type(law).__name__}.sample(rng, {n}) must return {n} whole numbers ≥ 1"
    if drawn.dtype.kind not in "iuf":
        raise TypeError(f"{rule}; got dtype {drawn.dtype}.")
    if drawn.shape != (n,):
        raise ValueError(f"{rule}; got shape {drawn.shape}.")
    wrong = ~((drawn >= 1) & (drawn <= MAX_STEP))
    if drawn.dtype.kind == "f":
        wrong |= np.floor(drawn) != drawn
    if wrong.any():
        raise ValueError(f"{rule}; got {drawn[np.argmax(wrong)].item()!r}.")
    return drawn.astype(np.int64, copy=False)
