"""The paper's Algorithm 2: the law of lengths is estimated while learning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn._kernels import ProblemArrays, ReferenceArrays
from sojourn._typing import BoolArray, IntArray
from sojourn._validation import check_choice, check_open_unit, check_whole, did_you_mean
from sojourn.agents._bonuses import Bernstein, Bonus, Hoeffding, PaperBonus, VarianceBonus, check_bonus
from sojourn.agents._delegating_learner import DelegatingLearner
from sojourn.agents._length_record import LengthRecord
from sojourn.agents._protocol import Played
from sojourn.agents._ucbvi import UCBVI, UCBVILearner
from sojourn.laws import FAMILIES, Empirical, Fixed, KaplanMeier, LengthLaw, MaximumLikelihood
from sojourn.theory import block_length

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LawEstimate", "UnknownLaw", "UnknownLawLearner"]

Estimator = Callable[[IntArray, BoolArray], LengthLaw]

_FIRST_BLOCK = 16


@dataclass(frozen=True)
class UnknownLaw:
    """UCB-VI for a law of lengths that nobody told (the paper's Algorithm 2).

    Episodes come in blocks, each twice as long as the last. Before each block the law is estimated from the
    lengths seen so far, and `UCBVI` plays the block with that belief and Δ = Γ̂(H*+1).

    The "improved" form begins with 16 episodes, estimates from all lengths, keeps all counts of transitions,
    and sets Q to the new caps. The "literal" one is the paper's: the first block is √T · ln T · ln(ln(T)/δ)
    long (at T = 100 and δ = 0.1 longer than the trial, so that nothing is ever estimated), only the lengths
    of the last block are used, and every block forgets everything else.

    Where a terminal state or a time limit ends an episode, its length is not seen. The paper takes what was
    played for the length; Kaplan–Meier, the default, does not.

    Args:
        horizon: Number of layers H*.
        bonus: What is added for optimism.
        estimator: What makes a law of lengths and of which of them were seen to their end: "kaplan_meier",
            "empirical", the name of a family for `MaximumLikelihood`, or anything that is called so. By
            default "kaplan_meier", and "empirical" in the literal form.
        guess: The belief of the first block; by default `Fixed(horizon)`.
        form: "improved" or "literal".
        delta: As in `UCBVI`, and in the length of the paper's first block.
        ties: As in `UCBVI`.
        after: As in `UCBVI`.
        count: As in `UCBVI`.
        n_states: As in `UCBVI`.

    Example:
        >>> import sojourn as sj
        >>> law, agent = sj.Geometric(0.9), sj.UnknownLaw(40, sj.PaperBonus(0.01))
        >>> run = sj.learn(agent, sj.mdps.river_swim(6), law, episodes=200)
        >>> [(estimate.episode, round(estimate.law.mean, 1)) for estimate in run.learner.estimates]
        [(16, 10.8), (48, 9.1), (112, 10.5)]
    """

    horizon: int
    bonus: Bonus | VarianceBonus = field(default_factory=PaperBonus)
    estimator: str | Callable[..., Any] | None = field(default=None, kw_only=True)
    guess: LengthLaw | None = field(default=None, kw_only=True)
    form: str = field(default="improved", kw_only=True)
    delta: float = field(default=0.1, kw_only=True)
    ties: str = field(default="random", kw_only=True)
    after: str = field(default="restart", kw_only=True)
    count: str = field(default="all", kw_only=True)
    n_states: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_whole("horizon", self.horizon, least=1)
        check_choice("form", self.form, ["improved", "literal"])
        check_open_unit("delta", self.delta)
        check_bonus(self.bonus)
        if isinstance(self.bonus, (Hoeffding, Bernstein)):
            name = type(self.bonus).__name__
            raise ValueError(
                f"bonus must take laws without a longest length, as PaperBonus does; got {name}."
            )
        if not isinstance(self.first_law, LengthLaw):
            raise TypeError(f"guess must be a LengthLaw, such as Geometric(0.95); got {self.guess!r}.")
        self._believing(self.first_law)  # checks the rest
        self.estimate_with()

    @property
    def first_law(self) -> LengthLaw:
        """The belief of the first block."""
        return Fixed(self.horizon) if self.guess is None else self.guess

    @property
    def is_literal(self) -> bool:
        """Whether it forgets all but the lengths of the last block."""
        return self.form == "literal"

    def first_block(self, episodes: int) -> int:
        """Return how many episodes are played before the first estimate."""
        return block_length(episodes, delta=self.delta) if self.is_literal else _FIRST_BLOCK

    def estimate_with(self) -> Estimator:
        """Return what makes a law of lengths and of which of them were seen to their end."""
        name = self.estimator
        if name is None:
            name = "empirical" if self.is_literal else "kaplan_meier"
        if not isinstance(name, str):
            if not callable(name):
                raise TypeError(f"estimator must be a name or be callable; got {name!r}.")
            return name
        known: dict[str, Estimator] = {"kaplan_meier": KaplanMeier, "empirical": Empirical}
        key = name.lower().replace("-", "_").replace(" ", "_")
        plain = {name.replace("_", ""): name for name in known}
        if key.replace("_", "") in plain:
            return known[plain[key.replace("_", "")]]
        near = did_you_mean(key, [*known, *FAMILIES])
        if key not in FAMILIES:
            advice = near or f" There are {', '.join([*known, *FAMILIES])}."
            raise ValueError(f"Unknown estimator {name!r}.{advice}")
        return MaximumLikelihood(key)

    def start(self, *, episodes: int, rng: np.random.Generator, **problem: Any) -> UnknownLawLearner:
        """Return a learner that has seen nothing; see `Agent.start`."""
        return self.start_sharing(LengthRecord(), episodes=episodes, rng=rng, **problem)

    def start_sharing(
        self, lengths: LengthRecord, *, episodes: int, rng: np.random.Generator, **problem: Any
    ) -> UnknownLawLearner:
        """Return a learner that also takes the lengths of other learners' episodes from what they share."""
        episodes = check_whole("episodes", episodes, least=1)

        def begin(law: LengthLaw, n_episodes: int) -> Any:
            return self._believing(law).start(episodes=n_episodes, rng=rng, **problem)

        return UnknownLawLearner(self, begin, lengths, episodes)

    def _believing(self, law: LengthLaw) -> UCBVI:
        return UCBVI(
            law,
            self.bonus,
            delta=self.delta,
            horizon=self.horizon,
            ties=self.ties,
            after=self.after,
            count=self.count,
            n_states=self.n_states,
        )


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
        lengths: LengthRecord,
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

    def end_episode(self, length: int, observed: bool) -> None:
        """End the episode, plan the next one, and estimate the law anew where a block ends."""
        super().end_episode(length, observed)
        self._lengths.add([int(length)], [bool(observed)])
        self._count(1)

    def play(
        self,
        problem: ProblemArrays,
        reference: ReferenceArrays,
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
            parts.append(self._inner.play(problem, reference, rng, starts[some], drawn[some], **settings))
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
