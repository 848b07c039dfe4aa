"""Helpers for laws on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.cli._problems import search_current_folder

if TYPE_CHECKING:
    from sojourn.laws import LengthLaw

__all__ = ["LAST_STEP", "complete_law", "effective_horizon", "read_law"]

LAST_STEP = 2**53
"""The largest step at which laws are defined."""


def complete_law(incomplete: str) -> list[str]:
    """Return the names of laws that start with a prefix, for shell completion."""
    from sojourn.laws import LAWS  # noqa: PLC0415

    return [name for name in LAWS if name.startswith(incomplete)]


def read_law(text: str) -> LengthLaw:
    """Return the law that a text names; see `sojourn.laws.parse_law`.

    "package.module:Name(0.02, 0.1)" imports your own law and calls it, or takes it as it is. The module may
    be in the current folder, as for `python -m`.
    """
    from sojourn._imports import call_imported, import_object, is_import_path, read_call  # noqa: PLC0415
    from sojourn._validation import check_arguments  # noqa: PLC0415
    from sojourn.laws import LengthLaw, parse_law  # noqa: PLC0415

    path = text.partition("(")[0].strip()
    if not is_import_path(path):
        return parse_law(text)
    search_current_folder()
    _, positional, named = read_call(text, "law", "'geometric(0.95)' or 'mymodule:MyLaw(0.02)'")
    made = import_object(path)
    if not isinstance(made, LengthLaw) and callable(made):
        made = call_imported(path, made, check_arguments(path, made, positional, named))
    elif positional or named:
        raise ValueError(f"{path} is a law already and takes no arguments.")
    if not isinstance(made, LengthLaw):
        raise ValueError(f"{path} must be a length law or return one; got {made!r}.")
    return made


def effective_horizon(law: LengthLaw, truncation: float) -> int | None:
    """Return the effective horizon of a law, or None if it is above 2^53."""
    if law.longest is None and law.tail(LAST_STEP) > truncation:
        return None
    return law.effective_horizon(truncation)
