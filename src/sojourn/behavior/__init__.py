"""Decision makers who may change their minds, and discount functions estimated from choices.

Modules:
    `_agents`: committed, naive, sophisticated and partially naive agents.
    `_decisions`: the result for one agent; `_compare`: several agents on one task.
    `_selves`: backward induction over selves, through mixtures of geometric laws or directly.
    `_settle`: selves without a deadline; `_equilibria`: all stationary equilibria of a small table.
    `_discounting`: beta-delta laws and their long-run view.
    `tasks`: tasks from the literature.
    `choices/`: discount functions estimated from choices between dated rewards.
"""

from __future__ import annotations

from sojourn.behavior import tasks
from sojourn.behavior._agents import committed, naive, partially_naive, sophisticated
from sojourn.behavior._compare import AgentComparison, Stretch, compare
from sojourn.behavior._decisions import Decisions
from sojourn.behavior._discounting import beta_delta
from sojourn.behavior._equilibria import all_equilibria
from sojourn.behavior.choices._analysis import ChoiceAnalysis, analyze_choices
from sojourn.behavior.choices._data import ChoiceData, ChoiceDesign, read_choices, read_design
from sojourn.behavior.choices._design import DesignAnalysis, analyze_design
from sojourn.behavior.choices._families import FAMILIES, DiscountFamily
from sojourn.behavior.choices._fit import ChoiceFit, compare_families, fit_choices
from sojourn.behavior.choices._laws import GreenMyersonLaw, RachlinLaw
from sojourn.behavior.choices._results import DesignErrors, GoodnessOfFit, SubjectFit
from sojourn.behavior.choices._samples import CHOICE_SAMPLES, sample_choices, sample_choices_text
from sojourn.behavior.choices._sequential import (
    SequentialFit,
    compare_kinds,
    fit_sequential,
    sequential_log_likelihood,
    simulate_choices,
)

__all__ = [
    "CHOICE_SAMPLES",
    "FAMILIES",
    "AgentComparison",
    "ChoiceAnalysis",
    "ChoiceData",
    "ChoiceDesign",
    "ChoiceFit",
    "Decisions",
    "DesignAnalysis",
    "DesignErrors",
    "DiscountFamily",
    "GoodnessOfFit",
    "GreenMyersonLaw",
    "RachlinLaw",
    "SequentialFit",
    "Stretch",
    "SubjectFit",
    "all_equilibria",
    "analyze_choices",
    "analyze_design",
    "beta_delta",
    "committed",
    "compare",
    "compare_families",
    "compare_kinds",
    "fit_choices",
    "fit_sequential",
    "naive",
    "partially_naive",
    "read_choices",
    "read_design",
    "sample_choices",
    "sample_choices_text",
    "sequential_log_likelihood",
    "simulate_choices",
    "sophisticated",
    "tasks",
]
