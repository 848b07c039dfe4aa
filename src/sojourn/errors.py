"""Errors and warnings that a user may want to catch by name.

Bad values and types raise plain `ValueError` and `TypeError`.
"""

from __future__ import annotations

import math

__all__ = [
    "CacheWarning",
    "MemoryLimitError",
    "NewerVersionWarning",
    "NoTableError",
    "SojournWarning",
    "SpecDeprecationWarning",
    "TerminatedError",
    "UnsettledWarning",
    "WideBracketWarning",
]


class TerminatedError(SystemExit):
    """The command line received SIGTERM. A user's code that raises `SystemExit` is only in error."""


class MemoryLimitError(MemoryError):
    """The result would not fit in memory; nothing was computed."""


class NoTableError(ValueError):
    """An environment has no complete transition table: it can be played, but not converted to an MDP."""


class SojournWarning(UserWarning):
    """Base class of the package's warnings."""


class CacheWarning(SojournWarning):
    """The cache of compiled kernels is not used, because other users could have written to it."""


class WideBracketWarning(SojournWarning):
    """A certified bracket is wider than the requested tolerance; `width` is its width."""

    width: float = math.inf


class NewerVersionWarning(SojournWarning):
    """Gymnasium no longer has the requested version of an environment; a newer one is used instead."""


class SpecDeprecationWarning(SojournWarning):
    """A spec uses an old form that the next release no longer reads."""


class UnsettledWarning(SojournWarning):
    """Backward induction without a deadline neither settled nor cycled within the allowed number of steps."""
