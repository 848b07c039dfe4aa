"""Results of a round robin: one comparison per problem and law, with the paper's learner first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import sojourn as sj
from round_robin_parts.baselines import BASELINES, MYOPIC_NAME
from round_robin_parts.statistics import certified_width, is_significantly_below, totals
from sojourn.experiments import Experiment

__all__ = ["RoundRobin"]


@dataclass(frozen=True, eq=False)
class RoundRobin:
    """Results of a round robin.

    Attributes:
        names: Names of the learners, without their settings.
        comparisons: One comparison per problem and law.
        problems: Texts of the problems, by their display names.
    """

    names: tuple[str, ...]
    comparisons: tuple[sj.Comparison, ...]
    problems: Mapping[str, str]

    @classmethod
    def of(cls, comparisons: Sequence[sj.Comparison], experiment: Experiment) -> RoundRobin:
        """Combine the comparisons of an experiment with the names in its spec."""
        names = tuple(dict.fromkeys(cell.name for cell in experiment.cells))
        texts = dict.fromkeys(str(cell.settings["problem"]) for cell in experiment.cells)
        shown = dict.fromkeys(comparison.problem for comparison in comparisons)
        return cls(names, tuple(comparisons), dict(zip(shown, texts, strict=True)))

    @property
    def episodes(self) -> int:
        """Number of episodes per trial."""
        return self.comparisons[0].episodes

    @property
    def means(self) -> np.ndarray:
        """Mean total regret, `(comparisons, learners)`."""
        return np.array([comparison.total_regret.mean for comparison in self.comparisons])

    def on(self, problem: str) -> list[sj.Comparison]:
        """Return the comparisons on a problem, one per law."""
        return [comparison for comparison in self.comparisons if comparison.problem == problem]

    @cached_property
    def baselines(self) -> tuple[sj.Comparison, ...]:
        """Comparisons of the baselines on the same problems, laws and seeds."""
        return tuple(
            sj.compare(
                BASELINES,
                sj.parse_problem(self.problems[one.problem]),
                one.law,
                episodes=self.episodes,
                seeds=one.seeds,
            )
            for one in self.comparisons
        )

    @cached_property
    def learning_pays(self) -> np.ndarray:
        """Whether some learner has less regret than the myopic baseline, by comparison."""
        row = list(BASELINES).index(MYOPIC_NAME)
        return np.array(
            [
                is_significantly_below(
                    totals(one), totals(baselines)[row], certified_width(one) + certified_width(baselines)
                ).any()
                for one, baselines in zip(self.comparisons, self.baselines, strict=True)
            ]
        )
