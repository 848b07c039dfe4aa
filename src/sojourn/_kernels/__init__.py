"""Compiled loops: arrays in, arrays out, no checks.

`planning` holds backward induction, policy evaluation and tail certificates; `behavior` the choices of
decision makers whose clock restarts; `learning` the episode loop and the updates of all learners; `valuation`
the value of a learner's policy from a start state.

A problem's transitions are compressed sparse rows: row s·A + a holds P(·|s, a). Rewards are flat in the same
order. Planning also takes the same numbers in the order of `planning._blocked_rows`.
"""

from __future__ import annotations

from sojourn._kernels import _numba  # noqa: F401 - before the modules that import numba
from sojourn._kernels._interrupts import stopped_between_passes
from sojourn._kernels._problem import ProblemArrays, TransitionRows
from sojourn._kernels._single_steps import (
    count_step,
    find_state,
    initialize_q_row,
    number_state,
    sample_successor,
)
from sojourn._kernels.behavior._selves import (
    ALWAYS_BEST,
    ChoiceRule,
    SelfRows,
    choose_actions,
    play_delays,
    play_heads,
    play_restarting_clock,
    play_running_clock,
)
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._full_replan import SweepScratch
from sojourn._kernels.learning._greedy import ActionScratch, choose_action, fill_policy
from sojourn._kernels.learning._incremental_replan import IncrementalScratch, find_all_incumbents
from sojourn._kernels.learning._play import Episodes, LearnerState, PlayStatus, play
from sojourn._kernels.learning._play_options import PlayOptions
from sojourn._kernels.learning._tables import MOST_MASKED, Tables
from sojourn._kernels.learning._tie_breaking import priority
from sojourn._kernels.learning._update_bernstein import BernsteinUpdate
from sojourn._kernels.learning._update_monotone_bernstein import (
    MonotoneBernsteinScratch,
    MonotoneBernsteinTerms,
    MonotoneBernsteinUpdate,
)
from sojourn._kernels.learning._update_psrl import PSRLScratch, PSRLUpdate
from sojourn._kernels.learning._update_q_learning import QLearningUpdate
from sojourn._kernels.learning._update_ucbvi import UCBVIUpdate
from sojourn._kernels.learning._update_ucbvi_gamma import UCBVIGammaUpdate
from sojourn._kernels.learning._updates import EpisodeBuffer, apply_update
from sojourn._kernels.planning._backward_induction import (
    NO_PREFERENCE,
    accumulate_horizons,
    backward_induction,
    bellman_backup,
    evaluate_deterministic,
    evaluate_stochastic,
    value_iteration,
)
from sojourn._kernels.planning._blocked_rows import BLOCK, BlockedRows, fill_slices, measure_slices
from sojourn._kernels.planning._discounted import PolicyIterationState, modified_policy_iteration
from sojourn._kernels.planning._gain import gain_slope, lower_gain, preserving_residual, raise_gain, residuals
from sojourn._kernels.planning._policy_cycle import follow_policy_cycle
from sojourn._kernels.valuation._forward_value import Valuation, fill_state_numbers, policy_value
from sojourn._kernels.valuation._incremental_value import ValueCache
from sojourn._kernels.valuation._reference import Distribution, Path, ReferenceArrays, ValueScratch
from sojourn._kernels.valuation._sweep_value import FEWEST_SWEPT

__all__ = [
    "ALWAYS_BEST",
    "BLOCK",
    "FEWEST_SWEPT",
    "MOST_MASKED",
    "NO_PREFERENCE",
    "ActionScratch",
    "AssumedLaw",
    "BernsteinUpdate",
    "BlockedRows",
    "ChoiceRule",
    "Distribution",
    "EpisodeBuffer",
    "Episodes",
    "IncrementalScratch",
    "LearnerState",
    "MonotoneBernsteinScratch",
    "MonotoneBernsteinTerms",
    "MonotoneBernsteinUpdate",
    "PSRLScratch",
    "PSRLUpdate",
    "Path",
    "PlayOptions",
    "PlayStatus",
    "PolicyIterationState",
    "ProblemArrays",
    "QLearningUpdate",
    "ReferenceArrays",
    "SelfRows",
    "SweepScratch",
    "Tables",
    "TransitionRows",
    "UCBVIGammaUpdate",
    "UCBVIUpdate",
    "Valuation",
    "ValueCache",
    "ValueScratch",
    "accumulate_horizons",
    "apply_update",
    "backward_induction",
    "bellman_backup",
    "choose_action",
    "choose_actions",
    "count_step",
    "evaluate_deterministic",
    "evaluate_stochastic",
    "fill_policy",
    "fill_slices",
    "fill_state_numbers",
    "find_all_incumbents",
    "find_state",
    "follow_policy_cycle",
    "gain_slope",
    "initialize_q_row",
    "lower_gain",
    "measure_slices",
    "modified_policy_iteration",
    "number_state",
    "play",
    "play_delays",
    "play_heads",
    "play_restarting_clock",
    "play_running_clock",
    "policy_value",
    "preserving_residual",
    "priority",
    "raise_gain",
    "residuals",
    "sample_successor",
    "stopped_between_passes",
    "value_iteration",
]
