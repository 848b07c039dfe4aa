"""How kernels are compiled: cached on disk in a directory of our own, no fastmath, no threads."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

__all__ = ["cache_directory", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])


@functools.cache
def cache_directory() -> Path:
    """Return where compiled kernels are kept: under `SOJOURN_CACHE_DIR`, or the user's cache folder.

    The last part is a digest of all kernel sources: numba notices only changes of a function's own file, and
    would go on calling an old version of what it inlined from another.
    """
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return _cache_base() / "kernels" / digest.hexdigest()[:16]


def _cache_base() -> Path:
    chosen = os.environ.get("SOJOURN_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "sojourn"


def kernel(function: F) -> F:
    """Compile `function` when first called; keep the machine code in our cache directory.

    Numba reads its cache directory when a function is decorated, so it is set for that moment only: other
    users of numba in the process keep theirs. Where no directory can be written, nothing is cached.
    """
    settings: Any = numba.config
    theirs = settings.CACHE_DIR
    compiled: Any
    try:
        settings.CACHE_DIR = str(cache_directory())
        compiled = numba.njit(cache=True, nogil=True)(function)
    except (RuntimeError, OSError):  # no writable place for a cache, or no home directory
        compiled = numba.njit(nogil=True)(function)
    finally:
        settings.CACHE_DIR = theirs
    return cast(F, compiled)
