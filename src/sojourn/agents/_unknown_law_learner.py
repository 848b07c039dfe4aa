"""A learner in play that estimates the law of lengths, block by block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn._kernels import ProblemArrays, ReferenceArrays
from sojourn._typing import BoolArray, IntArray
from sojourn.agents._protocol import Played
from sojourn.agents._table_views import DelegatingLearner
from sojourn.agents._ucbvi_learner import UCBVILearner
from sojourn.laws import Empirical, LengthLaw

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sojourn.agents._unknown_law import UnknownLaw

__all__ = ["LawEstimate", "Lengths", "UnknownLawLearner"]


@dataclass(frozen=True)
class LawEstimate:
    """A law that was estimated while learning.

    Attributes:
        episode: Episodes that had been played, by whoever shares lengths.
        law: The estimate.
        lengths: The lengths that it was made of, `(n,)`.
        observed: Whether each was seen to its end, `(n,)`.
    """

    episode: int
    law: LengthLaw
    lengths: IntArray = field(repr=False)
    observed: BoolArray = field(repr=False)


@dataclass
class Lengths:
    """Lengths of episodes, and whether they were seen to their end; several learners may share them."""

    lengths: list[int] = field(default_factory=list)
    observed: list[bool] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lengths)

    def add(self, lengths: list[int], observed: list[bool]) -> None:
        """Add what was seen of some episodes."""
        self.lengths += lengths
        self.observed += observed

    def since(self, first: int) -> tuple[IntArray, BoolArray]:
        """Return all but the first ones, as arrays."""
        return np.array(self.lengths[first:], dtype=np.int64), np.array(self.observed[first:], dtype=np.bool_)


class UnknownLawLearner(DelegatingLearner):
    """A learner of `UnknownLaw`: within a block it is the learner of `UCBVI` that believes the last estimate.

    Attributes:
        settings: The settings that started it.
        estimates: The estimate of each block but the first, oldest first.
    """

    def __init__(
        self,
        settings: UnknownLaw,
        begin: Callable[[LengthLaw, int], UCBVILearner],
        lengths: Lengths,
        episodes: int,
    ) -> None:
        self.settings = settings
        self.estimates: list[LawEstimate] = []
        self._begin, self._lengths, self._episodes = begin, lengths, episodes
        self._estimate = settings.estimate_with()
        self._block = settings.first_block(episodes)
        self._left = self._block
        self._first = len(lengths)  # of this block, among the lengths
        self._inner = begin(settings.first_law, self._trial_of_block())

    @property
    def playing(self) -> UCBVILearner:
        """The learner that plays this block; in the literal form it has seen nothing else."""
        return self._inner

    @property
    def law(self) -> LengthLaw:
        """What it believes now."""
        return self._inner.settings.law

    @property
    def after(self) -> str:
        """What is played past step N, as `evaluate` takes it."""
        return self.settings.after

    @property
    def has_compiled_loop(self) -> bool:
        """Whether `play` does the same as `act`, `observe` and `end_episode`."""
        return self._inner.has_compiled_loop

    def act(self, state: int, h: int) -> int:
        """Return the greedy action in `state` at step `h`, counted from 1."""
        return self._inner.act(state, h)

    def observe(self, state: int, action: int, reward: float, next_state: int, terminated: bool) -> None:
        """Take in one step, the one that was just acted."""
        self._inner.observe(state, action, reward, next_state, terminated)

    def end_episode(self, length: int, observed: bool) -> None:
        """End the episode, plan the next one, and estimate the law anew where a block ends."""
        self._inner.end_episode(length, observed)
        self._lengths.add([int(length)], [bool(observed)])
        self._count(1)

    def value_from(self, world: ProblemArrays, scale: ReferenceArrays, start: int) -> tuple[float, float]:
        """Return what the coming episode's policy is worth from a start state, and a width; or NaN."""
        return self._inner.value_from(world, scale, start)

    def play(
        self,
        world: ProblemArrays,
        scale: ReferenceArrays,
        rng: np.random.Generator,
        starts: IntArray,
        drawn: IntArray,
        **settings: Any,
    ) -> Played:
        """Play whole episodes, block by block; see `UCBVILearner.play`."""
        early, parts, done = settings.pop("early", None), [], 0
        while done < starts.size:
            some = slice(done, done + min(self._left, starts.size - done))
            if early is not None:
                settings["early"] = early[some]
            parts.append(self._inner.play(world, scale, rng, starts[some], drawn[some], **settings))
            self._lengths.add(parts[-1].lengths.tolist(), parts[-1].observed.tolist())
            self._count(some.stop - some.start)
            done = some.stop
        return Played.joined(parts)

    def plot(self, truth: LengthLaw | None = None, *, ax: Axes | None = None) -> Figure:
        """Draw the estimates, the last with its confidence band; see `sojourn.plots.estimates_figure`."""
        from sojourn.plots import estimates_figure  # noqa: PLC0415

        return estimates_figure(self.estimates, truth, ax=ax)

    def _count(self, n_episodes: int) -> None:
        self._left -= n_episodes
        if self._left == 0:
            self._next_block()

    def _next_block(self) -> None:
        literal = self.settings.is_literal
        lengths, observed = self._lengths.since(self._first if literal else 0)
        self._first = len(self._lengths)
        self._block *= 2
        self._left = self._block
        law = self.law
        if observed.any() or self._estimate is Empirical:  # else nothing is known of when episodes end
            law = self._estimate(lengths, observed)
            if not isinstance(law, LengthLaw):
                raise TypeError(f"estimator must return a LengthLaw; got {law!r}.")
            self.estimates.append(LawEstimate(len(self._lengths), law, lengths, observed))
        before = self._inner
        self._inner = self._begin(law, self._trial_of_block())
        if not literal:
            self._inner.adopt(before)

    def _trial_of_block(self) -> int:
        """Return how many episodes the learner of a block takes for the whole trial."""
        return min(self._block, self._episodes) if self.settings.is_literal else self._episodes
