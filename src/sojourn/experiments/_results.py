"""Results of a store, for notebooks, exports and reports."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sojourn import _html
from sojourn._validation import did_you_mean
from sojourn.errors import SojournWarning
from sojourn.experiments._comparisons import (
    build_agent,
    by_learner,
    compare_trials,
    leave_agent,
    shared_seeds,
)
from sojourn.experiments.spec._agent_settings import to_text
from sojourn.experiments.store._manifest import read_record
from sojourn.experiments.store._store import Store
from sojourn.experiments.store._stored_file import StoredFile
from sojourn.experiments.trials._result import TrialResult, read_result_file
from sojourn.laws import label, parse_law
from sojourn.learning import Comparison

__all__ = ["Results", "load_results"]

_NO_NAME = re.compile(r"\d+ states, \d+ actions")
"""What `learn` calls a problem that has no name."""

_HEADER = ("problem", "law", "learner", "seeds", "total regret")


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
        return [compare_trials(trials, build_agent) for trials in self._groups()]

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
            if not shared_seeds(by_learner(trials)):
                rows += [(*where, name, "0", "—") for name in by_learner(trials)]
                continue
            comparison = compare_trials(trials, leave_agent)
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
    headers = _Headers(files)
    trials = [
        _result(name, cell, headers.of(key), files[key])
        for name, cells in sorted(asked.items())
        for cell in cells
        for key in cell["trials"]
        if key in files
    ]
    return Results(store.folder, _with_problems_told_apart(trials))


class _Headers:
    """What files of trials say of themselves: each is read once, and those with equal settings share them."""

    def __init__(self, files: Mapping[str, StoredFile]) -> None:
        self._files = files
        self._known: dict[str, dict[str, Any]] = {}
        self._settings: dict[str, dict[str, Any]] = {}

    def of(self, key: str) -> dict[str, Any]:
        """Return what the file of a trial says of itself."""
        if key not in self._known:
            about = read_result_file(self._files[key], header_only=True).header
            text = to_text([about["settings"], about["problem"]])
            shared = self._settings.setdefault(text, about)
            about |= {"settings": shared["settings"], "problem": shared["problem"]}
            self._known[key] = about
        return self._known[key]


def _with_problems_told_apart(trials: list[TrialResult]) -> tuple[TrialResult, ...]:
    """Return the trials, with the experiment's own text for problems whose name says too little."""
    texts: dict[str, set[str]] = {}
    for trial in trials:
        texts.setdefault(trial.problem, set()).add(trial.settings["problem"])
    vague = {name for name, found in texts.items() if len(found) > 1 or _NO_NAME.fullmatch(name)}
    told = (replace(t, problem=t.settings["problem"]) if t.problem in vague else t for t in trials)
    return tuple(told)


def _experiments(store: Store) -> dict[str, tuple[Mapping[str, Any], ...]]:
    found = {}
    for file in store.experiments():
        content = file.read()
        if content is None:
            raise ValueError(f"{file.path} is damaged; run the experiment again, it is made anew.")
        try:
            record = read_record(content)
        except ValueError as error:
            raise ValueError(f"{file.path} is not what its name says: {error}.") from error
        found[record.name] = record.cells
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


def _fields(trial: TrialResult) -> dict[str, Any]:
    own = {name: getattr(trial, name) for name in ("experiment", "problem", "law", "learner", "seed")}
    grids = {path.replace(".", "_"): value for path, value in trial.varied.items()}
    return grids | {f"learner_{name}": value for name, value in grids.items()} | own


def _fits(trial: TrialResult, wanted: Mapping[str, Any]) -> bool:
    has = _fields(trial)
    return all(name in has and has[name] == value for name, value in wanted.items())
