"""Exact planning: the best blind policy, the value of any policy, and the clairvoyant's, all certified."""

from __future__ import annotations

from sojourn.planning._clairvoyant import clairvoyant_value, price_of_not_knowing
from sojourn.planning._evaluate import Evaluation, evaluate
from sojourn.planning._plan import Plan, plan
from sojourn.planning._storage import load_plan

__all__ = [
    "Evaluation",
    "Plan",
    "clairvoyant_value",
    "evaluate",
    "load_plan",
    "plan",
    "price_of_not_knowing",
]
