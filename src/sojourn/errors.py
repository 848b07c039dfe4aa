"""Errors and warnings that a user may want to catch by name.

Bad values and types raise `ValueError` and `TypeError`; what has a name here needs its own handling.
"""

from __future__ import annotations

import math

__all__ = [
    "MemoryLimitError",
    "NewerVersionWarning",
    "NoTableError",
    "SojournWarning",
    "SpecDeprecationWarning",
    "WideBracketWarning",
]


class MemoryLimitError(MemoryError):
    """The result of a request would not fit in memory; nothing was computed."""


class NoTableError(ValueError):
    """An environment has no transition table that says all that it does: it can be played, but not read."""


class SojournWarning(UserWarning):
    """Base of the package's warnings."""


class WideBracketWarning(SojournWarning):
    """A certified bracket is wider than the tolerance that was asked for; `width` says how wide."""

    width: float = math.inf


class NewerVersionWarning(SojournWarning):
    """An environment's version is gone from Gymnasium, and a newer one is used in its place."""


class SpecDeprecationWarning(SojournWarning):
    """A spec uses an old form that the next release no longer reads."""
