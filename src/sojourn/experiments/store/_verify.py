"""Looking at every byte of a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sojourn.experiments.store._manifest import read_manifest_file
from sojourn.experiments.store._marker import MARK
from sojourn.experiments.store._store import Store
from sojourn.experiments.store._stored_file import StoredFile
from sojourn.experiments.trials._archive import read_trial_file

__all__ = ["Finding", "Verdict", "verify_store"]


@dataclass(frozen=True)
class Finding:
    """Something in a store that is not as it was written.

    Attributes:
        path: Where it is.
        what: What is wrong, in a few words.
    """

    path: Path
    what: str


@dataclass(frozen=True)
class Verdict:
    """What was found in a store.

    Attributes:
        trials: Number of sound trials.
        experiments: For each experiment its name, how many different trials it asks for, and how many of
            them are there.
        findings: What is wrong; empty if nothing is.
    """

    trials: int
    experiments: tuple[tuple[str, int, int], ...]
    findings: tuple[Finding, ...]


def verify_store(store: Store | str | Path, progress: Callable[[float], object] | None = None) -> Verdict:
    """Read every file of a store, and say what is not as it was written; nothing is changed.

    The next run sets damaged files aside and plays their trials again.

    Raises:
        ValueError: If there is no store.
    """
    store = store if isinstance(store, Store) else Store(store)
    store.check_exists()
    findings = list(_oddities(store))
    sound: set[str] = set()
    files = store.trials()
    for i, file in enumerate(files):
        wrong = _wrong_with_trial(file)
        if wrong:
            findings.append(Finding(file.path, wrong))
        else:
            sound.add(file.key)
        if progress is not None and i % 64 == 0:
            progress(i / len(files))
    findings += _in_timings(store, {file.key for file in files})
    experiments = []
    for file in store.experiments():
        try:
            manifest = read_manifest_file(file)
            experiments.append((manifest.name, len(manifest.keys), len(manifest.keys & sound)))
        except OSError as error:
            findings.append(Finding(file.path, f"it cannot be read: {error.strerror}"))
        except ValueError as error:
            findings.append(Finding(file.path, str(error)))
    return Verdict(len(sound), tuple(sorted(experiments)), tuple(findings))


def _oddities(store: Store) -> Iterator[Finding]:
    """Yield what is wrong with the folder itself."""
    content = store.marker.read()
    if content is None:
        yield Finding(store.marker.path, "it is missing")
    elif content != MARK:
        yield Finding(store.marker.path, "its content is not that of a store's")
    if not store.is_being_written():
        for path in store.temporary_files():
            yield Finding(path, "a temporary file was left")
    for path in store.strangers():
        yield Finding(path, "no file of a store has such a name")
    files = store.trials()
    counts = Counter(file.key for file in files)
    last = {file.key: file.path for file in files}
    for key, count in counts.items():
        if count > 1:
            yield Finding(last[key], f"one of {count} different results of the same trial")


def _wrong_with_trial(file: StoredFile) -> str:
    try:
        read_trial_file(file)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    except ValueError as error:
        return str(error)
    return ""


def _in_timings(store: Store, keys: set[str]) -> Iterator[Finding]:
    times, damaged = store.timings.read()
    if damaged:
        lines = f"line {damaged[0]}" + (f" and {len(damaged) - 1} more" if len(damaged) > 1 else "")
        yield Finding(store.timings.path, f"{lines} damaged")
    n_lost = len(keys - times.keys())
    if n_lost:
        yield Finding(store.timings.path, f"timings of {n_lost:,} trials are lost")
