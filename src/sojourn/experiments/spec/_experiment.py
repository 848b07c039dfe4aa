"""Experiments: one TOML file, and all the trials that it asks for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from sojourn._validation import check_whole, did_you_mean
from sojourn.experiments.spec._agent_settings import resolve, tell_apart, to_text, with_place
from sojourn.experiments.spec._agent_types import shown
from sojourn.experiments.spec._code_identity import check_loaded_code, code_of, own_modules
from sojourn.experiments.spec._grid import count_points, points
from sojourn.experiments.spec._import_path import importing_from
from sojourn.experiments.spec._toml import read_toml
from sojourn.experiments.trials._trial import Trial
from sojourn.laws import LengthLaw, parse_law
from sojourn.mdps import read_problem

__all__ = ["Cell", "Experiment", "read_experiment"]

_MOST_TRIALS = 1_000_000
_MOST_CELLS = 100_000
_MOST_EPISODES = 1_000_000_000
_MOST_KEPT = 100_000_000
"""So many episodes of a trial can be recorded one by one: more make a file that is too large to handle."""

_ALL_KEPT = 10_000
"""Up to so many episodes, every one is recorded unless the file says otherwise."""

_CHECKPOINTS = 200


@dataclass(frozen=True)
class Cell:
    """One learner on one problem under one law; its trials differ in nothing but the seed.

    Attributes:
        name: The learner's name in the file.
        learner: What the learner is called: its name, and the values of its grids.
        varied: Those values by their dotted path.
        settings: What its trials result from, as plain settings.
        trials: Its trials, one a seed.
    """

    name: str
    learner: str
    varied: Mapping[str, Any]
    settings: Mapping[str, Any]
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class Experiment:
    """What a file asks for: cells, and the seeds that every one of them is played with.

    Attributes:
        name: What it is called.
        source: The text of the file.
        folder: Where modules of the user's own are looked for first.
        cells: Every combination of problem, law, learner and values of grids.
        seeds: The seeds.
    """

    name: str
    source: str
    folder: Path
    cells: tuple[Cell, ...]
    seeds: tuple[int, ...]

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return len(self.cells) * len(self.seeds)

    def trials(self) -> Iterator[tuple[Cell, Trial]]:
        """Yield the trials, every cell's first seed first: so all of them are seen early."""
        for i in range(len(self.seeds)):
            for cell in self.cells:
                yield cell, cell.trials[i]


def read_experiment(path: str | Path) -> Experiment:
    """Return the experiment that a TOML file describes.

    Raises:
        ValueError: If something in it is wrong; one line says what and where.
        OSError: If it cannot be read.
    """
    path = Path(path)
    source, table = read_toml(path)
    try:
        with importing_from(path.absolute().parent):
            return _experiment(path, source, _checked(table))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"must be a text; got {shown(value)}.")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(item, str) and item.strip() for item in values):
        raise ValueError(f"must be a text or a list of texts; got {shown(value)}.")
    return tuple(values)


def _episodes(value: Any) -> int:
    return _at_most(_MOST_EPISODES, _bounded(value, least=1))


def _at_most(most: int, number: int) -> int:
    if number > most:
        raise ValueError(f"must be at most {most:,}; got {number:,}.")
    return number


def _bounded(value: Any, *, least: int) -> int:
    if isinstance(value, (int, float)) and 2**53 < value < math.inf:
        raise ValueError("must be at most 2**53; got a larger number.")
    try:
        return check_whole("", value, least=least)
    except (TypeError, ValueError):
        raise ValueError(f"must be a whole number ≥ {least}; got {shown(value)}.") from None


def _seeds(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list):
        return tuple(range(_at_most(_MOST_TRIALS, _bounded(value, least=1))))
    seeds = tuple(_bounded(seed, least=0) for seed in value)
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"must be a number of seeds, or a list of different ones; got {shown(value)}.")
    return seeds


def _record(value: Any) -> str | dict[str, int]:
    if value == "episodes":
        return "episodes"
    if isinstance(value, dict) and value.keys() == {"checkpoints"}:
        return {"checkpoints": min(_bounded(value["checkpoints"], least=2), _MOST_TRIALS)}
    raise ValueError(f"must be 'episodes' or {{ checkpoints = 200 }}; got {shown(value)}.")


def _learners(value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict) or not value or not all(isinstance(item, dict) for item in value.values()):
        raise ValueError(f"must be tables such as [learners.ours] with a type; got {shown(value)}.")
    for name in value:
        if not name.strip() or not name.isprintable() or len(name) > 100:
            raise ValueError(f"must have names of one line and at most 100 letters; got {shown(name)}.")
    return value


class _File(BaseModel):
    """The file's keys; every value is checked by a function of ours, for messages of ours."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    problem: Annotated[Any, BeforeValidator(_texts)]
    law: Annotated[Any, BeforeValidator(_texts)]
    episodes: Annotated[Any, BeforeValidator(_episodes)]
    seeds: Annotated[Any, BeforeValidator(_seeds)]
    learners: Annotated[Any, BeforeValidator(_learners)]
    name: Annotated[Any, BeforeValidator(_text)] = None
    record: Annotated[Any, BeforeValidator(_record)] = None


def _checked(table: dict[str, Any]) -> _File:
    try:
        return _File.model_validate(table)
    except ValidationError as error:
        first = next((e for e in error.errors() if e["type"] == "extra_forbidden"), error.errors()[0])
    key = str(first["loc"][0])
    known = list(_File.model_fields)
    if first["type"] == "extra_forbidden":
        near = did_you_mean(key, known) if len(key) < 100 else ""
        raise ValueError(f"Unknown key {shown(key)}.{near or ' There are ' + ', '.join(known) + '.'}")
    if first["type"] == "missing":
        raise ValueError(f"{key} is missing; an experiment needs {', '.join(known[:5])}.")
    raise ValueError(f"{key} {first['ctx']['error']}")


def _experiment(path: Path, source: str, file: _File) -> Experiment:
    record = file.record
    if record is None:
        record = "episodes" if file.episodes <= _ALL_KEPT else {"checkpoints": _CHECKPOINTS}
    if isinstance(record, dict):
        record = {"checkpoints": min(record["checkpoints"], file.episodes)}
    elif file.episodes > _MOST_KEPT:
        raise ValueError(f"record must be {{ checkpoints = 200 }} for more than {_MOST_KEPT:,} episodes.")
    n_points = sum(count_points(learner, f"learners.{name}") for name, learner in file.learners.items())
    n_cells = n_points * len(file.problem) * len(file.law)
    if n_cells > _MOST_CELLS or n_cells * len(file.seeds) > _MOST_TRIALS:
        raise ValueError(
            f"it asks for {_count(n_cells * len(file.seeds))} trials in {_count(n_cells)} combinations; "
            f"at most {_MOST_TRIALS:,} in {_MOST_CELLS:,} can be had."
        )
    problems = [with_place("problem", _problem, text) for text in file.problem]
    laws = [with_place("law", parse_law, text) for text in file.law]
    fixed = {"episodes": file.episodes, "record": record}
    cells: list[Cell] = []
    for problem in problems:
        for law in laws:
            shared = {"problem": problem, "law": repr(law), **fixed}
            cells += _cells(file.learners, law, shared, file.seeds)
    name = file.name if file.name is not None else path.stem
    return Experiment(name, source, path.absolute().parent, tuple(cells), file.seeds)


def _count(number: int) -> str:
    return f"{number:,}" if number < 10**15 else f"about 10^{math.floor(math.log10(number))}"


def _problem(text: str) -> str:
    named = read_problem(text, "problem")
    named.build()
    return named.text


def _cells(
    learners: Mapping[str, Any], law: LengthLaw, shared: Mapping[str, Any], seeds: tuple[int, ...]
) -> Iterator[Cell]:
    taken: dict[str, dict[str, int]] = {}
    codes: dict[tuple[str, ...], dict[str, str]] = {}
    for name, learner in learners.items():
        place = f"learners.{name}"
        for given, varied in points(learner, place):
            settings = {**shared, "learner": resolve(given, law, place)}
            modules = own_modules(shared["problem"], settings["learner"])
            if modules not in codes:
                check_loaded_code(modules)
                codes[modules] = code_of(modules)
            if modules:
                settings["code"] = codes[modules]
            told = ", ".join(
                f"{path}={value if isinstance(value, str) else shown(value)}"
                for path, value in varied.items()
            )
            text = to_text(settings)
            called = tell_apart(f"{name} ({told})" if told else name, text, taken)
            yield Cell(name, called, varied, settings, tuple(Trial(text, seed) for seed in seeds))
