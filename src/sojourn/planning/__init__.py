"""Exact planning under a law, with certified bounds.

Modules:
    `_plan`: `plan`, the best policy when the length is hidden, by backward induction.
    `_evaluate`: `evaluate`, the value of a given policy.
    `_clairvoyant`: the value of knowing the length in advance, and the price of not knowing it.
    `_certificate`: proven bounds n·gain + bias on the value of n more steps.
    `_tail`: how many layers are computed exactly, and the bounds on what comes after them.
    `_interpolated_tail`: the same from a few layers of a long tail, for large problems.
    `_tail_bounds`: the bounds themselves.
    `_value_of_the_law`: what is lost by policies that ignore the shape of the law.
    `policy_view`: what a plan does in which state and step, for figures and tables.
    `_stationary`: the best stationary policy.
    `_horizon_average`: averages of n-step values over the distribution of n.
    `_policy_cycle`: the Markov chains of a policy that is held or repeated.
    `_sparse_problem`: a problem as the arrays that the kernels take.
    `_threads`: sweeps over all states on one or several threads.
    `_tolerance`: default limits, their validation and the warning about wide brackets.
    `_storage`: plans on disk.
"""

from __future__ import annotations

from sojourn.planning._clairvoyant import clairvoyant_value, price_of_not_knowing
from sojourn.planning._evaluate import Evaluation, evaluate
from sojourn.planning._plan import Plan, plan
from sojourn.planning._storage import load_plan
from sojourn.planning._value_of_the_law import PolicyLoss, ValueOfTheLaw, value_of_the_law

__all__ = [
    "Evaluation",
    "Plan",
    "PolicyLoss",
    "ValueOfTheLaw",
    "clairvoyant_value",
    "evaluate",
    "load_plan",
    "plan",
    "price_of_not_knowing",
    "value_of_the_law",
]
