"""Trial files: the only module that packs, reads and checks them.

A trial file is an `.npz` archive of arrays and of a header, one line of JSON with the settings, the seed, the
results version and the problem's name. How to use this module:

- `pack_trial` returns the bytes of a new file.
- `read_trial` reads bytes and checks that they belong to a key.
- `read_trial_file` does the same for a file of a store, and checks the content hash first.
- `check_trial_file` judges a stored file quickly, without unpacking it if it can.

A `ValueError` gives the reason as a clause ("it is not a trial file"); callers add the place.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import io
import json
import zlib
from collections.abc import Mapping
from typing import IO, Any, NamedTuple

from sojourn._files import open_regular_file, pack_archive, unpack_archive
from sojourn.experiments.spec._agent_settings import to_text
from sojourn.experiments.store._stored_file import StoredFile
from sojourn.experiments.trials._trial import RESULTS_VERSION, Trial, trial_key

__all__ = [
    "FileState",
    "TrialContent",
    "check_trial_file",
    "has_header_of",
    "pack_trial",
    "read_trial",
    "read_trial_file",
]

_FORMAT = "sojourn trial 1"
_HEADER_NAME = b"about.npy"
_MOST_HEADER_BYTES = 1 << 20


class TrialContent(NamedTuple):
    """The content of one trial file."""

    header: dict[str, Any]
    """Has "format", "results" (the results version), "settings", "seed" and "problem" (its name)."""

    arrays: dict[str, Any]
    """One entry per episode, or sums up to each checkpoint; empty if only the header was read."""


class FileState(enum.Enum):
    """What `check_trial_file` found."""

    SOUND = enum.auto()
    """The file holds the trial of its name."""

    DAMAGED = enum.auto()
    """The bytes do not match the hash in the file's name, or there is no regular file."""

    MISNAMED = enum.auto()
    """The bytes match their hash, but belong to another trial or to none."""


def pack_trial(settings: Mapping[str, Any], seed: int, problem: str, arrays: Mapping[str, Any]) -> bytes:
    """Return the content of a trial file; `problem` is the problem's name."""
    return pack_archive(_header(settings, seed) | {"problem": problem}, arrays)


def _header(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    return {"format": _FORMAT, "results": RESULTS_VERSION, "settings": settings, "seed": seed}


def read_trial(content: bytes | IO[bytes], key: str, *, header_only: bool = False) -> TrialContent:
    """Read a trial file and check that it belongs to a trial.

    Args:
        content: The bytes, or an open file.
        key: The key of the trial that the file must hold.
        header_only: Skip the arrays, which is faster.

    Raises:
        ValueError: If it is not a trial file, or holds another trial; one clause says which.
    """
    file = io.BytesIO(content) if isinstance(content, bytes) else content
    try:
        header, arrays = unpack_archive(
            file, name="it", form=_FORMAT, writer="sojourn run", only_about=header_only
        )
        trial = Trial(to_text(header["settings"]), header["seed"])
        found = trial_key(trial.text, header["results"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("it is not a trial file") from error
    if found != key:
        raise ValueError("it holds another trial")
    return TrialContent(header, arrays)


def read_trial_file(file: StoredFile, *, header_only: bool = False) -> TrialContent:
    """Read a trial file of a store, and check its hash and its trial.

    Raises:
        ValueError: If it is damaged, is not a trial file, or holds another trial; one clause says which.
        OSError: If it cannot be read.
    """
    content = file.read()
    if content is None:
        raise ValueError("its content does not match the hash in its name")
    return read_trial(content, file.key, header_only=header_only)


def check_trial_file(file: StoredFile, trial: Trial) -> FileState:
    """Check that a file of a store is sound and holds a trial.

    Raises:
        OSError: If it cannot be read.
    """
    content = file.read_if_small()
    if content is None:
        return FileState.DAMAGED
    if has_header_of(trial, content):
        return FileState.SOUND
    try:
        with contextlib.nullcontext(content) if content else open_regular_file(file.path) as whole:
            read_trial(whole, file.key, header_only=True)
    except ValueError:
        return FileState.MISNAMED
    return FileState.SOUND


def has_header_of(trial: Trial, content: bytes) -> bool:
    """Whether a file's header is byte for byte what `pack_trial` writes for a trial.

    The header is the last member of the archive, so it is found without opening the archive: a run checks
    thousands of files before it starts. False proves nothing: such a file must be read in full.
    """
    name = content.rfind(_HEADER_NAME, 0, max(0, content.rfind(_HEADER_NAME)))
    begin = name + len(_HEADER_NAME) + int.from_bytes(content[name - 2 : name], "little")  # skip extra field
    if name < 30:
        return False
    try:
        array = zlib.decompressobj(-15).decompress(content[begin:], _MOST_HEADER_BYTES)
        text = array[10 + int.from_bytes(array[8:10], "little") :].decode("utf-32-le")
    except (zlib.error, UnicodeDecodeError):
        return False
    return text.startswith(f'{_header_start(trial.settings)}{trial.seed}, "problem": ')


@functools.lru_cache(maxsize=4096)
def _header_start(settings: str) -> str:
    """Return the header up to the seed; all trials with the same settings share it."""
    return json.dumps(_header(json.loads(settings), 0))[:-2]
