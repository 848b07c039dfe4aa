"""Integer codes for words, each word stored once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn._typing import IntArray

__all__ = ["WordCodes"]


class WordCodes:
    """Assigns integer codes to words in order of first appearance, from 0.

    A NumPy array of words would use the size of the longest word for each of them, and would not distinguish
    words that differ only in trailing zero bytes.

    Example:
        >>> words = WordCodes()
        >>> codes = [words.code(word) for word in ("b", "c", "a", "b")]
        >>> codes
        [0, 1, 2, 0]
        >>> words.sorted(codes[2:])
        (('a', 'b'), array([0, 1]))
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def code(self, word: str) -> int:
        """Return the code of a word, a new one if the word is new."""
        return self._codes.setdefault(word, len(self._codes))

    def sorted(self, codes: Sequence[int] | IntArray) -> tuple[tuple[str, ...], IntArray]:
        """Return the words that occur in `codes`, sorted, and the index of each code's word among them."""
        used, where = np.unique(np.asarray(codes, dtype=np.int64), return_inverse=True)
        words = list(self._codes)
        labels = [words[code] for code in used.tolist()]
        order = sorted(range(len(labels)), key=labels.__getitem__)
        return tuple(labels[i] for i in order), np.asarray(np.argsort(order)[where], dtype=np.int64)
