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
import errno
import hashlib
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sojourn._files import make_folder, sync_folder, write_atomically
from sojourn.experiments._locks import lock
from sojourn.experiments._timings import TimingLog

__all__ = ["Store", "StoredFile", "digest"]

MARKER = "sojourn-store.json"
MARK = b'{"format": "sojourn store 1"}\n'
_NAME = re.compile(r"[0-9a-f]{32}-[0-9a-f]{32}\.(npz|json)")
_ENDINGS = {"trials": "npz", "experiments": "json"}
_FOLDERS = ("trials", "experiments", "damaged")

_DAMAGE = (errno.ENOENT, errno.ELOOP, errno.EMLINK, errno.EISDIR)
"""What the system says where a file is gone, or a link or a folder stands in its place."""


def digest(content: bytes) -> str:
    """Return the hash that names a file by its content."""
    return hashlib.sha256(content).hexdigest()[:32]


@dataclass(frozen=True)
class StoredFile:
    """A file of the store, as its name states it: KEY-HASH and an ending."""

    folder: str
    name: str

    @property
    def key(self) -> str:
        """What is in it: a trial's key, or the hash of an experiment's name."""
        return self.name[:32]

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self.folder, self.name)

    def read(self) -> bytes | None:
        """Return the file's bytes, or None if they are not those that its name states.

        Raises:
            OSError: If it cannot be read, which says nothing of its bytes.
        """
        return _content(os.path.join(self.folder, self.name), self.name[33:65])


class Store:
    """A folder of finished trials.

    Args:
        folder: Where it is. Nothing is made before something is written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        self.timings = TimingLog(self.folder / "timings.log")

    @property
    def exists(self) -> bool:
        """Whether there is a store: its marker, or at least a trial if that was lost."""
        return (self.folder / MARKER).is_file() or bool(self.trials())

    def check_can_open(self) -> None:
        """Raise `ValueError` if the folder is something else, or its parts lead elsewhere."""
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"{self.folder} must be a folder; it is a file.")
        for name in (*_FOLDERS, MARKER, self.timings.path.name):
            if (self.folder / name).is_symlink():
                raise ValueError(f"{self.folder / name} must not be a link.")
        if self.folder.is_dir() and not self.exists and any(self.folder.iterdir()):
            raise ValueError(f"{self.folder} must be a store of 'sojourn run', or an empty or new folder.")

    def check_exists(self) -> None:
        """Raise `ValueError` if there is no store."""
        self.check_can_open()
        if not self.exists:
            raise ValueError(f"{self.folder} must be a store of 'sojourn run'; there is none.")

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Make the store if there is none; meanwhile nobody takes our temporary files for left ones."""
        self.check_can_open()
        make_folder(self.folder)
        self._mark()
        for name in _FOLDERS[:2]:
            make_folder(self.folder / name)
        with _open_to_lock(self.folder / MARKER) as marker:
            self._clean(marker)
            lock(marker, wait=True, alone=False)
            try:
                yield
            finally:
                self._clean(marker)

    def _mark(self) -> None:
        """Write the marker if there is none, and refuse that of another version.

        It is never replaced, for others may hold a lock on it; one that is damaged is mended in place.
        """
        with contextlib.suppress(FileExistsError), (self.folder / MARKER).open("xb") as file:
            file.write(MARK)
            file.flush()
            os.fsync(file.fileno())
            sync_folder(self.folder)
        content = (self.folder / MARKER).read_bytes()
        if content != MARK and re.fullmatch(rb'\{"format": "sojourn store \d+"\}\n', content):
            raise ValueError(f"{self.folder} is a store of another version: {content.decode().strip()}.")

    def mend_marker(self) -> bool:
        """Write the marker again if it is damaged, in place: others may hold a lock on it."""
        path = self.folder / MARKER
        if path.read_bytes() == MARK:
            return False
        with path.open("r+b") as file:
            file.write(MARK)
            file.truncate()
            os.fsync(file.fileno())
        return True

    def _clean(self, marker: IO[bytes]) -> None:
        """Remove temporary files that were left behind, if nobody else is writing."""
        if lock(marker, wait=False, alone=True):
            for path in self.temporary_files():
                path.unlink(missing_ok=True)

    def temporary_files(self) -> list[Path]:
        """Return the files that somebody is writing, or left behind."""
        places = [self.folder, *(self.folder / name for name in _FOLDERS)]
        return sorted(path for place in places if place.is_dir() for path in place.glob(".*.tmp"))

    def is_being_written(self) -> bool:
        """Whether a run has this store open."""
        if not (self.folder / MARKER).is_file():
            return False
        with _open_to_lock(self.folder / MARKER) as marker:
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
        for other in self.experiments():
            if other.key == key and other.path != kept:
                other.path.unlink(missing_ok=True)
        return kept

    def _keep(self, folder: str, name: str, content: bytes) -> Path:
        path = self.folder / folder / name
        if _content(path, digest(content)) is not None:
            return path
        return write_atomically(path, lambda file: file.write(content))

    def trials(self) -> list[StoredFile]:
        """Return the trials that there are, by the names of their files, in order."""
        return self._files("trials")

    def experiments(self) -> list[StoredFile]:
        """Return the files of what was asked for, in the order of their names."""
        return self._files("experiments")

    def strangers(self) -> list[Path]:
        """Return files in the store's folders that have no name of a store's file."""
        known = {file.path for file in (*self.trials(), *self.experiments())} | set(self.temporary_files())
        places = [self.folder / name for name in _ENDINGS if (self.folder / name).is_dir()]
        return sorted(path for place in places for path in place.iterdir() if path not in known)

    def _files(self, folder: str) -> list[StoredFile]:
        place = self.folder / folder
        try:
            names = sorted(os.listdir(place))
        except FileNotFoundError:
            return []
        found = ((name, _NAME.fullmatch(name)) for name in names)
        ending = _ENDINGS[folder]
        return [StoredFile(str(place), name) for name, match in found if match and match[1] == ending]

    def set_aside(self, path: Path) -> Path:
        """Move a damaged file out of the way; it is not deleted."""
        place = self.folder / "damaged"
        make_folder(place)
        number = 1
        while (target := place / f"{path.name}.{number}").exists():
            number += 1
        with contextlib.suppress(FileNotFoundError):  # another run was quicker
            path.rename(target)
            sync_folder(place)
            sync_folder(path.parent)
        return target


def _open_to_lock(path: Path) -> IO[bytes]:
    """Open a file for a lock: for writing, without which some file systems give no lock to hold alone."""
    try:
        return path.open("r+b")
    except OSError:  # a store that may only be read
        return path.open("rb")


def _content(path: str | Path, content_hash: str) -> bytes | None:
    """Return a file's bytes if they have this hash; links are not followed.

    A file that cannot be read now may be sound: then `OSError` is raised, and nothing is called damaged.
    """
    try:
        with io.FileIO(path, opener=_open_itself) as file:
            content = file.read()
    except OSError as error:
        if error.errno in _DAMAGE:
            return None
        raise OSError(error.errno, error.strerror, str(path)) from error
    return content if digest(content) == content_hash else None


def _open_itself(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
