"""Reads events of users, and cuts them into sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sojourn._typing import FloatArray, IntArray
from sojourn.sessions._format import percent
from sojourn.sessions._log import OpenRule, SessionLog
from sojourn.sessions._row_counts import RowCounts
from sojourn.sessions._word_codes import WordCodes
from sojourn.sessions.reading._cells import duration_words
from sojourn.sessions.reading._names import TIMES, USERS, describe_names, find_column
from sojourn.sessions.reading._rows import CheckedRows, RowReader

__all__ = ["EventRows"]

_MOST = 0.5
"""Share of the events above which they must not be left out without a word."""

_TIME_ERROR = 1e-6
"""Seconds by which differences of times may be off: times are floats since 1970."""


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
        self._gap, self._named = gap, {"user": (user, USERS), "time": (time, TIMES)}
        self._words = WordCodes()
        self._users: list[IntArray] = []
        self._times: list[FloatArray] = []

    def locate(self, names: Sequence[str]) -> dict[str, int]:
        """Return the indices of the columns of users and times."""
        found = {}
        for what, (name, usual) in self._named.items():
            at = find_column(names, name, usual, source=self.source)
            if at is None:
                raise ValueError(
                    f"{self.source} must have a column of {what}s called {what!r}, or one named with "
                    f"--{what} ({what}=…); {describe_names(names)}."
                )
            found[what] = at
        return found

    def title(self, what: str) -> str:
        """Return the name of a column in messages."""
        return self.names[self.indices[what]].strip()[:40]

    def take(self, rows: CheckedRows) -> None:
        """Read a batch of events."""
        words, where = rows.words("user")
        seconds, _ = rows.times("time")
        rows.require(
            np.array([bool(word) for word in words])[where], f"{rows.titles['user']} must not be empty"
        )
        codes = np.array([self._words.code(word) for word in words], dtype=np.int64)
        self._users.append(codes[where][rows.good])
        self._times.append(seconds[rows.good])

    def build(self, name: str) -> SessionLog:
        """Return the log of the sessions."""
        user = np.concatenate([np.zeros(0, dtype=np.int64), *self._users])
        time = np.concatenate([np.zeros(0), *self._times])
        self.account(name, user.size)  # raises an error if there are no events
        order = np.lexsort((time, user))
        user, time = user[order], time[order]
        gap = self._gap + min(_TIME_ERROR, 0.01 * self._gap)
        begins = np.append(True, (np.diff(user) != 0) | (np.diff(time) > gap))
        first, session = np.flatnonzero(begins), np.cumsum(begins) - 1
        # Going on can be seen after any event, leaving only after those that a whole gap follows. So an open
        # session counts up to its first event without one: later ones would add only those who went on.
        is_seen = time + gap < time.max()
        is_open = ~is_seen[np.append(first[1:], user.size) - 1]
        lengths = np.add.reduceat(is_seen, first, dtype=np.int64) + is_open
        is_whole = time[first] - gap > time.min()
        if not is_whole.any() or is_open[is_whole].all():
            gap_words, span = duration_words(self._gap), duration_words(float(np.ptp(time)))
            raise ValueError(
                f"{name} must have a session that begins after its first {gap_words} and ends before its "
                f"last, so that all of it can be seen; there is none in the {span} that it spans. A longer "
                "log has some, or a shorter --gap."
            )
        rows = RowCounts()
        rows.add(lengths[is_whole], ~is_open[is_whole])
        note = (
            f"{user.size:,} events are {first.size:,} sessions, which end after a gap of "
            f"{duration_words(self._gap)}. "
            f"Left out, since they may have begun before the log: {int((~is_whole).sum()):,}. Open, since "
            f"they may go on after it: {int((is_open & is_whole).sum()):,}, counted up to their first event "
            f"in the last {duration_words(self._gap)}."
        )
        self.notes[note] = None
        columns = [(f"{what}s", self.names[at]) for what, at in self.indices.items()]
        account = self.account(name, user.size, columns)
        share = 1.0 - float(np.isin(session, np.flatnonzero(is_whole)).sum()) / user.size
        if share > _MOST:
            difference = (
                f"the sessions that may have begun before the log, and are left out, have {percent(share)} "
                "of the events"
            )
            account = replace(account, difference=difference)
        return SessionLog.from_counts(rows, [], account, name, OpenRule.EVENTS)
