"""Problems in which one choice matters: those behind the lower bounds of `sojourn.theory`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from sojourn._memory import check_fits
from sojourn._typing import FloatArray
from sojourn._validation import check_nonnegative, check_positive, check_whole
from sojourn.mdps._tabular import TabularMDP
from sojourn.mdps._transitions import table_bytes

__all__ = ["rare_choice", "waiting_bandit"]


def rare_choice(gap: float = 0.025, *, better: int = 0) -> TabularMDP:
    """Choose between two arms at step 2, which few episodes reach if long episodes are rare.

    State 0 leads to state 1. There, one arm leads to state 2, which pays 1 in every step, with probability
    ½ + `gap`; the other arm does so with probability ½. Otherwise the arm leads to state 3, which pays
    nothing. States 2 and 3 are never left. The best value is (½ + gap)·Γ(3); the other arm loses gap·Γ(3).

    The two problems `better=0` and `better=1` form the counterexample to Theorem 1 of the paper: see
    `sojourn.theory.rare_choice_lower_bound`.

    Args:
        gap: Advantage of the better arm, from 0 to ½.
        better: The better arm, 0 or 1.

    Example:
        >>> mdp = rare_choice()
        >>> mdp
        TabularMDP('RareChoice(0.025)', n_states=4, n_actions=2)
        >>> mdp.successors(1, 0), mdp.successors(1, 1)
        ((array([2, 3]), array([0.525, 0.475])), (array([2, 3]), array([0.5, 0.5])))
    """
    table, rewards = _bandits_after_waiting(1, 2, [_check_arm(better, 2)], leave=1.0, gap=_check_gap(gap))
    name = f"RareChoice({gap})" if better == 0 else f"RareChoice({gap}, better={better})"
    states, actions = ("start", "choice", "paying", "empty"), ("arm 0", "arm 1")
    return TabularMDP(table, rewards, name=name, state_names=states, action_names=actions)


def waiting_bandit(
    n_bandits: int = 1,
    n_actions: int = 2,
    *,
    n_waiting: int = 2,
    leave: float = 0.1,
    gap: float = 0.25,
    better: int | Sequence[int] = 0,
) -> TabularMDP:
    """Wait, then choose an arm of a random bandit: the problems behind the lower bounds on regret.

    The first `n_waiting` states are left for the next one with probability `leave` per step, whatever the
    action; the last of them leads to one of the `n_bandits` bandit states, each equally likely. In a bandit
    state, the better arm leads to the paying state with probability ½ + `gap`, every other arm with
    probability ½; otherwise an arm leads to the empty state. The paying state pays 1 in every step, the empty
    state nothing, and neither is ever left. So the arm is chosen at a random step D, and the best value is (½
    + gap)·E[Γ(D+1)].

    With `leave=1` the waiting states are a corridor and D = n_waiting + 1.

    Args:
        n_bandits: Number of bandit states.
        n_actions: Number of arms, at least 2.
        n_waiting: Number of waiting states, at least 1.
        leave: Probability of leaving a waiting state, in (0, 1].
        gap: Advantage of the better arm, from 0 to ½.
        better: The better arm, the same for all bandits or one for each of them.

    Example:
        >>> mdp = waiting_bandit(2, 3, leave=0.25)
        >>> mdp
        TabularMDP('WaitingBandit(2, 3)', n_states=6, n_actions=3)
        >>> mdp.successors(1, 0)
        (array([1, 2, 3]), array([0.75 , 0.125, 0.125]))
        >>> mdp.successors(2, 0)
        (array([4, 5]), array([0.75, 0.25]))
    """
    n_bandits = check_whole("n_bandits", n_bandits, least=1)
    n_actions = check_whole("n_actions", n_actions, least=2)
    n_waiting = check_whole("n_waiting", n_waiting, least=1)
    leave = check_positive("leave", leave, rule="in (0, 1]")
    if leave > 1.0:
        raise ValueError(f"leave must be in (0, 1]; got {leave!r}.")
    n_states = n_waiting + n_bandits + 2
    check_fits(
        3 * table_bytes(n_actions * n_states, 2) + 16 * n_actions * n_bandits,
        f"waiting_bandit({n_bandits}, {n_actions}), of {n_states:,} states,",
        "choose a smaller n_bandits or n_waiting",
    )
    arms = list(better) if isinstance(better, Sequence) else [better] * n_bandits
    if len(arms) != n_bandits:
        raise ValueError(f"better must be one arm, or one for each of {n_bandits} bandits; got {better!r}.")
    arms = [_check_arm(arm, n_actions) for arm in arms]
    table, rewards = _bandits_after_waiting(n_waiting, n_actions, arms, leave=leave, gap=_check_gap(gap))
    arm_names = [f"arm {arm}" for arm in range(n_actions)]
    return TabularMDP(table, rewards, name=f"WaitingBandit({n_bandits}, {n_actions})", action_names=arm_names)


def _bandits_after_waiting(
    n_waiting: int, n_actions: int, better: Sequence[int], *, leave: float, gap: float
) -> tuple[csr_array[np.float64, tuple[int, int]], FloatArray]:
    """Return transitions and rewards: waiting states, then bandits, then the paying and the empty state."""
    n_bandits = len(better)
    first, pays = n_waiting, n_waiting + n_bandits
    n_states = pays + 2
    state, action = np.divmod(np.arange(n_states * n_actions), n_actions)
    every = np.arange(n_states * n_actions)
    waits, moves = every[state < n_waiting], every[state < n_waiting - 1]
    last, arms, ends = (
        every[state == first - 1],
        every[(state >= first) & (state < pays)],
        every[state >= pays],
    )
    chance = 0.5 + gap * (action[arms] == np.asarray(better)[state[arms] - first])
    parts: list[tuple[Any, ...]] = [  # pairs (s, a), their next states, probabilities
        (waits, state[waits], 1.0 - leave),
        (moves, state[moves] + 1, leave),
        (np.repeat(last, n_bandits), np.tile(np.arange(first, pays), last.size), leave / n_bandits),
        (arms, pays, chance),
        (arms, pays + 1, 1.0 - chance),
        (ends, state[ends], 1.0),
    ]
    rows, columns, values = (
        np.concatenate([np.broadcast_to(part[i], part[0].shape) for part in parts]) for i in range(3)
    )
    rewards = np.zeros((n_states, n_actions))
    rewards[pays] = 1.0
    table = coo_array((values, (rows, columns)), shape=(every.size, n_states)).tocsr()
    table.eliminate_zeros()  # leave = 1 and gap = ½ make some moves impossible
    return table, rewards


def _check_gap(gap: float) -> float:
    """Return the advantage of the better arm as a float from 0 to ½."""
    gap = check_nonnegative("gap", gap)
    if gap > 0.5:
        raise ValueError(f"gap must be in [0, 0.5]; got {gap!r}.")
    return gap


def _check_arm(arm: int, n_actions: int) -> int:
    arm = check_whole("better", arm, least=0)
    if arm >= n_actions:
        raise ValueError(f"better must be an arm from 0 to {n_actions - 1}; got {arm!r}.")
    return arm
