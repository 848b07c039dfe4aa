"""Loads the results of a store, for notebooks, exports and reports."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import _html
from sojourn._latex import latex_table
from sojourn._memory import check_fits
from sojourn._pandas import data_frame
from sojourn._text import UniqueNames, one_line
from sojourn._validation import did_you_mean
from sojourn.errors import SojournWarning
from sojourn.experiments._comparisons import (
    compare_trials,
    group_by_agent,
    problem_name,
    rebuild_agent,
    shared_seeds,
    without_agent,
)
from sojourn.experiments.spec._agent_settings import to_text
from sojourn.experiments.store._manifest import Manifest, read_manifest_file
from sojourn.experiments.store._store import Store
from sojourn.experiments.store._stored_file import StoredFile
from sojourn.experiments.trials._archive import read_trial_file
from sojourn.experiments.trials._result import TrialResult, read_result_file
from sojourn.laws import label, read_stored_law
from sojourn.learning import Comparison
from sojourn.mdps import is_size_label

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Results", "load_results", "results_of"]

_LETTER_BYTES, _LAW_LETTER_BYTES = 4, 20
"""Memory that a letter of different settings takes in tables and reports, and one of a law as an object."""

_MOST_NAMED = 5  # problems in one sentence

_HEADER = ("problem", "law", "agent", "seeds", "mean regret", "IQM of regret")


@dataclass(frozen=True, eq=False)
class Results:
    """The finished trials of the experiments in a store; prints as a small table.

    Attributes:
        folder: The store.
        trials: The trials.
        gaps: One sentence for each experiment of which trials are missing, and one if problems are left out
            (see `comparable`).
    """

    folder: Path
    trials: tuple[TrialResult, ...]
    gaps: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.trials)

    def __iter__(self) -> Iterator[TrialResult]:
        return iter(self.trials)

    def select(self, **wanted: Any) -> Results:
        """Return the trials of one experiment, problem, law, agent, seed, purpose or grid value.

        Name a grid by its path with `_` for `.`: `select(bonus_scale=0.1)`, or
        `select(agent_bonus_scale=0.1)`. `law` is the true law, and `agent_law` the agent's.
        """
        kept = tuple(trial for trial in self.trials if _fits(trial, wanted))
        if not kept and self.trials:
            known = {name for trial in self.trials for name in _fields(trial)}
            for name in wanted:
                if name not in known:
                    advice = did_you_mean(name, known) or f" There are {', '.join(sorted(known))}."
                    raise ValueError(f"No trial has a {name!r}.{advice}")
        return replace(self, trials=kept)

    def comparisons(self) -> list[Comparison]:
        """Return a `Comparison` of the agents on each problem and law, over the seeds that all have.

        Nothing that the store names is imported: agents of `sojourn.agents` are built again, and all others,
        such as your own, are shown by their settings (`MissingAgent`) and cannot play. Problems of a partial
        run are left out if all agents have no seed in common; a warning names them.
        """
        return [compare_trials(trials, rebuild_agent) for trials in self.comparable()._groups()]

    def comparable(self) -> Results:
        """Return the trials of the problems and laws on which all agents have a seed in common.

        Raises:
            ValueError: If there is no such problem.
        """
        kept: set[TrialResult] = set()
        left_out: dict[str, None] = {}
        for trials in self._groups():
            if shared_seeds(group_by_agent(trials)):
                kept.update(trials)
            else:
                left_out[f"{problem_name(trials[0])} under {label(read_stored_law(trials[0].law))}"] = None
        if not left_out:
            return self
        names = list(left_out)
        others = f" and {len(names) - _MOST_NAMED:,} others" if len(names) > _MOST_NAMED else ""
        where = f"{', '.join(names[:_MOST_NAMED])}{others}"
        if not kept:
            raise ValueError(
                f"Comparisons need a seed that all agents have; there is none on {where}. Continue the run."
            )
        gap = f"Comparisons leave out {where}: there is no seed that all agents have."
        warnings.warn(f"{self.folder}: {gap}", SojournWarning, stacklevel=3)
        return replace(self, trials=tuple(t for t in self.trials if t in kept), gaps=(*self.gaps, gap))

    def _groups(self) -> list[list[TrialResult]]:
        """Return groups of comparable trials: same experiment, problem, law, episodes and checkpoints."""
        groups: dict[tuple[str, ...], list[TrialResult]] = {}
        for trial in self.trials:
            recorded = to_text([trial.episodes, trial.settings["record"]])
            group = (trial.experiment, trial.settings["problem"], trial.law, recorded)
            groups.setdefault(group, []).append(trial)
        return list(groups.values())

    def table(self) -> str:
        """Return the agents' total regret as plain text: mean, and interquartile mean with 95% interval."""
        rows = [_HEADER, *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADER))]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)

    def to_latex(self) -> str:
        """Return `table` as LaTeX; it needs the package booktabs."""
        return latex_table(_HEADER, self._rows(), n_texts=3)

    def to_pandas(self) -> DataFrame:
        """Return the rows that `sojourn export` writes as a pandas data frame: one per trial and checkpoint.

        Raises:
            ImportError: If pandas is not installed.
        """
        from sojourn.experiments._export import table_columns  # noqa: PLC0415 - it reads results

        return data_frame(table_columns(self))

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        names = UniqueNames()
        for trials in self._groups():
            law = read_stored_law(trials[0].law)
            where = (problem_name(trials[0]), names.name(label(law), repr(law)))
            if not shared_seeds(group_by_agent(trials)):
                rows += [(*where, name, "0", "—", "—") for name in group_by_agent(trials)]
                continue
            comparison = compare_trials(trials, without_agent, only_last=True)
            seeds = f"{len(comparison.seeds):,}"
            rows += [(*where, name, seeds, mean, middle) for name, mean, middle, *_ in comparison.rows()]
        return rows

    def __repr__(self) -> str:
        if not self.trials:
            return f"Results({str(self.folder)!r}, no trials)"
        try:
            return self.table()
        except (OSError, ValueError) as error:  # a file was removed or damaged since
            return f"Results({str(self.folder)!r}, {len(self):,} trials: {one_line(str(error))})"

    def _repr_html_(self) -> str | None:
        try:
            return _html.grid(str(self.folder), _HEADER, self._rows())
        except (OSError, ValueError):  # notebooks then show __repr__
            return None


def load_results(folder: str | Path, *, experiment: str | None = None) -> Results:
    """Return the finished trials of the experiments in a store of `sojourn run`.

    Args:
        folder: The store.
        experiment: Name of one experiment, if the store has several.

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
    files = _files_by_key(store)
    manifests = _manifests(store)
    if experiment is not None:
        if experiment not in manifests:
            raise ValueError(f"Unknown experiment {experiment!r}.{did_you_mean(experiment, manifests)}")
        manifests = {experiment: manifests[experiment]}
    for name, n_trials in _left_out(store, manifests, files).items():
        warnings.warn(
            f"{store.folder} has two manifests of {name!r}, as after copying files from another store: "
            f"{n_trials:,} trials that only the older one lists are left out. Run a spec that has them all; "
            "it plays none of them again.",
            SojournWarning,
            stacklevel=2,
        )
    results = _load(store, [manifest for _, manifest in sorted(manifests.items())], files)
    gaps = []
    for name, manifest in sorted(manifests.items()):
        n_done = len(manifest.keys & files.keys())
        if n_done < len(manifest.keys):
            gaps.append(
                f"Only {n_done:,} of the {len(manifest.keys):,} trials of {name!r} are there: tables and "
                "comparisons leave out agents without trials, and seeds that not all agents have."
            )
            warnings.warn(f"{store.folder}: {gaps[-1]}", SojournWarning, stacklevel=2)
    return replace(results, gaps=tuple(gaps))


def results_of(manifest: Manifest, store: Store) -> Results:
    """Return the finished trials of a manifest, even if another run has replaced it in the store."""
    return _load(store, [manifest], _files_by_key(store))


def _files_by_key(store: Store) -> dict[str, StoredFile]:
    """Return the file of each trial; of several, the only sound one.

    Raises:
        ValueError: If a trial has different sound results.
    """
    files: dict[str, StoredFile] = {}
    others: dict[str, list[StoredFile]] = {}
    for file in store.trials():
        if file.key in files:
            others.setdefault(file.key, [files[file.key]]).append(file)
        files.setdefault(file.key, file)
    for key, several in others.items():
        warnings.warn(
            f"{several[-1].path} is not the only result of its trial.", SojournWarning, stacklevel=3
        )
        sound = [file for file in several if _is_sound(file)]
        if len(sound) > 1:
            raise ValueError(
                f"{sound[-1].path} is one of {len(sound)} different results of the same trial. Run the "
                "experiment again."
            )
        files[key] = sound[0] if sound else several[0]
    return files


def _is_sound(file: StoredFile) -> bool:
    """Whether a file is a sound result of the trial in its name."""
    try:
        read_trial_file(file)
    except ValueError:
        return False
    return True


def _load(store: Store, manifests: list[Manifest], files: Mapping[str, StoredFile]) -> Results:
    headers = _Headers(files)
    trials = [
        _result(manifest, cell, headers.of(key), files[key])
        for manifest in manifests
        for cell in manifest.cells
        for key in dict.fromkeys(cell["trials"])  # once, if a file lists it several times
        if key in files
    ]
    return Results(store.folder, _with_clear_problem_names(trials))


class _Headers:
    """Headers of trial files: each is read once, and equal settings share one object."""

    def __init__(self, files: Mapping[str, StoredFile]) -> None:
        self._files = files
        self._known: dict[str, dict[str, Any]] = {}
        self._settings: dict[str, dict[str, Any]] = {}
        self._laws: set[str] = set()
        self._n_bytes = 0

    def of(self, key: str) -> dict[str, Any]:
        """Return the header of a trial's file."""
        if key not in self._known:
            header = read_result_file(self._files[key], header_only=True).header
            text = to_text([header["settings"], header["problem"]])
            shared = self._settings.setdefault(text, header)
            if shared is header:
                self._check_memory(len(text), header["settings"]["law"])
            header |= {"settings": shared["settings"], "problem": shared["problem"]}
            self._known[key] = header
        return self._known[key]

    def _check_memory(self, n_letters: int, law: str) -> None:
        """Check that other settings, and perhaps another law, fit in memory with all that are known."""
        self._n_bytes += _LETTER_BYTES * n_letters
        if law not in self._laws:
            self._laws.add(law)
            self._n_bytes += _LAW_LETTER_BYTES * len(law)
        check_fits(self._n_bytes, "Reading the settings of all trials", "select one experiment")


def _with_clear_problem_names(trials: list[TrialResult]) -> tuple[TrialResult, ...]:
    """Return the trials, with the spec's text in place of problem names that are missing or ambiguous."""
    texts: dict[str, set[str]] = {}
    for trial in trials:
        texts.setdefault(trial.problem, set()).add(trial.settings["problem"])
    vague = {name for name, found in texts.items() if len(found) > 1 or is_size_label(name)}
    return tuple(replace(t, problem=t.settings["problem"]) if t.problem in vague else t for t in trials)


def _manifests(store: Store) -> dict[str, Manifest]:
    found = {}
    for file in store.manifests():
        try:
            manifest = read_manifest_file(file)
        except ValueError as error:
            if not os.path.lexists(file.path):
                return _manifests(store)  # a run replaced it meanwhile
            raise ValueError(f"{file.path} is damaged: {error}. Run the experiment again.") from error
        found[manifest.name] = manifest
    return found


def _left_out(
    store: Store, manifests: Mapping[str, Manifest], files: Mapping[str, StoredFile]
) -> dict[str, int]:
    """Return for each experiment how many finished trials only an older manifest lists, if there are any."""
    found: dict[str, set[str]] = {}
    for file in store.older_manifests():
        with contextlib.suppress(OSError, ValueError):  # damaged, or replaced meanwhile
            older = read_manifest_file(file)
            if older.name in manifests:
                missing = (older.keys & files.keys()) - manifests[older.name].keys
                found.setdefault(older.name, set()).update(missing)
    return {name: len(keys) for name, keys in found.items() if keys}


def _result(
    manifest: Manifest, cell: Mapping[str, Any], header: dict[str, Any], file: StoredFile
) -> TrialResult:
    return TrialResult(
        experiment=manifest.name,
        problem=header["problem"],
        law=header["settings"]["law"],
        agent=cell["learner"],
        varied=cell["varied"],
        settings=header["settings"],
        seed=header["seed"],
        key=file.key,
        path=file.path,
        purpose=manifest.purpose,
    )


_SELECTABLE = ("experiment", "problem", "law", "agent", "learner", "seed", "purpose")


def _fields(trial: TrialResult) -> dict[str, Any]:
    """Return what `select` can select by; names with "learner" are the former names."""
    own = {name: getattr(trial, name) for name in _SELECTABLE}
    grids = {path.replace(".", "_"): value for path, value in trial.varied.items()}
    prefixed = {f"{prefix}_{name}": v for prefix in ("agent", "learner") for name, v in grids.items()}
    return grids | prefixed | own


def _fits(trial: TrialResult, wanted: Mapping[str, Any]) -> bool:
    has = _fields(trial)
    return all(name in has and has[name] == value for name, value in wanted.items())
