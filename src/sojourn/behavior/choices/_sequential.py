"""Decision makers fitted to sequential choices in a table: which kind, and which discount function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from sojourn._typing import FloatArray, IntArray
from sojourn._validation import check_whole
from sojourn.behavior._agents import Task
from sojourn.behavior._decisions import Decisions
from sojourn.behavior._selves import Table
from sojourn.laws import LengthLaw
from sojourn.mdps import TabularMDP

__all__ = [
    "SequentialFit",
    "compare_kinds",
    "fit_sequential",
    "sequential_log_likelihood",
    "simulate_choices",
]

_KINDS = ("committed", "naive", "sophisticated")
_FAILED = 1e12


@dataclass(frozen=True, eq=False)
class SequentialFit:
    """A kind of decision maker fitted to sequential choices.

    Attributes:
        kind: "committed", "naive" or "sophisticated".
        parameters: Estimates by name, with the `sensitivity`.
        standard_errors: From the curvature of the log likelihood; NaN where it is flat.
        log_likelihood: Of the choices.
        n_choices: Number of choices between at least two different actions.
        decisions: The fitted agent.
    """

    kind: str
    parameters: dict[str, float]
    standard_errors: dict[str, float]
    log_likelihood: float
    n_choices: int
    decisions: Decisions

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2.0 * len(self.parameters) - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion."""
        return math.log(self.n_choices) * len(self.parameters) - 2.0 * self.log_likelihood


def _as_steps(data: Any, agent_states: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the columns step, state and action of sequential choices."""
    columns = []
    for name in ("step", "state", "action"):
        try:
            column = np.asarray(data[name])
        except (KeyError, TypeError, ValueError, IndexError):
            rule = "data must have the columns step, state and action"
            raise ValueError(f"{rule}; {name!r} is missing.") from None
        if column.ndim != 1 or column.dtype.kind not in "iu":
            raise TypeError(f"data[{name!r}] must be whole numbers; got {column.dtype}.")
        columns.append(column.astype(np.int64))
    step, state, action = columns
    if not step.size == state.size == action.size > 0:
        sizes = f"{step.size}, {state.size}, {action.size}"
        raise ValueError(f"data must have columns of the same length; got {sizes}.")
    if step.min() < 1 or state.min() < 0 or state.max() >= agent_states or action.min() < 0:
        raise ValueError(f"data must have steps ≥ 1, states in 0 … {agent_states - 1} and actions ≥ 0.")
    return step, state, action


def _find_choices(data: Any, mdp: TabularMDP) -> tuple[IntArray, IntArray, IntArray]:
    """Return the steps, states and actions of the rows with a choice; copies count as the lowest of them."""
    step, state, action = _as_steps(data, mdp.n_states)
    if action.max() >= mdp.n_actions:
        raise ValueError(f"data must have actions in 0 … {mdp.n_actions - 1}; got {action.max()}.")
    table = Table(mdp)
    kept = (table.is_distinct.sum(axis=1) > 1)[state]
    return step[kept], state[kept], table.lowest_copies[state, action][kept]


def sequential_log_likelihood(agent: Decisions, data: Any) -> float:
    """Return the log likelihood of sequential choices under an agent with a sensitivity.

    States in which all actions are the same leave no choice and do not count. Where some actions are copies,
    they are one option.

    Args:
        agent: A softmax agent: one that was solved with a `sensitivity`.
        data: Columns `step` (from 1), `state` and `action`, whole numbers, one row per choice: a mapping, a
            data frame or a structured array.
    """
    if agent.sensitivity is None:
        raise ValueError("agent must have a sensitivity: one that never errs gives choices no probability.")
    return _sum_logs(agent, *_find_choices(data, agent.mdp))


def _sum_logs(agent: Decisions, step: IntArray, state: IntArray, action: IntArray) -> float:
    if step.size == 0:
        return 0.0
    if agent.deadline is not None and step.max() > agent.deadline:
        raise ValueError(f"data must have steps up to the deadline, {agent.deadline:,}; got {step.max():,}.")
    rows = np.array([agent.row_of(int(h)) for h in range(1, int(step.max()) + 1)])
    chances = agent.policy[rows[step - 1], state, action]
    return float(np.log(np.maximum(chances, 1e-300)).sum())


def simulate_choices(
    agent: Decisions, episodes: int, *, last: int | None = None, seed: int = 0
) -> dict[str, IntArray]:
    """Draw sequential choices of an agent from the start states.

    Args:
        agent: The agent.
        episodes: Number of times that the task is played.
        last: Number of steps per time; the deadline by default.
        seed: Of the draws.

    Returns:
        The columns `episode`, `step`, `state` and `action`, without steps in terminal states.
    """
    n_steps = check_whole("last", agent.deadline if last is None else last, least=1)
    episodes, rng = check_whole("episodes", episodes, least=1), np.random.default_rng(seed)
    rows = []
    for episode in range(episodes):
        state = int(rng.choice(agent.mdp.n_states, p=agent.mdp.start))
        for h in range(1, n_steps + 1):
            if state in agent.mdp.terminal:
                break
            row = agent.policy[agent.row_of(h), state]
            action = int(rng.choice(agent.mdp.n_actions, p=row)) if agent.policy.ndim == 3 else int(row)
            rows.append((episode, h, state, action))
            successors, chances = agent.mdp.successors(state, action)
            state = int(rng.choice(successors, p=chances))
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return {name: table[:, i].copy() for i, name in enumerate(("episode", "step", "state", "action"))}


def fit_sequential(
    data: Any,
    mdp: TabularMDP,
    law: Callable[..., LengthLaw],
    start: Mapping[str, float],
    *,
    kind: str = "naive",
    deadline: int | None = None,
) -> SequentialFit:
    """Fit a softmax decision maker to sequential choices in a table, by maximum likelihood.

    Parameters in (0, 1) are estimated on the scale of log odds, and the sensitivity on a logarithmic one.

    Args:
        data: Columns `step`, `state` and `action`; see `sequential_log_likelihood`.
        mdp: The task.
        law: Returns the law for values of the parameters, such as `behavior.beta_delta`.
        start: The parameters to estimate, with values to start from, all in (0, 1): `{"beta": 0.7}`. Fix
            others with `functools.partial`.
        kind: "committed", "naive" or "sophisticated".
        deadline: Last step that counts; None if there is none.

    Example:
        >>> from functools import partial
        >>> from sojourn import behavior
        >>> task, law = behavior.tasks.coupon(), partial(behavior.beta_delta, steps=4)
        >>> truth = behavior.naive(task, law(0.5), deadline=4, sensitivity=2.0)
        >>> data = behavior.simulate_choices(truth, 300)
        >>> fit = behavior.fit_sequential(data, task, law, {"beta": 0.8}, kind="naive", deadline=4)
        >>> abs(fit.parameters["beta"] - 0.5) < 0.05
        True
    """
    if kind not in _KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, _KINDS))}; got {kind!r}.")
    names = list(start)
    for name in names:
        if not 0.0 < start[name] < 1.0:
            raise ValueError(f"start[{name!r}] must be in (0, 1); got {start[name]!r}.")

    choices = _find_choices(data, mdp)
    if choices[0].size == 0:
        raise ValueError(
            "data must have a state with different actions; in all of theirs there is no choice."
        )

    def solve(theta: FloatArray) -> Decisions:
        values = {name: float(1.0 / (1.0 + np.exp(-x))) for name, x in zip(names, theta[:-1], strict=True)}
        task = Task.of(mdp, law(**values), deadline, sensitivity=float(np.exp(theta[-1])))
        if kind == "sophisticated":
            return task.selves(None)
        return task.naive() if kind == "naive" else task.committed()

    def loss(theta: FloatArray) -> float:
        if np.abs(theta).max() > 12.0:
            return _FAILED
        return -_sum_logs(solve(theta), *choices)

    scale = float(np.ptp(mdp.rewards)) or 1.0
    starts = [
        np.array([*(math.log(value / (1.0 - value)) for value in values), math.log(factor / scale)])
        for values in ([start[name] for name in names], *([other] * len(names) for other in (0.3, 0.9)))
        for factor in (1.0, 5.0, 25.0)
    ]
    first = min(starts, key=loss)
    solver: Any = minimize
    options = {"xatol": 1e-5, "fatol": 1e-7, "maxiter": 400 * first.size}
    found = solver(loss, first, method="Nelder-Mead", options=options)
    theta = np.asarray(found.x)
    errors = _curvature_errors(loss, theta)
    values = {name: float(1.0 / (1.0 + np.exp(-x))) for name, x in zip(names, theta[:-1], strict=True)}
    standard = {name: float(errors[i]) * values[name] * (1.0 - values[name]) for i, name in enumerate(names)}
    values["sensitivity"] = float(np.exp(theta[-1]))
    standard["sensitivity"] = float(errors[-1]) * values["sensitivity"]
    return SequentialFit(kind, values, standard, -float(found.fun), choices[0].size, solve(theta))


def compare_kinds(
    data: Any,
    mdp: TabularMDP,
    law: Callable[..., LengthLaw],
    start: Mapping[str, float],
    *,
    kinds: Sequence[str] = _KINDS,
    deadline: int | None = None,
) -> list[SequentialFit]:
    """Fit several kinds of decision makers to the same choices, and return them with the lowest BIC first.

    A difference in BIC below about 2 means that the choices do not tell the kinds apart: simulate them with
    `simulate_choices` to see how many would.

    Args:
        data: Columns `step`, `state` and `action`.
        mdp: The task.
        law: Returns the law for values of the parameters.
        start: The parameters to estimate, with values to start from.
        kinds: The kinds to fit.
        deadline: Last step that counts; None if there is none.
    """
    fits = [fit_sequential(data, mdp, law, start, kind=kind, deadline=deadline) for kind in kinds]
    return sorted(fits, key=lambda one: one.bic)


def _curvature_errors(
    loss: Callable[[FloatArray], float], theta: FloatArray, width: float = 1e-3
) -> FloatArray:
    """Return standard errors from central second differences of the loss; NaN if they are not positive."""
    n = theta.size
    steps = width * np.eye(n)
    curvature = np.empty((n, n))
    for i in range(n):
        for j in range(i, n):
            ends = [loss(theta + a * steps[i] + b * steps[j]) for a in (1, -1) for b in (1, -1)]
            curvature[i, j] = curvature[j, i] = (ends[0] - ends[1] - ends[2] + ends[3]) / (4.0 * width**2)
    if not np.linalg.eigvalsh(curvature)[0] > 1e-6:
        return np.full(n, math.nan)
    return np.asarray(np.sqrt(np.diag(np.linalg.inv(curvature))))
