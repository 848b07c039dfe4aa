"""Whole trials without returning to Python: value the policy, play an episode, update, repeat.

An episode does not store its policy as a table: `greedy_action` computes an action for each state that it
visits. Valuations keep the actions that they have computed until the next one.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from sojourn._kernels._interrupts import interruptible
from sojourn._kernels._jit import inlined, kernel
from sojourn._kernels._problem import ProblemArrays
from sojourn._kernels.learning._assumed_law import AssumedLaw, initialize_q_row
from sojourn._kernels.learning._greedy import episode_policy, greedy_action
from sojourn._kernels.learning._play_options import PlayOptions, next_layer
from sojourn._kernels.learning._tables import N_ARCS, N_PAIRS, N_STATES, Tables, count_step, number_state
from sojourn._kernels.learning._tie_breaking import hash_in
from sojourn._kernels.learning._updates import EpisodeBuffer, update_learner
from sojourn._kernels.valuation._forward_value import Valuation, fill_state_numbers, policy_value
from sojourn._typing import BoolArray, FloatArray, IntArray

__all__ = ["Episodes", "LearnerState", "PlayStatus", "play", "sample_successor"]


class PlayStatus(IntEnum):
    """Why `play` returned."""

    FINISHED = 0  # all episodes were played
    NEEDS_ROOM = 1  # the tables or the buffer may be too small for the next episode
    NEEDS_VALUE = 2  # the policy of the next episode could not be valued


class LearnerState(NamedTuple):
    """A learner: its tables, the law it assumes and its options."""

    tables: Tables  # counts, Q and V
    assumed: AssumedLaw  # the law that it plans with
    options: PlayOptions  # how it plays


class Episodes(NamedTuple):
    """Episodes to play, and arrays for their results; one entry per episode."""

    starts: IntArray  # (episodes,) start state of each episode
    drawn: IntArray  # (episodes,) length of each episode unless it ends in an absorbing state
    n_early: int  # number of first steps whose rewards are added up in `early_rewards`
    lengths: IntArray  # (episodes,) filled with the number of steps played
    observed: BoolArray  # (episodes,) filled with whether the drawn length was reached
    rewards: FloatArray  # (episodes,) filled with the sum of rewards in the environment's own units
    early_rewards: FloatArray  # (episodes,) increased by the mapped rewards of the first `n_early` steps
    values: FloatArray  # (episodes,) filled with the policy's value from the start state, where it is NaN
    widths: FloatArray  # (episodes,) filled with the width of that value's bracket

    def since(self, first: int) -> Episodes:
        """Return views of the episodes from index `first` on."""
        arrays = {name: part[first:] for name, part in self._asdict().items() if name != "n_early"}
        return self._replace(**arrays)


@inlined
def sample_successor(problem: ProblemArrays, row: int, uniform: float) -> int:
    """Return the successor of row s·A + a that a uniform random number selects, by inversion."""
    left = uniform
    last = problem.indptr[row + 1] - 1
    for j in range(problem.indptr[row], last):
        left -= problem.data[j]
        if left < 0.0:
            return int(problem.indices[j])
    return int(problem.indices[last])


@inlined
def _has_room(
    sizes: IntArray, room: tuple[int, int, int, int], limits: tuple[int, int, int], length: int
) -> bool:
    """Return whether there is room for an episode of at most `length` steps, whatever it visits.

    Args:
        sizes: Numbers of states, pairs and arcs in use.
        room: Numbers of states, pairs and arcs that the tables have room for, and of steps of the buffer; the
            buffer keeps no steps if the last one is 0.
        limits: Numbers of states, pairs and transitions of the problem.
        length: The length.
    """
    return not (
        sizes[N_STATES] + min(length, limits[0]) + 1 > room[0]
        or sizes[N_PAIRS] + min(length, limits[1]) > room[1]
        or sizes[N_ARCS] + min(length, limits[2]) > room[2]
        or (room[3] > 0 and length > room[3])
    )


@interruptible
@kernel
def play(
    problem: ProblemArrays,
    learner: LearnerState,
    update: Any,
    valuation: Valuation,
    buffer: EpisodeBuffer,
    episodes: Episodes,
    first_episode: int,
    rng: np.random.Generator,
) -> tuple[int, PlayStatus]:
    """Play episodes and fill their results.

    All arrays are unpacked before the loop, and the steps of an episode are not a function of their own:
    numba would count references to all arrays that are passed to it, and `play` would take twice as long.

    Stops before an episode for which there might not be room in the tables or the buffer, and before one
    whose policy cannot be valued. The caller then makes room, or writes the value into `episodes.values`,
    and calls again for the rest.

    Args:
        problem: The problem.
        learner: The learner, changed in place.
        update: Parameters and scratch arrays of its update; the type selects the update, see `_updates`. Not
            a part of `learner`, because numba finds the types of a struct slowly if it has a generator in it.
        valuation: Reference and scratch arrays; policies are not valued if `reference.survival` is empty.
        buffer: Room for the steps of one episode.
        episodes: The episodes and their results.
        first_episode: Number of the first of these episodes in the trial, counted from 0.
        rng: Random numbers for transitions.

    Returns:
        The number of episodes played, and why it stopped.
    """
    tables, assumed, options = learner.tables, learner.assumed, learner.options
    n_layers, n_actions = options.n_layers, problem.n_actions
    rewards, raw_rewards, is_terminal = problem.rewards, problem.raw_rewards, problem.is_terminal
    last_played, played, keeps_steps = buffer.last_played, buffer.played, buffer.pairs.size > 0
    room = (tables.names.size, tables.visits.size, tables.arc_to.size, buffer.pairs.size)
    limits = (is_terminal.size, rewards.size, problem.data.size)
    numbers, is_valued = valuation.scratch.state_numbers, valuation.reference.survival.size > 0
    fill_state_numbers(tables, numbers)
    for k in range(episodes.starts.size):
        state, length, episode = episodes.starts[k], episodes.drawn[k], first_episode + k
        if not _has_room(tables.sizes, room, limits, length):
            return k, PlayStatus.NEEDS_ROOM
        if is_valued and np.isnan(episodes.values[k]):
            value, width = policy_value(problem, tables, assumed, options, valuation, episode, state)
            if np.isnan(value):
                return k, PlayStatus.NEEDS_VALUE
            episodes.values[k], episodes.widths[k] = value, width
        policy = episode_policy(tables, assumed, options, episode)
        masks, pair_of, q, caps, prior, is_random, epsilon, episode_hash = policy
        n_steps, n_played, total, h, layer = 0, 0, 0.0, 0, -1
        number, ended = numbers[state], False
        while h < length and not ended:
            layer = next_layer(options, layer)
            layer_hash = hash_in(episode_hash, layer)
            action = greedy_action(
                masks, pair_of, q, caps, prior, is_random, epsilon, layer_hash, number, state, layer
            )
            row = state * n_actions + action
            following = sample_successor(problem, row, rng.random())
            ended = is_terminal[following]
            total += raw_rewards[row]
            if h < episodes.n_early:
                episodes.early_rewards[k] += rewards[row]
            successor = 0 if ended else numbers[following]
            if options.counts_all or h < n_layers:
                if number == 0:
                    number = number_state(tables, state)
                    numbers[state] = number
                    successor = 0 if ended else numbers[following]
                if successor == 0 and not ended:
                    successor = number_state(tables, following)
                    numbers[following] = successor
                pair = count_step(tables, number, action, successor, options.counts_arcs)
                if tables.visits[pair] == 1:
                    initialize_q_row(tables, assumed, pair)
                tables.reward_total[pair] = rewards[row]
                if options.counts_layers:
                    tables.visits_at[number, layer] += 1
                if keeps_steps:
                    buffer.pairs[n_steps], buffer.successors[n_steps] = pair, successor
                    buffer.layers[n_steps], buffer.rewards[n_steps] = layer, rewards[row]
                    n_steps += 1
                if last_played[pair] != episode:
                    last_played[pair] = episode
                    played[n_played] = pair
                    n_played += 1
            state, number = following, successor
            h += 1
        episodes.lengths[k], episodes.observed[k], episodes.rewards[k] = h, not ended, total
        update_learner(update, tables, assumed, buffer, n_played, n_steps)
    return episodes.starts.size, PlayStatus.FINISHED
