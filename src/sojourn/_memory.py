"""Refuses requests that would not fit in memory, before any work is done."""

from __future__ import annotations

import os
from pathlib import Path

from sojourn.errors import MemoryLimitError

__all__ = ["available_memory", "check_fits"]

_ALWAYS_FITS = 1 << 26  # bytes; smaller requests are not checked


def available_memory() -> int | None:
    """Return how many bytes this process may still use, or None if the system does not say."""
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
    except (OSError, ValueError):  # no control group, or one without a limit ("max")
        pass
    if not found:
        try:
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        except (AttributeError, OSError, ValueError):
            return None
    return max(0, min(found))


def check_fits(n_bytes: int, what: str, remedy: str) -> None:
    """Raise `MemoryLimitError` if `n_bytes` would not fit.

    Args:
        n_bytes: Size of the request.
        what: What needs the memory; begins the error message.
        remedy: What the user can do instead; ends the error message.
    """
    if n_bytes < _ALWAYS_FITS:
        return
    available = available_memory()
    if available is not None and n_bytes > available:
        raise MemoryLimitError(
            f"{what} needs {_gib(n_bytes)} GiB and {_gib(available)} GiB are free; {remedy}."
        )


def _gib(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:,.1f}"
