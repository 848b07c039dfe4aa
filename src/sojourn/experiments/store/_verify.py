"""Verification: reads every file of a store and reports what is damaged."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sojourn.experiments.store._manifest import Manifest, read_manifest_file
from sojourn.experiments.store._marker import MARKER_CONTENT
from sojourn.experiments.store._store import Store
from sojourn.experiments.store._stored_file import StoredFile
from sojourn.experiments.trials._archive import read_trial_file

__all__ = ["Finding", "Verdict", "verify_store"]


@dataclass(frozen=True)
class Finding:
    """A problem found in a store.

    Attributes:
        path: The file or folder.
        what: The problem, in a few words.
    """

    path: Path
    what: str


@dataclass(frozen=True)
class Verdict:
    """The result of verifying a store.

    Attributes:
        trials: Number of sound trials.
        experiments: For each experiment its name, the number of its different trials, and how many of them
            are sound.
        findings: The problems; empty if the store is sound.
        unlisted: Number of sound trials that no experiment lists, such as those of a spec that was changed.
    """

    trials: int
    experiments: tuple[tuple[str, int, int], ...]
    findings: tuple[Finding, ...]
    unlisted: int = 0


def verify_store(store: Store | str | Path, progress: Callable[[float], object] | None = None) -> Verdict:
    """Read every trial and manifest of a store and report problems; nothing is changed.

    The next run sets damaged files aside and plays their trials again. The timing log is not checked: no
    result depends on it.

    Raises:
        ValueError: If there is no store.
    """
    store = store if isinstance(store, Store) else Store(store)
    store.check_exists()
    findings = list(_check_folder(store))
    counts: Counter[str] = Counter()
    last: dict[str, Path] = {}
    files = store.trials()
    for i, file in enumerate(files):
        problem = _check_trial_file(file)
        if problem:
            findings.append(Finding(file.path, problem))
        else:
            counts[file.key] += 1
            last[file.key] = file.path
        if progress is not None and i % 64 == 0:
            progress(i / len(files))
    several = "different results of the same trial; the next run plays it again"
    findings += [Finding(last[key], f"one of {n} {several}") for key, n in counts.items() if n > 1]
    sound = {key for key, n in counts.items() if n == 1}
    manifests, damaged = _check_manifests(store)
    experiments = sorted((one.name, len(one.keys), len(one.keys & sound)) for one in manifests)
    unlisted = len(sound.difference(*(one.keys for one in manifests)))
    if unlisted and not manifests and not damaged:
        trials = f"the {unlisted:,} trial{'s' * (unlisted > 1)}"
        what = f"no experiment lists {trials}; run the spec again, which plays none of them again"
        damaged = [Finding(store.folder / "experiments", what)]
    return Verdict(len(sound), tuple(experiments), (*findings, *damaged), unlisted)


def _check_folder(store: Store) -> Iterator[Finding]:
    """Yield the problems that can be seen without reading trials and manifests."""
    content = store.marker.read()
    if content is None:
        yield Finding(store.marker.path, "it is missing")
    elif content != MARKER_CONTENT:
        yield Finding(store.marker.path, "its content is not that of a store's marker")
    left = store.temporary_files()  # first: a run that ends now has renamed or deleted its own
    if left and not store.is_being_written():
        for path in sorted({*left} & {*store.temporary_files()}):
            yield Finding(path, "a run that was killed left this temporary file")
    for path in store.unknown_files():
        yield Finding(path, "it does not belong to the store")


def _check_manifests(store: Store) -> tuple[list[Manifest], list[Finding]]:
    """Return the sound manifests, and the problems of the others."""
    older = [file for file in store.older_manifests() if file.is_something_else()]
    manifests, findings = [], [Finding(file.path, "it is not a file") for file in older]
    for file in store.manifests():
        try:
            manifests.append(read_manifest_file(file))
        except (OSError, ValueError) as error:
            if isinstance(error, ValueError) and not os.path.lexists(file.path):
                return _check_manifests(store)  # a run replaced it meanwhile
            findings.append(Finding(file.path, _problem(error)))
    return manifests, findings


def _check_trial_file(file: StoredFile) -> str:
    """Return the problem of a trial file, or an empty text if it is sound."""
    try:
        read_trial_file(file)
    except (OSError, ValueError) as error:
        return _problem(error)
    return ""


def _problem(error: OSError | ValueError) -> str:
    return f"it cannot be read: {error.strerror}" if isinstance(error, OSError) else str(error)
