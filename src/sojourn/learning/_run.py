"""The result of one trial."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn import _html
from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.agents import Agent
from sojourn.laws import LengthLaw
from sojourn.learning._names import name_agents

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Run"]


@dataclass(frozen=True, eq=False)
class Run:
    """Result of one agent on one problem with one law and seed; arrays have one entry per episode.

    Attributes:
        agent: The agent's settings.
        problem: Name of the problem, or its size if it has no name.
        law: The law that lengths were drawn from.
        seed: The seed.
        starts: State in which the episode began.
        lengths: Number of steps played.
        observed: Whether the length was observed; False if the environment ended the episode first.
        rewards: Sum of the rewards, in the environment's own units.
        regret: V*(x) − V^π(x) for the episode's start state x and policy π, exact, in the environment's own
            units and never clipped. None if the learner does not show its policy, or if the problem is an
            environment without a transition table.
        regret_width: Width of the certified bracket of the regret, or None.
        price: Price of not knowing the length, for the episode's start state; None without a table.
        seconds: Time that playing took, including planning and learning; no result depends on it.
        observations: The observations of an environment without a table, in the order of their state numbers;
            None if the problem numbers its states itself.
        learner: The learner after the last episode, with its counts, Q values and estimates.
    """

    agent: Agent
    problem: str
    law: LengthLaw
    seed: int
    starts: IntArray
    lengths: IntArray
    observed: BoolArray
    rewards: FloatArray
    regret: FloatArray | None
    regret_width: FloatArray | None
    price: FloatArray | None
    seconds: float = math.nan
    observations: tuple[Any, ...] | None = None
    learner: Any = None

    @property
    def clairvoyant_regret(self) -> FloatArray | None:
        """Regret against a policy that knows each length in advance: the regret plus the price."""
        return None if self.regret is None or self.price is None else self.regret + self.price

    @property
    def episodes_per_second(self) -> float:
        """Number of episodes played per second."""
        return self.lengths.size / self.seconds if self.seconds > 0.0 else math.nan

    def plot(self, ax: Axes | None = None, *, log: bool = False) -> Figure:
        """Draw the cumulative regret and the regret per episode; see `sojourn.plots.run_figure`."""
        from sojourn.plots import run_figure  # noqa: PLC0415

        return run_figure(self, ax=ax, log=log)

    def __repr__(self) -> str:
        (name,) = name_agents([self.agent])
        return f"Run({name} on {self.problem!r}, {self._summary()}, seed {self.seed})"

    def _repr_html_(self) -> str:
        rows = [
            ("agent", self.agent),
            ("problem", self.problem),
            ("law", self.law),
            ("seed", self.seed),
            ("result", self._summary()),
            ("speed", f"{self.episodes_per_second:,.0f} episodes per second"),
        ]
        return _html.table("Run", rows)

    def _summary(self) -> str:
        text = f"{self.lengths.size:,} episodes, mean reward {self.rewards.mean():.6g}"
        if self.regret is not None:
            text += f", total regret {float(np.sum(self.regret)):.6g}"
        if self.clairvoyant_regret is not None:
            text += f" ({float(np.sum(self.clairvoyant_regret)):.6g} against the clairvoyant)"
        return text
