"""Reads rows that are steps of episodes, or counts of transitions, and checks that episodes are complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn._typing import BoolArray, IntArray
from sojourn._validation import did_you_mean
from sojourn.sessions._step_log import StepLog
from sojourn.sessions._word_codes import WordCodes
from sojourn.sessions.reading._cells import BARE_RETURN
from sojourn.sessions.reading._names import describe_names, look_like_names
from sojourn.sessions.reading._rows import Column, RowReader

__all__ = ["StepRows", "are_step_names"]

_USUAL = {
    "episode": ("episode", "episode_id", "session", "session_id"),
    "step": ("step", "time_step", "timestep", "step_number"),
    "ended": ("ended",),
    "terminated": ("terminated",),
}
"""Usual names of columns; others have the name of what they hold."""

_PROBLEM = ("state", "action", "reward")
"""Columns from which a problem is estimated: all of them, or none."""

_MAX_WORD_CHARACTERS = 1000
"""Maximum number of characters in the name of an episode, a state or an action."""


def are_step_names(names: Sequence[str]) -> bool:
    """Whether names of columns are those of a log of every step."""
    normal = {name.strip().lower() for name in names}
    return bool(normal & set(_USUAL["episode"])) and bool(normal & set(_USUAL["step"]))


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

    def locate(self, names: Sequence[str], source: str) -> dict[str, int]:
        """Return the indices of the columns, by what they hold."""
        normal = [name.strip().lower() for name in names]
        wanted: dict[str, tuple[str, ...]] = {"step": _USUAL["step"]}
        if self._count is None:
            wanted = {"episode": _USUAL["episode"]} | wanted
        else:
            wanted |= {"count": (self._count.strip().lower(),), "next_state": ("next_state",)}
        if self._count is not None or any(name in normal for name in _PROBLEM):
            wanted |= {name: (name,) for name in _PROBLEM}
        if self._observed != "none":
            wanted["ended"] = (self._observed.strip().lower(),) if self._observed else _USUAL["ended"]
        found = {}
        for what, usual in (wanted | {"terminated": _USUAL["terminated"]}).items():
            name = next((name for name in usual if name in normal), None)
            if name is not None:
                if (n := normal.count(name)) > 1:
                    raise ValueError(f"{source} must have one column {name!r}; it has {n}.")
                found[what] = normal.index(name)
            elif what != "terminated":
                raise ValueError(_missing(usual[0], what, normal, source))
        return found

    def reject_row(self, row: int, rule: str, got: str = "", cells: Sequence[str] = ()) -> None:
        """Count a row that cannot be split into cells, and drop its episode if that is known."""
        super().reject_row(row, rule, got)
        index = self._indices.get("episode")
        if index is None:
            return
        if len(cells) > index:
            self._drop(cells[index].strip())
        if len(cells) <= index or index:  # the cells may be shifted
            self._broken.append((self._file, row))

    def _drop(self, episode: str) -> None:
        """Drop an episode because one of its rows cannot be used."""
        if episode and len(episode) <= _MAX_WORD_CHARACTERS:
            self._dropped.add(self._words["episode"].code(episode))

    def feed(self, columns: Mapping[int, Column], rows: IntArray) -> None:
        """Read a batch of steps."""
        given = {what: columns[at] for what, at in self._indices.items()}
        good = np.ones(rows.size, dtype=bool)
        found: dict[str, NDArray[Any]] = {"row": rows, "file": np.full(rows.size, self._file)}
        for what in ("episode", "state", "action"):
            if what in given:
                found[what] = self._codes(given[what], what, rows, good)
        if "next_state" in given:
            found["next_state"], found["is_last"] = self._next_states(given["next_state"])
        # Steps may count from 0; the order of an episode's steps is checked by `build`.
        found["step"] = self._wholes(given["step"], "step", rows, good, least=0)
        if "reward" in given:
            found["reward"] = self._decimals(given["reward"], "reward", rows, good)
        for what in ("ended", "terminated"):
            if what in given:
                found[what] = self._flags(given[what], self.names[self._indices[what]].strip(), rows, good)
        if "count" in given:
            found["count"] = self._wholes(given["count"], "count", rows, good)
            self._n_steps += float(found["count"][good].sum(dtype=np.float64))
            self._check_total(self._n_steps)
        self._n_rows += rows.size
        if not good.all():
            if "episode" in given:
                self._dropped.update(np.unique(found["episode"][~good & (found["episode"] >= 0)]).tolist())
            found = {what: column[good] for what, column in found.items()}
        for what, column in found.items():
            self._pieces.setdefault(what, []).append(column)

    def _codes(self, column: Column, what: str, rows: IntArray, good: BoolArray) -> IntArray:
        """Return the words in a column as integer codes; −1 for wrong ones, whose rows are not good."""
        words, where = column.words()
        words = [word.strip() for word in words]
        codes = np.full(len(words), -1)
        at, first = np.unique(where, return_index=True)
        for k in at[np.argsort(first)].tolist():  # in the order in which they appear
            codes[k] = self._words[what].code(words[k])
        for k, word in enumerate(words):
            if not word or len(word) > _MAX_WORD_CHARACTERS or "\r" in word:
                rule, got = _broken_word(word, what)
                wrong = np.flatnonzero((where == k) & good) if rule else ()
                for i in wrong:
                    self._reject(int(rows[i]), rule, got)
                    good[i] = False
                codes[k] = -1 if rule else codes[k]
        return codes[where]

    def _next_states(self, column: Column) -> tuple[IntArray, BoolArray]:
        """Return the next states as codes, and where there is none."""
        words, where = column.words()
        codes = [self._words["state"].code(word.strip()) if word.strip() else 0 for word in words]
        is_last = np.array([not word.strip() for word in words], dtype=bool)
        return np.array(codes, dtype=np.int64)[where], is_last[where]

    def build(self, name: str) -> StepLog:
        """Return the log of the episodes that can be used."""
        table = {what: np.concatenate(pieces) for what, pieces in self._pieces.items()}
        if "step" in table and self._count is None:
            table = self._complete_episodes(table)
        n = table["step"].size if "step" in table else 0
        none, zeros = np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64)
        if self._broken:
            rows = f"{len(self._broken):,} row{'s' * (len(self._broken) > 1)}"
            note = (
                f"The episode of {rows} is unknown: an unfinished episode right before such a row is left "
                "out, but other episodes may lack their last step."
            )
            self._notes[note] = None
        columns = tuple((what, self.names[at].strip()[:40]) for what, at in self._indices.items())
        account = self._account(name, n, columns)
        is_last, next_state = table.get("is_last", none), table.get("next_state", zeros)
        codes = np.concatenate((table.get("state", zeros), next_state[~is_last]))
        states, coded = self._words["state"].sorted(codes if "state" in table else zeros[:0])
        actions, action = self._words["action"].sorted(table.get("action", zeros[:0]))
        following = zeros.copy()
        following[~is_last] = coded[n:] if "state" in table else 0
        ended = table.get("ended", none)
        if self._observed == "none":
            ended = is_last & ~table.get("terminated", none)
        return StepLog(
            step=table["step"],
            state=coded[:n] if "state" in table else zeros,
            action=action if "action" in table else zeros,
            reward=table.get("reward", np.zeros(n)),
            next_state=following,
            is_last=is_last,
            ended=ended,
            terminated=table.get("terminated", none),
            counts=table.get("count", zeros + 1),
            states=states,
            actions=actions,
            account=account,
            name=name,
        )

    def _complete_episodes(self, table: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return the rows of complete episodes in order, with their next states; the others are rejected."""
        for file, row in self._broken:
            before = np.flatnonzero((table["file"] == file) & (table["row"] < row))[-1:]
            ends = [table[what][before] for what in ("ended", "terminated") if what in table]
            if not np.any(ends):
                self._dropped.update(table["episode"][before].tolist())
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
            self._notes["Steps begin at 0 in this log; they count from 1 here."] = None
            step = table["step"] = step + 1
        ended, terminated = (table.get(what, np.zeros(n, dtype=bool)) for what in ("ended", "terminated"))
        numbers = "1, 2, 3, …" if base else "0, 1, 2, …"
        broken = {
            "a row of its episode is rejected": np.isin(episode, list(self._dropped)),
            f"an episode's steps must be {numbers}, each once": step != np.arange(n) - first[number] + 1,
            "an episode must end at its last step only": (ended | terminated) & ~is_last,
            "an episode must be either ended or terminated": ended & terminated,
        }
        used = np.ones(first.size, dtype=bool)
        for rule, wrong in broken.items():
            affected = used & (np.bincount(number[wrong], minlength=first.size) > 0)
            for i in np.flatnonzero(affected[number]).tolist():
                self._reject(int(table["row"][i]), rule, file=int(table["file"][i]))
            used &= ~affected
        table |= {"is_last": is_last, "next_state": np.append(table.get("state", step)[1:], 0)[:n]}
        kept = used[number]
        return table if kept.all() else {what: column[kept] for what, column in table.items()}


def _missing(name: str, what: str, normal: Sequence[str], source: str) -> str:
    """Return the error for a missing column."""
    rest = f"; {describe_names(normal)}."
    if look_like_names(normal):
        rest = f".{did_you_mean(name, normal)}"
    if what == "ended" and not rest.endswith("?"):
        rest += " Name it with --observed, or pass --observed none if every episode was seen to end."
    return f"{source} must have a column {name!r}{rest}"


def _broken_word(word: str, what: str) -> tuple[str, str]:
    """Return the rule that the name of an episode, a state or an action breaks; empty if none."""
    if not word:
        return f"{what} must not be empty", "''"
    if len(word) > _MAX_WORD_CHARACTERS:
        return f"{what} must have at most {_MAX_WORD_CHARACTERS:,} characters", f"{len(word):,}"
    if "\r" in word.replace("\r\n", ""):
        return BARE_RETURN, ""
    return "", ""
