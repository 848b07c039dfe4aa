"""Reads rows that are steps of episodes, or counts of transitions, and checks that episodes are complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn._typing import IntArray
from sojourn._validation import did_you_mean
from sojourn.sessions._step_log import StepLog
from sojourn.sessions._word_codes import WordCodes
from sojourn.sessions.reading._names import describe_names, look_like_names
from sojourn.sessions.reading._rows import CheckedRows, RowReader
from sojourn.sessions.reading._tables import BrokenRow

__all__ = ["StepRows", "are_step_names"]

_USUAL = {
    "episode": ("episode", "episode_id", "session", "session_id"),
    "step": ("step", "time_step", "timestep", "step_number"),
    "ended": ("ended",),
    "terminated": ("terminated",),
}
"""Usual names of columns; others have the name of what they hold."""

_PROBLEM = ("state", "action", "reward")
"""Columns from which a problem is estimated: all of them, only the state, or none."""

_FLAGS = ("ended", "terminated")

_ROWS_PER_FILE = 1 << 40
"""More than any file has."""

_MAX_WORD_CHARACTERS = 1000
"""Maximum number of characters in the name of an episode, a state or an action."""


def are_step_names(names: Sequence[str]) -> bool:
    """Whether names of columns are those of a log of every step, or of counts of transitions."""
    normal = {name.strip().lower() for name in names}
    are_steps = not normal.isdisjoint(_USUAL["episode"]) and not normal.isdisjoint(_USUAL["step"])
    return are_steps or {"step", "state", "next_state"} <= normal


class StepRows(RowReader):
    """Collects the steps of one or more files.

    Args:
        observed: Name of the column that says whether the episode was seen to end there, "none" if every
            episode was, or None for "ended".
        count: Name of the column with the number of steps that a row stands for; then rows are transitions
            with a column "next_state", which is empty at the last step, and without episodes.
    """

    row = "step"

    def __init__(self, observed: str | None = None, count: str | None = None) -> None:
        super().__init__()
        self._observed, self._count = observed, None if count == "none" else count
        self._words = {what: WordCodes() for what in ("episode", "state", "action")}
        self._pieces: dict[str, list[NDArray[Any]]] = {}
        self._n_steps = 0.0
        self._dropped: set[int] = set()
        self._broken: list[tuple[int, int]] = []
        """File and line of the rows whose episode is unknown."""

    def locate(self, names: Sequence[str]) -> dict[str, int]:
        """Return the indices of the columns, by what they hold."""
        normal = [name.strip().lower() for name in names]
        wanted: dict[str, tuple[str, ...]] = {"step": _USUAL["step"]}
        if self._count is None:
            wanted = {"episode": _USUAL["episode"]} | wanted
        else:
            wanted |= {"count": (self._count.strip().lower(),), "next_state": ("next_state",)}
        known = [name for name in _PROBLEM if name in normal]
        if self._count is not None or known:
            only_states = self._count is None and known == ["state"]
            wanted |= {name: (name,) for name in (known if only_states else _PROBLEM)}
        if self._observed != "none":
            wanted["ended"] = (self._observed.strip().lower(),) if self._observed else _USUAL["ended"]
        found = {}
        for what, usual in (wanted | {"terminated": _USUAL["terminated"]}).items():
            name = next((name for name in usual if name in normal), None)
            if name is not None:
                if (n := normal.count(name)) > 1:
                    raise ValueError(f"{self.source} must have one column {name!r}; it has {n}.")
                found[what] = normal.index(name)
            elif what != "terminated":
                raise ValueError(_missing(usual[0], what, normal, self.source))
        return found

    def title(self, what: str) -> str:
        """Return the name of a column in messages."""
        return self.names[self.indices[what]].strip() if what in _FLAGS else what

    def reject_broken(self, broken: BrokenRow) -> None:
        """Count a row that cannot be split into cells, and drop its episode if that is known."""
        super().reject_broken(broken)
        index = self.indices.get("episode")
        if index is None:
            return
        if len(broken.cells) > index:
            self._drop(broken.cells[index].strip())
        if len(broken.cells) <= index or index:  # the cells may be shifted
            self._broken.append((self.file, broken.row))

    def _drop(self, episode: str) -> None:
        """Drop an episode because one of its rows cannot be used."""
        if episode and len(episode) <= _MAX_WORD_CHARACTERS:
            self._dropped.add(self._words["episode"].code(episode))

    def take(self, rows: CheckedRows) -> None:
        """Read a batch of steps."""
        found: dict[str, NDArray[Any]] = {"row": rows.numbers, "file": np.full(len(rows), self.file)}
        if "count" in rows:
            found["count"] = rows.counts()
        for what in self._words:
            if what in rows:
                found[what] = self._codes(rows, what)
        if "next_state" in rows:
            words, where = rows.words("next_state")
            codes = [self._words["state"].code(word) if word else 0 for word in words]
            found["next_state"] = np.array(codes, dtype=np.int64)[where]
            found["is_last"] = np.array([not word for word in words], dtype=bool)[where]
        # Steps may count from 0; the order of an episode's steps is checked by `build`.
        found["step"] = rows.wholes("step", least=0)
        if "reward" in rows:
            found["reward"] = rows.decimals("reward")
        for what in _FLAGS:
            found[what] = rows.flags(what) if what in rows else np.zeros(len(rows), dtype=bool)
        if "count" in rows:
            self._n_steps += float(found["count"][rows.good].sum(dtype=np.float64))
            self.check_total(self._n_steps)
        if not rows.good.all():
            if "episode" in rows:
                self._dropped.update(np.unique(found["episode"][~rows.good]).tolist())
            found = {what: column[rows.good] for what, column in found.items()}
        if self._pieces and found.keys() != self._pieces.keys():
            raise ValueError(
                "All files must have the columns 'state', 'action' and 'reward', only 'state', or none of "
                f"them; {self.source} is unlike the files before it."
            )
        for what, column in found.items():
            self._pieces.setdefault(what, []).append(column)

    def _codes(self, rows: CheckedRows, what: str) -> IntArray:
        """Return the words in a column as integer codes; −1 for wrong ones, whose rows are rejected."""
        words, where = rows.words(what)
        codes = np.full(len(words), -1)
        at, first = np.unique(where, return_index=True)
        for k in at[np.argsort(first)].tolist():  # in the order in which they appear
            codes[k] = self._words[what].code(words[k])
        for k, word in enumerate(words):
            if not word or len(word) > _MAX_WORD_CHARACTERS or "\r" in word:
                rule, got = _broken_word(word, what)
                if rule:
                    codes[k] = -1
                    rows.require(where != k, rule, got=got)
        return codes[where]

    def build(self, name: str) -> StepLog:
        """Return the log of the episodes that can be used."""
        table = {what: np.concatenate(pieces) for what, pieces in self._pieces.items()}
        if table and self._count is None:
            table = self._complete_episodes(table)
        n = table["step"].size if table else 0
        if self._broken:
            rows = f"{len(self._broken):,} row{'s' * (len(self._broken) > 1)}"
            note = (
                f"The episode of {rows} is unknown: an unfinished episode right before such a row is left "
                "out, but other episodes may lack their last step."
            )
            self.notes[note] = None
        used = [(what, self.names[at].strip()[:40]) for what, at in self.indices.items()]
        account = self.account(name, n, used)
        if self._observed == "none":
            table["ended"] = table["is_last"] & ~table["terminated"]
        zeros = np.zeros(n, dtype=np.int64)
        states: tuple[str, ...] = ()
        actions: tuple[str, ...] = ()
        if "state" in table:
            known = ~table["is_last"]
            states, codes = self._words["state"].sorted(
                np.concatenate((table["state"], table["next_state"][known]))
            )
            table["state"], table["next_state"] = codes[:n], zeros.copy()
            table["next_state"][known] = codes[n:]
        else:
            table |= {"state": zeros, "next_state": zeros}
        if "action" in table:
            actions, table["action"] = self._words["action"].sorted(table["action"])
        else:
            table |= {"action": zeros, "reward": np.zeros(n)}
        counts = table.get("count", zeros + 1)
        columns = {name: table[name] for name in StepLog.COLUMNS}
        return StepLog(**columns, counts=counts, states=states, actions=actions, account=account, name=name)

    def _complete_episodes(self, table: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return the rows of complete episodes in order, with their next states; the others are rejected."""
        self._drop_unfinished_before_broken(table)
        episode, step, n = table["episode"], table["step"], table["step"].size
        same = episode[1:] == episode[:-1]
        if not np.all((episode[1:] > episode[:-1]) | same & (step[1:] > step[:-1])):
            order = np.lexsort((step, episode))  # episodes in the order in which they begin in the file
            table = {what: column[order] for what, column in table.items()}
            episode, step = table["episode"], table["step"]
        is_first = np.append(True, episode[1:] != episode[:-1])[:n]
        first, number = np.flatnonzero(is_first), np.cumsum(is_first) - 1
        is_last = np.append(is_first[1:], True)[:n]
        base = 0 if (step[first] == 0).sum() > (step[first] == 1).sum() else 1
        if base == 0:
            self.notes["Steps begin at 0 in this log; they count from 1 here."] = None
            step = table["step"] = step + 1
        ended, terminated = table["ended"], table["terminated"]
        numbers = "1, 2, 3, …" if base else "0, 1, 2, …"
        broken = {
            "a row of its episode is rejected": np.isin(episode, list(self._dropped)),
            f"an episode's steps must be {numbers}, each once": step != np.arange(n) - first[number] + 1,
            "an episode must end at its last step only": (ended | terminated) & ~is_last,
            "an episode must not be both ended and terminated, by its problem": ended & terminated,
        }
        used = np.ones(first.size, dtype=bool)
        for rule, wrong in broken.items():
            affected = used & (np.bincount(number[wrong], minlength=first.size) > 0)
            for i in np.flatnonzero(affected[number]).tolist():
                self.reject(int(table["row"][i]), rule, file=int(table["file"][i]))
            used &= ~affected
        table |= {"is_last": is_last, "next_state": np.append(table.get("state", step)[1:], 0)[:n]}
        kept = used[number]
        return table if kept.all() else {what: column[kept] for what, column in table.items()}

    def _drop_unfinished_before_broken(self, table: Mapping[str, NDArray[Any]]) -> None:
        """Drop the unfinished episode right before each row whose episode is unknown."""
        places = table["file"] * _ROWS_PER_FILE + table["row"]  # increasing
        broken = np.array([file * _ROWS_PER_FILE + row for file, row in self._broken], dtype=np.int64)
        before = np.searchsorted(places, broken) - 1
        same_file = (before >= 0) & (table["file"][before] == broken // _ROWS_PER_FILE)
        is_open = same_file & ~table["ended"][before] & ~table["terminated"][before]
        self._dropped.update(table["episode"][before[is_open]].tolist())


def _missing(name: str, what: str, normal: Sequence[str], source: str) -> str:
    """Return the error for a missing column."""
    rest = f"; {describe_names(normal)}."
    if look_like_names(normal):
        rest = f".{did_you_mean(name, normal)}"
    if what == "ended" and not rest.endswith("?"):
        rest += " Name it with --observed, or pass --observed none if every episode was seen to end."
        if "terminated" in {one.strip().lower() for one in normal}:
            rest += " ('terminated' marks other ends: those that the state or the action causes.)"
    return f"{source} must have a column {name!r}{rest}"


def _broken_word(word: str, what: str) -> tuple[str, str]:
    """Return the rule that the name of an episode, a state or an action breaks; empty if none."""
    if not word:
        return f"{what} must not be empty", "''"
    if len(word) > _MAX_WORD_CHARACTERS:
        return f"{what} must have at most {_MAX_WORD_CHARACTERS:,} characters", f"{len(word):,}"
    if "\r" in word.replace("\r\n", ""):
        return "a carriage return within a row must be in quotes", ""
    return "", ""
