"""Learning: a learner played on a problem, with exact regret."""

from __future__ import annotations

from sojourn.learning._learn import learn
from sojourn.learning._run import Run

__all__ = ["Run", "learn"]
