"""The paper's Algorithm 2: UCB-VI that estimates the law of lengths while it learns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn._typing import BoolArray, IntArray
from sojourn._validation import check_choice, check_flag, check_open_unit, check_whole, did_you_mean
from sojourn.agents._block_learner import FIRST_BLOCK, BlockLearner
from sojourn.agents._bonuses import (
    Bernstein,
    Bonus,
    Hoeffding,
    PaperBonus,
    VarianceBonus,
    bound_of,
    check_bonus,
)
from sojourn.agents._length_record import LengthRecord
from sojourn.agents._ucbvi import UCBVI, UCBVILearner
from sojourn.laws import FAMILIES, Empirical, Fixed, KaplanMeier, LengthLaw, MaximumLikelihood
from sojourn.theory import block_length, estimated_horizon

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["LawEstimate", "UnknownLaw", "UnknownLawLearner"]

Estimator = Callable[[IntArray, BoolArray], LengthLaw]


@dataclass(frozen=True)
class UnknownLaw:
    """UCB-VI for an unknown law of lengths (the paper's Algorithm 2).

    Episodes come in blocks, each twice as long as the one before. Before each block the law is estimated from
    the lengths so far, and `UCBVI` plays the block with that assumed law and Δ = Γ̂(H*+1).

    The "improved" form starts with a block of 16 episodes, estimates from all lengths, keeps all transition
    counts and resets Q to the new caps. The "literal" form is the paper's: the first block has
    √T · ln T · ln(ln(T)/δ) episodes (with T = 100 and δ = 0.1 this is longer than the whole trial, so nothing
    is ever estimated), only the lengths of the last block are used, and all other data are discarded after
    each block.

    If a terminal state or a time limit ends an episode, its length is censored. The paper uses the number of
    steps played as the length; Kaplan–Meier, the default, accounts for the censoring.

    Args:
        horizon: Number of layers H*. With "auto" it is chosen for each block from the estimated law by
            `sojourn.theory.estimated_horizon`; the first block has the default number of layers of `UCBVI`
            for the guess.
        bonus: The exploration bonus.
        estimator: Estimator of the law from the lengths and from whether each was observed: "kaplan_meier",
            "empirical", the name of a family for `MaximumLikelihood`, or a function of both arrays. The
            default is "kaplan_meier", and "empirical" in the literal form.
        guess: The assumed law of the first block; by default `Fixed(horizon)`, or `Fixed(16)` with "auto".
        form: "improved" or "literal".
        delta: As in `UCBVI`; also sets the length of the first block in the literal form.
        ties: As in `UCBVI`.
        after: As in `UCBVI`.
        count: As in `UCBVI`.
        n_states: As in `UCBVI`.
        anytime: Whether to play without knowing the number of episodes T. In each block T is then the number
            of episodes up to its end; not in the literal form.

    Example:
        >>> import sojourn as sj
        >>> law, agent = sj.Geometric(0.9), sj.UnknownLaw(40, sj.PaperBonus(0.01))
        >>> run = sj.learn(agent, sj.mdps.river_swim(6), law, episodes=200)
        >>> [(estimate.episode, round(estimate.law.mean, 1)) for estimate in run.learner.estimates]
        [(16, 10.8), (48, 9.1), (112, 10.5)]
        >>> agent = sj.UnknownLaw("auto", sj.PaperBonus(0.01))
        >>> run = sj.learn(agent, sj.mdps.river_swim(6), law, episodes=200)
        >>> run.learner.playing.n_layers, int(run.lengths[:112].max())
        (39, 39)
    """

    horizon: int | str
    bonus: Bonus | VarianceBonus = field(default_factory=PaperBonus)
    estimator: str | Callable[..., Any] | None = field(default=None, kw_only=True)
    guess: LengthLaw | None = field(default=None, kw_only=True)
    form: str = field(default="improved", kw_only=True)
    delta: float = field(default=0.1, kw_only=True)
    ties: str = field(default="random", kw_only=True)
    after: str = field(default="restart", kw_only=True)
    count: str = field(default="all", kw_only=True)
    n_states: int | None = field(default=None, kw_only=True)
    anytime: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.horizon != "auto":
            if isinstance(self.horizon, str):
                raise ValueError(f"horizon must be a whole number ≥ 1 or 'auto'; got {self.horizon!r}.")
            check_whole("horizon", self.horizon, least=1)
        check_choice("form", self.form, ["improved", "literal"])
        check_flag("anytime", self.anytime)
        if self.anytime and self.is_literal:
            raise ValueError("anytime must be False in the literal form, whose first block depends on T.")
        check_open_unit("delta", self.delta)
        check_bonus(self.bonus)
        if isinstance(self.bonus, (Hoeffding, Bernstein)):
            name = type(self.bonus).__name__
            raise ValueError(
                f"bonus must take laws without a longest length, as PaperBonus does; got {name}."
            )
        if not isinstance(self.first_law, LengthLaw):
            raise TypeError(f"guess must be a LengthLaw, such as Geometric(0.95); got {self.guess!r}.")
        self._ucbvi(self.first_law, self.fixed_horizon)  # checks the remaining settings
        self.estimate_with()

    @property
    def first_law(self) -> LengthLaw:
        """The assumed law of the first block."""
        return Fixed(self.fixed_horizon or FIRST_BLOCK) if self.guess is None else self.guess

    @property
    def fixed_horizon(self) -> int | None:
        """Number of layers of every block, or None if it is chosen for each block."""
        return None if isinstance(self.horizon, str) else self.horizon

    @property
    def is_literal(self) -> bool:
        """Whether every block keeps only the lengths of the previous block."""
        return self.form == "literal"

    def layers(self, law: LengthLaw, lengths: IntArray, episodes: int) -> int:
        """Return the number of layers of a block whose assumed law was estimated from `lengths`."""
        if self.fixed_horizon is not None:
            return self.fixed_horizon
        return estimated_horizon(law, lengths, episodes, bonus=bound_of(self.bonus))

    def first_block(self, episodes: int) -> int:
        """Return the number of episodes before the first estimate."""
        return block_length(episodes, delta=self.delta) if self.is_literal else FIRST_BLOCK

    def estimate_with(self) -> Estimator:
        """Return the function that estimates a law from lengths and from whether each was observed."""
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
        """Return a new learner; see `Agent.start`."""
        return self.start_sharing(LengthRecord(), episodes=episodes, rng=rng, **problem)

    def start_sharing(
        self, lengths: LengthRecord, *, episodes: int, rng: np.random.Generator, **problem: Any
    ) -> UnknownLawLearner:
        """Return a learner that also estimates from the lengths that other learners add to `lengths`."""
        episodes = check_whole("episodes", episodes, least=1)

        def start_ucbvi(law: LengthLaw, horizon: int | None, n_episodes: int) -> Any:
            return self._ucbvi(law, horizon).start(episodes=n_episodes, rng=rng, **problem)

        return UnknownLawLearner(self, start_ucbvi, lengths, episodes)

    def _ucbvi(self, law: LengthLaw, horizon: int | None) -> UCBVI:
        """Return the settings of a block that assumes `law`, with the default number of layers if None."""
        return UCBVI(
            law,
            self.bonus,
            delta=self.delta,
            horizon=horizon,
            ties=self.ties,
            after=self.after,
            count=self.count,
            n_states=self.n_states,
        )


@dataclass(frozen=True)
class LawEstimate:
    """A law that was estimated while learning.

    Attributes:
        episode: Number of episodes played before the estimate, by all learners that share lengths.
        law: The estimated law.
        lengths: `(n,)` lengths that it was estimated from.
        observed: `(n,)` whether each length was observed, and not censored.
    """

    episode: int
    law: LengthLaw
    lengths: IntArray = field(repr=False)
    observed: BoolArray = field(repr=False)


class UnknownLawLearner(BlockLearner):
    """The learner of `UnknownLaw`: in each block a learner of `UCBVI` plays with the latest estimate.

    Attributes:
        settings: The agent's settings.
        estimates: The estimates made before each block but the first, oldest first.
    """

    def __init__(
        self,
        settings: UnknownLaw,
        start_ucbvi: Callable[[LengthLaw, int | None, int], UCBVILearner],
        lengths: LengthRecord,
        episodes: int,
    ) -> None:
        self.settings = settings
        self.estimates: list[LawEstimate] = []
        self._start_ucbvi, self._lengths, self._episodes = start_ucbvi, lengths, episodes
        self._estimate = settings.estimate_with()
        self._law, self._horizon = settings.first_law, settings.fixed_horizon
        self._first = len(lengths)  # index of the first length of this block
        super().__init__(settings.first_block(episodes))

    @property
    def law(self) -> LengthLaw:
        """The assumed law of this block."""
        return self._law

    def plot(self, truth: LengthLaw | None = None, *, ax: Axes | None = None) -> Figure:
        """Draw the estimates, the last with its confidence band; see `sojourn.plots.estimates_figure`."""
        from sojourn.plots import estimates_figure  # noqa: PLC0415

        return estimates_figure(self.estimates, truth, ax=ax)

    def _count(self, lengths: list[int], observed: list[bool]) -> None:
        self._lengths.add(lengths, observed)
        super()._count(lengths, observed)

    def _start_block(self, before: UCBVILearner | None) -> UCBVILearner:
        """Return the learner of a block, with a new estimate; the literal form discards all counts."""
        n_episodes = self._episodes_to_plan_for()
        if before is None:
            return self._start_ucbvi(self._law, self._horizon, n_episodes)
        lengths, observed = self._lengths.since(self._first if self.settings.is_literal else 0)
        self._first = len(self._lengths)
        if observed.any() or self._estimate is Empirical:  # otherwise there is nothing to estimate from
            law = self._estimate(lengths, observed)
            if not isinstance(law, LengthLaw):
                raise TypeError(f"estimator must return a LengthLaw; got {law!r}.")
            self._law, self._horizon = law, self.settings.layers(law, lengths, n_episodes)
            self.estimates.append(LawEstimate(len(self._lengths), law, lengths, observed))
        learner = self._start_ucbvi(self._law, self._horizon, n_episodes)
        if not self.settings.is_literal:
            learner.adopt_counts(before.tables)
        return learner

    def _episodes_to_plan_for(self) -> int:
        """Return the number of episodes that is passed to the learner of this block."""
        if self.settings.anytime:
            return self._last_episode
        return min(self._block, self._episodes) if self.settings.is_literal else self._episodes
