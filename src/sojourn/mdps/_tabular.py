"""`TabularMDP`: a finite Markov decision process as checked, read-only tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn import _html
from sojourn._text import one_line
from sojourn._typing import ArrayLike, FloatArray, IntArray
from sojourn.mdps._checks import (
    as_grid,
    as_names,
    as_start,
    as_terminal,
    check_index,
    check_terminal,
    expected_rewards,
    float_array,
)
from sojourn.mdps._from_transitions import read_log
from sojourn.mdps._transitions import ReadOnlyCSR, canonical, check_probabilities, pair_of_entry

__all__ = ["TabularMDP", "is_size_label"]

_SIZE_LABEL = re.compile(r"\d+ states, \d+ actions")
"""The form of `TabularMDP.label` for a problem without a name. Stored results keep that label."""

_MOST_STATES, _MOST_ACTIONS = 40, 8
"""Up to these sizes, a notebook shows the reward of every state and action."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class TabularMDP:
    """A finite Markov decision process: transition probabilities, rewards and start states.

    The constructor checks everything and makes the arrays read-only. Two problems are equal if their
    transitions, rewards, start, terminal states, `reward_scale` and `reward_shift` are equal; names are only
    labels and are not compared.

    Args:
        transitions: Probabilities: an `(S, A, S)` array; a sparse `(S·A, S)` array of any format, whose row
            s·A + a belongs to action a in state s; or a sequence of A sparse `(S, S)` arrays. Each row sums
            to 1 within 1e-12; nothing is renormalized.
        rewards: `(S, A)`, or `(S, A, S)` by successor; only the expected rewards are kept.
        start: The state, or `(S,)` distribution over states, in which episodes begin.
        terminal: The state or states that end an episode. They must be absorbing under every action and all
            pay the same reward.
        name: A label.
        state_names: One name per state, all different.
        action_names: One name per action, all different.
        grid: Rows and columns of a map, if the states lie on one: states are numbered cell by cell, row by
            row, with the same number of states per cell. States beyond those of the map come last.

    Attributes:
        n_states: S.
        n_actions: A.
        transitions: Sparse CSR array of shape `(S·A, S)`: sorted, merged, without zeros. Its `copy()` can be
            written to.
        rewards: `(S, A)` expected rewards; in the environment's own units unless normalized.
        start: `(S,)` distribution.
        terminal: The terminal states, sorted.
        terminal_reward: Reward of every step in a terminal state; 0 if there are none.
        name: The label, or None.
        state_names: The names of the states, or None.
        action_names: The names of the actions, or None.
        grid: Rows and columns of the map, or None.
        reward_scale: Factor of the map back to the original units:
            original reward = reward · reward_scale + reward_shift.
        reward_shift: Constant of that map.

    Example:
        >>> mdp = TabularMDP([[[0.9, 0.1]], [[0.0, 1.0]]], [[1.0], [0.0]], terminal=1)
        >>> mdp
        TabularMDP(n_states=2, n_actions=1)
        >>> mdp.successors(0, 0)
        (array([0, 1]), array([0.9, 0.1]))
        >>> mdp.terminal, mdp.terminal_reward
        ((1,), 0.0)
        >>> named = TabularMDP(mdp.transitions, mdp.rewards, terminal=1, state_names=["busy", "done"])
        >>> named.state_label(1), mdp.state_label(1)
        ('done', 'state 1')
    """

    n_states: int
    n_actions: int
    transitions: ReadOnlyCSR
    rewards: FloatArray
    start: FloatArray
    terminal: tuple[int, ...]
    terminal_reward: float
    name: str | None
    state_names: tuple[str, ...] | None
    action_names: tuple[str, ...] | None
    grid: tuple[int, int] | None
    reward_scale: float
    reward_shift: float

    def __init__(
        self,
        transitions: Any,
        rewards: ArrayLike,
        *,
        start: int | ArrayLike = 0,
        terminal: int | Iterable[int] | None = None,
        name: str | None = None,
        state_names: Iterable[str] | None = None,
        action_names: Iterable[str] | None = None,
        grid: tuple[int, int] | None = None,
    ) -> None:
        table, n_actions = canonical(transitions)
        check_probabilities(table, n_actions)
        n_states = int(table.shape[1])
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name must be text or None; got {name!r}.")
        paid = _as_rewards(rewards, table, n_actions)
        states = as_terminal(terminal, n_states)
        self._set(
            n_states=n_states,
            n_actions=n_actions,
            transitions=table,
            rewards=paid,
            start=as_start(start, n_states),
            terminal=states,
            terminal_reward=check_terminal(states, table, paid),
            name=name,
            state_names=as_names("state_names", state_names, n_states, "states"),
            action_names=as_names("action_names", action_names, n_actions, "actions"),
            grid=as_grid(grid, n_states),
            reward_scale=1.0,
            reward_shift=0.0,
        )

    @property
    def scale(self) -> float:
        """Deprecated name of `reward_scale`."""
        return self.reward_scale

    @property
    def shift(self) -> float:
        """Deprecated name of `reward_shift`."""
        return self.reward_shift

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**{"state_names": None, "action_names": None, "grid": None} | state)

    @classmethod
    def from_env(cls, env: Any, *, start: int | ArrayLike | None = None, **kwargs: Any) -> TabularMDP:
        """Read the transition table of a Gymnasium environment.

        The environment's `terminated` flag decides where an episode ends: every such transition leads to one
        added absorbing state, the last, which pays 0, whatever next state the table names. All other states
        keep their numbers, even those that are never reached. Rewards that depend on the successor are
        averaged. A `TimeLimit` is not part of the table and is ignored, because the law decides how long
        episodes last.

        Args:
            env: A Gymnasium id, or an environment with a table `P[state][action]` of `(probability, next
                state, reward, terminated)`. An id whose version is gone resolves to the newest one, with a
                `NewerVersionWarning`.
            start: A state or distribution, instead of the environment's own.
            **kwargs: Passed to `gymnasium.make`, with an id.

        Example:
            >>> TabularMDP.from_env("FrozenLake-v1", is_slippery=False)
            TabularMDP('FrozenLake-v1(is_slippery=False)', n_states=17, n_actions=4)
        """
        from sojourn.mdps._from_env import read_env  # noqa: PLC0415 (Gymnasium is loaded when first needed)

        tables = read_env(env, start, kwargs)
        units = tables.pop("units", {})
        mdp = cls(**tables)
        mdp._set(**units)
        return mdp

    @classmethod
    def from_transitions(
        cls,
        log: Any,
        *,
        n_states: int | None = None,
        n_actions: int | None = None,
        start: int | ArrayLike = 0,
        unvisited: str = "refuse",
        state_names: Iterable[str] | None = None,
        action_names: Iterable[str] | None = None,
    ) -> TabularMDP:
        """Estimate a problem from logged steps: relative frequencies and mean rewards.

        Steps that `terminated` lead to one added absorbing state, the last, which pays 0, whatever next state
        they name.

        Args:
            log: Rows `(state, action, reward, next_state, terminated)`, or a mapping, structured array or
                data frame with these columns. States and actions are whole numbers from 0. A table may have
                a column `count` with the number of steps that a row stands for.
            n_states: Number of states; by default the largest in the log plus 1, without the added state.
            n_actions: Number of actions; by default the largest in the log plus 1.
            start: The state in which episodes begin, or a distribution over the `n_states`.
            unvisited: How to treat a (state, action) pair that was never tried: "refuse" raises an error that
                names the first one; "stay" assumes that it stays in its state and pays the lowest logged
                reward, a pessimistic choice.
            state_names: One name per state; the added state is called "end".
            action_names: One name per action.

        Example:
            >>> log = [(0, 0, 1.0, 0, False), (0, 0, 0.0, 1, False), (1, 0, 0.5, 0, True)]
            >>> mdp = TabularMDP.from_transitions(log)
            >>> mdp.rewards[:, 0]
            array([0.5, 0.5, 0. ])
            >>> mdp.terminal
            (2,)
        """
        names = {"state_names": state_names, "action_names": action_names}
        return cls(**read_log(log, n_states, n_actions, start, unvisited, **names))

    @property
    def label(self) -> str:
        """The name, or the size if there is no name: "6 states, 2 actions"."""
        return self.name or f"{self.n_states} states, {self.n_actions} actions"

    def state_label(self, state: int) -> str:
        """Return the name of a state, control characters escaped, or "state 3" if states have no names."""
        state = check_index("state", state, self.n_states)
        return f"state {state}" if self.state_names is None else one_line(self.state_names[state])

    def action_label(self, action: int) -> str:
        """Return the name of an action, control characters escaped, or "action 1" if they have no names."""
        action = check_index("action", action, self.n_actions, "an action")
        return f"action {action}" if self.action_names is None else one_line(self.action_names[action])

    def successors(self, state: int, action: int) -> tuple[IntArray, FloatArray]:
        """Return the states that `action` in `state` can lead to, and their probabilities."""
        state = check_index("state", state, self.n_states)
        action = check_index("action", action, self.n_actions, "an action")
        pair = state * self.n_actions + action
        row = slice(self.transitions.indptr[pair], self.transitions.indptr[pair + 1])
        return self.transitions.indices[row].astype(np.int64), self.transitions.data[row]

    def normalized(self) -> TabularMDP:
        """Return the same problem with rewards in [0, 1].

        If all rewards are in [0, 1] already, the problem itself is returned. Otherwise every reward r becomes
        (r − min) / (max − min). Terminal states are included: if they alone were not shifted, the best policy
        could change. A value V of the result, under a law of episode lengths, is
        V · reward_scale + reward_shift · law.mean in the original units.

        Example:
            >>> mdp = TabularMDP([[[0.0, 1.0]], [[0.0, 1.0]]], [[-4.0], [0.0]], terminal=1).normalized()
            >>> mdp.rewards[:, 0], mdp.terminal_reward
            (array([0., 1.]), 1.0)
            >>> mdp.reward_scale, mdp.reward_shift
            (4.0, -4.0)
        """
        low, high = float(self.rewards.min()), float(self.rewards.max())
        if low >= 0.0 and high <= 1.0:
            return self
        scale = high - low if high > low else 1.0
        if not scale < np.inf:
            raise ValueError(f"rewards must have a finite range; got {low!r} … {high!r}.")
        # Subtraction and division round monotonically, so the largest reward is 1 and none is outside [0, 1].
        result = TabularMDP(
            self.transitions,
            (self.rewards - low) / scale,
            start=self.start,
            terminal=self.terminal,
            name=self.name,
            state_names=self.state_names,
            action_names=self.action_names,
            grid=self.grid,
        )
        result._set(
            reward_scale=scale * self.reward_scale, reward_shift=low * self.reward_scale + self.reward_shift
        )
        return result

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TabularMDP):
            return NotImplemented
        mine, theirs = self.transitions, other.transitions
        return self._summary() == other._summary() and all(
            np.array_equal(a, b)
            for a, b in (
                (self.rewards, other.rewards),
                (self.start, other.start),
                (mine.indptr, theirs.indptr),
                (mine.indices, theirs.indices),
                (mine.data, theirs.data),
            )
        )

    def __hash__(self) -> int:
        return hash(self._summary())

    def _summary(self) -> tuple[Any, ...]:
        entries = int(self.transitions.nnz)
        return (self.n_states, self.n_actions, entries, self.terminal, self.reward_scale, self.reward_shift)

    def _is_rescaled(self) -> bool:
        return (self.reward_scale, self.reward_shift) != (1.0, 0.0)

    def __repr__(self) -> str:
        name = "" if self.name is None else f"{self.name!r}, "
        units = ""
        if self._is_rescaled():
            units = f", reward_scale={self.reward_scale!r}, reward_shift={self.reward_shift!r}"
        return f"TabularMDP({name}n_states={self.n_states}, n_actions={self.n_actions}{units})"

    def _repr_html_(self) -> str:
        begins = np.flatnonzero(self.start)
        successors = self.transitions.nnz / (self.n_states * self.n_actions)
        facts: list[tuple[str, object]] = [
            ("states", f"{self.n_states:,}"),
            ("actions", f"{self.n_actions:,}"),
            ("rewards", f"{self.rewards.min():.6g} … {self.rewards.max():.6g}"),
            ("start", self.state_label(begins[0]) if len(begins) == 1 else f"one of {len(begins):,} states"),
        ]
        rows: list[tuple[str, object]] = [
            ("successors per state and action", f"{successors:.3g} on average"),
            (
                "terminal states",
                len(self.terminal) if len(self.terminal) != 1 else self.state_label(self.terminal[0]),
            ),
        ]
        if self._is_rescaled():
            sign = "−" if self.reward_shift < 0.0 else "+"
            rows.append(
                ("original units", f"reward · {self.reward_scale:.6g} {sign} {abs(self.reward_shift):.6g}")
            )
        title = self.name or "TabularMDP"
        return _html.card(f"Problem: {title}", facts, self._picture(), _html.table("", rows))

    def _picture(self) -> str:
        """Return the expected rewards as SVG text: of every state and action if they are few, else counts."""
        if self.n_states <= _MOST_STATES and self.n_actions <= _MOST_ACTIONS:
            rows = [(self.action_label(a), self.rewards[:, a].tolist()) for a in range(self.n_actions)]
            columns = [self.state_label(s) for s in range(self.n_states)]
            return _html.heat_picture(rows, columns, "expected reward by action and state")
        counts, edges = np.histogram(self.rewards, bins=24)
        bins = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), [0] * 24, strict=True)
        return _html.column_picture(list(bins), ("expected reward", "pairs of state and action"))


def is_size_label(label: str) -> bool:
    """Whether `TabularMDP.label` gave the size, because the problem had no name."""
    return _SIZE_LABEL.fullmatch(label) is not None


def _as_rewards(rewards: ArrayLike, table: ReadOnlyCSR, n_actions: int) -> FloatArray:
    n_states = int(table.shape[1])
    rule = f"an (S, A) = ({n_states}, {n_actions}) or (S, A, S) array"
    array = float_array("rewards", rewards, rule)
    if array.shape not in ((n_states, n_actions), (n_states, n_actions, n_states)):
        raise ValueError(f"rewards must be {rule}; got shape {array.shape}.")
    finite = np.isfinite(array)
    if not finite.all():
        index = np.unravel_index(int(np.argmin(finite)), array.shape)
        place = ", ".join(str(i) for i in index)
        raise ValueError(f"rewards[{place}] must be finite; got {float(array[index])!r}.")
    if array.ndim == 2:
        return np.array(array, order="C")
    pairs = pair_of_entry(table)
    by_entry = array.reshape(-1, n_states)[pairs, table.indices]
    return expected_rewards(pairs, table.data, by_entry, table.shape[0]).reshape(n_states, n_actions)
