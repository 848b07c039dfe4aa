"""The wrapper that discounts rewards by a law, for vector environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from sojourn._typing import BoolArray, FloatArray
from sojourn._validation import check_choice
from sojourn.envs._law import StepTable, as_law
from sojourn.envs._law_discount import CUT_OFFS, last_step
from sojourn.envs._wrapper_checks import metadata_with_law, refuse_second_law
from sojourn.envs.vector._episodes import EndingWrapper
from sojourn.laws import LengthLaw

__all__ = ["LawDiscount"]


class LawDiscount(EndingWrapper):
    """Multiplies rewards by the probability of reaching their step; see `sojourn.envs.LawDiscount`.

    Args:
        env: The vector environment.
        law: The law of lengths, or its text.
        max_steps: Number of steps that count; None for as many as the law allows.
        emit: "reward" emits γ(h) · r; "discount" puts ρ(h) into `infos["discount"]`.
        cut_off: The flag of the end after `max_steps`: "terminated" or "truncated".

    Example:
        >>> import gymnasium, sojourn as sj
        >>> envs = gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync")
        >>> envs = LawDiscount(envs, sj.Geometric(0.5), max_steps=100)
        >>> _ = envs.reset(seed=0)
        >>> [envs.step(actions)[1].tolist() for actions in ([0, 1], [1, 0])]
        [[1.0, 1.0], [0.5, 0.5]]
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        law: LengthLaw | str,
        max_steps: int | None = None,
        *,
        emit: str = "reward",
        cut_off: str = "terminated",
    ) -> None:
        super().__init__(env)
        refuse_second_law(env, "LawDiscount")
        self.metadata = metadata_with_law(env, "LawDiscount")
        self.law = as_law(law)
        self._emits_reward = check_choice("emit", emit, ["reward", "discount"]) == "reward"
        self._cuts = check_choice("cut_off", cut_off, CUT_OFFS) == "truncated"
        self._last, self._is_final = last_step(self.law, max_steps)
        self._weights = StepTable(self.law.survival if self._emits_reward else self.law.continuation)

    def _ends(self, played: BoolArray) -> tuple[BoolArray, BoolArray]:
        none = np.zeros_like(played)
        is_last = none if self._last is None else played & (self._taken >= self._last)
        return (is_last, none) if self._is_final else (none, is_last)

    def _weigh(self, rewards: FloatArray, going_on: BoolArray, infos: dict[str, Any]) -> FloatArray:
        weights = self._weights.at_all(np.maximum(self._taken, 1))
        if self._emits_reward:
            return rewards * weights
        infos |= {"discount": np.where(going_on, weights, 0.0), "_discount": self._taken > 0}
        return rewards
