"""Experiments: reads a TOML spec and lists all trials that it describes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sojourn._files import is_utf8
from sojourn._imports import call_imported
from sojourn._text import UniqueNames
from sojourn._validation import check_whole, did_you_mean
from sojourn.errors import SpecDeprecationWarning
from sojourn.experiments.spec._agent_settings import resolve, to_text, with_place
from sojourn.experiments.spec._code_identity import check_loaded_code, code_of, own_modules
from sojourn.experiments.spec._grid import count_points, points
from sojourn.experiments.spec._import_path import importing_from
from sojourn.experiments.spec._plain_values import shown
from sojourn.experiments.spec._toml import read_toml
from sojourn.experiments.trials._trial import Trial
from sojourn.laws import LengthLaw, NamedLaw, read_law, read_stored_law
from sojourn.learning import REGRET_TOLERANCE, check_regret_tolerance, default_regret_episodes
from sojourn.mdps import TabularMDP, read_problem

__all__ = ["Cell", "Experiment", "Purpose", "read_experiment", "repeats_trials"]

Purpose = Literal["evaluation", "tuning"]
"""Why an experiment is run: to judge agents, or only to choose their settings."""

_MOST_TRIALS = 1_000_000
_MOST_CELLS = 100_000
_MOST_EPISODES = 1_000_000_000
_MOST_RECORDED = 100_000_000
"""Most episodes of a trial that can be recorded one by one; files with more are too large to handle."""

_ALL_RECORDED = 10_000
"""Trials of up to this many episodes record every episode unless the spec says otherwise."""

_CHECKPOINTS = 200
_MOST_LETTERS = 200  # of an experiment's name
_MOST_REPEATED = 10  # cells of equal settings, on average
_MOST_RECORD = {"checkpoints": _MOST_TRIALS, "regret_episodes": _MOST_RECORDED}


@dataclass(frozen=True)
class Cell:
    """One agent on one problem under one law; its trials differ only in the seed.

    Attributes:
        name: The agent's name in the spec.
        agent: The name with the values of the agent's grids, such as "ours (bonus.scale=0.1)".
        varied: The values of the agent's grids by dotted path.
        settings: Everything but the seed that its trials depend on, as plain settings.
        trials: Its trials, one per seed.
        law: The true law.
    """

    name: str
    agent: str
    varied: Mapping[str, Any]
    settings: Mapping[str, Any]
    trials: tuple[Trial, ...]
    law: LengthLaw


@dataclass(frozen=True)
class Experiment:
    """All cells that a spec describes, and the seeds that each of them is played with.

    Attributes:
        name: Name of the experiment.
        source: Text of the spec.
        folder: Folder of the spec, where the user's own modules are looked for.
        cells: Every combination of problem, law, agent and grid values.
        seeds: The seeds.
        purpose: "evaluation", or "tuning" if its trials only serve to choose settings.
    """

    name: str
    source: str
    folder: Path
    cells: tuple[Cell, ...]
    seeds: tuple[int, ...]
    purpose: Purpose = "evaluation"

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return len(self.cells) * len(self.seeds)

    def trials(self) -> Iterator[tuple[Cell, Trial]]:
        """Yield all trials, seed by seed, so that every cell has a result early."""
        for i in range(len(self.seeds)):
            for cell in self.cells:
                yield cell, cell.trials[i]


def repeats_trials(n_listed: int, n_different: int) -> bool:
    """Whether an experiment has its trials so often that its tables would be far larger than its store."""
    return n_listed > _MOST_REPEATED * n_different


def read_experiment(path: str | Path) -> Experiment:
    """Return the experiment that a TOML file describes.

    Raises:
        ValueError: If something in it is wrong; one line says what and where.
        OSError: If it cannot be read.
    """
    path = Path(path)
    source, table = read_toml(path)
    if "learners" in table and "agents" not in table:
        table = {"agents" if key == "learners" else key: value for key, value in table.items()}
        warnings.warn(
            f"{path}: [learners.NAME] is now [agents.NAME]; the next release no longer reads the old form.",
            SpecDeprecationWarning,
            stacklevel=2,
        )
    try:
        with importing_from(path.absolute().parent):
            return _experiment(path, source, _check(table))
    except RecursionError as error:
        raise ValueError(f"{path}: it is nested too deeply.") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"must be a text; got {shown(value)}.")
    return value


def _name(value: Any) -> str:
    name = _text(value)
    if len(name) > _MOST_LETTERS:
        raise ValueError(f"must have at most {_MOST_LETTERS} letters; got {len(name):,}.")
    return name


def _texts(value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(item, str) and item.strip() for item in values):
        raise ValueError(f"must be a text or a list of texts; got {shown(value)}.")
    return tuple(values)


def _episodes(value: Any) -> int:
    return _at_most(_MOST_EPISODES, _whole(value, least=1))


def _at_most(most: int, number: int) -> int:
    if number > most:
        raise ValueError(f"must be at most {most:,}; got {number:,}.")
    return number


def _whole(value: Any, *, least: int) -> int:
    if isinstance(value, (int, float)) and 2**53 < value < math.inf:
        raise ValueError("must be at most 2**53; got a larger number.")
    try:
        return check_whole("", value, least=least)
    except (TypeError, ValueError):
        raise ValueError(f"must be a whole number ≥ {least}; got {shown(value)}.") from None


def _seeds(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list):
        return tuple(range(_at_most(_MOST_TRIALS, _whole(value, least=1))))
    seeds = tuple(_whole(seed, least=0) for seed in value)
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"must be a number of seeds, or a list of different ones; got {shown(value)}.")
    return seeds


def _record(value: Any) -> str | dict[str, int]:
    if value == "episodes":
        return "episodes"
    if isinstance(value, dict) and value and value.keys() <= {"checkpoints", "regret_episodes"}:
        return {name: min(_whole(number, least=2), _MOST_RECORD[name]) for name, number in value.items()}
    if isinstance(value, dict):
        raise ValueError(f"must have only checkpoints and regret_episodes; got {shown(value)}.")
    raise ValueError(
        f"must be 'episodes' or {{ checkpoints = 200 }}, also with regret_episodes; got {shown(value)}."
    )


def _regret_tolerance(value: Any) -> float | None:
    """Return the tolerance, or None for the default: settings leave out what says nothing."""
    try:
        tolerance = check_regret_tolerance(value)
    except (TypeError, ValueError) as error:
        raise ValueError(str(error).removeprefix("regret_tolerance ")) from None
    return tolerance if tolerance != REGRET_TOLERANCE else None


def _agents(value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict) or not value or not all(isinstance(item, dict) for item in value.values()):
        raise ValueError(f"must be tables such as [agents.ours] with a type; got {shown(value)}.")
    for name in value:
        if not name.strip() or not name.isprintable() or len(name) > 100:
            raise ValueError(f"must have names of one line and at most 100 letters; got {shown(name)}.")
    return value


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "problem": _texts,
    "law": _texts,
    "episodes": _episodes,
    "seeds": _seeds,
    "agents": _agents,
    "name": _name,
    "record": _record,
    "regret_tolerance": _regret_tolerance,
}
"""The keys of a spec, each with the function that checks and converts its value."""

_REQUIRED = ("problem", "law", "episodes", "seeds", "agents")


@dataclass(frozen=True)
class _Spec:
    """The checked values of a spec."""

    problem: tuple[str, ...]
    law: tuple[str, ...]
    episodes: int
    seeds: tuple[int, ...]
    agents: dict[str, dict[str, Any]]
    name: str | None = None
    record: str | dict[str, int] | None = None
    regret_tolerance: float | None = None


def _check(table: dict[str, Any]) -> _Spec:
    if "learners" in table:
        raise ValueError(
            "it has both [agents.NAME] and [learners.NAME], its old name; use [agents.NAME] only."
        )
    for key in table:
        if key not in _CHECKS:
            near = did_you_mean(key, _CHECKS) if len(key) < 100 else ""
            raise ValueError(f"Unknown key {shown(key)}.{near or ' There are ' + ', '.join(_CHECKS) + '.'}")
    values = {}
    for key, check in _CHECKS.items():
        if key in table:
            try:
                values[key] = check(table[key])
            except ValueError as error:
                raise ValueError(f"{key} {error}") from error
        elif key in _REQUIRED:
            raise ValueError(f"{key} is missing; an experiment needs {', '.join(_REQUIRED)}.")
    return _Spec(**values)


def _experiment(path: Path, source: str, spec: _Spec) -> Experiment:
    given = spec.record
    if given == "episodes" and spec.episodes > _MOST_RECORDED:
        raise ValueError(f"record must be {{ checkpoints = 200 }} for more than {_MOST_RECORDED:,} episodes.")
    n_points = sum(count_points(agent, f"agents.{name}") for name, agent in spec.agents.items())
    n_cells = n_points * len(spec.problem) * len(spec.law)
    if n_cells > _MOST_CELLS or n_cells * len(spec.seeds) > _MOST_TRIALS:
        raise ValueError(
            f"it has {_count(n_cells * len(spec.seeds))} trials in {_count(n_cells)} combinations; "
            f"at most {_MOST_TRIALS:,} in {_MOST_CELLS:,} are possible."
        )
    problems = [with_place("problem", _build_problem, text) for text in spec.problem]
    laws = [with_place("law", _read_law, text) for text in spec.law]
    cells: list[Cell] = []
    for problem, mdp in problems:
        for law in laws:
            # Hashed into every trial key: a new entry would make old stores play everything again.
            options = {"given": given, "mdp": mdp, "law": law.law, "episodes": spec.episodes}
            record = call_imported(law.text[:60], _what_to_record, options)  # the law may be a user's own
            shared = {"problem": problem, "law": law.text, "episodes": spec.episodes, "record": record}
            if spec.regret_tolerance is not None:
                shared["regret_tolerance"] = spec.regret_tolerance
            cells += _cells(spec.agents, law, shared, spec.seeds)
    n_different = len({cell.trials[0].text for cell in cells})
    if repeats_trials(len(cells), n_different):
        raise ValueError(
            f"it has {len(cells):,} combinations, of which only {n_different:,} differ; name every problem, "
            "law and agent once."
        )
    name = spec.name if spec.name is not None else path.stem
    if not is_utf8(name):
        raise ValueError('the name of the file must be UTF-8; rename it, or add a name = "…" to the file.')
    return Experiment(name, source, path.absolute().parent, tuple(cells), spec.seeds)


def _count(number: int) -> str:
    return f"{number:,}" if number < 10**15 else f"about 10^{math.floor(math.log10(number))}"


def _build_problem(text: str) -> tuple[str, TabularMDP]:
    """Return a problem's text in its one form, and the problem, so that a bad one is refused early."""
    named = read_problem(text, "problem")
    return named.text, named.build()


def _read_law(text: str) -> NamedLaw:
    """Return a law, after checking that trial files can hold it."""
    named = read_law(text)
    try:
        read_stored_law(named.text)
    except ValueError as error:
        n = f"{len(named.text):,}"
        raise ValueError(f"{text[:60]} is too long for the files of trials: {n} characters.") from error
    return named


def _what_to_record(
    given: str | dict[str, int] | None, mdp: TabularMDP, law: LengthLaw, episodes: int
) -> str | dict[str, int]:
    """Return what the trials on a problem record, with defaults filled in and what says nothing left out."""
    numbers = dict(given) if isinstance(given, dict) else {}
    n_valued = numbers.pop("regret_episodes", None) or default_regret_episodes(mdp, law, episodes)
    if not numbers and given != "episodes" and episodes > _ALL_RECORDED:
        numbers = {"checkpoints": _CHECKPOINTS}
    record = {name: min(number, episodes) for name, number in numbers.items()}
    if n_valued < episodes:
        record["regret_episodes"] = n_valued
    return record or "episodes"


def _cells(
    agents: Mapping[str, Any], law: NamedLaw, shared: Mapping[str, Any], seeds: tuple[int, ...]
) -> Iterator[Cell]:
    """Yield the cells of all agents on one problem under one law."""
    names = UniqueNames()
    codes: dict[tuple[str, ...], dict[str, str]] = {}
    for name, agent in agents.items():
        place = f"agents.{name}"
        for given, varied in points(agent, place):
            settings = {**shared, "learner": resolve(given, law, place)}
            modules = own_modules(settings)
            if modules not in codes:
                check_loaded_code(modules)
                codes[modules] = code_of(modules)
            if modules:
                settings["code"] = codes[modules]
            values = ", ".join(
                f"{path}={value if isinstance(value, str) else shown(value)}"
                for path, value in varied.items()
            )
            text = to_text(settings)
            label = names.name(f"{name} ({values})" if values else name, text)
            trials = tuple(Trial(text, seed) for seed in seeds)
            yield Cell(name, label, varied, settings, trials, law.law)
