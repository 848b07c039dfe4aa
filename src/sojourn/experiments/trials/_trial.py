"""The identity of a trial: its settings, its seed, and the key that is computed from both."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass

__all__ = ["RESULTS_VERSION", "Trial", "trial_key"]

RESULTS_VERSION = 3
"""Part of every trial key. Raise it when results differ from those of the last release beyond their certified
widths: older trials are then not reused."""


@dataclass(frozen=True)
class Trial:
    """One agent, one problem, one law, one seed.

    Attributes:
        settings: Everything else that the result depends on, as JSON with sorted keys.
        seed: The seed.
    """

    settings: str
    seed: int

    @property
    def text(self) -> str:
        """The trial as one line of JSON; equal trials have equal lines."""
        return f'{{"seed":{self.seed},"settings":{self.settings}}}'

    @functools.cached_property
    def key(self) -> str:
        """Hash of `text` and of the results version: 32 hexadecimal digits."""
        return trial_key(self.text, RESULTS_VERSION)


def trial_key(text: str, results_version: int) -> str:
    """Return the key of the trial that a line of JSON describes, under a results version."""
    return hashlib.sha256(f"{results_version} {text}".encode()).hexdigest()[:32]
