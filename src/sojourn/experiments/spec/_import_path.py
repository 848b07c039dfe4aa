"""Lets a spec name modules that lie beside it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["importing_from"]


@contextlib.contextmanager
def importing_from(folder: Path) -> Iterator[None]:
    """Add a folder to the end of the import path while the context is open."""
    place = str(folder)
    is_new = place not in sys.path
    if is_new:
        sys.path.append(place)
    try:
        yield
    finally:
        if is_new and place in sys.path:
            sys.path.remove(place)
