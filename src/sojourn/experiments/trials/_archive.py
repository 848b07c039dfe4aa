"""Trial files: packs, reads and checks them, for runs, `verify` and readers alike.

A trial file is an `.npz` archive of arrays and of a header, one line of JSON with the settings, the seed, the
results version and the problem's name. How to use this module:

- `pack_trial` returns the bytes of a new file.
- `read_trial` reads bytes and checks that they are a sound result of the trial with a key.
- `read_trial_file` does the same for a file of a store, and checks the content hash first.
- `defect_of_content` and `defect_of_file` give the same verdict, quicker, for a known trial.

All of them apply the rules of `_content_checks`, so that runs, `verify` and readers agree on every file. A
`ValueError` gives the reason as a clause ("it is not a trial file"); callers add the place.
"""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Mapping
from typing import IO, Any, NamedTuple

from sojourn._files import open_regular_file, pack_archive, unpack_archive
from sojourn.experiments.spec._agent_settings import to_text
from sojourn.experiments.store._stored_file import StoredFile
from sojourn.experiments.trials._content_checks import (
    Layout,
    check_arrays,
    check_header,
    check_sizes,
    layout_of,
)
from sojourn.experiments.trials._quick_archive import array_of, read_members, text_of
from sojourn.experiments.trials._trial import RESULTS_VERSION, Trial, trial_key

__all__ = [
    "TrialContent",
    "defect_of_content",
    "defect_of_file",
    "pack_trial",
    "read_trial",
    "read_trial_file",
]

_FORMAT = "sojourn trial 1"
_HEADER = "about"
_DAMAGED = "its content does not match the hash in its name"


class TrialContent(NamedTuple):
    """The content of one trial file."""

    header: dict[str, Any]
    """Has "format", "results" (the results version), "settings", "seed" and "problem" (its name)."""

    arrays: dict[str, Any]
    """One entry per episode, or sums up to each checkpoint; empty if only the header was read."""


def pack_trial(settings: Mapping[str, Any], seed: int, problem: str, arrays: Mapping[str, Any]) -> bytes:
    """Return the content of a trial file; `problem` is the problem's name."""
    return pack_archive(_header(settings, seed) | {"problem": problem}, arrays)


def _header(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    return {"format": _FORMAT, "results": RESULTS_VERSION, "settings": settings, "seed": seed}


def read_trial(content: bytes | IO[bytes], key: str, *, header_only: bool = False) -> TrialContent:
    """Read a trial file and check that it is a sound result of a trial.

    Args:
        content: The bytes, or an open file.
        key: The key of the trial that the file must hold.
        header_only: Skip the arrays, which is faster.

    Raises:
        ValueError: If it is not a trial file, holds another trial, or its header or arrays are not what its
            settings say; one clause says which.
    """
    file = io.BytesIO(content) if isinstance(content, bytes) else content
    try:
        header, arrays = unpack_archive(
            file,
            name="it",
            form=_FORMAT,
            writer="sojourn run",
            only_about=header_only,
            check_sizes=lambda about, sizes: check_sizes(layout_of(about["settings"]), sizes),
        )
        found = trial_key(Trial(to_text(header["settings"]), header["seed"]).text, header["results"])
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise ValueError("it is not a trial file") from error
    if found != key:
        raise ValueError("it holds another trial")
    try:
        check_header(header)
    except (AttributeError, LookupError, TypeError) as error:
        raise ValueError("it is not a trial file") from error
    if not header_only:
        check_arrays(layout_of(header["settings"]), arrays)
    return TrialContent(header, arrays)


def read_trial_file(file: StoredFile, *, header_only: bool = False) -> TrialContent:
    """Read a trial file of a store, and check its hash and its content.

    Raises:
        ValueError: If it is damaged or not a sound result of its trial; one clause says why.
        OSError: If it cannot be read.
    """
    content = file.read()
    if content is None:
        raise ValueError(_DAMAGED)
    return read_trial(content, file.key, header_only=header_only)


def defect_of_file(file: StoredFile, trial: Trial) -> str:
    """Return why a file of a store is not a sound result of a trial, or an empty text if it is one.

    Raises:
        OSError: If it cannot be read.
    """
    content = file.read_if_small()
    if content is None:
        return _DAMAGED
    if content:
        return defect_of_content(content, trial)
    with open_regular_file(file.path) as whole:  # sound, but too large to be read in one piece
        return _defect(whole, trial)


def defect_of_content(content: bytes, trial: Trial) -> str:
    """Return why bytes are not a sound result of a trial, or an empty text if they are one."""
    return "" if _is_surely_sound(content, trial) else _defect(content, trial)


def _defect(content: bytes | IO[bytes], trial: Trial) -> str:
    try:
        read_trial(content, trial.key)
    except ValueError as error:
        return str(error)
    return ""


def _is_surely_sound(content: bytes, trial: Trial) -> bool:
    """Whether a file is sound and has exactly the form that `pack_trial` gives it; if not, read it whole."""
    members = read_members(content)
    if members is None or not _is_header_of(trial, members.pop(_HEADER, b"")):
        return False
    layout = _layout(trial.settings)
    arrays = {}
    for name, member in members.items():
        array = array_of(member, layout.kinds[name]) if name in layout.kinds else None
        if array is None:
            return False
        arrays[name] = array
    try:
        check_arrays(layout, arrays)
    except ValueError:
        return False
    return True


def _is_header_of(trial: Trial, member: bytes) -> bool:
    """Whether a header is what `pack_trial` writes for a trial, with any text as the problem's name."""
    text, start = text_of(member), f'{_header_start(trial.settings)}{trial.seed}, "problem": '
    if text is None or not text.startswith(f'{start}"') or not text.endswith('"}'):
        return False
    name = text[len(start) : -1]
    return len(name) > 1 and name.isascii() and name.isprintable() and not set(name[1:-1]) & {'"', "\\"}


@functools.lru_cache(maxsize=4096)
def _header_start(settings: str) -> str:
    """Return the header up to the seed; all trials with the same settings share it."""
    return json.dumps(_header(json.loads(settings), 0))[:-2]


@functools.lru_cache(maxsize=4096)
def _layout(settings: str) -> Layout:
    return layout_of(json.loads(settings))
