"""What came of a round robin: a comparison for each problem and law, the paper's learner first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import sojourn as sj
from robin.duels import certified, is_below, totals
from robin.idle import IDLE, MYOPIC
from sojourn.experiments import Experiment

__all__ = ["Field"]


@dataclass(frozen=True, eq=False)
class Field:
    """What was played.

    Attributes:
        names: The learners, without their settings.
        comparisons: What came of them.
        problems: The text of every problem, by its name.
    """

    names: tuple[str, ...]
    comparisons: tuple[sj.Comparison, ...]
    problems: Mapping[str, str]

    @classmethod
    def of(cls, comparisons: Sequence[sj.Comparison], experiment: Experiment) -> Field:
        """Gather what came of an experiment."""
        names = tuple(dict.fromkeys(cell.name for cell in experiment.cells))
        texts = dict.fromkeys(str(cell.settings["problem"]) for cell in experiment.cells)
        found = dict.fromkeys(comparison.problem for comparison in comparisons)
        return cls(names, tuple(comparisons), dict(zip(found, texts, strict=True)))

    @property
    def episodes(self) -> int:
        """Number of episodes of a trial."""
        return self.comparisons[0].episodes

    @property
    def means(self) -> np.ndarray:
        """Mean total regret, `(comparisons, learners)`."""
        return np.array([comparison.total_regret.mean for comparison in self.comparisons])

    def on(self, problem: str) -> list[sj.Comparison]:
        """Return what came of a problem, law by law."""
        return [comparison for comparison in self.comparisons if comparison.problem == problem]

    @cached_property
    def idle(self) -> tuple[sj.Comparison, ...]:
        """What came of players that never learn, on the same seeds."""
        return tuple(
            sj.compare(
                IDLE,
                sj.parse_problem(self.problems[one.problem]),
                one.law,
                episodes=self.episodes,
                seeds=one.seeds,
            )
            for one in self.comparisons
        )

    @cached_property
    def pays_to_learn(self) -> np.ndarray:
        """Whether anybody has less regret than who never learns and looks no further than a step."""
        row = list(IDLE).index(MYOPIC)
        return np.array(
            [
                is_below(totals(one), totals(idle)[row], certified(one) + certified(idle)).any()
                for one, idle in zip(self.comparisons, self.idle, strict=True)
            ]
        )
