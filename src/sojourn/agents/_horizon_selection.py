"""Horizon selection: candidates with different horizons share the episodes when H* is unknown."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn._validation import check_whole
from sojourn.agents._delegating_learner import DelegatingLearner
from sojourn.agents._length_record import LengthRecord
from sojourn.agents._protocol import EpisodeBatch, Played, ValueOf
from sojourn.agents._selection_rules import CandidateStatistics, DynamicBalancing, SelectionRule
from sojourn.agents._unknown_law import UnknownLaw, UnknownLawLearner
from sojourn.laws import LengthLaw

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["HorizonSelection", "HorizonSelectionLearner"]


@dataclass(frozen=True)
class HorizonSelection:
    """Runs one learner per horizon and lets a rule choose which one plays, as in the paper for unknown H*.

    Each candidate learns transitions from its own episodes; all share the lengths. A candidate's score for an
    episode is the reward of the first H_max steps, minus what the absorbing state would have paid, divided by
    H_max. (H_max is the largest horizon.) So heavy tails cannot distort the comparison.

    Lengths are seen whatever horizon is played, so `UnknownLaw("auto")`, which chooses the number of layers
    from the estimated law, has less regret and is simpler. Selection is worth its cost only if the best
    horizon does not follow from the law; see docs/learners.md.

    Args:
        base: Settings of the candidates; their horizon is replaced.
        candidates: The horizons in increasing order; "doubling" is 2, 4, 8, … up to the first that is at
            least √T.
        rule: Chooses the candidate for each episode: `DynamicBalancing()` or `D3RB()`.

    Example:
        >>> import sojourn as sj
        >>> agent = sj.HorizonSelection(sj.UnknownLaw(8, sj.PaperBonus(0.01)), candidates=(2, 8, 32))
        >>> run = sj.learn(agent, sj.mdps.river_swim(6), sj.Geometric(0.9), episodes=300)
        >>> int(run.learner.statistics.played.sum()), run.learner.choices[:3]
        (300, [0, 1, 2])
    """

    base: UnknownLaw
    candidates: str | tuple[int, ...] = "doubling"
    rule: SelectionRule = field(default_factory=DynamicBalancing)

    def __post_init__(self) -> None:
        if not isinstance(self.base, UnknownLaw):
            raise TypeError(f"base must be an UnknownLaw; got {self.base!r}.")
        if isinstance(self.candidates, str):
            if self.candidates != "doubling":
                raise ValueError(f"candidates must be 'doubling' or horizons; got {self.candidates!r}.")
        elif not isinstance(self.candidates, (list, tuple)):
            raise TypeError(f"candidates must be 'doubling' or horizons; got {self.candidates!r}.")
        else:
            found = tuple(check_whole("candidates", horizon, least=1) for horizon in self.candidates)
            if not found or list(found) != sorted(set(found)):
                raise ValueError(
                    f"candidates must be different horizons in increasing order; got {self.candidates!r}."
                )
            object.__setattr__(self, "candidates", found)
        if isinstance(self.rule, type) or not callable(getattr(self.rule, "choose", None)):
            raise TypeError(f"rule must be D3RB() or DynamicBalancing(); got {self.rule!r}.")

    def horizons(self, episodes: int) -> tuple[int, ...]:
        """Return the horizons of the candidates for a trial of `episodes` episodes."""
        if not isinstance(self.candidates, str):
            return self.candidates
        last = max(1, math.ceil(math.log2(math.sqrt(check_whole("episodes", episodes, least=1)))))
        return tuple(2**i for i in range(1, last + 1))

    def start(self, *, episodes: int, **problem: Any) -> HorizonSelectionLearner:
        """Return a new learner; see `Agent.start`."""
        lengths, horizons = LengthRecord(), self.horizons(episodes)
        learners = [
            dataclasses.replace(self.base, horizon=horizon).start_sharing(
                lengths, episodes=episodes, **problem
            )
            for horizon in horizons
        ]
        return HorizonSelectionLearner(self, learners, **problem)


class HorizonSelectionLearner(DelegatingLearner):
    """The learner of `HorizonSelection`.

    Attributes:
        settings: The agent's settings.
        horizons: The horizons of the candidates.
        learners: The candidates.
        choices: Index of the candidate that played each episode.
        statistics: Episodes and rewards of each candidate, on which the rule bases its choice.
    """

    def __init__(
        self,
        settings: HorizonSelection,
        learners: list[UnknownLawLearner],
        *,
        n_states: int | None,
        n_actions: int,
        reward_range: tuple[float, float] = (0.0, 1.0),
        terminal_reward: float = 0.0,
        **_: Any,
    ) -> None:
        self.settings, self.learners = settings, learners
        self.horizons = tuple(int(learner.settings.horizon) for learner in learners)
        self.choices: list[int] = []
        n, known = len(learners), n_states if n_states is not None else settings.base.n_states
        self.statistics = CandidateStatistics(
            n_pairs=n_actions * (known or 1),
            horizons=np.array(self.horizons, dtype=np.int64),
            played=np.zeros(n, dtype=np.int64),
            earned=np.zeros(n),
            coefficients=np.ones(n),
            beyond=np.array([max(self.horizons) - horizon for horizon in self.horizons], dtype=np.float64),
            bonus_scale=float(settings.base.bonus.scale),
        )
        self._n_estimates = [0] * n
        self._low, self._span = reward_range[0], reward_range[1] - reward_range[0]
        self._absorbing = (terminal_reward - self._low) / self._span
        self._n_early = max(self.horizons)
        self._early, self._step = 0.0, 0
        settings.rule.begin(self.statistics)
        self._current = settings.rule.choose(self.statistics)

    @property
    def playing(self) -> UnknownLawLearner:
        """The candidate that plays the coming episode."""
        return self.learners[self._current]

    @property
    def estimates(self) -> list[Any]:
        """The law estimates of the candidate that plays the coming episode."""
        return self.playing.estimates

    def observe(self, state: int, action: int, reward: float, next_state: int, terminated: bool) -> None:
        """Record the step that `act` has just chosen."""
        super().observe(state, action, reward, next_state, terminated)
        if self._step < self._n_early:
            self._early += (reward - self._low) / self._span
        self._step += 1

    def end_episode(self, length: int, observed: bool) -> None:
        """End the episode, record what it earned and choose the next candidate."""
        super().end_episode(length, observed)
        early, self._early, self._step = self._early, 0.0, 0
        self._record(early, length)

    @property
    def law(self) -> LengthLaw:
        """The assumed law of the candidate that plays the coming episode."""
        return self.playing.law

    def play(self, batch: EpisodeBatch, *, value_of: ValueOf | None = None) -> Played:
        """Play whole episodes one by one in compiled code; see `CompiledLearner.play`."""
        parts, early = [], np.zeros(batch.starts.size)
        for k in range(batch.starts.size):
            one = slice(k, k + 1)
            settings = {"value_of": value_of, "early": early[one], "n_early": self._n_early}
            parts.append(self.playing.play(batch.part(one), **settings))
            self._record(float(early[k]), int(parts[-1].lengths[0]))
        return Played.joined(parts)

    def plot(self, *, ax: Axes | None = None) -> Figure:
        """Draw which horizon played in which episode; see `sojourn.plots.choices_figure`."""
        from sojourn.plots import choices_figure  # noqa: PLC0415

        return choices_figure(self.choices, self.horizons, ax=ax)

    def _record(self, early: float, length: int) -> None:
        """Record what the last episode earned, and choose the candidate for the next one."""
        last = self._current
        above = early - self._absorbing * min(length, self._n_early)
        self.statistics.earned[last] += above / self._n_early
        self.statistics.played[last] += 1
        self.choices.append(last)
        if len(self.playing.estimates) > self._n_estimates[last]:
            self._n_estimates[last] = len(self.playing.estimates)
            self.statistics.beyond[:] = self.law.tail(self.statistics.horizons + 1)
        self.settings.rule.update(self.statistics, last)
        self._current = self.settings.rule.choose(self.statistics)
