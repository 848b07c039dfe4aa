"""The store: one immutable file a trial, with the hash of its content in its name.

    STORE/
      sojourn-store.json            says that this folder is a store
      trials/KEY-HASH.npz           one a trial: KEY is the trial's, HASH that of the bytes
      experiments/KEY-HASH.json     what was last asked for under a name: the file, and its trials by learner
      timings.log                   how long trials took: a line each
      damaged/                      what was found damaged and set aside, never read

The listing of the folders is the truth: nothing says "running", and reading needs no lock. All names are made
of hexadecimal digits: no name that a user chose becomes a path. Writers hold a shared lock, so that who is
alone can tell that temporary files belong to nobody.
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
from pathlib import Path
from typing import Any

from sojourn._files import make_folder, sync_folder, write_atomically
from sojourn.experiments.store._locks import lock
from sojourn.experiments.store._marker import Marker
from sojourn.experiments.store._stored_file import StoredFile, digest
from sojourn.experiments.store._timings import TimingLog

__all__ = ["Store"]

_NAME = re.compile(r"[0-9a-f]{32}-[0-9a-f]{32}\.(npz|json)")
_ENDINGS = {"trials": "npz", "experiments": "json"}
_FOLDERS = ("trials", "experiments", "damaged")
_TICK = 2_000_000_000  # nanoseconds: no file system dates files more coarsely


class Store:
    """A folder of finished trials.

    Args:
        folder: Where it is. Nothing is made before something is written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        self.marker = Marker(self.folder)
        self.timings = TimingLog(self.folder / "timings.log")

    @property
    def exists(self) -> bool:
        """Whether there is a store: its marker, or at least a trial if that was lost."""
        return _is_file(self.marker.path) or bool(self.trials())

    def check_can_open(self) -> None:
        """Raise `ValueError` if there is something else, or a store that is not as it should be."""
        self._check_parts()
        found = os.listdir(self.folder) if self.folder.is_dir() else []  # first: others may be making it
        if any(not self.marker.is_temporary(name) for name in found) and not self.exists:
            raise ValueError(f"{self.folder} must be a store of 'sojourn run', or an empty or new folder.")
        self.marker.check_version()

    def check_exists(self) -> None:
        """Raise `ValueError` if there is no store, or one that is not as it should be."""
        self._check_parts()
        if not self.exists:
            raise ValueError(f"{self.folder} must be a store of 'sojourn run'; there is none.")
        self.marker.check_version()

    def _check_parts(self) -> None:
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"{self.folder} must be a folder; it is a file.")
        for name in (*_FOLDERS, self.marker.path.name, self.timings.path.name):
            _check_part(self.folder / name, is_folder=name in _FOLDERS)

    @contextlib.contextmanager
    def writing(self) -> Iterator[bool]:
        """Make the store if there is none; meanwhile nobody takes our temporary files for left ones.

        Yields:
            Whether nobody else was writing when this began; of several that begin at once, one is told so.
        """
        self.check_can_open()
        make_folder(self.folder)
        self.marker.make()
        for name in _FOLDERS[:2]:
            make_folder(self.folder / name)
        with self.marker.open() as marker:
            was_alone = self._clean(marker)
            lock(marker, wait=True, alone=False)
            try:
                yield was_alone
            finally:
                self._clean(marker)

    def _clean(self, marker: io.FileIO) -> bool:
        """Remove temporary files that were left behind, if nobody else is writing; return whether."""
        is_alone = lock(marker, wait=False, alone=True)
        for path in self.temporary_files() if is_alone else ():
            path.unlink(missing_ok=True)
        return is_alone

    def temporary_files(self) -> list[Path]:
        """Return the files that somebody is writing, or left behind."""
        places = [self.folder, *(self.folder / name for name in _FOLDERS)]
        found = (path for place in places if place.is_dir() for path in place.glob(".*.tmp"))
        return sorted(path for path in found if _is_file(path))

    def is_being_written(self) -> bool:
        """Whether a run has this store open."""
        if not _is_file(self.marker.path):
            return False
        with self.marker.open() as marker:
            return not lock(marker, wait=False, alone=True)

    def add_trial(self, key: str, content: bytes, seconds: float) -> Path:
        """Keep a trial's file, and how long it took; a trial that is there already is left as it is."""
        name = f"{key}-{digest(content)}.npz"
        self.timings.append(key, seconds)  # first: so no trial is without
        return self._keep("trials", name, content)

    def add_experiment(self, told: Mapping[str, Any]) -> Path:
        """Keep what was asked for, in place of what was before under the same name."""
        content = json.dumps(told, sort_keys=True, indent=1).encode()
        key = digest(str(told["name"]).encode())
        kept = self._keep("experiments", f"{key}-{digest(content)}.json", content)
        others = [file for file in self._files("experiments") if file.key == key and file.path != kept]
        # The last one counts, also if it was there before another, or a clock that was ahead dated that.
        last = max(time.time_ns(), *(_age(file)[0] + _TICK for file in others), 0)
        with contextlib.suppress(FileNotFoundError):  # another run put its own in its place
            os.utime(kept, ns=(last, last))
        for other in others:
            if _age(other) < _age(StoredFile(str(kept.parent), kept.name)):
                other.path.unlink(missing_ok=True)
        return kept

    def _keep(self, folder: str, name: str, content: bytes) -> Path:
        kept = StoredFile(str(self.folder / folder), name)
        if kept.is_sound():
            return kept.path
        return write_atomically(kept.path, lambda file: file.write(content))

    def trials(self) -> list[StoredFile]:
        """Return the trials that there are, by the names of their files, in order."""
        return self._files("trials")

    def trial_keys(self) -> set[str]:
        """Return the keys of the trials that there are; nothing more is looked at, so it is quick."""
        return {name[:32] for name in self._names("trials")}

    def experiments(self) -> list[StoredFile]:
        """Return the files of what was last asked for under each name, in the order of their names.

        Of two under one name, which a run that was killed may leave, the older counts for nothing.
        """
        last: dict[str, StoredFile] = {}
        for file in self._files("experiments"):
            if file.key not in last or _age(last[file.key]) < _age(file):
                last[file.key] = file
        return list(last.values())

    def strangers(self) -> list[Path]:
        """Return files in the store's folders that have no name of a store's file."""
        known = {file.path for name in _ENDINGS for file in self._files(name)} | set(self.temporary_files())
        places = [self.folder / name for name in _ENDINGS if (self.folder / name).is_dir()]
        return sorted(path for place in places for path in place.iterdir() if path not in known)

    def _files(self, folder: str) -> list[StoredFile]:
        return [StoredFile(str(self.folder / folder), name) for name in sorted(self._names(folder))]

    def _names(self, folder: str) -> list[str]:
        try:
            names = os.listdir(self.folder / folder)
        except FileNotFoundError:
            return []
        found, ending = ((name, _NAME.fullmatch(name)) for name in names), _ENDINGS[folder]
        return [name for name, match in found if match and match[1] == ending]

    def set_aside(self, file: StoredFile | Path) -> Path | None:
        """Move a damaged file out of the way; it is not deleted.

        Returns:
            Where it is now, or None if another run was quicker: it is gone, or made good.
        """
        path = file if isinstance(file, Path) else file.path
        if isinstance(file, StoredFile) and file.is_sound():
            return None
        target = self._place_for(path.name)
        try:
            path.rename(target)
        except FileNotFoundError:
            return None
        sync_folder(target.parent)
        sync_folder(path.parent)
        return target

    def mend_timings(self) -> tuple[dict[str, float], int, Path]:
        """Write the log of timings again if it is damaged.

        Returns:
            What it says, how many lines were damaged, and where the damaged log is kept.
        """
        times, damaged = self.timings.read()
        if not damaged:
            return times, 0, self.timings.path
        target = self._place_for(self.timings.path.name)
        return times, self.timings.mend(target), target

    def _place_for(self, name: str) -> Path:
        """Return where a damaged file may be kept: under its name and a number that is not taken."""
        place = self.folder / "damaged"
        make_folder(place)
        number = 1
        while os.path.lexists(place / f"{name}.{number}"):
            number += 1
        return place / f"{name}.{number}"


def _age(file: StoredFile) -> tuple[int, str]:
    """Return what orders files by when they were written, no two alike; those that are gone come first."""
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
    """Whether a regular file is there, and no link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False
