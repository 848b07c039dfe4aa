"""Conformance suites that every law, learner and executor must pass; call them on your own classes."""

from __future__ import annotations

from sojourn.testing._executors import check_executor
from sojourn.testing._laws import check_law
from sojourn.testing._learners import check_learner

__all__ = ["check_executor", "check_law", "check_learner"]
