"""What the files of the user's own modules held when they were imported.

A module does not keep what it was made from, and its file may be edited the moment after. So whatever is
imported once this module is there has its file read right before. What was imported earlier is known only if
its file is older than this process.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

__all__ = ["imported_from", "is_older_than_this_process", "lies_among_installed"]

_INSTALLED = ("site-packages", "dist-packages")
_START_UP = 10_000_000  # nanoseconds in which an interpreter that starts imports nothing of anybody's own


@dataclass(frozen=True)
class _Imported:
    origin: str
    content: bytes


_imported: dict[str, _Imported] = {}


def imported_from(spec: ModuleSpec) -> bytes | None:
    """Return the bytes that a loaded module was made from, or None if nobody looked when it was imported."""
    found = _imported.get(spec.name)
    return found.content if found is not None and found.origin == spec.origin else None


def lies_among_installed(place: str) -> bool:
    """Whether a file is of an installed package."""
    return any(part in _INSTALLED for part in Path(place).parts)


def is_older_than_this_process(path: Path) -> bool:
    """Whether a file was last changed before this process began, and so before it imported anything."""
    try:
        found = path.stat()
    except OSError:
        return False
    changed = found.st_ctime_ns if os.name == "posix" else 0  # a copy may bring an older time with it
    return max(found.st_mtime_ns, changed) <= _BEGUN


class _Observer:
    """Sees every import before the finders that do the work, and finds nothing itself."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.partition(".")[0] in sys.stdlib_module_names or (name in sys.modules and target is None):
            return None
        _imported.pop(name, None)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.has_location and spec.origin and not lies_among_installed(spec.origin):
            with contextlib.suppress(OSError):
                _imported[name] = _Imported(spec.origin, Path(spec.origin).read_bytes())
        return None


def _begin() -> int:
    """Return when this process began, in nanoseconds since 1970; too late by little where nothing says."""
    age = time.process_time()
    with contextlib.suppress(OSError, ValueError, AttributeError, LookupError):
        ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return time.time_ns() - round(age * 1e9)


_BEGUN = _begin() + _START_UP
sys.meta_path.insert(0, _Observer)
