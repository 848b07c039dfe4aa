"""Settings shared by all agents with one Q table per step, and quantities that they derive from a law."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sojourn._memory import check_fits
from sojourn._typing import FloatArray
from sojourn._validation import check_choice, check_positive, check_whole, did_you_mean
from sojourn.agents.tabular._checks import check_terminal_reward
from sojourn.agents.tabular._learner import TabularLearner
from sojourn.agents.tabular._table_memory import START_ROOM, table_bytes
from sojourn.laws import Geometric, LengthLaw, geometric_with_mean
from sojourn.theory import BonusKind, printed_truncation, proven_truncation

__all__ = [
    "LayeredAgent",
    "choose_layers",
    "discount_law",
    "remaining_steps",
    "require_n_states",
    "value_after",
]


@dataclass(frozen=True)
class LayeredAgent:
    """Settings of an agent that plans N layers, one per step, under an assumed law.

    Args:
        law: The assumed law.
        horizon, truncation, ties, after, count: As in `UCBVI`.
        n_states: Number of states, for problems that do not state it.
    """

    law: LengthLaw
    horizon: int | None = field(default=None, kw_only=True)
    truncation: float | str = field(default="default", kw_only=True)
    ties: str = field(default="random", kw_only=True)
    after: str = field(default="restart", kw_only=True)
    count: str = field(default="all", kw_only=True)
    n_states: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.law, LengthLaw):
            raise TypeError(f"law must be a LengthLaw, such as Geometric(0.95); got {self.law!r}.")
        if self.horizon is not None:
            check_whole("horizon", self.horizon, least=1)
            if self.truncation != "default":
                raise ValueError(
                    f"truncation must be left out if a horizon is given; got {self.truncation!r}."
                )
        elif isinstance(self.truncation, str):
            names = ["default", "paper"]
            if self.truncation not in names:
                raise ValueError(
                    f"truncation must be a finite number > 0, 'default' or 'paper'; got {self.truncation!r}."
                    f"{did_you_mean(self.truncation, names)}"
                )
        else:
            check_positive("truncation", self.truncation)
        check_choice("ties", self.ties, ["random", "first"])
        check_choice("after", self.after, ["restart", "hold"])
        check_choice("count", self.count, ["all", "first"])
        if self.n_states is not None:
            check_whole("n_states", self.n_states, least=1)

    def layers(self, episodes: int) -> tuple[int, float]:
        """Return the number of layers N and the truncation Δ for a trial of `episodes` episodes."""
        return choose_layers(self.law, self.horizon, self.truncation, episodes, self._bound)

    @property
    def _bound(self) -> BonusKind:
        """The proven bound whose number of layers is the default."""
        return "paper"

    def start(
        self,
        *,
        n_states: int | None,
        n_actions: int,
        episodes: int,
        rewards: FloatArray | None = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
        terminal_reward: float = 0.0,
        rng: np.random.Generator,
    ) -> TabularLearner:
        """Return a new learner; see `Agent.start`."""
        problem = {
            "n_states": n_states,
            "n_actions": check_whole("n_actions", n_actions, least=1),
            "rewards": rewards,
            "reward_range": reward_range,
            "terminal_reward": check_terminal_reward(terminal_reward),
            "key": int(rng.integers(2**63)),
        }
        return self._begin(check_whole("episodes", episodes, least=1), rng, problem)

    def _begin(self, episodes: int, rng: np.random.Generator, problem: dict[str, Any]) -> TabularLearner:
        """Return a new learner; `problem` holds the arguments that every `TabularLearner` takes."""
        raise NotImplementedError


def choose_layers(
    law: LengthLaw, horizon: int | None, truncation: float | str, episodes: int, bound: BonusKind = "paper"
) -> tuple[int, float]:
    """Return the number of layers N and the truncation Δ: Δ = Γ(N+1) if N is given, else N follows from Δ.

    Args:
        law: The assumed law.
        horizon: N, or None.
        truncation: Δ, "default" or "paper"; not used if N is given.
        episodes: Number of episodes of the trial.
        bound: The proven bound whose number of layers is the default.
    """
    if horizon is not None:
        n_layers = horizon if law.longest is None else min(horizon, law.longest)
        return n_layers, float(law.tail(n_layers + 1))
    if truncation == "default":
        return proven_truncation(law, episodes, bonus=bound)
    if isinstance(truncation, str):
        truncation = printed_truncation(law, episodes).truncation
    return law.effective_horizon(truncation), truncation


def discount_law(law: LengthLaw, gamma: float | None) -> Geometric:
    """Return the geometric law with discount `gamma`, or, if that is None, with the mean of `law`."""
    return geometric_with_mean(law.mean) if gamma is None else Geometric(gamma)


def require_n_states(settings: Any, n_states: int | None, why: str) -> int:
    """Return the number of states from the problem or the settings; raise `ValueError` if both lack it."""
    known = n_states if n_states is not None else settings.n_states
    if known is None:
        name = type(settings).__name__
        raise ValueError(
            "n_states must be given, by the problem or in the settings; got None. "
            f"Write {name}(..., n_states=1_000) with as many as you expect, for {why}."
        )
    return check_whole("n_states", known, least=1)


def remaining_steps(law: LengthLaw, n_layers: int) -> FloatArray:
    """Return Γ(h)/γ(h) of layers 1 … N+1; raise `MemoryLimitError` if the tables would not fit in memory."""
    check_fits(
        table_bytes(n_layers, START_ROOM, START_ROOM),
        f"A learner of {n_layers:,} layers",
        "give a smaller horizon or a larger truncation",
    )
    return law.remaining(np.arange(1, n_layers + 2))


def value_after(law: LengthLaw, n_layers: int, truncation: float) -> float:
    """Return Δ/γ(N+1), the value of all steps after layer N, by logarithms where γ underflows."""
    reach = float(law.survival(n_layers + 1))
    if reach > 0.0:
        return truncation / reach
    if law.longest is not None and n_layers >= law.longest:
        return 0.0
    exponent = math.log(truncation) - float(law.log_survival(n_layers + 1)) if truncation > 0 else -math.inf
    return math.exp(min(exponent, 700.0))
