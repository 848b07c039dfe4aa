"""Small problems from the literature and from the paper."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array

from sojourn._memory import check_fits
from sojourn._typing import IntArray
from sojourn._validation import check_closed_unit, check_positive, check_whole
from sojourn.mdps._tabular import TabularMDP
from sojourn.mdps._transitions import table_bytes

__all__ = ["cash_or_invest", "chain", "deep_sea", "river_swim", "two_paths"]


def river_swim(n: int = 6) -> TabularMDP:
    """Swim against the current for a large reward, or drift for a small one.

    Right (action 1) moves on with probability 0.35, stays with 0.6 and falls back with 0.05; at the left end
    it stays with 0.4 and moves on with 0.6, at the right end it stays with 0.6 and falls back with 0.4. Left
    (action 0) always moves left. Left at the left end pays 0.005, right at the right end 1.

    Args:
        n: Number of states, at least 2.

    Example:
        >>> mdp = river_swim(6)
        >>> mdp
        TabularMDP('RiverSwim(6)', n_states=6, n_actions=2)
        >>> mdp.successors(2, 1)
        (array([1, 2, 3]), array([0.05, 0.6 , 0.35]))
    """
    n = check_whole("n", n, least=2)
    _check_size("river_swim", "n", n, n_states=n, successors=2)
    states = np.arange(n)
    back, stay, on = np.full(n, 0.05), np.full(n, 0.6), np.full(n, 0.35)
    back[0], stay[0], on[0] = 0.0, 0.4, 0.6
    back[-1], stay[-1], on[-1] = 0.4, 0.6, 0.0
    left, right = np.maximum(states - 1, 0), np.minimum(states + 1, n - 1)
    probabilities = np.concatenate([np.ones(n), back, stay, on])
    rows = np.concatenate([2 * states, *[2 * states + 1] * 3])
    transitions = coo_array((probabilities, (rows, np.concatenate([left, left, states, right]))), (2 * n, n))
    rewards = np.zeros((n, 2))
    rewards[0, 0], rewards[-1, 1] = 0.005, 1.0
    return TabularMDP(transitions, rewards, name=f"RiverSwim({n})", action_names=("left", "right"))


def chain(n: int = 8, *, slip: float = 0.0, small: float = 0.2, large: float = 1.0) -> TabularMDP:
    """Go forward many steps for a large reward, or back at once for a small one.

    Forward (action 0) moves on and pays nothing; in the last state it stays and pays `large`. Back (action 1)
    returns to the first state and pays `small`. With probability `slip` the other action is carried out and
    its reward paid. The classic NChain is `chain(5, slip=0.2, small=2, large=10)`.

    Args:
        n: Number of states, at least 2.
        slip: Probability that the other action happens.
        small: Reward of going back.
        large: Reward of going forward in the last state.

    Example:
        >>> mdp = chain(3)
        >>> mdp.rewards
        array([[0. , 0.2],
               [0. , 0.2],
               [1. , 0.2]])
    """
    n = check_whole("n", n, least=2)
    _check_size("chain", "n", n, n_states=n, successors=2)
    slip = check_closed_unit("slip", slip)
    small, large = check_positive("small", small), check_positive("large", large)
    next_states = np.zeros((n, 2), dtype=np.int64)
    next_states[:, 0] = np.minimum(np.arange(n) + 1, n - 1)
    paid = np.zeros((n, 2))
    paid[-1, 0], paid[:, 1] = large, small
    transitions = (1.0 - slip) * _deterministic(next_states) + slip * _deterministic(next_states[:, ::-1])
    rewards = (1.0 - slip) * paid + slip * paid[:, ::-1]
    return TabularMDP(transitions, rewards, name=f"Chain({n})", action_names=("forward", "back"))


def deep_sea(n: int = 10, *, seed: int | None = None) -> TabularMDP:
    """Find the one path of n right moves that leads to the treasure.

    Osband's n × n grid, state row · n + column, start at the top left. Each step goes one row down, and one
    column to the left (action 0) or right (action 1), as far as the grid goes. Right costs 0.01/n; right in
    the bottom right corner pays 1 more. A move from the bottom row ends the episode, in the terminal state
    n². So the best policy earns 0.99 in n steps, and every other path at most 0.

    Args:
        n: Side of the grid, at least 1.
        seed: If None, right is action 1 in every state. If a whole number, a random coin flip per state
            decides which action moves right.

    Example:
        >>> mdp = deep_sea(10)
        >>> mdp.n_states, mdp.terminal
        (101, (100,))
    """
    n = check_whole("n", n, least=1)
    _check_size("deep_sea", "n", n, n_states=n * n + 1)
    row, column = np.divmod(np.arange(n * n), n)
    cells, end = np.arange(n * n), n * n
    next_states = np.empty((n * n, 2), dtype=np.int64)
    for move, step in enumerate((-1, 1)):
        target = (row + 1) * n + np.clip(column + step, 0, n - 1)
        next_states[:, move] = np.where(row == n - 1, end, target)
    rewards = np.zeros((end + 1, 2))
    rewards[:end, 1] = -0.01 / n
    rewards[end - 1, 1] += 1.0
    if seed is not None:
        seed = check_whole("seed", seed, least=0)
        swap = np.random.default_rng(seed).random(end) < 0.5
        next_states[swap] = next_states[swap][:, ::-1]
        rewards[cells[swap]] = rewards[cells[swap]][:, ::-1]
    name = f"DeepSea({n})" if seed is None else f"DeepSea({n}, seed={seed})"
    return TabularMDP(
        _deterministic(np.vstack([next_states, [end, end]])),
        rewards,
        terminal=end,
        name=name,
        action_names=("left", "right") if seed is None else None,
        grid=(n, n),
    )


def two_paths() -> TabularMDP:
    """Take 1 now and nothing afterwards, or nothing now and 1 at every later step.

    This is the counterexample to the paper's Lemma 1. In state 0, action 0 (A) pays 1 and leads to state 1,
    where every step pays 0; action 1 (B) pays 0 and leads to state 2, where every step pays 1. If H is 1 or
    10, each with probability ½, knowing H in advance is worth 5.0 on average, and the best blind policy 4.5.

    Example:
        >>> two_paths().rewards
        array([[1., 0.],
               [0., 0.],
               [1., 1.]])
    """
    rewards = [[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]
    return TabularMDP(
        _deterministic(np.array([[1, 2], [1, 1], [2, 2]])),
        rewards,
        name="TwoPaths",
        state_names=("choice", "after A", "after B"),
        action_names=("A", "B"),
    )


def cash_or_invest(delay: int = 5, *, cash: float = 0.1, payoff: float = 1.0) -> TabularMDP:
    """Take a small reward at every step, or wait for a larger one: the shape of the law decides.

    In state 0, cash (action 0) pays `cash` and you choose again at the next step. Invest (action 1) pays
    nothing during `delay` steps, this one included, then `payoff` in one step, and then you choose again.
    Whether to invest depends on the chance that the episode lasts `delay` more steps. Under a geometric law
    that chance is constant; under a falling hazard it grows with the step, and the best action changes from
    cash to invest. With the defaults and γ(h) = h^−1.4, which is `Polynomial(1.4)`, cash is best up to step 6
    and invest from step 7 on. Under `Geometric(0.95)` invest is always best, and under the geometric law with
    the same mean as that polynomial law, cash always is.

    Args:
        delay: Number of steps without pay, at least 1.
        cash: Reward of the action cash.
        payoff: Reward of an investment.

    Example:
        >>> mdp = cash_or_invest(delay=2)
        >>> mdp.rewards
        array([[0.1, 0. ],
               [0. , 0. ],
               [1. , 1. ]])
        >>> mdp.successors(0, 1), mdp.successors(2, 0)
        ((array([1]), array([1.])), (array([0]), array([1.])))
    """
    delay = check_whole("delay", delay, least=1)
    _check_size("cash_or_invest", "delay", delay, n_states=delay + 1)
    next_states = np.repeat((np.arange(1, delay + 2) % (delay + 1))[:, None], 2, axis=1)
    next_states[0] = 0, 1
    rewards = np.zeros((delay + 1, 2))
    rewards[0, 0] = check_positive("cash", cash)
    rewards[-1] = check_positive("payoff", payoff)
    return TabularMDP(
        _deterministic(next_states),
        rewards,
        name=f"CashOrInvest({delay})",
        state_names=("choice", *(f"waiting {step}" for step in range(1, delay)), "payoff"),
        action_names=("cash", "invest"),
    )


def _check_size(builder: str, argument: str, value: int, *, n_states: int, successors: int = 1) -> None:
    """Raise an error if a problem with two actions would not fit in memory."""
    check_fits(
        3 * table_bytes(2 * n_states, successors),  # tables are copied while they are sorted and checked
        f"{builder}({value}), of {n_states:,} states,",
        f"choose a smaller {argument}",
    )


def _deterministic(next_states: IntArray) -> csr_array[np.float64, tuple[int, int]]:
    """Return the `(S·A, S)` transitions of deterministic moves, given their `(S, A)` next states."""
    size = next_states.size
    entries = (np.ones(size), next_states.ravel(), np.arange(size + 1))
    return csr_array(entries, shape=(size, len(next_states)))
