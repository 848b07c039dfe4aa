"""Decision makers who may change their minds, and discount functions estimated from choices.

Modules:
    `_agents`: committed, naive, sophisticated and partially naive agents.
    `_decisions`: the result for one agent; `_compare`: several agents on one task.
    `_selves`: backward induction over selves, through mixtures of geometric laws or directly.
    `_settle`: selves without a deadline; `_equilibria`: all stationary equilibria of a small table.
    `_discounting`: beta-delta laws and their long-run view.
    `tasks`: tasks from the literature.
"""

from __future__ import annotations

from sojourn.behavior import tasks
from sojourn.behavior._agents import committed, naive, partially_naive, sophisticated
from sojourn.behavior._compare import AgentComparison, Run, compare
from sojourn.behavior._decisions import Decisions
from sojourn.behavior._discounting import beta_delta
from sojourn.behavior._equilibria import all_equilibria

__all__ = [
    "AgentComparison",
    "Decisions",
    "Run",
    "all_equilibria",
    "beta_delta",
    "committed",
    "compare",
    "naive",
    "partially_naive",
    "sophisticated",
    "tasks",
]
