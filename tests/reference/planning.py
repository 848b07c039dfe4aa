"""Planning on dense tables in plain NumPy, one formula per function."""

from __future__ import annotations

import itertools

import numpy as np


def dense(mdp):
    """Return P `(S, A, S)` and r `(S, A)` of a TabularMDP."""
    n_states, n_actions = mdp.n_states, mdp.n_actions
    return mdp.transitions.toarray().reshape(n_states, n_actions, n_states), np.array(mdp.rewards)


def truncated_bracket(transitions, rewards, survival, tail):
    """Return bounds on V* by backward induction over `len(survival)` layers and nothing clever after.

    Every step after the last layer pays between min r and max r; `tail` = Σ of γ(h) past the last layer.
    Values are kept unconditioned (γ(h) V_h), so no ratio of survival probabilities is formed.
    """
    value = np.zeros(len(rewards))
    for weight in survival[::-1]:
        value = (weight * rewards + transitions @ value).max(axis=1)
    return value + tail * rewards.min(), value + tail * rewards.max()


def policy_value(transitions, rewards, survival, rows):
    """Return Σ_h γ(h) E r of one action table (S,) a step, for as many steps as `survival` has."""
    states = np.arange(len(rewards))
    value = np.zeros(len(rewards))
    for weight, actions in zip(survival[::-1], rows[::-1], strict=True):
        value = weight * rewards[states, actions] + transitions[states, actions] @ value
    return value


def stochastic_value(transitions, rewards, survival, rows):
    """Return Σ_h γ(h) E r of one table of probabilities (S, A) a step."""
    value = np.zeros(len(rewards))
    for weight, chances in zip(survival[::-1], rows[::-1], strict=True):
        value = (chances * (weight * rewards + transitions @ value)).sum(axis=1)
    return value


def best_by_enumeration(transitions, rewards, survival):
    """Return the best value of every start state over all deterministic policies of `len(survival)` steps."""
    n_states, n_actions = rewards.shape
    tables = list(itertools.product(range(n_actions), repeat=n_states))
    best = np.full(n_states, -np.inf)
    for rows in itertools.product(tables, repeat=len(survival)):
        best = np.maximum(best, policy_value(transitions, rewards, survival, np.array(rows)))
    return best


def discounted_value(transitions, rewards, gamma, n_sweeps=5_000):
    """Return the value of ordinary discounted value iteration."""
    value = np.zeros(len(rewards))
    for _ in range(n_sweeps):
        value = (rewards + gamma * (transitions @ value)).max(axis=1)
    return value


def chain_tail(chain, paid, law, after, n_steps=4_000):
    """Return Σ_{h > after} γ(h) E r_h of a Markov chain that starts at step after + 1.

    Rewards are split in their long-run mean from each state, which earns Γ(after + 1) times itself, and the
    rest, which dies out or goes round: it is summed step by step, averaged over the last two rounds of 420
    steps (a multiple of every period up to 7).
    """
    power = np.linalg.matrix_power(0.5 * np.eye(len(paid)) + 0.5 * chain, 1 << 14)
    power = np.linalg.matrix_power(power, 1 << 14)
    mean = power @ paid
    steps = np.arange(after + 1, after + n_steps + 1)
    total, expected, partial = np.zeros(len(paid)), paid - mean, []
    for weight in law.survival(steps):
        total = total + weight * expected
        expected = chain @ expected
        partial.append(total)
    return mean * law.tail(after + 1) + np.mean(partial[-840:], axis=0)


def horizon_values(transitions, rewards, longest):
    """Return V*(·; n) for n = 1 … longest, `(longest, S)`."""
    value, found = np.zeros(len(rewards)), []
    for _ in range(longest):
        value = (rewards + transitions @ value).max(axis=1)
        found.append(value)
    return np.array(found)


def random_problem(rng, n_states, n_actions, *, low=-1.0, high=1.0, n_successors=None):
    """Return dense P and r; with `n_successors` each row has that many, so that classes and cycles appear."""
    transitions = np.zeros((n_states, n_actions, n_states))
    for s in range(n_states):
        for a in range(n_actions):
            k = n_successors or n_states
            chosen = rng.choice(n_states, size=min(k, n_states), replace=False)
            weights = rng.dirichlet(np.ones(chosen.size))
            transitions[s, a, chosen] = weights / weights.sum()
    return transitions, rng.uniform(low, high, size=(n_states, n_actions))


def modified_policy_iteration(problem, ratio, spread, value, max_sweeps):
    """Return V, TV, the greedy actions and the number of sweeps of the kernel of that name."""
    n_actions, n_states = problem.n_actions, problem.n_states

    def q_value(row, value):
        expected = 0.0
        for i in range(problem.indptr[row], problem.indptr[row + 1]):
            expected += problem.data[i] * value[problem.indices[i]]
        return problem.rewards[row] + ratio * expected

    states = np.arange(n_states)
    old, n_sweeps, worth = np.full(n_states, -1), 0, 0
    while True:
        q = np.array([q_value(row, value) for row in range(n_states * n_actions)]).reshape(
            n_states, n_actions
        )
        image, actions = q.max(axis=1), q.argmax(axis=1)
        n_sweeps += n_actions
        rounding = problem.unit * (problem.largest_reward + np.abs(value).max())
        goal = max(spread - 2.0 * rounding, rounding / 2.0)
        change = image - value
        if np.ptp(change) <= goal or n_sweeps >= max_sweeps:
            return value, image, actions, n_sweeps
        is_kept = np.array_equal(actions, old)
        goal, worth = (goal / 2.0, 2 * worth) if is_kept else (0.1 * np.ptp(change), 8)
        last, old = min(max_sweeps, n_sweeps + worth * n_actions), actions
        while True:
            value = image - (image.max() + image.min()) / 2.0
            if np.ptp(change) <= goal or n_sweeps >= last:
                break
            image = np.array([q_value(row, value) for row in states * n_actions + actions])
            change = image - value
            n_sweeps += 1
