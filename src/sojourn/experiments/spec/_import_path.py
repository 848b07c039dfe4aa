"""Modules of the user's own, beside the file that names them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["importing_from"]


@contextlib.contextmanager
def importing_from(folder: Path) -> Iterator[None]:
    """Look for modules in a folder too, after all other places."""
    place = str(folder)
    is_new = place not in sys.path
    if is_new:
        sys.path.append(place)
    try:
        yield
    finally:
        if is_new and place in sys.path:
            sys.path.remove(place)
