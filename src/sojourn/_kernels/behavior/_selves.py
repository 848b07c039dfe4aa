"""Backward induction for decision makers who are a different self at every step.

A layer is one step. Layers run from the last step back: layer l has l + 1 steps left, itself included. Sums
run from left to right, over actions and then over a row's successors.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sojourn._kernels._jit import kernel
from sojourn._kernels._problem import TransitionRows
from sojourn._typing import BoolArray, FloatArray, IntArray

__all__ = [
    "ALWAYS_BEST",
    "ChoiceRule",
    "SelfRows",
    "choose_actions",
    "play_delays",
    "play_heads",
    "play_restarting_clock",
    "play_running_clock",
]

ALWAYS_BEST = -1.0
"""Value of `sensitivity` with which the best action is always chosen."""


class ChoiceRule(NamedTuple):
    """How a self chooses among actions, given their utilities."""

    sensitivity: float  # factor μ of chances ∝ exp(μ utility), or ALWAYS_BEST
    slack: float  # utilities that differ by at most this are equal; the lowest action wins ties
    is_distinct: BoolArray  # (S, A) False for actions that copy a lower one; they are no options of their own


class SelfRows(NamedTuple):
    """Choices by layer, which the loops below fill."""

    actions: IntArray  # (n, S) best actions
    chances: FloatArray  # (n, S, A) chances of all actions; (0, S, A) if they are not needed
    is_tie: BoolArray  # (n, S) whether the best action ties with another


@kernel
def choose_actions(
    utility: FloatArray, rule: ChoiceRule, chances: FloatArray, actions: IntArray, is_tie: BoolArray
) -> None:
    """Fill the chances `(S, A)`, the best actions `(S,)` and whether they tie `(S,)`, from utilities.

    Copies of a lower action have no chance of their own and are no ties.
    """
    n_states, n_actions = utility.shape
    sensitivity, slack, is_distinct = rule
    for s in range(n_states):
        best = utility[s, 0]
        for a in range(1, n_actions):
            best = max(best, utility[s, a])
        chosen, n_best = -1, 0
        for a in range(n_actions):
            if utility[s, a] >= best - slack:
                chosen = a if chosen < 0 else chosen
                n_best += 1 if is_distinct[s, a] else 0
        actions[s] = chosen
        is_tie[s] = n_best > 1
        if sensitivity < 0.0:
            for a in range(n_actions):
                chances[s, a] = 1.0 if a == chosen else 0.0
        else:
            total = 0.0
            for a in range(n_actions):
                chances[s, a] = math.exp(sensitivity * (utility[s, a] - best)) if is_distinct[s, a] else 0.0
                total += chances[s, a]
            for a in range(n_actions):
                chances[s, a] /= total


@kernel
def _utilities(
    rows: TransitionRows, rewards: FloatArray, ratio: float, following: FloatArray, utility: FloatArray
) -> None:
    """Fill r(s, a) + ratio · Σ_y P(y|s, a) following(y)."""
    indptr, indices, data, n_actions = rows
    for s in range(utility.shape[0]):
        for a in range(n_actions):
            row = s * n_actions + a
            total = 0.0
            for i in range(indptr[row], indptr[row + 1]):
                total += data[i] * following[indices[i]]
            utility[s, a] = rewards[row] + ratio * total


@kernel
def _average(
    rows: TransitionRows,
    rewards: FloatArray,
    ratio: float,
    chances: FloatArray,
    following: FloatArray,
    value: FloatArray,
) -> None:
    """Fill `value` with Σ_a chance(s, a) · (r(s, a) + ratio · Σ_y P(y|s, a) following(y))."""
    indptr, indices, data, n_actions = rows
    for s in range(value.size):
        mean = 0.0
        for a in range(n_actions):
            if chances[s, a] > 0.0:
                row = s * n_actions + a
                total = 0.0
                for i in range(indptr[row], indptr[row + 1]):
                    total += data[i] * following[indices[i]]
                mean += chances[s, a] * (rewards[row] + ratio * total)
        value[s] = mean


@kernel
def _record(layer: int, chances: FloatArray, actions: IntArray, is_tie: BoolArray, played: SelfRows) -> None:
    """Copy the choices of one layer; chances only if there is room for them."""
    for s in range(actions.size):
        played.actions[layer, s] = actions[s]
        played.is_tie[layer, s] = is_tie[s]
    if played.chances.shape[0] > 0:
        for s in range(actions.size):
            for a in range(chances.shape[1]):
                played.chances[layer, s, a] = chances[s, a]


class _Scratch(NamedTuple):
    """Arrays that one layer of selves is computed in."""

    utility: FloatArray  # (S, A)
    chances: FloatArray  # (S, A) of the self that chooses
    other_chances: FloatArray  # (S, A) of the later self as it is expected
    actions: IntArray  # (S,)
    is_tie: BoolArray  # (S,)
    own: FloatArray  # (S,) weighted later rewards, for the self that chooses
    other: FloatArray  # (S,) the same for the later self as it is expected
    updated: FloatArray  # (S,)


@kernel
def _new_scratch(n_states: int, n_actions: int) -> _Scratch:
    """Allocate the scratch arrays."""
    return _Scratch(
        np.empty((n_states, n_actions)),
        np.empty((n_states, n_actions)),
        np.empty((n_states, n_actions)),
        np.empty(n_states, dtype=np.int64),
        np.empty(n_states, dtype=np.bool_),
        np.empty(n_states),
        np.empty(n_states),
        np.empty(n_states),
    )


@kernel
def _play_layer(
    layer: int,
    rows: TransitionRows,
    rewards: FloatArray,
    rule: ChoiceRule,
    scratch: _Scratch,
    played: SelfRows,
    continuation: FloatArray,
) -> None:
    """Fill the choices of one layer, and the chances that are expected, from weighted later rewards."""
    utility, chances, other_chances, actions, is_tie, own, other, _ = scratch
    _utilities(rows, rewards, 1.0, other, utility)
    choose_actions(utility, rule, other_chances, actions, is_tie)
    if continuation.shape[0] > 0:
        for s in range(own.size):
            continuation[layer, s] = own[s]
    _utilities(rows, rewards, 1.0, own, utility)
    choose_actions(utility, rule, chances, actions, is_tie)
    _record(layer, chances, actions, is_tie, played)


@kernel
def play_heads(
    rows: TransitionRows,
    rewards: FloatArray,
    factors: FloatArray,
    own_weights: FloatArray,
    other_weights: FloatArray,
    rule: ChoiceRule,
    values: FloatArray,
    played: SelfRows,
    continuation: FloatArray,
) -> None:
    """Fill the choices of selves who discount by Σ_k w_k f_k^j, and who expect later selves with weights w'.

    Args:
        rows: Transitions.
        rewards: `(S·A,)`.
        factors: `(K,)` f.
        own_weights: `(K,)` w.
        other_weights: `(K,)` w', the weights of the later selves as they are expected.
        rule: How selves choose.
        values: `(K, S)` value of the expected later selves for each factor, before and after these layers.
        played: Filled, one row per layer.
        continuation: `(n, S)` filled with Σ_k w_k f_k V_k(s) as each layer saw it, or `(0, S)`.
    """
    n_states = values.shape[1]
    scratch = _new_scratch(n_states, rows.n_actions)
    for layer in range(played.actions.shape[0]):
        _weigh_heads(values, factors, other_weights, scratch.other)
        _weigh_heads(values, factors, own_weights, scratch.own)
        _play_layer(layer, rows, rewards, rule, scratch, played, continuation)
        for k in range(factors.size):
            _average(rows, rewards, factors[k], scratch.other_chances, values[k], scratch.updated)
            for s in range(n_states):
                values[k, s] = scratch.updated[s]


@kernel
def _weigh_heads(values: FloatArray, factors: FloatArray, weights: FloatArray, total: FloatArray) -> None:
    for s in range(total.size):
        total[s] = 0.0
    for k in range(factors.size):
        weight = weights[k] * factors[k]
        if weight > 0.0:
            for s in range(total.size):
                total[s] += weight * values[k, s]


@kernel
def play_delays(
    rows: TransitionRows,
    rewards: FloatArray,
    own_discount: FloatArray,
    other_discount: FloatArray,
    rule: ChoiceRule,
    later: FloatArray,
    n_later: int,
    played: SelfRows,
    continuation: FloatArray,
) -> None:
    """Fill the choices of selves with any discount function, directly from its definition.

    Args:
        rows: Transitions.
        rewards: `(S·A,)`.
        own_discount: `(W,)` weights of rewards 1, 2, …, W steps later.
        other_discount: `(W,)` the same for the later selves as they are expected.
        rule: How selves choose.
        later: `(W, S)` expected reward 0, 1, … steps after the next step begins in each state; changed.
        n_later: Number of valid rows of `later`, at most W.
        played: Filled, one row per layer.
        continuation: `(n, S)` filled with the weighted later rewards as each layer saw them, or `(0, S)`.
    """
    n_states = later.shape[1]
    scratch, nothing = _new_scratch(n_states, rows.n_actions), np.zeros(rewards.size)
    for layer in range(played.actions.shape[0]):
        _weigh_delays(later, n_later, other_discount, scratch.other)
        _weigh_delays(later, n_later, own_discount, scratch.own)
        _play_layer(layer, rows, rewards, rule, scratch, played, continuation)
        n_later = min(n_later + 1, later.shape[0])
        for d in range(n_later - 1, 0, -1):
            _average(rows, nothing, 1.0, scratch.other_chances, later[d - 1], scratch.updated)
            for s in range(n_states):
                later[d, s] = scratch.updated[s]
        if n_later > 0:
            _average(rows, rewards, 0.0, scratch.other_chances, scratch.own, scratch.updated)
            for s in range(n_states):
                later[0, s] = scratch.updated[s]


@kernel
def _weigh_delays(later: FloatArray, n_later: int, discount: FloatArray, total: FloatArray) -> None:
    for s in range(total.size):
        total[s] = 0.0
    for d in range(n_later):
        for s in range(total.size):
            total[s] += discount[d] * later[d, s]


@kernel
def play_restarting_clock(
    rows: TransitionRows,
    rewards: FloatArray,
    ratios: FloatArray,
    is_memoryless: bool,
    rule: ChoiceRule,
    played: SelfRows,
) -> None:
    """Fill the choices of selves who each expect to follow the plan that is best for them.

    The value with m steps left depends on the clock h, which such a self expects to go on running: V(h, m) =
    Σ_a chance · (r + ρ(h) P V(h + 1, m − 1)). What a self does is the choice at h = 1.

    Args:
        rows: Transitions.
        rewards: `(S·A,)`.
        ratios: `(H,)` ρ(1), ρ(2), …; as many as layers, unless the law is memoryless.
        is_memoryless: Whether the last ratio applies to all later clocks.
        rule: How selves choose.
        played: Filled, one row per layer.
    """
    n_layers, n_states = played.actions.shape
    n_actions, n_clocks = rows.n_actions, ratios.size
    utility, chances = np.empty((n_states, n_actions)), np.empty((n_states, n_actions))
    actions, is_tie = np.empty(n_states, dtype=np.int64), np.empty(n_states, dtype=np.bool_)
    values = np.zeros((n_clocks + 1, n_states))
    for layer in range(n_layers):
        needed = n_clocks if is_memoryless else min(n_clocks, n_layers - layer)
        for h in range(needed):
            following = values[h] if is_memoryless and h == n_clocks - 1 else values[h + 1]
            _utilities(rows, rewards, ratios[h], following, utility)
            choose_actions(utility, rule, chances, actions, is_tie)
            if h == 0:
                _record(layer, chances, actions, is_tie, played)
            for s in range(n_states):
                mean = 0.0
                for a in range(n_actions):
                    mean += chances[s, a] * utility[s, a]
                values[h, s] = mean


@kernel
def play_running_clock(
    rows: TransitionRows, rewards: FloatArray, ratios: FloatArray, rule: ChoiceRule, played: SelfRows
) -> None:
    """Fill the choices of one plan whose clock runs on; layer l has clock `ratios.size` − l."""
    n_layers, n_states = played.actions.shape
    n_actions = rows.n_actions
    utility, chances = np.empty((n_states, n_actions)), np.empty((n_states, n_actions))
    actions, is_tie = np.empty(n_states, dtype=np.int64), np.empty(n_states, dtype=np.bool_)
    value = np.zeros(n_states)
    for layer in range(n_layers):
        _utilities(rows, rewards, ratios[n_layers - 1 - layer], value, utility)
        choose_actions(utility, rule, chances, actions, is_tie)
        _record(layer, chances, actions, is_tie, played)
        for s in range(n_states):
            mean = 0.0
            for a in range(n_actions):
                mean += chances[s, a] * utility[s, a]
            value[s] = mean
