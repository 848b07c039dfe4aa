"""Words as numbers, each kept once however often and however long it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn._typing import IntArray

__all__ = ["Numbering"]


class Numbering:
    """Words as they come, numbered from 0.

    An array of words would give each the room of the longest, and tell none from itself with zeros behind.

    Example:
        >>> words = Numbering()
        >>> codes = [words.code(word) for word in ("b", "c", "a", "b")]
        >>> codes
        [0, 1, 2, 0]
        >>> words.sorted(codes[2:])
        (('a', 'b'), array([0, 1]))
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def code(self, word: str) -> int:
        """Return the number of a word."""
        return self._codes.setdefault(word, len(self._codes))

    def sorted(self, codes: Sequence[int]) -> tuple[tuple[str, ...], IntArray]:
        """Return the words that are used, sorted, and for each code its place among them."""
        used, where = np.unique(np.asarray(codes, dtype=np.int64), return_inverse=True)
        words = list(self._codes)
        labels = [words[code] for code in used.tolist()]
        order = sorted(range(len(labels)), key=labels.__getitem__)
        return tuple(labels[i] for i in order), np.asarray(np.argsort(order)[where], dtype=np.int64)
