"""Logs of every step: from what was done and earned to a problem and a law."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn._validation import did_you_mean
from sojourn.mdps import TabularMDP
from sojourn.sessions._groups import MOST_GROUPS, GroupTest, log_rank
from sojourn.sessions._log import Account, SessionLog
from sojourn.sessions.reading._cells import delimiter_of, flag_rule, read_flag, read_whole, shown, whole_rule
from sojourn.sessions.reading._columns import are_names, listed
from sojourn.sessions.reading._csv_rows import HEAD, Record, records, split
from sojourn.sessions.reading._ingest import FirstRejected
from sojourn.sessions.reading._word_numbers import Numbering

__all__ = ["StepLog", "is_step_log", "read_steps"]

_NAMES = ("episode", "step", "state", "action", "reward", "ended")

_WORDS = ("episode", "state", "action")
_MOST_IN_A_WORD = 1000
"""Characters that an episode, a state or an action may be called by."""

_Row: TypeAlias = tuple[int, int, int, int, int, float, bool, bool]
"""Line, episode, step, state, action, reward, ended, terminated; words as numbers."""


@dataclass(frozen=True, eq=False)
class StepLog:
    """Every step of episodes, in order.

    Attributes:
        episode: Which episode each step belongs to, numbered from 0, `(n,)`.
        step: Its step within the episode, from 1, `(n,)`.
        state: The state before it, as a place in `states`, `(n,)`.
        action: What was done, as a place in `actions`, `(n,)`.
        reward: What it paid, `(n,)`.
        ended: Whether the episode was seen to end there by itself, as the law has it, `(n,)`.
        terminated: Whether the problem ended it there, in a terminal state, `(n,)`.
        states: What the states are called, sorted.
        actions: What the actions are called, sorted.
        account: Where the rows of the file went.
        name: Where the log came from.
    """

    episode: IntArray
    step: IntArray
    state: IntArray
    action: IntArray
    reward: FloatArray
    ended: BoolArray
    terminated: BoolArray
    states: tuple[str, ...]
    actions: tuple[str, ...]
    account: Account
    name: str

    @property
    def _is_last(self) -> BoolArray:
        return np.append(np.diff(self.episode) != 0, True)

    def sessions(self) -> SessionLog:
        """Return the lengths; what the problem ended was not seen to end by itself, nor was what is open."""
        last = self._is_last
        log = SessionLog.from_columns(self.step[last], self.ended[last], name=self.name)
        return replace(log, account=self.account)

    def problem(self, *, unvisited: str = "refuse") -> TabularMDP:
        """Return the problem that the steps make most likely, with its start; see `from_transitions`.

        The last step of an episode that the problem did not end leads nowhere that was seen, and is left out.
        """
        known = ~self._is_last | self.terminated
        follows = np.append(self.state[1:], 0)
        columns = {
            "state": self.state[known],
            "action": self.action[known],
            "reward": self.reward[known],
            "next_state": follows[known],
            "terminated": self.terminated[known],
        }
        begins = np.bincount(self.state[self.step == 1], minlength=len(self.states))
        return TabularMDP.from_transitions(
            columns,
            n_states=len(self.states),
            n_actions=len(self.actions),
            start=begins / begins.sum(),
            unvisited=unvisited,
        )

    def leaving_by_state(self) -> GroupTest | None:
        """Test whether the end depends on the state: if it does, no law of lengths is a discount.

        Of very many states the rarest are put together, and steps at which nobody left say nothing.
        """
        often = np.bincount(self.state, minlength=len(self.states))
        kept = often.size if often.size <= MOST_GROUPS else MOST_GROUPS - 1
        common = np.sort(np.argsort(-often, kind="stable")[:kept])
        place = np.full(often.size, kept)
        place[common] = np.arange(kept)
        state, steps = place[self.state], np.unique(self.step[self.ended])
        at_risk = ~(self._is_last & ~self.ended)  # where an open episode stops, its end was not looked for
        sizes = np.bincount(state[at_risk], minlength=min(often.size, kept + 1))
        at_risk &= np.isin(self.step, steps)
        shape = (sizes.size, steps.size)
        risk, gone = np.zeros(shape), np.zeros(shape)
        np.add.at(risk, (state[at_risk], np.searchsorted(steps, self.step[at_risk])), 1)
        np.add.at(gone, (state[self.ended], np.searchsorted(steps, self.step[self.ended])), 1)
        return log_rank([(risk, gone)], sizes=sizes.tolist(), pooled=often.size - kept, what="state")


def read_steps(path: str | os.PathLike[str]) -> StepLog:
    """Read a log of every step from a CSV file with the columns episode, step, state, action, reward, ended.

    Commas, semicolons, tabs or bars stand between cells.

    `ended` is true at the last step of an episode that was seen to end by itself; an episode without it is
    still open. A column `terminated`, if there is one, is true where a terminal state of the problem ended
    it. States and actions may be any words. An episode of which a row is wrong, or seen
    to be missing, is left out whole. Where a bad row does not say to which episode it belongs, the unfinished
    one right before it is left out, and `account.notes` say so.

    Raises:
        ValueError: If the file cannot be read, a column is missing, or no episode can be used.
    """
    place = Path(path)
    if not place.is_file():
        raise ValueError(f"path must be a file that exists; got {str(path)!r}.")
    reader = _Reader(place.name)
    for record in records(place):
        reader.take(record)
    return reader.log()


def is_step_log(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins with the names of a log of every step."""
    place = Path(path)
    if not place.is_file():
        return False
    with place.open("rb") as file:
        head = file.read(HEAD).removeprefix(b"\xef\xbb\xbf").lstrip()
    first = head.splitlines()[0] if head else b""
    names = split(first.decode("utf-8", "replace"), chr(delimiter_of(first)))
    return {"episode", "step", "state"} <= {name.strip().lower() for name in names or []}


class _Reader:
    """Rows as they come, then episodes as they are."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._places: dict[str, int] = {}
        self._n_columns = 0
        self._rejected = FirstRejected()
        self._n_rows = 0
        self._rows: list[_Row] = []
        self._words = {name: Numbering() for name in _WORDS}
        self._spoilt: set[int] = set()
        self._n_astray = 0

    def take(self, record: Record) -> None:
        """Take in a row; the first one has names."""
        row, cells, rule = record
        if not self._places:
            self._name([cell.strip().lower() for cell in cells])
            return
        self._n_rows += 1
        if rule or len(cells) != self._n_columns:
            many = f"a row must have {self._n_columns} cells", f"{len(cells)}"
            self._rejected.add(row, *((rule,) if rule else many))
            place = self._places["episode"]
            if len(cells) > place:
                self._spoil(cells[place])
            if len(cells) <= place or place:  # cells may have moved
                self._spoil_before()
            return
        found = {name: cells[place].strip() for name, place in self._places.items()}
        wrong = _wrong(found)
        if wrong:
            self._spoil(found["episode"])
            self._rejected.add(row, *wrong)
            return
        ended, terminated = bool(read_flag(found["ended"])), bool(read_flag(found.get("terminated", "0")))
        step, reward = read_whole(found["step"]) or 1, float(found["reward"])
        episode, state, action = (self._words[name].code(found[name]) for name in _WORDS)
        self._rows.append((row, episode, step, state, action, reward, ended, terminated))

    def _spoil_before(self) -> None:
        """Leave out the unfinished episode before a row of which it is not known where it belongs."""
        self._n_astray += 1
        if self._rows and not any(self._rows[-1][6:]):
            self._spoilt.add(self._rows[-1][1])

    def _spoil(self, episode: str) -> None:
        """Leave out an episode, one of whose rows cannot be used."""
        if len(episode.strip()) <= _MOST_IN_A_WORD:
            self._spoilt.add(self._words["episode"].code(episode.strip()))

    def _notes(self) -> tuple[str, ...]:
        if not self._n_astray:
            return ()
        rows = f"{self._n_astray:,} row{'s' * (self._n_astray > 1)}"
        return (
            f"To which episode a row belongs is not known of {rows}: an unfinished one right before such a "
            "row is left out, but others may lack their last step.",
        )

    def _name(self, names: list[str]) -> None:
        for name in _NAMES:
            if name not in names:
                hint = f".{did_you_mean(name, names)}" if are_names(names) else f"; {listed(names)}."
                raise ValueError(f"{self._source} must have a column {name!r}{hint}")
        for name in (*_NAMES, "terminated"):
            if names.count(name) > 1:
                raise ValueError(f"{self._source} must have one column {name!r}; it has {names.count(name)}.")
        self._n_columns = len(names)
        self._places = {name: names.index(name) for name in (*_NAMES, "terminated") if name in names}

    def log(self) -> StepLog:
        """Return the episodes that can be used."""
        if not self._places:
            raise ValueError(f"{self._source} must have a row of names and one row a step; it is empty.")
        episodes: dict[int, list[_Row]] = {}
        for one in self._rows:
            episodes.setdefault(one[1], []).append(one)
        used = []
        for rows in episodes.values():
            rows.sort(key=lambda one: one[2])
            wrong = "a row of its episode is rejected" if rows[0][1] in self._spoilt else _disorder(rows)
            if wrong:
                for one in rows:
                    self._rejected.add(one[0], wrong)
            else:
                used.append(rows)
        first = self._rejected.named()
        steps = [one for rows in used for one in rows]
        if not steps:
            why = f"all {self._n_rows:,} are rejected, {first[0]}" if first else "it has names only."
            raise ValueError(f"{self._source} must have a row that can be used: {why}")
        columns = list(zip(*steps, strict=True))
        states, state = self._words["state"].sorted(columns[3])
        actions, action = self._words["action"].sorted(columns[4])
        return StepLog(
            episode=np.repeat(np.arange(len(used)), [len(rows) for rows in used]),
            step=np.array(columns[2], dtype=np.int64),
            state=state,
            action=action,
            reward=np.array(columns[5], dtype=np.float64),
            ended=np.array(columns[6], dtype=bool),
            terminated=np.array(columns[7], dtype=bool),
            states=states,
            actions=actions,
            account=Account(self._n_rows, len(steps), self._rejected.n, first, self._notes()),
            name=self._source,
        )


def _wrong(cells: dict[str, str]) -> tuple[str, str] | None:
    """Return the rule that a row breaks and what it has instead, or None."""
    for name in _WORDS:
        if not cells[name]:
            return f"{name} must not be empty", "''"
        if len(cells[name]) > _MOST_IN_A_WORD:
            return f"{name} must have at most {_MOST_IN_A_WORD:,} characters", f"{len(cells[name]):,}"
    if read_whole(cells["step"]) is None:
        return whole_rule("step"), shown(cells["step"])
    if not _is_number(cells["reward"]):
        return "reward must be a finite number", shown(cells["reward"])
    for name in ("ended", "terminated"):
        if read_flag(cells.get(name, "0")) is None:
            return flag_rule(name), shown(cells[name])
    return None


def _is_number(cell: str) -> bool:
    """Whether a cell is a finite number as all programs write them."""
    try:
        return cell.isascii() and "_" not in cell and math.isfinite(float(cell))
    except ValueError:
        return False


def _disorder(rows: list[_Row]) -> str:
    """Return what is wrong with an episode whose rows are in the order of their steps."""
    if [one[2] for one in rows] != list(range(1, len(rows) + 1)):
        return "an episode's steps must be 1, 2, 3, …, each once"
    if any(one[6] or one[7] for one in rows[:-1]):
        return "an episode must end at its last step only"
    if rows[-1][6] and rows[-1][7]:
        return "an episode must be either ended or terminated"
    return ""
