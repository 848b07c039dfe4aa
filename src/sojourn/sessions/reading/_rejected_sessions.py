"""Finds out whether rejected rows are unlike the others, so that leaving them out would mislead."""

from __future__ import annotations

import math
import re
from collections import Counter

import numpy as np

from sojourn._typing import IntArray
from sojourn.sessions._format import percent, step_words
from sojourn.sessions.reading._cells import LONG_CELL

__all__ = ["RejectedSessions"]

_LARGE_SHARE = 0.05
"""Share of all sessions, or of all steps, that must not be left out without a word."""

_SOME_SHARE = 0.01
"""Least share of the sessions from which on a difference in kind matters."""

_RARE = 1e-3
"""Chance below which rejected rows are said not to be a random choice."""

_SPACES = re.compile(r"[\s'’_\"]")


class RejectedSessions:
    """What is known about rejected rows: how many sessions they stand for, and about how long these were."""

    def __init__(self) -> None:
        self._n_sessions = 0
        self._n_without_entry = 0
        self._lengths: Counter[float] = Counter()
        self._n_steps_by_decimals = 0.0
        """About how many steps they have if no point separates thousands."""

    def add(self, n_sessions: int, length: object, *, has_entry: bool) -> None:
        """Add a row: its number of sessions, its cell of lengths, and whether it has an entry."""
        self._n_sessions += n_sessions
        self._n_without_entry += 0 if has_entry else n_sessions
        about = _rough_number(length)
        if about is not None:
            self._lengths[about] += n_sessions
            self._n_steps_by_decimals += n_sessions * (_rough_number(length, point="") or 0.0)

    def share(self, n_used: int) -> float:
        """Return the share of the sessions that the rejected rows stand for."""
        return self._n_sessions / max(self._n_sessions + n_used, 1)

    def difference(self, lengths: IntArray, counts: IntArray) -> str:
        """Return in which way the rejected rows are unlike those that are used; empty if in none.

        Leaving them out would mislead then.

        Args:
            lengths: Lengths of the sessions that are used.
            counts: Numbers of sessions with these lengths.
        """
        n_used = int(counts.sum())
        share = self.share(n_used)
        n_known, n_steps = self._lengths.total(), sum(at * n for at, n in self._lengths.items())
        n_steps_used = float(np.dot(lengths.astype(float), counts))
        of_steps = n_steps / (n_steps + n_steps_used)
        by_decimals = self._n_steps_by_decimals / (self._n_steps_by_decimals + n_steps_used)
        least = max(_LARGE_SHARE, 2.0 * share)
        if of_steps > least:
            if_so = "" if by_decimals > least else " if their points separate thousands"
            return (
                f"the rows that cannot be used are long ones{if_so}, with about {percent(of_steps)} of all "
                "steps"
            )
        if share < _SOME_SHARE:
            return ""
        if self._n_without_entry > n_used * _SOME_SHARE:
            return (
                "rows without an entry cannot be used; if these sessions were seen from their first step, "
                "write 1 there (or 0 where entries count from 0)"
            )
        shortest, longest = min(self._lengths, default=0.0), max(self._lengths, default=math.inf)
        for kind, limit, is_outside in (
            ("shorter", shortest, lengths < shortest),
            ("longer", longest, lengths > longest),
        ):
            if n_known and is_outside.all():
                other = {"shorter": "longer", "longer": "shorter"}[kind]
                return f"the rows that cannot be used are all {other} than the others"
            outside = float(counts[is_outside].sum() / n_used)
            if (1.0 - outside) ** n_known < _RARE:
                return (
                    f"no session {kind} than {step_words(limit)} is among the rows that cannot be used, "
                    f"although {percent(outside)} of the others are {kind}"
                )
        return ""


def _rough_number(cell: object, *, point: str = ".") -> float | None:
    """Return about which length a cell that is not a whole number means; None if there is no telling.

    A comma, and `point`, may separate thousands.
    """
    text = str(cell)
    if len(text) > LONG_CELL:
        return None
    text = _SPACES.sub("", text)
    is_grouped = re.fullmatch(rf"\d{{1,3}}([{point},]\d{{3}})+", text)
    text = re.sub(r"[.,]", "", text) if is_grouped else text.replace(",", ".")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value < math.inf else None
