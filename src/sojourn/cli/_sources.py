"""Sources of rows named on the command line: files, folders, patterns and standard input."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

__all__ = ["open_source"]


def open_source(argument: str, given: Sequence[str], paths: Sequence[Path]) -> BinaryIO | list[Path]:
    """Return standard input if "-" was given, otherwise the paths.

    Args:
        argument: Name of the argument in messages.
        given: What was given.
        paths: The paths that it stands for.

    Raises:
        ValueError: If a name is empty, such as an unset variable of a shell, or standard input is closed.
    """
    if "" in given:
        raise ValueError(f"{argument} must be a file that exists; got an empty name.")
    if list(given) != ["-"]:
        return list(paths)
    if sys.stdin is None:
        raise ValueError(f"{argument} must be files, or standard input that is open; it is closed.")
    return sys.stdin.buffer
