"""Locks on open files, which the system frees when their process ends, however it ends."""

from __future__ import annotations

import sys
from typing import IO

__all__ = ["lock"]


def lock(file: IO[bytes] | int, *, alone: bool, wait: bool) -> bool:
    """Lock an open file, alone or with others; return whether that was possible.

    It is freed when the file is closed. Windows has no such locks: there nobody is ever known to be alone.
    """
    if sys.platform == "win32":
        return not alone
    import fcntl  # noqa: PLC0415

    try:
        fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
