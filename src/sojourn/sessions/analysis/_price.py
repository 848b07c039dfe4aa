"""The price of planning with a single γ on a given problem."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sojourn.errors import WideBracketWarning
from sojourn.laws import Fit, Geometric, LengthLaw, closest_geometric, refit_sample
from sojourn.sessions._log import SessionLog
from sojourn.sessions._step_log import StepLog
from sojourn.sessions.analysis._bootstrap import resample_sessions

if TYPE_CHECKING:
    from sojourn.mdps import TabularMDP

__all__ = ["NOTHING", "ProblemPrice", "compare_plans", "held_out_loss", "price_geometric"]


_SLIGHT = 0.01
"""A share of the best value that is called slight."""

NOTHING = 1e-4
"""A share of a value that is called nothing."""

_PRECISION = 1e-4
"""Tolerance of values of resampled problems, relative to the largest reward and the mean length."""


@dataclass(frozen=True)
class ProblemPrice:
    """Values on a problem, averaged over its start states.

    Attributes:
        problem: Name of the problem.
        best: Value of the best policy under the law.
        geometric: Value under the law of the policy that is best under a geometric law.
        gamma: The γ of that geometric law.
        width: Sum of the widths of the certified brackets of the two values.
        held_out: 95% interval of the loss on data that were not used to plan; None if it is unknown.
    """

    problem: str
    best: float
    geometric: float
    gamma: float
    width: float
    held_out: tuple[float, float] | None = None

    @property
    def loss(self) -> float:
        """Loss per session from assuming a geometric law."""
        return self.best - self.geometric

    @property
    def is_free(self) -> bool:
        """Whether assuming a geometric law costs nothing, or less than a ten-thousandth."""
        return self.loss <= max(self.width, NOTHING * abs(self.best))

    @property
    def is_slight(self) -> bool:
        """Whether assuming a geometric law costs at most 1%."""
        return self.is_free or self.loss <= _SLIGHT * abs(self.best)


def price_geometric(mdp: TabularMDP, law: LengthLaw, geometric: Geometric) -> ProblemPrice:
    """Plan under a law and under a geometric one, and evaluate both plans under the law.

    Example:
        >>> import sojourn as sj
        >>> price = price_geometric(sj.mdps.cash_or_invest(5), sj.Polynomial(1.4), sj.Geometric(0.5))
        >>> round(price.best, 4), round(price.geometric, 4)
        (0.3638, 0.3106)
    """
    from sojourn.planning import evaluate, plan  # noqa: PLC0415

    best = plan(mdp, law)
    other = plan(mdp, geometric)
    rival = evaluate(mdp, law, other.policy, after=other.after)
    start = mdp.start
    return ProblemPrice(
        problem=mdp.name or "the problem of the log",
        best=float(np.dot(start, best.value)),
        geometric=float(np.dot(start, rival.value)),
        gamma=geometric.gamma,
        width=float(np.dot(start, best.upper - best.lower) + np.dot(start, rival.upper - rival.lower)),
    )


def compare_plans(mdp: TabularMDP, law: LengthLaw, assumed: LengthLaw) -> tuple[float, float]:
    """Return what the plan for a law, and the plan for an assumed law, earn under the law."""
    from sojourn.planning import evaluate, plan  # noqa: PLC0415

    other = plan(mdp, assumed)
    values = plan(mdp, law).value, evaluate(mdp, law, other.policy, after=other.after).value
    best, common = (float(np.dot(mdp.start, value)) for value in values)
    return best, common


def held_out_loss(
    steps: StepLog, choose: Callable[[SessionLog], Fit], *, resamples: int, seed: int
) -> tuple[float, float] | None:
    """Return a 95% interval of what a geometric law loses, on steps that were not used to plan.

    The steps are split at random into halves. The problem, the law and both plans come from one half; the
    plans are compared on problems and laws from resamples of the other half, with the family that is best
    for that half. Then the halves change places,
    and the two differences are averaged. Steps count as independent, as in a Markov decision process; a pair
    of state and action that a half lacks stays and pays the lowest reward.

    Args:
        steps: The log.
        choose: Returns the best fit to sessions.
        resamples: Number of resamples, at least 2; their standard deviation gives the interval.
        seed: Seed of the random draws.

    Returns:
        The interval; None if a half has no session that was seen to end.
    """
    rng = np.random.default_rng(seed)
    halves = steps.halves(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WideBracketWarning)  # resamples vary by far more
        return _held_out_loss(halves, choose, resamples, rng)


def _held_out_loss(
    halves: tuple[StepLog, StepLog],
    choose: Callable[[SessionLog], Fit],
    resamples: int,
    rng: np.random.Generator,
) -> tuple[float, float] | None:
    from sojourn.planning import evaluate, plan  # noqa: PLC0415

    if not all(half.ended.any() for half in halves):
        return None
    losses = np.zeros(resamples)
    for ours, theirs in (halves, halves[::-1]):
        law, mdp = choose(ours.sessions()).law, ours.problem(unvisited="stay")
        plans = [plan(mdp, one) for one in (law, closest_geometric(law))]
        tolerance = _PRECISION * (float(np.abs(mdp.rewards).max()) or 1.0) * law.mean
        their_sessions = theirs.sessions()
        their_fit = choose(their_sessions)
        for i in range(resamples):
            other = theirs.resampled(rng).problem(unvisited="stay")
            if other.n_states != mdp.n_states:  # only one of them has a terminal state
                continue
            their_law = refit_sample(resample_sessions(their_sessions, rng), their_fit).law
            values = [
                evaluate(other, their_law, one.policy, after=one.after, tolerance=tolerance).value
                for one in plans
            ]
            losses[i] += 0.5 * float(np.dot(other.start, values[0] - values[1]))
    middle, spread = float(losses.mean()), float(losses.std(ddof=1))
    return middle - 1.96 * spread, middle + 1.96 * spread
