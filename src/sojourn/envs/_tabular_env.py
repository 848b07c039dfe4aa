"""A `TabularMDP` as a Gymnasium environment."""

from __future__ import annotations

from functools import cached_property
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces

from sojourn._typing import FloatArray
from sojourn._validation import check_choice
from sojourn.mdps import TabularMDP

__all__ = ["TabularEnv"]


class TabularEnv(gymnasium.Env[np.int64, np.int64]):
    """Plays a `TabularMDP`: observations are states, and rewards are the expected rewards r(s, a).

    An episode terminates in the problem's terminal states if they pay nothing. If they pay, as those of
    `mdp.normalized()` may, the episode goes on there and they pay at every step, because an end would change
    the problem.

    `TabularMDP.from_env` returns the same problem, and `P` is its table in Gymnasium's form.

    Args:
        mdp: The problem.
        render_mode: None, or "ansi" for a line of text.

    Example:
        >>> import sojourn as sj
        >>> env = TabularEnv(sj.mdps.river_swim(6))
        >>> env.reset(seed=0)[0], env.step(0)[:3]
        (np.int64(0), (np.int64(0), 0.005, False))
        >>> sj.TabularMDP.from_env(env) == env.mdp
        True
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(self, mdp: TabularMDP, *, render_mode: str | None = None) -> None:
        if not isinstance(mdp, TabularMDP):
            raise TypeError(f"mdp must be a TabularMDP; got {mdp!r}.")
        if render_mode is not None:
            check_choice("render_mode", render_mode, self.metadata["render_modes"])
        self.mdp = mdp
        self.render_mode = render_mode
        self.observation_space: spaces.Discrete = spaces.Discrete(mdp.n_states)
        self.action_space: spaces.Discrete = spaces.Discrete(mdp.n_actions)
        self._starts = np.flatnonzero(mdp.start)
        self._start_sums = np.cumsum(mdp.start[self._starts])
        self._ends = np.zeros(mdp.n_states, dtype=np.bool_)
        if mdp.terminal_reward == 0.0:
            self._ends[list(mdp.terminal)] = True
        self._state: int | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.int64, dict[str, Any]]:
        """Start an episode in a random start state."""
        super().reset(seed=seed)
        drawn = _pick(self._start_sums, self.np_random.random())
        self._state = int(self._starts[drawn])
        return np.int64(self._state), {}

    def step(self, action: Any) -> tuple[np.int64, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play an action: draw the next state and return the expected reward."""
        if self._state is None:
            raise gymnasium.error.ResetNeeded("step must follow reset.")
        if not self.action_space.contains(action):
            raise ValueError(f"action must be in 0 … {self.mdp.n_actions - 1}; got {action!r}.")
        table = self.mdp.transitions
        pair = self._state * self.mdp.n_actions + int(action)
        first, stop = int(table.indptr[pair]), int(table.indptr[pair + 1])
        drawn = 0
        if stop > first + 1:
            drawn = _pick(np.cumsum(table.data[first:stop]), self.np_random.random())
        reward = float(self.mdp.rewards[self._state, int(action)])
        self._state = int(table.indices[first + drawn])
        return np.int64(self._state), reward, bool(self._ends[self._state]), False, {}

    def render(self) -> str | None:
        """Return a line with the problem's name and the state if the render mode is "ansi"."""
        if self.render_mode is None:
            return None
        where = "not begun" if self._state is None else f"state {self._state} of {self.mdp.n_states}"
        return f"{self.mdp.name or 'TabularMDP'}: {where}\n"

    @property
    def initial_state_distrib(self) -> FloatArray:
        """The distribution of the first state, by the name that Gymnasium's toy-text environments use."""
        return self.mdp.start

    @cached_property
    def P(self) -> dict[int, dict[int, list[tuple[float, int, float, bool]]]]:  # noqa: N802
        """`P[state][action]` is a list of (probability, next state, reward, terminated)."""
        mdp = self.mdp
        return {
            state: {
                action: [
                    (float(share), int(after), float(mdp.rewards[state, action]), bool(self._ends[after]))
                    for after, share in zip(*mdp.successors(state, action), strict=True)
                ]
                for action in range(mdp.n_actions)
            }
            for state in range(mdp.n_states)
        }


def _pick(sums: FloatArray, uniform: float) -> int:
    """Return the index that a uniform number selects; rounding may leave the last sum below 1."""
    return min(int(sums.searchsorted(uniform, side="right")), sums.size - 1)
