"""Solves a problem for `sojourn plan`: value, price of not knowing the length, certified bounds."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sojourn.cli.output._numbers import format_bounds
from sojourn.cli.output._progress import Task

if TYPE_CHECKING:
    from sojourn._typing import FloatArray
    from sojourn.laws import LengthLaw
    from sojourn.mdps import TabularMDP
    from sojourn.planning import Plan

__all__ = ["Bracket", "Solution", "average_over_starts", "solve"]


@dataclass(frozen=True)
class Bracket:
    """A number with certified bounds."""

    lower: float
    value: float
    upper: float

    def text(self, tolerance: float) -> str:
        """Return the number with its certainty: "0.5, to within 3e-7" or "between 0.4 and 0.6"."""
        low, middle, high = format_bounds(self.lower, self.value, self.upper, least=tolerance / 10.0)
        error = max(self.value - self.lower, self.upper - self.value, tolerance / 10.0)
        if error > 2.0 * tolerance:
            return f"between {low} and {high}"
        return f"{'0' if abs(self.value) <= error else middle}, to within {_rounded_up(error)}"


def _rounded_up(value: float) -> str:
    """Return a number > 0 rounded up to one digit."""
    power = math.floor(math.log10(value))
    return f"{math.ceil(value / 10.0**power - 1e-9) * 10.0**power:.0e}".replace("e-0", "e-")


@dataclass(frozen=True)
class Solution:
    """A plan and its values, averaged over the start states.

    Attributes:
        mdp: The problem.
        plan: The optimal plan.
        tolerance: Requested width of the bracket.
        max_layers: Maximum number of steps computed one by one.
        blind: Value of the optimal policy, which does not know the length.
        clairvoyant: Value of the best policy that knows each length in advance; None if not computed.
        timing: One line on how long it took.
    """

    mdp: TabularMDP
    plan: Plan
    tolerance: float
    max_layers: int
    blind: Bracket
    clairvoyant: Bracket | None
    timing: str

    @property
    def law(self) -> LengthLaw:
        """The law of episode lengths."""
        return self.plan.law

    @property
    def truncation(self) -> float:
        """Weight of late steps that can change the value by at most the tolerance."""
        return self.tolerance / (float(self.mdp.rewards.max() - self.mdp.rewards.min()) or 1.0)

    @property
    def price(self) -> Bracket | None:
        """Price of not knowing the length, which is never negative; None if it was not computed."""
        if self.clairvoyant is None:
            return None
        return Bracket(
            lower=max(self.clairvoyant.lower - self.blind.upper, 0.0),
            value=self.clairvoyant.value - self.blind.value,
            upper=max(self.clairvoyant.upper - self.blind.lower, 0.0),
        )

    def original(self, value: float) -> float:
        """Convert a value of the normalized problem to the units of the original rewards."""
        return value * self.mdp.reward_scale + self.mdp.reward_shift * self.law.mean


def solve(
    mdp: TabularMDP, law: LengthLaw, tolerance: float, max_layers: int, *, with_price: bool, task: Task
) -> Solution:
    """Plan, and optionally price not knowing the length."""
    task.describe("Planning (the first use compiles for some seconds)")
    from sojourn.planning import plan  # noqa: PLC0415

    started = time.perf_counter()
    found = plan(mdp, law, tolerance=tolerance, max_layers=max_layers, progress=task.set_share)
    planned = time.perf_counter()
    timing, clairvoyant = f"Planned in {planned - started:.2f} s", None
    lower, slack_below = average_over_starts(mdp, found.lower)
    upper, slack_above = average_over_starts(mdp, found.upper)
    value, _ = average_over_starts(mdp, found.value)
    blind = Bracket(lower - slack_below, value, upper + slack_above)
    if with_price:
        task.describe("Pricing what it costs not to know the length (--no-price skips this)")
        clairvoyant = _clairvoyant_bracket(mdp, law, tolerance / 2.0, max_layers, blind)
        timing += f", priced in {time.perf_counter() - planned:.2f} s"
    return Solution(mdp, found, tolerance, max_layers, blind, clairvoyant, f"{timing}.")


def _clairvoyant_bracket(
    mdp: TabularMDP, law: LengthLaw, tolerance: float, max_layers: int, blind: Bracket
) -> Bracket:
    """Return the value of knowing each length in advance.

    It is at least the value without that knowledge, and at most the largest reward at every step.
    """
    from sojourn.errors import WideBracketWarning  # noqa: PLC0415
    from sojourn.planning import clairvoyant_value  # noqa: PLC0415

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", WideBracketWarning)
        values = clairvoyant_value(mdp, law, tolerance=tolerance, max_layers=max_layers)
    value, slack = average_over_starts(mdp, values)
    width = tolerance
    for warning in caught:
        warnings.warn(warning.message, stacklevel=2)
        if isinstance(warning.message, WideBracketWarning):
            width = float(getattr(warning.message, "width", math.inf))
    error = width / 2.0 + slack  # the value is the middle of its bracket
    most = law.mean * float(mdp.rewards.max())
    return Bracket(max(value - error, blind.lower), value, min(value + error, most + 1e-9 * abs(most)))


def average_over_starts(mdp: TabularMDP, values: FloatArray) -> tuple[float, float]:
    """Return the mean over the start states, and a bound on its rounding error."""
    terms = (mdp.start * values).tolist()
    total = math.fsum(mdp.start.tolist())
    return math.fsum(terms) / total, 2.0**-50 * math.fsum(map(abs, terms))
