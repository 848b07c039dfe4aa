"""Decision makers fitted to sequential choices in a table: which kind, and which discount function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from sojourn._typing import FloatArray, IntArray
from sojourn._validation import check_choice, check_whole
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

_KINDS = ("committed", "naive", "sophisticated", "partially_naive")
_FAILED = 1e12
_N_CLIMBS = 3
"""Number of starting points from which the likelihood is maximized: it may have several maxima."""

_FARTHEST, _EDGE = 12.0, 7.0
"""Largest size of a scaled parameter, and size from which on it counts as at its bound."""


@dataclass(frozen=True, eq=False)
class SequentialFit:
    """A kind of decision maker fitted to sequential choices.

    Attributes:
        kind: "committed", "naive", "sophisticated" or "partially_naive".
        parameters: Estimates by name, with the `sensitivity`.
        perceived: Estimates for the law that a partially naive agent expects of its later selves, by name.
        standard_errors: Those of `parameters`, from the curvature of the log likelihood; NaN where it is
            flat, and where an estimate is at its bound.
        perceived_errors: Those of `perceived`.
        log_likelihood: Of the choices.
        n_choices: Number of choices between at least two different actions.
        decisions: The fitted agent.
    """

    kind: str
    parameters: dict[str, float]
    perceived: dict[str, float]
    standard_errors: dict[str, float]
    perceived_errors: dict[str, float]
    log_likelihood: float
    n_choices: int
    decisions: Decisions

    @property
    def n_parameters(self) -> int:
        """Number of estimates."""
        return len(self.parameters) + len(self.perceived)

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2.0 * self.n_parameters - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion."""
        return math.log(self.n_choices) * self.n_parameters - 2.0 * self.log_likelihood


@dataclass(frozen=True)
class _Scale:
    """Maps a parameter to a real number: log odds between two bounds, or a logarithm above one bound.

    Attributes:
        low: Lower bound.
        high: Upper bound, or inf.
        unit: Without an upper bound, the distance from the lower one that is mapped to 0.
    """

    low: float
    high: float
    unit: float = 1.0

    def to_real(self, value: float) -> float:
        rest = self.high - value if self.high < math.inf else self.unit
        return math.log((value - self.low) / rest)

    def from_real(self, x: float) -> float:
        if self.high < math.inf:
            return self.low + (self.high - self.low) / (1.0 + math.exp(-x))
        return self.low + self.unit * math.exp(x)

    def slope(self, value: float) -> float:
        """Return the derivative of the parameter by the real number."""
        if self.high < math.inf:
            return (value - self.low) * (self.high - value) / (self.high - self.low)
        return value - self.low


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
    perceived: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    deadline: int | None = None,
) -> SequentialFit:
    """Fit a softmax decision maker to sequential choices in a table, by maximum likelihood.

    Parameters between two bounds are estimated on the scale of log odds, others on a logarithmic one.

    Args:
        data: Columns `step`, `state` and `action`; see `sequential_log_likelihood`.
        mdp: The task.
        law: Returns the law for values of the parameters, such as `behavior.beta_delta`.
        start: The parameters to estimate, with values to start from: `{"beta": 0.7}`. Fix others with
            `functools.partial`.
        kind: "committed", "naive", "sophisticated" or "partially_naive".
        perceived: For a partially naive agent, the parameters in which the law that it expects of its later
            selves differs from its own, with values to start from: `{"beta": 0.9}` for β̂.
        bounds: Lowest and highest value of parameters; (0, 1) by default, and (1, math.inf) for all above 1.
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
    check_choice("kind", kind, _KINDS)
    if (kind == "partially_naive") != bool(perceived):
        raise ValueError(
            f"perceived must be given for 'partially_naive' agents, and for no others; got {perceived!r}."
        )
    own, other = list(start), list(perceived or {})
    for name in other:
        check_choice("perceived", name, own)
    first = [*start.values(), *(perceived or {}).values()]
    typical = float(np.ptp(mdp.rewards)) or 1.0
    scales = [*_scales_of([*own, *other], first, bounds or {}), _Scale(0.0, math.inf, unit=1.0 / typical)]
    model = _Model(mdp, law, kind, deadline, tuple(own), tuple(other), tuple(scales))
    choices = _find_choices(data, mdp)
    if choices[0].size == 0:
        raise ValueError(
            "data must have a state with different actions; in all of theirs there is no choice."
        )

    def loss(theta: FloatArray) -> float:
        if np.abs(theta).max() > _FARTHEST:
            return _FAILED
        return -_sum_logs(model.solve(theta), *choices)

    reals = [scale.to_real(value) for scale, value in zip(scales, first, strict=False)]
    points = [reals, *([math.log(odds)] * len(reals) for odds in (3.0 / 7.0, 9.0))]
    starts = [
        np.array([*mine[: len(own)], *theirs[len(own) :], math.log(factor)])
        for mine in points
        for theirs in (points if other else [mine])
        for factor in (1.0, 5.0, 25.0)
    ]
    solver: Any = minimize
    options = {"xatol": 1e-5, "fatol": 1e-7, "maxiter": 400 * len(scales)}
    found = min(
        (
            solver(loss, one, method="Nelder-Mead", options=options)
            for one in sorted(starts, key=loss)[:_N_CLIMBS]
        ),
        key=lambda one: float(one.fun),
    )
    theta = np.asarray(found.x)
    parameters, expected = model.name(model.values(theta))
    errors, expected_errors = model.name(_curvature_errors(loss, theta) * model.slopes(theta))
    return SequentialFit(
        kind=kind,
        parameters=parameters,
        perceived=expected,
        standard_errors=errors,
        perceived_errors=expected_errors,
        log_likelihood=-float(found.fun),
        n_choices=choices[0].size,
        decisions=model.solve(theta),
    )


@dataclass(frozen=True, eq=False)
class _Model:
    """A kind of softmax agent with parameters to estimate: own ones, perceived ones and the sensitivity."""

    mdp: TabularMDP
    law: Callable[..., LengthLaw]
    kind: str
    deadline: int | None
    own: tuple[str, ...]
    other: tuple[str, ...]
    scales: tuple[_Scale, ...]

    def values(self, theta: FloatArray) -> FloatArray:
        """Return the parameters for real numbers."""
        return np.array([scale.from_real(x) for scale, x in zip(self.scales, theta.tolist(), strict=True)])

    def slopes(self, theta: FloatArray) -> FloatArray:
        """Return the derivatives of the parameters by the real numbers."""
        values = self.values(theta).tolist()
        return np.array([scale.slope(value) for scale, value in zip(self.scales, values, strict=True)])

    def name(self, values: FloatArray) -> tuple[dict[str, float], dict[str, float]]:
        """Return numbers by name: those of the agent with its sensitivity, and those of the perceived law."""
        n, found = len(self.own), values.tolist()
        named = zip((*self.own, "sensitivity"), [*found[:n], found[-1]], strict=True)
        return dict(named), dict(zip(self.other, found[n:-1], strict=True))

    def solve(self, theta: FloatArray) -> Decisions:
        """Return the agent."""
        parameters, expected = self.name(self.values(theta))
        sensitivity = parameters.pop("sensitivity")
        task = Task.of(self.mdp, self.law(**parameters), self.deadline, sensitivity=sensitivity)
        if self.kind in ("committed", "naive"):
            return task.naive() if self.kind == "naive" else task.committed()
        return task.selves(self.law(**parameters | expected) if expected else None)


def _scales_of(
    names: Sequence[str], values: Sequence[float], bounds: Mapping[str, tuple[float, float]]
) -> list[_Scale]:
    """Return the scales of the parameters; raises `ValueError` for values outside their bounds."""
    for name in bounds:
        check_choice("bounds", name, names)
    scales = []
    for name, value in zip(names, values, strict=True):
        low, high = bounds.get(name, (0.0, 1.0))
        if not -math.inf < low < high:
            raise ValueError(f"bounds[{name!r}] must be two numbers, the lower first; got {(low, high)!r}.")
        if not low < value < high:
            raise ValueError(f"start[{name!r}] must be in ({low:g}, {high:g}); got {value!r}.")
        scales.append(_Scale(low, high, unit=value - low))
    return scales


def compare_kinds(
    data: Any,
    mdp: TabularMDP,
    law: Callable[..., LengthLaw],
    start: Mapping[str, float],
    *,
    kinds: Sequence[str] | None = None,
    perceived: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
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
        kinds: The kinds to fit; by default committed, naive and sophisticated, and partially naive if
            `perceived` is given.
        perceived: See `fit_sequential`; only for partially naive agents.
        bounds: See `fit_sequential`.
        deadline: Last step that counts; None if there is none.
    """
    fits = [
        fit_sequential(
            data,
            mdp,
            law,
            start,
            kind=kind,
            perceived=perceived if kind == "partially_naive" else None,
            bounds=bounds,
            deadline=deadline,
        )
        for kind in (kinds or _KINDS[: 4 if perceived else 3])
    ]
    return sorted(fits, key=lambda one: one.bic)


def _curvature_errors(
    loss: Callable[[FloatArray], float], theta: FloatArray, width: float = 1e-3
) -> FloatArray:
    """Return standard errors from central second differences of the loss.

    They are NaN for parameters at their bounds, which are held, and for all if the curvature is not positive.
    """
    errors = np.full(theta.size, math.nan)
    free = np.flatnonzero(np.abs(theta) < _EDGE)
    steps = width * np.eye(theta.size)[free]
    curvature = np.empty((free.size, free.size))
    for i in range(free.size):
        for j in range(i, free.size):
            ends = [loss(theta + a * steps[i] + b * steps[j]) for a in (1, -1) for b in (1, -1)]
            curvature[i, j] = curvature[j, i] = (ends[0] - ends[1] - ends[2] + ends[3]) / (4.0 * width**2)
    if free.size and np.linalg.eigvalsh(curvature)[0] > 1e-6:
        errors[free] = np.sqrt(np.diag(np.linalg.inv(curvature)))
    return errors
