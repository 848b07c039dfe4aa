"""Public conformance suites: what every law and learner must keep, to be called on your own."""

from __future__ import annotations

from sojourn.testing._laws import check_law
from sojourn.testing._learners import check_learner

__all__ = ["check_law", "check_learner"]
