"""Helpers for laws on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.cli._problems import search_current_folder

if TYPE_CHECKING:
    from sojourn.laws import LengthLaw

__all__ = ["LAST_STEP", "complete_law", "read_law"]

LAST_STEP = 2**53
"""The largest step at which laws are defined."""


def complete_law(incomplete: str) -> list[str]:
    """Return the names of laws that start with a prefix, for shell completion."""
    from sojourn.laws import LAWS  # noqa: PLC0415

    return [name for name in LAWS if name.startswith(incomplete)]


def read_law(text: str) -> LengthLaw:
    """Return the law that a text names; see `sojourn.laws.read_law`.

    The module of your own law may be in the current folder, as for `python -m`.
    """
    from sojourn import laws  # noqa: PLC0415

    if laws.own_law_path(text) is not None:
        search_current_folder()
    return laws.read_law(text).law
