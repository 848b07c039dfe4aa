"""Results of a store, for notebooks, exports and reports."""

from __future__ import annotations

import functools
import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sojourn import _html
from sojourn._typing import FloatArray, IntArray
from sojourn._validation import did_you_mean
from sojourn.errors import SojournWarning
from sojourn.experiments._absent import AbsentAgent
from sojourn.experiments._executor import say_error
from sojourn.experiments._settings import build, tell_apart, to_text
from sojourn.experiments._store import Store
from sojourn.experiments._stored import StoredFile
from sojourn.experiments._trials import check_trial, read_trial
from sojourn.laws import label, parse_law
from sojourn.learning import Comparison
from sojourn.mdps import parse_problem
from sojourn.planning import plan

__all__ = ["Results", "TrialResult", "load_results"]

_NO_NAME = re.compile(r"\d+ states, \d+ actions")
"""What `learn` calls a problem that has no name."""

_HEADER = ("problem", "law", "learner", "seeds", "total regret")


@dataclass(frozen=True, eq=False)
class TrialResult:
    """What came of one trial, as an experiment calls it; arrays are read from the file when first asked for.

    Attributes:
        experiment: The experiment's name.
        problem: The problem's name, or its text in the experiment if it has none or shares it with another.
        law: The true law, as text.
        learner: What the learner is called: its name in the experiment, and the values of its grids.
        varied: Those values by their dotted path.
        settings: All settings, as plain settings.
        seed: The seed.
        key: What the trial is called.
        path: Its file.
    """

    experiment: str
    problem: str
    law: str
    learner: str
    varied: Mapping[str, Any]
    settings: Mapping[str, Any]
    seed: int
    key: str
    path: Path

    @property
    def episodes(self) -> int:
        """Number of episodes."""
        return int(self.settings["episodes"])

    @functools.cached_property
    def arrays(self) -> dict[str, Any]:
        """What is in the file: an array each, an entry an episode, or sums up to each of the checkpoints."""
        return _read(StoredFile(str(self.path.parent), self.path.name))[1]

    def passing(self) -> TrialResult:
        """Return the same trial with arrays of its own: they are let go of with it, and not kept here."""
        return replace(self)

    @property
    def checkpoints(self) -> IntArray:
        """Episodes, counted from 1, after which something is known."""
        found = self.arrays.get("checkpoints")
        return np.arange(1, self.episodes + 1) if found is None else found

    @property
    def cumulative_regret(self) -> FloatArray | None:
        """Exact regret summed up to each checkpoint, or None if the learner does not show its policy."""
        return self.cumulative("regret")

    def cumulative(self, name: str) -> FloatArray | None:
        """Return what "regret", "regret_width", "rewards", "lengths", "observed" or "price" sum up to."""
        if f"sum_{name}" in self.arrays:
            return np.asarray(self.arrays[f"sum_{name}"])
        return np.cumsum(self.arrays[name]) if name in self.arrays else None


@dataclass(frozen=True, eq=False)
class Results:
    """All trials that the experiments of a store ask for and that are there; it prints as a small table."""

    folder: Path
    trials: tuple[TrialResult, ...]

    def __len__(self) -> int:
        return len(self.trials)

    def __iter__(self) -> Iterator[TrialResult]:
        return iter(self.trials)

    def select(self, **wanted: Any) -> Results:
        """Return the trials of one experiment, problem, law, learner or seed, or of a value of a grid.

        Values of grids are given by their path with `_` for `.`: `select(bonus_scale=0.1)`, or
        `select(learner_bonus_scale=0.1)`. `law` is always the true law, and `learner_law` the learner's.
        """
        kept = tuple(trial for trial in self.trials if _fits(trial, wanted))
        if not kept and self.trials:
            known = {name for trial in self.trials for name in _fields(trial)}
            for name in wanted:
                if name not in known:
                    advice = did_you_mean(name, known) or f" There are {', '.join(sorted(known))}."
                    raise ValueError(f"No trial has a {name!r}.{advice}")
        return Results(self.folder, kept)

    def comparisons(self) -> list[Comparison]:
        """Return a `Comparison` of the learners on each problem and law, over the seeds that all have.

        A learner of your own that cannot be imported here is told by its settings alone, and cannot play.
        """
        return [_compared(trials, _agent) for trials in self._groups()]

    def _groups(self) -> list[list[TrialResult]]:
        """Return the trials by what they can be compared on: experiment, problem, law, episodes."""
        groups: dict[tuple[str, str, str, int], list[TrialResult]] = {}
        for trial in self.trials:
            group = (trial.experiment, trial.settings["problem"], trial.law, trial.episodes)
            groups.setdefault(group, []).append(trial)
        return list(groups.values())

    def table(self) -> str:
        """Return the learners' mean total regret with 95% intervals, as plain text."""
        rows = [_HEADER, *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADER))]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for trials in self._groups():
            where = (trials[0].problem, label(parse_law(trials[0].law)))
            if not _shared_seeds(_by_learner(trials)):
                rows += [(*where, name, "0", "—") for name in _by_learner(trials)]
                continue
            comparison = _compared(trials, _unbuilt)
            totals = comparison.total_regret.texts()
            seeds = f"{len(comparison.seeds):,}"
            rows += [
                (*where, name, seeds, total) for name, total in zip(comparison.names, totals, strict=True)
            ]
        return rows

    def __repr__(self) -> str:
        if not self.trials:
            return f"Results({str(self.folder)!r}, no trials)"
        try:
            return self.table()
        except (OSError, ValueError) as error:  # files that are gone, or damaged since
            return f"Results({str(self.folder)!r}, {len(self):,} trials: {error})"

    def _repr_html_(self) -> str | None:
        try:
            return _html.grid(str(self.folder), _HEADER, self._rows())
        except (OSError, ValueError):  # notebooks then show what __repr__ says
            return None


def load_results(folder: str | Path, *, experiment: str | None = None) -> Results:
    """Return the results in a store of `sojourn run`, as its experiments ask for them.

    Args:
        folder: The store.
        experiment: The name of one experiment, where the store has several.

    Raises:
        ValueError: If there is no store, or no such experiment, or a file is damaged; one line says which.

    Example:
        >>> import tempfile
        >>> from sojourn.experiments import ThisProcess, read_example, read_experiment, run_experiment
        >>> with tempfile.TemporaryDirectory() as place:
        ...     file = Path(place) / "tiny.toml"
        ...     _ = file.write_text(read_example("tiny"))
        ...     report = run_experiment(read_experiment(file), Path(place) / "store", executor=ThisProcess())
        ...     results = load_results(Path(place) / "store")
        ...     print(len(results), results.trials[0].cumulative_regret.shape)
        12 (200,)
    """
    store = Store(folder)
    store.check_exists()
    files: dict[str, StoredFile] = {}
    for file in store.trials():
        if file.key in files:
            warnings.warn(f"{file.path} is not the only result of its trial.", SojournWarning, stacklevel=2)
        files.setdefault(file.key, file)
    asked = _experiments(store)
    if experiment is not None:
        if experiment not in asked:
            raise ValueError(f"Unknown experiment {experiment!r}.{did_you_mean(experiment, asked)}")
        asked = {experiment: asked[experiment]}
    headers: dict[str, dict[str, Any]] = {}
    trials = []
    for name, cells in sorted(asked.items()):
        for cell in cells:
            for key in cell["trials"]:
                if key in files:
                    about = headers.get(key) or _read(files[key], only_about=True)[0]
                    headers[key] = about
                    trials.append(_result(name, cell, about, files[key]))
    return Results(store.folder, _with_problems_told_apart(trials))


def _with_problems_told_apart(trials: list[TrialResult]) -> tuple[TrialResult, ...]:
    """Return the trials, with the experiment's own text for problems whose name says too little."""
    texts: dict[str, set[str]] = {}
    for trial in trials:
        texts.setdefault(trial.problem, set()).add(trial.settings["problem"])
    vague = {name for name, found in texts.items() if len(found) > 1 or _NO_NAME.fullmatch(name)}
    told = (replace(t, problem=t.settings["problem"]) if t.problem in vague else t for t in trials)
    return tuple(told)


def _experiments(store: Store) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for file in store.experiments():
        content = file.read()
        if content is None:
            raise ValueError(f"{file.path} is damaged; run the experiment again, it is made anew.")
        told = json.loads(content)
        found[str(told["name"])] = list(told["cells"])
    return found


def _result(experiment: str, cell: Mapping[str, Any], about: dict[str, Any], file: StoredFile) -> TrialResult:
    return TrialResult(
        experiment=experiment,
        problem=about["problem"],
        law=about["settings"]["law"],
        learner=cell["learner"],
        varied=cell["varied"],
        settings=about["settings"],
        seed=about["seed"],
        key=file.key,
        path=file.path,
    )


def _read(file: StoredFile, *, only_about: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
    content = file.read()
    if content is None:
        raise ValueError(f"{file.path} is damaged; run the experiment again, its trial is played anew.")
    about, arrays = read_trial(content, str(file.path), only_about=only_about)
    try:
        check_trial(about, file.key)
    except ValueError as error:
        raise ValueError(f"{file.path} is not what its name says: {error}.") from error
    return about, arrays


def _fields(trial: TrialResult) -> dict[str, Any]:
    own = {name: getattr(trial, name) for name in ("experiment", "problem", "law", "learner", "seed")}
    grids = {path.replace(".", "_"): value for path, value in trial.varied.items()}
    return grids | {f"learner_{name}": value for name, value in grids.items()} | own


def _fits(trial: TrialResult, wanted: Mapping[str, Any]) -> bool:
    has = _fields(trial)
    return all(name in has and has[name] == value for name, value in wanted.items())


def _by_learner(trials: list[TrialResult]) -> dict[str, dict[int, TrialResult]]:
    """Return the trials by the learner's name, no two alike, and by seed."""
    by_learner: dict[str, dict[int, TrialResult]] = {}
    taken: dict[str, dict[str, int]] = {}
    for trial in trials:
        name = tell_apart(trial.learner, to_text(trial.settings), taken)
        by_learner.setdefault(name, {})[trial.seed] = trial
    return by_learner


def _shared_seeds(by_learner: Mapping[str, Mapping[int, TrialResult]]) -> tuple[int, ...]:
    return tuple(sorted(set.intersection(*(set(seeds) for seeds in by_learner.values()))))


def _compared(trials: list[TrialResult], make_agent: Callable[[TrialResult], Any]) -> Comparison:
    by_learner = _by_learner(trials)
    seeds = _shared_seeds(by_learner)
    if not seeds:
        raise ValueError("comparisons need a seed that all learners have; the run is not that far.")
    first = trials[0]
    law, checkpoints = parse_law(first.law), first.passing().checkpoints
    shape = (len(by_learner), len(seeds))
    cumulative, width = np.full((*shape, checkpoints.size), np.nan), np.full(shape, np.nan)
    rewards = np.empty(shape)
    for i, found in enumerate(by_learner.values()):
        for j, seed in enumerate(seeds):
            trial = found[seed].passing()
            rewards[i, j] = _last(trial, "rewards") / first.episodes
            regret = trial.cumulative_regret
            if regret is not None:
                cumulative[i, j], width[i, j] = regret, _last(trial, "regret_width")
    agents = tuple(make_agent(next(iter(found.values()))) for found in by_learner.values())
    return Comparison(
        tuple(by_learner), agents, first.problem, law, seeds, checkpoints, cumulative, width, rewards
    )


def _last(trial: TrialResult, name: str) -> float:
    found = trial.cumulative(name)
    return float("nan") if found is None else float(found[-1])


def _agent(trial: TrialResult) -> Any:
    settings = trial.settings
    try:
        return build(
            settings["learner"], lambda: plan(parse_problem(settings["problem"]), parse_law(settings["law"]))
        )
    except Exception as error:  # code of the user's own that is not here, or not as it was
        return AbsentAgent(settings["learner"], say_error(error))


def _unbuilt(trial: TrialResult) -> AbsentAgent:
    return AbsentAgent(trial.settings["learner"], "nobody asked for it.")
