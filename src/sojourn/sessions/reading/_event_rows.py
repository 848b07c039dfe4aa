"""Reads rows that are events of users, and cuts them into sessions at long gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.sessions._log import SessionLog
from sojourn.sessions._word_codes import WordCodes
from sojourn.sessions.reading._names import TIMES, USERS, describe_names, find_column
from sojourn.sessions.reading._row_counts import RowCounts
from sojourn.sessions.reading._rows import Column, RowReader
from sojourn.sessions.reading._times import TIME_RULE, duration_words, times

__all__ = ["EventRows"]


class EventRows(RowReader):
    """Collects events; a session is a series of events of one user with no gap that is longer than `gap`.

    Its length is the number of its events. A session whose last event is less than a gap before the end of
    the log may go on, and is open. One whose first event is less than a gap after the log's beginning may
    have begun before, so that its length is unknown, and is left out.

    Args:
        gap: The longest pause within a session, in seconds.
        user: Name of the column of users; None for the usual names.
        time: Name of the column of times; None for the usual names.
    """

    row = "event"

    def __init__(self, gap: float, user: str | None, time: str | None) -> None:
        super().__init__()
        self._gap, self._named = gap, {"user": user, "time": time}
        self._words = WordCodes()
        self._users: list[IntArray] = []
        self._times: list[FloatArray] = []

    def locate(self, names: Sequence[str], source: str) -> dict[str, int]:
        """Return the indices of the columns of users and times."""
        found = {}
        for (what, name), usual in zip(self._named.items(), (USERS, TIMES), strict=True):
            at = find_column(names, name, usual, source=source)
            if at is None:
                raise ValueError(
                    f"{source} must have a column of {what}s called {what!r}, or one named with "
                    f"--{what} ({what}=…); {describe_names(names)}."
                )
            found[what] = at
        return found

    def feed(self, columns: Mapping[int, Column], rows: IntArray) -> None:
        """Read a batch of events."""
        user, time = (columns[at] for at in self._indices.values())
        words, where = user.words()
        seconds, known = times(time)
        named = np.array([bool(word.strip()) for word in words])[where]
        for i in np.flatnonzero(~(known & named)).tolist():
            who, when = (self.names[at].strip()[:40] for at in self._indices.values())
            rule = f"{who} must not be empty" if known[i] else f"{when} {TIME_RULE}"
            self._reject(int(rows[i]), rule)
        good = known & named
        codes = np.array([self._words.code(word.strip()) for word in words], dtype=np.int64)
        self._n_rows += rows.size
        self._users.append(codes[where][good])
        self._times.append(seconds[good])

    def build(self, name: str) -> SessionLog:
        """Return the log of the sessions."""
        user = np.concatenate([np.zeros(0, dtype=np.int64), *self._users])
        time = np.concatenate([np.zeros(0), *self._times])
        columns = tuple(
            zip(("users", "times"), (self.names[at] for at in self._indices.values()), strict=True)
        )
        self._account(name, user.size)  # raises an error if there are no events
        order = np.lexsort((time, user))
        user, time = user[order], time[order]
        begins = np.append(True, (np.diff(user) != 0) | (np.diff(time) > self._gap))
        first = np.flatnonzero(begins)
        lengths = np.diff(np.append(first, user.size))
        last = first + lengths - 1
        is_open = time[last] + self._gap >= time.max()
        is_whole = time[first] - self._gap > time.min()
        if not is_whole.any() or is_open[is_whole].all():
            raise ValueError(
                f"{name} must span several gaps of {duration_words(self._gap)}, so that whole sessions can "
                f"be seen; its events span {duration_words(float(np.ptp(time)))}."
            )
        rows = RowCounts()
        ones = np.ones(int(is_whole.sum()), dtype=np.int64)
        rows.add(lengths[is_whole], ~is_open[is_whole], ones, ones - 1)
        notes = [
            f"{user.size:,} events are {first.size:,} sessions, which end after a gap of "
            f"{duration_words(self._gap)}. "
            f"Left out, since they may have begun before the log: {int((~is_whole).sum()):,}. Open, since "
            f"they may go on after it: {int((is_open & is_whole).sum()):,}."
        ]
        self._notes |= dict.fromkeys(notes)
        return SessionLog.from_counts(rows, [], self._account(name, user.size, columns), name)
