"""The store: a folder with one immutable file per trial, named by the hash of its content.

    STORE/
      sojourn-store.json            marker: this folder is a store, of which format
      trials/KEY-HASH.npz           one file per trial: KEY identifies the trial, HASH its content
      experiments/KEY-HASH.json     manifest: the spec last run under a name, and the keys of its trials
      timings.log                   how long each trial took, one line per trial
      damaged/                      damaged files that were set aside; never read

The folders' listings are the only record of progress: no file says "running", and reading needs no lock. File
names consist of hexadecimal digits, so that no name chosen by a user becomes a path. Every writer holds a
shared lock on the marker; a writer that gets an exclusive lock is alone and may delete temporary files that
killed runs left behind.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn._files import is_utf8, lock_file, make_folder, sync_folder, write_atomically
from sojourn.experiments.store._marker import MARKER_CONTENT, Marker
from sojourn.experiments.store._stored_file import StoredFile, content_hash, is_something_else
from sojourn.experiments.store._timings import TimingLog

__all__ = ["Store", "WriteAccess"]

_NAME = re.compile(r"[0-9a-f]{32}-[0-9a-f]{32}\.(npz|json)")
_TEMPORARY = re.compile(r"\..{1,40}\.[0-9a-f]{8}\.tmp", re.DOTALL)  # names that `write_atomically` gives
_ENDINGS = {"trials": "npz", "experiments": "json"}
_FOLDERS = (*_ENDINGS, "damaged")
_TICK = 2_000_000_000  # nanoseconds: the coarsest time stamps of any file system
_DAY = 86_400_000_000_000  # nanoseconds


@dataclass(frozen=True)
class WriteAccess:
    """What `Store.writing` found when it opened a store.

    Attributes:
        is_alone: Whether no other process was writing; of several that begin at once, one is alone.
        marker_was_rebuilt: Whether the store had trials but its marker was damaged or missing.
    """

    is_alone: bool
    marker_was_rebuilt: bool


class Store:
    """A folder of finished trials.

    Args:
        folder: The folder; nothing is created before something is written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        self.marker = Marker(self.folder)
        self.timings = TimingLog(self.folder / "timings.log")

    @property
    def exists(self) -> bool:
        """Whether the folder is a store: it has a marker, or at least a trial if the marker was lost."""
        return _is_file(self.marker.path) or bool(self.trials())

    def check_can_open(self) -> None:
        """Raise `ValueError` unless the folder is a store of this version, empty or missing."""
        self._check_parts()
        names = os.listdir(self.folder) if self.folder.is_dir() else []  # first: other runs may create it now
        if any(not _TEMPORARY.fullmatch(name) for name in names) and not self.exists:
            raise ValueError(f"{self.folder} must be a store of 'sojourn run', or an empty or new folder.")
        self.marker.check_version()

    def check_exists(self) -> None:
        """Raise `ValueError` unless the folder is a store of this version."""
        self._check_parts()
        if not self.exists:
            raise ValueError(f"{self.folder} must be a store of 'sojourn run'; there is none.")
        self.marker.check_version()

    def _check_parts(self) -> None:
        if not is_utf8(self.folder.name):
            raise ValueError(f"{self.folder} must have a name in UTF-8; rename it.")
        if self.folder.is_symlink() and not self.folder.exists():
            raise ValueError(f"{self.folder} must be a folder; it is a link to {_target(self.folder)}.")
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"{self.folder} must be a folder; it is a file.")
        for name in (*_FOLDERS, self.marker.path.name, self.timings.path.name):
            _check_part(self.folder / name, is_folder=name in _FOLDERS)

    @contextlib.contextmanager
    def writing(self) -> Iterator[WriteAccess]:
        """Open the store for writing and create it if it is missing.

        While it is open, other runs do not delete our temporary files.
        """
        self.check_can_open()
        is_rebuilt = self.marker.read() != MARKER_CONTENT and bool(self.trial_keys())
        make_folder(self.folder)
        self.marker.write()
        for name in _ENDINGS:
            make_folder(self.folder / name)
        with self.marker.open_for_lock() as marker:
            is_alone = self._delete_temporary_files(marker)
            lock_file(marker, exclusive=False, wait=True)
            try:
                yield WriteAccess(is_alone, is_rebuilt)
            finally:
                self._delete_temporary_files(marker)

    def _delete_temporary_files(self, marker: io.FileIO) -> bool:
        """Delete temporary files of killed runs if no other run is writing; return whether none is."""
        is_alone = lock_file(marker, exclusive=True, wait=False)
        for path in self.temporary_files() if is_alone else ():
            with contextlib.suppress(OSError):  # such as a store that may only be read
                path.unlink()
        return is_alone

    def temporary_files(self) -> list[Path]:
        """Return the files that are being written, or were when a run was killed."""
        folders = [self.folder, *(self.folder / name for name in _FOLDERS)]
        found = (path for folder in folders if folder.is_dir() for path in folder.glob(".*.tmp"))
        return sorted(path for path in found if _TEMPORARY.fullmatch(path.name) and _is_file(path))

    def is_being_written(self) -> bool:
        """Whether a run has this store open for writing."""
        if not _is_file(self.marker.path):
            return False
        with self.marker.open_for_lock() as marker:
            return not lock_file(marker, exclusive=True, wait=False)

    def add_trial(self, key: str, content: bytes, seconds: float) -> Path:
        """Write a trial's file and its duration; a sound file that exists already stays as it is.

        The caller must have checked the content.
        """
        self.timings.append(key, seconds)
        return self._add("trials", f"{key}-{content_hash(content)}.npz", content)

    def add_manifest(self, manifest: Mapping[str, Any]) -> Path:
        """Write a manifest, which replaces the one of the same experiment."""
        content = json.dumps(manifest, sort_keys=True, indent=1).encode()
        key = content_hash(str(manifest["name"]).encode())
        path = self._add("experiments", f"{key}-{content_hash(content)}.json", content)
        others = [file for file in self._files("experiments") if file.key == key and file.path != path]
        for other in [file for file in others if file.is_something_else()]:
            self.set_aside(other.path)
            others.remove(other)
        # The newest counts. Make this one the newest, even if the same content was written before, or a
        # clock that was ahead dated another one.
        if not others:
            return path  # a store that may only be read, if nothing is missing in it
        now = time.time_ns()
        for other in others:
            if _written_at(other)[0] > now + _DAY:  # perhaps the latest time that the disk can store
                with contextlib.suppress(OSError):
                    os.utime(other.path, ns=(now, now), follow_symlinks=False)
        newest = max(now, *(_written_at(file)[0] + _TICK for file in others), 0)
        with contextlib.suppress(FileNotFoundError):  # another run replaced it meanwhile
            os.utime(path, ns=(newest, newest), follow_symlinks=False)
        for other in others:
            if _written_at(other) < _written_at(StoredFile(str(path.parent), path.name)):
                other.path.unlink(missing_ok=True)
        if not any(file.key == key for file in self._files("experiments")):
            return self.add_manifest(manifest)  # another run deleted this one at the same moment
        return path

    def _add(self, folder: str, name: str, content: bytes) -> Path:
        file = StoredFile(str(self.folder / folder), name)
        if file.is_sound():
            return file.path
        if file.is_something_else():
            self.set_aside(file.path)
        return write_atomically(file.path, lambda opened: opened.write(content))

    def trials(self) -> list[StoredFile]:
        """Return the files of trials, sorted by name."""
        return self._files("trials")

    def trial_keys(self) -> set[str]:
        """Return the keys of all trials; only names are read, so this is quick."""
        return {name[:32] for name in self._names("trials")}

    def manifests(self) -> list[StoredFile]:
        """Return the newest manifest of each experiment, sorted by name.

        A run that is killed may leave an older one beside it, which does not count.
        """
        newest: dict[str, StoredFile] = {}
        for file in self._files("experiments"):
            if file.key not in newest or _written_at(newest[file.key]) < _written_at(file):
                newest[file.key] = file
        return list(newest.values())

    def older_manifests(self) -> list[StoredFile]:
        """Return the manifests that do not count, because a newer one of the same experiment does."""
        newest = set(self.manifests())
        return [file for file in self._files("experiments") if file not in newest]

    def unknown_files(self) -> list[Path]:
        """Return what is in the folders of trials and manifests under a name that no store file has."""
        unknown: list[Path] = []
        for name, ending in _ENDINGS.items():
            folder = self.folder / name
            for path in folder.iterdir() if folder.is_dir() else ():  # listed once: a run may add files
                match = _NAME.fullmatch(path.name)
                is_known = match[1] == ending if match else _TEMPORARY.fullmatch(path.name) is not None
                if not is_known or (match is None and is_something_else(path)):
                    unknown.append(path)
        return sorted(unknown)

    def _files(self, folder: str) -> list[StoredFile]:
        place = str(self.folder / folder)
        return [StoredFile(place, name) for name in sorted(self._names(folder))]

    def _names(self, folder: str) -> list[str]:
        try:
            names = os.listdir(self.folder / folder)
        except FileNotFoundError:
            return []
        found, ending = ((name, _NAME.fullmatch(name)) for name in names), _ENDINGS[folder]
        return [name for name, match in found if match and match[1] == ending]

    def set_aside(self, path: Path) -> Path | None:
        """Move a file to `damaged/` and return its new path, or None if another run has moved it already."""
        target = self._free_path_for_damaged(path.name)
        try:
            path.rename(target)
        except FileNotFoundError:
            return None
        sync_folder(target.parent)
        sync_folder(path.parent)
        return target

    def _free_path_for_damaged(self, name: str) -> Path:
        """Return a path in `damaged/` that does not exist yet: the name and a number."""
        folder = self.folder / "damaged"
        make_folder(folder)
        number = 1
        while os.path.lexists(folder / f"{name}.{number}"):
            number += 1
        return folder / f"{name}.{number}"


def _target(link: Path) -> str:
    return f"{os.readlink(link)}, which does not exist"


def _written_at(file: StoredFile) -> tuple[int, str]:
    """Return the time stamp and name of a file, as a sort key; a missing file comes first."""
    try:
        return file.path.lstat().st_mtime_ns, file.name
    except FileNotFoundError:
        return 0, file.name


def _check_part(path: Path, *, is_folder: bool) -> None:
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if stat.S_ISLNK(mode):
        raise ValueError(f"{path} must not be a link.")
    if not (stat.S_ISDIR(mode) if is_folder else stat.S_ISREG(mode)):
        raise ValueError(f"{path} must be a {'folder' if is_folder else 'file'}; it is something else.")


def _is_file(path: Path) -> bool:
    """Whether the path is a regular file and not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False
