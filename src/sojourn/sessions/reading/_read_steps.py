"""Reads logs of every step from CSV files."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TypeAlias

import numpy as np

from sojourn._validation import did_you_mean
from sojourn.sessions._log import Account
from sojourn.sessions._step_log import StepLog
from sojourn.sessions.reading._cells import (
    describe_cell,
    flag_rule,
    guess_delimiter,
    parse_flag,
    parse_whole,
    whole_number_rule,
)
from sojourn.sessions.reading._columns import describe_names, look_like_names
from sojourn.sessions.reading._ingest import FirstRejections
from sojourn.sessions.reading._step_rows import HEAD_BYTES, CsvRow, read_rows, split_row
from sojourn.sessions.reading._word_codes import WordCodes

__all__ = ["is_step_log", "read_steps"]

_COLUMNS = ("episode", "step", "state", "action", "reward", "ended")

_WORD_COLUMNS = ("episode", "state", "action")
_MAX_WORD_CHARACTERS = 1000
"""Maximum number of characters in the name of an episode, a state or an action."""

_Row: TypeAlias = tuple[int, int, int, int, int, float, bool, bool]
"""Line, episode, step, state, action, reward, ended, terminated; words as integer codes."""


def read_steps(path: str | os.PathLike[str]) -> StepLog:
    """Read a log of every step from a CSV file with the columns episode, step, state, action, reward, ended.

    Cells are delimited by commas, semicolons, tabs or bars. States and actions may be any words.

    `ended` is true at the last step of an episode that was seen to end by its law of lengths; an episode
    without it is still open. An optional column `terminated` is true where a terminal state of the problem
    ended the episode.

    An episode with an invalid or missing row is left out entirely. If an invalid row does not show to which
    episode it belongs, the unfinished episode right before it is left out, and `account.notes` says so.

    Raises:
        ValueError: If the file cannot be read, a column is missing, or no episode can be used.
    """
    file_path = Path(path)
    if not file_path.is_file():
        raise ValueError(f"path must be a file that exists; got {str(path)!r}.")
    parser = _StepParser(file_path.name)
    for row in read_rows(file_path):
        parser.add(row)
    return parser.build()


def is_step_log(path: str | os.PathLike[str]) -> bool:
    """Whether the header row of a file is that of a log of every step."""
    file_path = Path(path)
    if not file_path.is_file():
        return False
    with file_path.open("rb") as file:
        head = file.read(HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
    first = head.splitlines()[0] if head else b""
    names = split_row(first.decode("utf-8", "replace"), chr(guess_delimiter(first)))
    return {"episode", "step", "state"} <= {name.strip().lower() for name in names or []}


class _StepParser:
    """Parses rows into steps and checks that they form complete episodes."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._indices: dict[str, int] = {}
        self._n_columns = 0
        self._rejected = FirstRejections()
        self._n_rows = 0
        self._rows: list[_Row] = []
        self._words = {name: WordCodes() for name in _WORD_COLUMNS}
        self._dropped: set[int] = set()
        self._n_unassigned = 0

    def add(self, csv_row: CsvRow) -> None:
        """Add a row; the first one is the header."""
        row, cells, rule = csv_row
        if not self._indices:
            self._read_header([cell.strip().lower() for cell in cells])
            return
        self._n_rows += 1
        if rule or len(cells) != self._n_columns:
            wrong_size = f"a row must have {self._n_columns} cells", f"{len(cells)}"
            self._rejected.add(row, *((rule,) if rule else wrong_size))
            index = self._indices["episode"]
            if len(cells) > index:
                self._drop_episode(cells[index])
            if len(cells) <= index or index:  # the cells may be shifted
                self._drop_unfinished_episode()
            return
        found = {name: cells[index].strip() for name, index in self._indices.items()}
        wrong = _broken_rule(found)
        if wrong:
            self._drop_episode(found["episode"])
            self._rejected.add(row, *wrong)
            return
        ended, terminated = bool(parse_flag(found["ended"])), bool(parse_flag(found.get("terminated", "0")))
        step, reward = parse_whole(found["step"]) or 1, float(found["reward"])
        episode, state, action = (self._words[name].code(found[name]) for name in _WORD_COLUMNS)
        self._rows.append((row, episode, step, state, action, reward, ended, terminated))

    def _drop_unfinished_episode(self) -> None:
        """Drop the unfinished episode before a row whose episode is unknown."""
        self._n_unassigned += 1
        if self._rows and not any(self._rows[-1][6:]):
            self._dropped.add(self._rows[-1][1])

    def _drop_episode(self, episode: str) -> None:
        """Drop an episode because one of its rows cannot be used."""
        if len(episode.strip()) <= _MAX_WORD_CHARACTERS:
            self._dropped.add(self._words["episode"].code(episode.strip()))

    def _notes(self) -> tuple[str, ...]:
        if not self._n_unassigned:
            return ()
        rows = f"{self._n_unassigned:,} row{'s' * (self._n_unassigned > 1)}"
        return (
            f"The episode of {rows} is unknown: an unfinished episode right before such a row is left out, "
            "but other episodes may lack their last step.",
        )

    def _read_header(self, names: list[str]) -> None:
        for name in _COLUMNS:
            if name not in names:
                rest = f"; {describe_names(names)}."
                if look_like_names(names):
                    rest = f".{did_you_mean(name, names)}"
                raise ValueError(f"{self._source} must have a column {name!r}{rest}")
        for name in (*_COLUMNS, "terminated"):
            if names.count(name) > 1:
                raise ValueError(f"{self._source} must have one column {name!r}; it has {names.count(name)}.")
        self._n_columns = len(names)
        self._indices = {name: names.index(name) for name in (*_COLUMNS, "terminated") if name in names}

    def build(self) -> StepLog:
        """Return the log of the episodes that can be used."""
        if not self._indices:
            raise ValueError(f"{self._source} must have a header row and one row per step; it is empty.")
        episodes: dict[int, list[_Row]] = {}
        for one in self._rows:
            episodes.setdefault(one[1], []).append(one)
        used = []
        for rows in episodes.values():
            rows.sort(key=lambda one: one[2])
            wrong = "a row of its episode is rejected" if rows[0][1] in self._dropped else _broken_order(rows)
            if wrong:
                for one in rows:
                    self._rejected.add(one[0], wrong)
            else:
                used.append(rows)
        first = self._rejected.first()
        steps = [one for rows in used for one in rows]
        if not steps:
            why = f"all {self._n_rows:,} are rejected, {first[0]}" if first else "it has only a header row."
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


def _broken_rule(cells: dict[str, str]) -> tuple[str, str] | None:
    """Return the rule that a row breaks and the offending content, or None."""
    for name in _WORD_COLUMNS:
        if not cells[name]:
            return f"{name} must not be empty", "''"
        if len(cells[name]) > _MAX_WORD_CHARACTERS:
            return f"{name} must have at most {_MAX_WORD_CHARACTERS:,} characters", f"{len(cells[name]):,}"
    if parse_whole(cells["step"]) is None:
        return whole_number_rule("step"), describe_cell(cells["step"])
    if not _is_number(cells["reward"]):
        return "reward must be a finite number", describe_cell(cells["reward"])
    for name in ("ended", "terminated"):
        if parse_flag(cells.get(name, "0")) is None:
            return flag_rule(name), describe_cell(cells[name])
    return None


def _is_number(cell: str) -> bool:
    """Whether a cell is a finite number in a notation that all programs share."""
    try:
        return cell.isascii() and "_" not in cell and math.isfinite(float(cell))
    except ValueError:
        return False


def _broken_order(rows: list[_Row]) -> str:
    """Return the rule that an episode breaks, given its rows sorted by step; empty if none."""
    if [one[2] for one in rows] != list(range(1, len(rows) + 1)):
        return "an episode's steps must be 1, 2, 3, …, each once"
    if any(one[6] or one[7] for one in rows[:-1]):
        return "an episode must end at its last step only"
    if rows[-1][6] and rows[-1][7]:
        return "an episode must be either ended or terminated"
    return ""
