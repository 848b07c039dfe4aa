"""Results of several agents on the same problem, law and seeds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sojourn import _html
from sojourn._latex import latex_table
from sojourn._pandas import data_frame
from sojourn._typing import FloatArray, IntArray
from sojourn.agents import Agent
from sojourn.laws import LengthLaw, label
from sojourn.learning._estimate import FEWEST_SEEDS, Estimate, estimate_mean, format_number
from sojourn.learning._statistics import (
    Interval,
    fewest_seeds,
    mean_without_worst,
    paired_difference,
    probability_of_improvement,
    simultaneous_intervals,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

__all__ = ["TABLE_HEADER", "Comparison"]

TABLE_HEADER = ("agent", "mean regret", "IQM of regret", "difference from the first", "reward per episode")
"""Column headings of a comparison's table."""

_DOMINATED = 0.5
"""A few seeds dominate a mean if it falls below this share of itself without them."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Results of several agents on one problem, one law and the same seeds; prints as a small table.

    Attributes:
        names: Display names of the agents, all different.
        agents: The agents' settings; empty if the comparison was loaded from a file.
        problem: Name of the problem, or its size if it has no name.
        law: The law that lengths were drawn from.
        seeds: The seeds.
        checkpoints: `(n,)` rising numbers of episodes; the last is the number of all episodes.
        cumulative_regret: `(agents, seeds, n)` regret summed up to each checkpoint; NaN for learners that do
            not show their policy.
        regret_width: `(agents, seeds)` width of the certified bracket of the total regret, or NaN.
        rewards: `(agents, seeds)` mean reward per episode.
        regret_error: `(agents, seeds, n)` standard error of `cumulative_regret` if it is estimated from some
            episodes, or None if all were valued.
        regret_episodes: Number of episodes per trial whose regret was computed, or None for all.
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
    regret_error: FloatArray | None = None
    regret_episodes: int | None = None

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
        """Interquartile mean of the total regret and 95% bootstrap interval, each `(agents,)`.

        The ends of the interval are NaN for fewer than five seeds.
        """
        return simultaneous_intervals(self.cumulative_regret[:, :, -1])

    @property
    def interquartile_difference(self) -> Interval:
        """Interquartile mean of the total regret less that of the first agent, paired by seed, `(agents,)`.

        The intervals of all agents hold together with 95% confidence: see `simultaneous_intervals`.
        """
        total = self.cumulative_regret[:, :, -1]
        return simultaneous_intervals(total - total[:1], max(1, len(self.names) - 1))

    @property
    def interquartile_reward(self) -> Interval:
        """Interquartile mean of the reward per episode and 95% bootstrap interval, each `(agents,)`."""
        return simultaneous_intervals(self.rewards)

    @property
    def improvement(self) -> FloatArray:
        """Share of pairs of trials in which an agent has less total regret than the first, `(agents,)`."""
        total = self.cumulative_regret[:, :, -1]
        return probability_of_improvement(total, total[:1])

    def table(self) -> str:
        """Return means and interquartile means as a plain-text table with one line per agent, and notes.

        Brackets hold 95% intervals of interquartile means.
        """
        rows = [TABLE_HEADER, *self.rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(TABLE_HEADER))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(map(str.rjust, row[1:], widths[1:]))]).rstrip()
            for row in rows
        ]
        return "\n".join([self._title(), "", *lines, "", *self.notes()])

    def notes(self) -> list[str]:
        """Return what a reader of the table must know, as sentences: what the intervals mean, and warnings.

        A warning names agents whose mean regret would be less than half without the worst tenth of the seeds.
        Estimated regret is said to be so, with its standard error.
        """
        n_seeds, n_differences = len(self.seeds), len(self.names) - 1
        about = "IQM: mean of the middle half of the seeds. "
        if n_seeds < FEWEST_SEEDS:
            ranges = "In parentheses: the smallest and largest seed. " if n_seeds > 1 else ""
            notes = [f"{about}{ranges}Intervals need at least {FEWEST_SEEDS} seeds."]
        elif n_seeds < fewest_seeds(max(1, n_differences)):
            needed = f"those of {n_differences} differences need at least {fewest_seeds(n_differences)} seeds"
            notes = [f"{about}In brackets: 95% bootstrap intervals of IQMs; {needed}."]
        else:
            together = (
                f"; those of the {n_differences} differences hold together" if n_differences > 1 else ""
            )
            notes = [f"{about}In brackets: 95% bootstrap intervals of IQMs{together}."]
        errors = np.empty(0) if self.regret_error is None else self.regret_error[:, :, -1]
        if np.isfinite(errors).any() and self.regret_episodes is not None:
            error = float(np.nanmax(errors))
            within = " Intervals over seeds include it." if n_seeds >= FEWEST_SEEDS else ""
            notes.append(
                f"Regret is estimated from {self.regret_episodes:,} of {self.episodes:,} episodes per trial; "
                f"the standard error of a trial is at most {format_number(error, error)}.{within}"
            )
        for name, regret in zip(self.names, self.cumulative_regret[:, :, -1], strict=True):
            if n_seeds == 1:
                break
            mean, (rest, n_worst) = float(regret.mean()), mean_without_worst(regret)
            if rest < _DOMINATED * mean:
                worst = "the worst seed" if n_worst == 1 else f"the {n_worst} worst seeds"
                falls = f"from {format_number(mean, mean / 10)} to {format_number(rest, mean / 10)}"
                notes.append(f"A few seeds dominate the mean of {name}: without {worst} it falls {falls}.")
        return notes

    def plot(
        self,
        ax: Axes | None = None,
        *,
        log: bool = False,
        bounds: Mapping[str, Callable[[int], float]] | None = None,
    ) -> Figure:
        """Draw the mean cumulative regret of every agent; see `sojourn.plots.comparison_figure`.

        `bounds` are drawn too: functions from a number of episodes to a bound on the regret, by name.
        """
        from sojourn.plots import comparison_figure  # noqa: PLC0415

        return comparison_figure(self, ax=ax, log=log, bounds=bounds)

    def save(self, path: str | Path) -> Path:
        """Write the results to a compressed `.npz` file without pickle and return its path.

        `load_comparison` reads it back, without the agents' settings.
        """
        from sojourn.learning._comparison_file import save_comparison  # noqa: PLC0415 - it knows the class

        return save_comparison(self, path)

    def to_pandas(self) -> DataFrame:
        """Return the results as a pandas data frame with one row per agent, seed and checkpoint.

        Columns: `agent`, `seed`, `episode`, `cumulative_regret`, and `reward`, the mean reward per episode of
        the whole trial; also `regret_error`, the standard error, if regret is estimated from some episodes.

        Raises:
            ImportError: If pandas is not installed.
        """
        shape = self.cumulative_regret.shape
        of_agent, of_seed, of_checkpoint = (part.ravel() for part in np.indices(shape))
        columns = {
            "agent": np.array(self.names)[of_agent],
            "seed": np.array(self.seeds)[of_seed],
            "episode": self.checkpoints[of_checkpoint],
            "cumulative_regret": self.cumulative_regret.ravel(),
            "reward": self.rewards[of_agent, of_seed],
        }
        if self.regret_error is not None:
            columns["regret_error"] = self.regret_error.ravel()
        return data_frame(columns)

    def to_latex(self) -> str:
        """Return the table as LaTeX, with its notes below; it needs the package booktabs."""
        return latex_table(TABLE_HEADER, self.rows(), [self._title(), *self.notes()])

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        regret = self.total_regret.mean
        has_regret = bool(np.isfinite(regret).any())
        best = int(np.nanargmin(regret) if has_regret else np.argmax(self.mean_reward.mean))
        facts = [
            ("episodes", f"{self.episodes:,}"),
            ("seeds", f"{len(self.seeds):,}"),
            ("least regret" if has_regret else "most reward", self.names[best]),
            ("lengths from", label(self.law)),
        ]
        title = f"Comparison of {len(self.names)} agents on {self.problem}"
        details = _html.grid(self._title(), TABLE_HEADER, self.rows(), self.notes())
        return _html.card(title, facts, self._picture(has_regret=has_regret), details)

    def _picture(self, *, has_regret: bool) -> str:
        """Return bars of the total regret as SVG text, or of the reward if there is no regret.

        With enough seeds they show interquartile means and 95% intervals, else means and ranges of the seeds.
        """
        values = self.cumulative_regret[:, :, -1] if has_regret else self.rewards
        what = "total regret" if has_regret else "reward per episode"
        if len(self.seeds) >= FEWEST_SEEDS:
            found = self.interquartile_regret if has_regret else self.interquartile_reward
            what = f"{what}: mean of the middle half of the seeds, 95% interval"
        else:
            found = Interval(values.mean(axis=1), values.min(axis=1), values.max(axis=1))
            what = f"{what}: mean, smallest and largest of the seeds" if len(self.seeds) > 1 else what
        numbers = (part.tolist() for part in (found.value, found.low, found.high))
        means = [text.partition(" [")[0] for text in found.texts()]
        return _html.bar_picture(list(zip(self.names, *numbers, means, strict=True)), what)

    def _title(self) -> str:
        seeds = f"{len(self.seeds):,} seed{'s' * (len(self.seeds) > 1)}"
        episodes = f"{self.episodes:,} episode{'s' * (self.episodes > 1)}"
        title = f"{self.problem}, lengths from {label(self.law)}: {episodes}, {seeds}"
        if self.regret_error is not None:
            return f"{title}, regret estimated"
        widths = self.regret_width[np.isfinite(self.regret_width)]
        return f"{title}, regret certified to {widths.max():.2g}" if widths.size else title

    def rows(self) -> list[tuple[str, ...]]:
        """Return the cells of the table by agent, in the order of `TABLE_HEADER`."""
        total, regret = self.total_regret, self.interquartile_regret
        means = [text.partition(" ±")[0] for text in total.texts()]
        differences, rewards = self.interquartile_difference.texts(), self.interquartile_reward.texts()
        return list(zip(self.names, means, regret.texts(), differences, rewards, strict=True))
