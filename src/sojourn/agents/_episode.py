"""Plays one episode step by step, through the methods of the learner protocol."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sojourn._kernels import ProblemArrays, sample_successor

__all__ = ["Episode", "Step", "play_episode", "step_on_table"]


class Step(NamedTuple):
    """An environment's response to one action."""

    next_state: int
    reward: float  # as the learner sees it
    paid: float  # the same reward in the environment's own units
    terminated: bool  # whether the environment ended the episode
    truncated: bool  # whether an outside limit cut the episode off


class Episode(NamedTuple):
    """The result of one episode."""

    length: int
    observed: bool  # whether the law ended the episode, so that its length is not censored
    total: float  # sum of the rewards, in the environment's own units
    early: float  # sum of the rewards of the first steps, as the learner sees them


def play_episode(
    learner: Any,
    step: Callable[[int, int], Step],
    state: int,
    length: int,
    *,
    n_actions: int,
    n_early: int = 0,
) -> Episode:
    """Play one episode through the methods `act`, `observe` and `end_episode`.

    Args:
        learner: The learner; see `Learner`.
        step: Plays an action in a state.
        state: State in which the episode begins.
        length: Steps after which the law ends the episode.
        n_actions: Number of actions.
        n_early: Number of first steps whose rewards are summed separately.

    Raises:
        ValueError: If `act` does not return an action.
    """
    h, is_over, total, early = 0, False, 0.0, 0.0
    while h < length and not is_over:
        h += 1
        action = _check_action(learner.act(state, h), n_actions)
        next_state, reward, paid, terminated, truncated = step(state, action)
        total += paid
        if h <= n_early:
            early += reward
        learner.observe(state, action, reward, next_state, terminated)
        is_over = terminated or truncated
        state = next_state
    # If the environment ends the episode at exactly the drawn length, the length is censored too.
    learner.end_episode(h, not is_over)
    return Episode(h, not is_over, total, early)


def step_on_table(problem: ProblemArrays, rng: np.random.Generator) -> Callable[[int, int], Step]:
    """Return a function that plays one step of a tabular problem, for `play_episode`."""

    def step(state: int, action: int) -> Step:
        row = state * problem.n_actions + action
        next_state = int(sample_successor(problem, row, rng.random()))
        terminated = bool(problem.is_terminal[next_state])
        return Step(
            next_state, float(problem.rewards[row]), float(problem.raw_rewards[row]), terminated, False
        )

    return step


def _check_action(action: Any, n_actions: int) -> int:
    try:
        number = operator.index(action)
    except TypeError:
        number = -1
    if not 0 <= number < n_actions:
        raise ValueError(f"act must return an action in 0 … {n_actions - 1}; got {action!r}.")
    return number
