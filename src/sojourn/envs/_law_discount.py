"""A law as the weight of rewards."""

from __future__ import annotations

from typing import Any, SupportsFloat

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from sojourn._validation import check_choice, check_whole
from sojourn.envs._contract import mark, refuse_second_law
from sojourn.envs._law import StepTable, as_law, record_law
from sojourn.laws import LengthLaw

__all__ = ["LawDiscount", "last_step"]


class LawDiscount(gymnasium.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Weighs each reward with the chance that an episode gets that far, and draws no lengths.

    E Σ_{h ≤ H} r = E Σ_h γ(h) r: an agent that adds up γ(h) · r without any discount of its own (γ = 1 in its
    settings) makes the right thing large. Its best policy changes with the step, so give it the step too: see
    `StepIndex`.

    When an episode ends, `info["ended_by"]` says how: `"env"`; `"limit"` after `max_steps` or by another
    cut-off, with `truncated` True, because more would have come; or `"law"` after the law's longest length,
    with `terminated` True, because nothing more can come.

    Args:
        env: The environment.
        law: The law of lengths, or its text.
        max_steps: Steps after which an episode is cut off; None goes on for as long as the law can.
        emit: "reward" emits γ(h) · r. "discount" leaves rewards alone and puts ρ(h) = γ(h+1)/γ(h) into
            `info["discount"]`, for agents that take the discount of each step: r + ρ(h) · V(next). It is 0
            where the environment terminated.

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
    ) -> None:
        law = as_law(law)
        RecordConstructorArgs.__init__(self, law=record_law(law), max_steps=max_steps, emit=emit)
        gymnasium.Wrapper.__init__(self, env)
        refuse_second_law(env, "LawDiscount")
        self.metadata = mark(env, "LawDiscount")
        self.law = law
        self._emits_reward = check_choice("emit", emit, ["reward", "discount"]) == "reward"
        self._last, self._is_final = last_step(law, max_steps)
        self._weights = StepTable(law.survival if self._emits_reward else law.continuation)
        self._taken = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        self._taken = 0
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play one step, and weigh it."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._taken += 1
        info = dict(info)
        if self._emits_reward:
            reward = float(reward) * self._weights.at(self._taken)
        else:
            info["discount"] = 0.0 if terminated else self._weights.at(self._taken)
        is_last = self._last is not None and self._taken >= self._last
        if terminated or truncated or is_last:
            ended_by_law = is_last and self._is_final and not truncated
            info["ended_by"] = "env" if terminated else "law" if ended_by_law else "limit"
        terminated = bool(terminated or (is_last and self._is_final))
        return observation, reward, terminated, bool(truncated or (is_last and not self._is_final)), info


def last_step(law: LengthLaw, max_steps: int | None) -> tuple[int | None, bool]:
    """Return the step after which nothing is played, if there is one, and whether no length goes past it."""
    if max_steps is None:
        return law.longest, True
    last = check_whole("max_steps", max_steps, least=1)
    if law.longest is not None and law.longest <= last:
        return law.longest, True
    return last, False
