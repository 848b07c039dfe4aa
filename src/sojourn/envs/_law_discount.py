"""A wrapper that discounts rewards by a law of lengths."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from sojourn._validation import check_choice, check_whole
from sojourn.envs._law import StepTable, as_law, record_law
from sojourn.envs._wrapper_checks import metadata_with_law, refuse_second_law, refuse_step_after_end
from sojourn.laws import LengthLaw

__all__ = ["CUT_OFFS", "LawDiscount", "last_step"]

CUT_OFFS = ("terminated", "truncated")
"""Possible flags of the end after `max_steps`."""


class LawDiscount(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Multiplies each reward by the probability that an episode reaches its step; draws no lengths.

    E Σ_{h ≤ H} r = E Σ_h γ(h) r, so an agent that maximizes the sum of γ(h) · r without its own discount (γ =
    1 in its settings) maximizes the right objective. Its best policy changes with the step, so let it observe
    the step too: see `StepIndex`.

    `max_steps` = N restricts the objective to the first N steps, which omits at most Γ(N+1) · max|r|. Nothing
    after step N counts, so the end there is `terminated`: an agent that bootstraps at truncations would add
    an undiscounted value of steps that it never plays.

    When an episode ends, `info["ended_by"]` says why:

    - `"env"`: the environment itself terminated.
    - `"limit"`: `max_steps` was reached (`terminated`), or a TimeLimit or another outside limit cut the
      episode off (`truncated`).
    - `"law"`: the law's longest length was reached (`terminated`).

    Args:
        env: The environment.
        law: The law of lengths, or its text.
        max_steps: Number of steps that count; None for as many as the law allows.
        emit: "reward" emits γ(h) · r. "discount" leaves rewards unchanged and puts ρ(h) = γ(h+1)/γ(h) into
            `info["discount"]`, for agents with a discount per step: r + ρ(h) · V(next). It is 0 where the
            episode terminated.
        cut_off: The flag of the end after `max_steps`: "terminated", or "truncated" for agents that estimate
            the value of later steps, in the units that are emitted.

    Example:
        >>> import gymnasium, sojourn as sj
        >>> env = LawDiscount(gymnasium.make("CartPole-v1"), sj.Geometric(0.5), max_steps=100)
        >>> _ = env.reset(seed=0)
        >>> [env.step(action)[1] for action in (0, 1, 0)]
        [1.0, 0.5, 0.25]
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        law: LengthLaw | str,
        max_steps: int | None = None,
        *,
        emit: str = "reward",
        cut_off: str = "terminated",
    ) -> None:
        law = as_law(law)
        RecordConstructorArgs.__init__(
            self, law=record_law(law), max_steps=max_steps, emit=emit, cut_off=cut_off
        )
        gymnasium.Wrapper.__init__(self, env)
        refuse_second_law(env, "LawDiscount")
        self.metadata = metadata_with_law(env, "LawDiscount")
        self.law = law
        self._emits_reward = check_choice("emit", emit, ["reward", "discount"]) == "reward"
        self._cuts = check_choice("cut_off", cut_off, CUT_OFFS) == "truncated"
        self._last, self._is_final = last_step(law, max_steps)
        self._weights = StepTable(law.survival if self._emits_reward else law.continuation)
        self._taken, self._over = 0, True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        began = self.env.reset(seed=seed, options=options)
        self._taken, self._over = 0, False
        return began

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play one step and discount its reward."""
        refuse_step_after_end(self._over)
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._taken += 1
        info = dict(info)
        is_last = self._last is not None and self._taken >= self._last
        if terminated or truncated or is_last:
            self._over = True
            ended_by_law = is_last and self._is_final and not truncated
            info["ended_by"] = "env" if terminated else "law" if ended_by_law else "limit"
        is_cut = is_last and self._cuts and not self._is_final
        terminated = bool(terminated or (is_last and not is_cut))
        if self._emits_reward:
            reward = float(reward) * self._weights.at(self._taken)
        else:
            info["discount"] = 0.0 if terminated else self._weights.at(self._taken)
        return observation, reward, terminated, bool(truncated or is_cut), info


def last_step(law: LengthLaw, max_steps: int | None) -> tuple[int | None, bool]:
    """Return the last step that is played, or None, and whether the law (not `max_steps`) sets it."""
    if max_steps is None:
        return law.longest, True
    last = check_whole("max_steps", max_steps, least=1)
    if law.longest is not None and law.longest <= last:
        return law.longest, True
    return last, False
