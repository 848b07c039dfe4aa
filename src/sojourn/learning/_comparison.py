"""Results of several agents on the same problem, law and seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sojourn import _html
from sojourn._typing import FloatArray, IntArray
from sojourn.agents import Agent
from sojourn.laws import LengthLaw, label
from sojourn.learning._estimate import Estimate, estimate_mean
from sojourn.learning._statistics import (
    Interval,
    bootstrap_interval,
    paired_difference,
    probability_of_improvement,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Comparison"]

_HEADER = ("agent", "total regret", "difference from the first", "reward per episode")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Results of several agents on one problem, one law and the same seeds; prints as a small table.

    Attributes:
        names: Display names of the agents, all different.
        agents: The agents' settings.
        problem: Name of the problem, or its size if it has no name.
        law: The law that lengths were drawn from.
        seeds: The seeds.
        checkpoints: `(n,)` rising numbers of episodes; the last is the number of all episodes.
        cumulative_regret: `(agents, seeds, n)` regret summed up to each checkpoint; NaN for learners that do
            not show their policy.
        regret_width: `(agents, seeds)` width of the certified bracket of the total regret, or NaN.
        rewards: `(agents, seeds)` mean reward per episode.
    """

    names: tuple[str, ...]
    agents: tuple[Agent, ...]
    problem: str
    law: LengthLaw
    seeds: tuple[int, ...]
    checkpoints: IntArray
    cumulative_regret: FloatArray
    regret_width: FloatArray
    rewards: FloatArray

    @property
    def episodes(self) -> int:
        """Number of episodes played per agent and seed."""
        return int(self.checkpoints[-1])

    @property
    def total_regret(self) -> Estimate:
        """Regret summed over all episodes: mean over seeds and 95% interval, each `(agents,)`."""
        return estimate_mean(self.cumulative_regret[:, :, -1])

    @property
    def difference(self) -> Estimate:
        """Total regret less that of the first agent, paired by seed, each `(agents,)`; the first is 0."""
        total = self.cumulative_regret[:, :, -1]
        return paired_difference(total, total[:1])

    @property
    def mean_reward(self) -> Estimate:
        """Reward per episode: mean over seeds and 95% interval, each `(agents,)`."""
        return estimate_mean(self.rewards)

    @property
    def reward_difference(self) -> Estimate:
        """Reward per episode less that of the first agent, paired by seed, each `(agents,)`."""
        return paired_difference(self.rewards, self.rewards[:1])

    @property
    def interquartile_regret(self) -> Interval:
        """Interquartile mean of the total regret and 95% bootstrap interval, each `(agents,)`."""
        return bootstrap_interval(self.cumulative_regret[:, :, -1])

    @property
    def improvement(self) -> FloatArray:
        """Share of pairs of trials in which an agent has less total regret than the first, `(agents,)`."""
        total = self.cumulative_regret[:, :, -1]
        return probability_of_improvement(total, total[:1])

    def table(self) -> str:
        """Return the means and 95% intervals as a plain-text table, one line per agent."""
        rows = [_HEADER, *self._rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(map(str.rjust, row[1:], widths[1:]))]).rstrip()
            for row in rows
        ]
        return "\n".join([self._title(), "", *lines])

    def plot(self, ax: Axes | None = None, *, log: bool = False) -> Figure:
        """Draw the mean cumulative regret of every agent; see `sojourn.plots.comparison_figure`."""
        from sojourn.plots import comparison_figure  # noqa: PLC0415

        return comparison_figure(self, ax=ax, log=log)

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return _html.grid(self._title(), _HEADER, self._rows())

    def _title(self) -> str:
        seeds = f"{len(self.seeds):,} seed{'s' * (len(self.seeds) > 1)}"
        intervals = ", 95% intervals" if len(self.seeds) > 1 else ""
        episodes = f"{self.episodes:,} episode{'s' * (self.episodes > 1)}"
        title = f"{self.problem}, lengths from {label(self.law)}: {episodes}, {seeds}{intervals}"
        widths = self.regret_width[np.isfinite(self.regret_width)]
        return f"{title}, regret certified to {widths.max():.1e}" if widths.size else title

    def _rows(self) -> list[tuple[str, ...]]:
        differences = self.difference.texts()
        differences[0] = "—" if differences[0] == "—" else "0"
        columns = (self.names, self.total_regret.texts(), differences, self.mean_reward.texts())
        return list(zip(*columns, strict=True))
