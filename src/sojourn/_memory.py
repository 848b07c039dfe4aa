"""Refusing, before any work, what would not fit in memory."""

from __future__ import annotations

import os
from pathlib import Path

from sojourn.errors import MemoryLimitError

__all__ = ["available_memory", "check_fits"]

_ALWAYS_FITS = 1 << 26  # not worth asking the system for


def available_memory() -> int | None:
    """Return the bytes that this process may still use, or None where the system does not say."""
    found: list[int] = []
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        found.extend(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError):
        pass
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text().strip()
        found.append(int(limit) - int(used))
    except (OSError, ValueError):  # not in a control group, or one without a limit ("max")
        pass
    if not found:
        try:
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        except (AttributeError, OSError, ValueError):
            return None
    return max(0, min(found))


def check_fits(n_bytes: int, what: str, remedy: str) -> None:
    """Raise `MemoryLimitError` if `n_bytes` would not fit; `what` and `remedy` complete the sentence."""
    if n_bytes < _ALWAYS_FITS:
        return
    available = available_memory()
    if available is not None and n_bytes > available:
        raise MemoryLimitError(
            f"{what} needs {_gib(n_bytes)} GiB and {_gib(available)} GiB are free; {remedy}."
        )


def _gib(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:,.1f}"
