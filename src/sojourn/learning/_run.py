"""The result of one trial."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn import _html
from sojourn._pandas import data_frame
from sojourn._text import short_number
from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.agents import Agent
from sojourn.laws import LengthLaw, label
from sojourn.learning._estimate import format_number
from sojourn.learning._names import name_agents
from sojourn.learning._regret_sample import RegretEstimate, estimate_regret

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

__all__ = ["Run"]

_MOST_POINTS = 200
"""Largest number of points of the curve in a notebook."""


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
            units and never clipped; NaN for episodes that were not valued. None if the learner does not show
            its policy, or if the problem is an environment without a transition table.
        regret_width: Width of the certified bracket of the regret, or None.
        price: Price of not knowing the length, for the episode's start state; None without a table.
        seconds: Time that playing took, including planning and learning; no result depends on it.
        observations: The observations of an environment without a table, in the order of their state numbers;
            None if the problem numbers its states itself.
        learner: The learner after the last episode, with its counts, Q values and estimates.
        valued: The episodes whose regret was computed, counted from 0, if only some were; otherwise None.
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
    valued: IntArray | None = None

    @property
    def regret_episodes(self) -> int:
        """Number of episodes whose regret was computed."""
        if self.regret is None:
            return 0
        return self.regret.size if self.valued is None else self.valued.size

    @property
    def cumulative_regret(self) -> FloatArray | None:
        """Regret summed up to each episode: exact, or an unbiased estimate if only some were valued."""
        return None if self.regret is None else self._sum(self.regret).cumulative

    @property
    def regret_error(self) -> FloatArray | None:
        """Standard error of `cumulative_regret`: 0 if all episodes were valued."""
        return None if self.regret is None else self._sum(self.regret).error

    @property
    def cumulative_regret_width(self) -> FloatArray | None:
        """Width of the bracket of `cumulative_regret` that follows from those of the valued episodes."""
        return None if self.regret_width is None else self._sum(self.regret_width).cumulative

    @property
    def total_regret_width(self) -> float:
        """Width of the bracket of the total regret; NaN without regret."""
        if self.regret_width is None or self.valued is None:
            return math.nan if self.regret_width is None else float(self.regret_width.sum())
        return float(self._sum(self.regret_width).cumulative[-1])

    def _sum(self, values: FloatArray) -> RegretEstimate:
        if self.valued is None:
            return RegretEstimate(np.cumsum(values), np.zeros(values.size))
        return estimate_regret(values[self.valued], self.valued, values.size)

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

    def to_pandas(self) -> DataFrame:
        """Return the results as a pandas data frame with one row per episode.

        Columns: `episode`, counted from 1, `start`, `length`, `observed`, `reward`; also `regret` and
        `cumulative_regret` if regret was computed.

        Raises:
            ImportError: If pandas is not installed.
        """
        columns: dict[str, Any] = {
            "episode": np.arange(1, self.lengths.size + 1),
            "start": self.starts,
            "length": self.lengths,
            "observed": self.observed,
            "reward": self.rewards,
        }
        if self.regret is not None:
            columns |= {"regret": self.regret, "cumulative_regret": self.cumulative_regret}
        return data_frame(columns)

    def __repr__(self) -> str:
        (name,) = name_agents([self.agent])
        return f"Run({name} on {self.problem!r}, {self._summary()}, seed {self.seed})"

    def _repr_html_(self) -> str:
        (name,) = name_agents([self.agent])
        facts = [
            ("episodes", f"{self.lengths.size:,}"),
            ("mean length", short_number(float(self.lengths.mean()))),
            ("mean reward", short_number(float(self.rewards.mean()))),
            ("total regret", self._total_regret() or "unknown"),
        ]
        rows = [
            ("agent", self.agent),
            ("problem", self.problem),
            ("law", self.law),
            ("seed", self.seed),
            ("result", self._summary()),
            ("speed", f"{self.episodes_per_second:,.0f} episodes per second"),
        ]
        title = f"Run of {name} on {self.problem}, lengths from {label(self.law)}"
        return _html.card(title, facts, self._picture(), _html.table("", rows))

    def _picture(self) -> str:
        """Return the cumulative regret as SVG text, or the sum of rewards if there is no regret."""
        values = self.cumulative_regret
        what = "cumulative regret" if values is not None else "sum of rewards"
        values = np.cumsum(self.rewards) if values is None else values
        episodes = np.unique(np.linspace(1, values.size, _MOST_POINTS).round().astype(np.int64))
        line = (what, episodes.tolist(), values[episodes - 1].tolist())
        return _html.line_picture([line], ("episode", what))

    def _total_regret(self) -> str | None:
        """Return the total regret as text, with its standard error if it is estimated."""
        if self.regret is None:
            return None
        if self.valued is None:
            return f"{float(np.sum(self.regret)):.6g}"
        found = self._sum(self.regret)
        total, error = float(found.cumulative[-1]), float(found.error[-1])
        return f"{format_number(total, error)} ± {format_number(error, error)} (standard error)"

    def _summary(self) -> str:
        text = f"{self.lengths.size:,} episodes, mean reward {self.rewards.mean():.6g}"
        total = self._total_regret()
        if total is None:
            return text
        text += f", total regret {total}"
        if self.valued is not None:
            return f"{text}, estimated from {self.valued.size:,} episodes"
        against = self.clairvoyant_regret
        return text if against is None else f"{text} ({float(np.sum(against)):.6g} against the clairvoyant)"
