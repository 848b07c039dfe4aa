"""The paper end to end: experiments, figures, and a report of what holds."""

from __future__ import annotations

from sojourn.reproduction._reproduce import PARTS, Reproduction, reproduce
from sojourn.reproduction._runner import Workbench

__all__ = [
    "PARTS",
    "Reproduction",
    "Workbench",
    "reproduce",
]
