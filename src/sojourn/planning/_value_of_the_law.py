"""What is lost by planning for something simpler than the law: one γ, a fixed horizon, one fixed policy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sojourn import _html
from sojourn._typing import FloatArray, PolicyArray
from sojourn._validation import check_whole
from sojourn.laws import Fixed, Geometric, LengthLaw, geometric_with_mean, label
from sojourn.mdps import TabularMDP, check_tolerance
from sojourn.planning._evaluate import evaluate
from sojourn.planning._plan import Plan, plan
from sojourn.planning._stationary import find_stationary_policy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PolicyLoss", "ValueOfTheLaw", "find_single_gamma", "value_of_the_law"]

_MOST_HORIZONS = 60
"""Number of fixed horizons that are tried."""

_GAMMAS = 60
"""Number of discounts that are tried."""

_LONGEST = 10_000
"""Largest 1/(1 − γ) and largest fixed horizon that are tried."""

_HEADER = ("policy planned for", "loss", "share of the best value")


@dataclass(frozen=True, eq=False)
class PolicyLoss:
    """A policy that ignores the law, and what it loses under it.

    Attributes:
        name: What the policy was planned for.
        setting: The γ or horizon of the policy, or "".
        policy: `(N, S)` actions.
        after: What is played after step N: "hold" or "restart".
        loss: Value of the best policy minus that of this one, from the start states.
        least: Certified lower bound on the loss of every policy of this kind.
        most: Certified upper bound on the loss of this policy.
    """

    name: str
    setting: str
    policy: PolicyArray
    after: str
    loss: float
    least: float
    most: float


@dataclass(frozen=True, eq=False)
class ValueOfTheLaw:
    """What is lost by policies that ignore the shape of the law; prints as a small table.

    Attributes:
        problem: Name of the problem, or its size if it has no name.
        law: The law of episode lengths.
        value: Value of the best policy that knows the law, from the start states.
        width: Width of the certified bracket of that value.
        geometric: The best policy for the geometric law with the same mean.
        single_gamma: The best policy for a single discount γ, with the best γ that was found.
        fixed_horizon: The best policy for a fixed horizon, with the best horizon that was found; it starts
            again after its last step.
        stationary: The best policy that plays the same action in a state at every step.
        is_exact: Whether `stationary` was proven to be the best of its kind, up to the tolerance.
    """

    problem: str
    law: LengthLaw
    value: float
    width: float
    geometric: PolicyLoss
    single_gamma: PolicyLoss
    fixed_horizon: PolicyLoss
    stationary: PolicyLoss
    is_exact: bool

    @property
    def losses(self) -> tuple[PolicyLoss, ...]:
        """The four policies in the order of the table."""
        return self.geometric, self.single_gamma, self.fixed_horizon, self.stationary

    def table(self) -> str:
        """Return the losses as a plain-text table."""
        rows = [_HEADER, *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADER))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
            for row in rows
        ]
        return "\n".join([self._title(), "", *lines])

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the losses; see `sojourn.plots.value_of_the_law_figure`."""
        from sojourn.plots import value_of_the_law_figure  # noqa: PLC0415 - loads matplotlib

        return value_of_the_law_figure(self, ax=ax)

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return _html.grid(self._title(), _HEADER, self._rows())

    def _title(self) -> str:
        best = f"the best policy earns {self.value:.6g}"
        return f"{self.problem}, lengths from {label(self.law)}: {best}, certified to {self.width:.1e}"

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (_describe(found, self.is_exact), _format_loss(found), _format_share(found, self.value))
            for found in self.losses
        ]


def value_of_the_law(
    mdp: TabularMDP, law: LengthLaw, *, tolerance: float | None = None, max_plans: int = 500
) -> ValueOfTheLaw:
    """Return what is lost by planning for something simpler than the law, exactly.

    Every policy is evaluated under the true law. Where all four losses are small, an agent that knows the law
    cannot gain much by it.

    - The geometric law with the same mean.
    - The best single γ, from a grid of 60 discounts: 1/(1 − γ) goes from 1 to 10,000, or to ten times the
      horizon beyond which 1% of the expected steps lie if that is less.
    - The best fixed horizon H: all up to 30, and a grid up to ten times the mean, at most 10,000. After step
      H the policy starts again.
    - The best stationary policy: the same action in a state at every step. It is found by branch and bound:
      fixing the actions of some states, and letting the others depend on the step, gives an upper bound on
      the value of all stationary policies with these actions. Randomized policies are not considered; they
      can be better.

    Args:
        mdp: The problem.
        law: The law of episode lengths.
        tolerance: Width of certified brackets, in units of value; by default 1e-6,
            or 1e-6 times the largest reward if that is smaller than 1.
        max_plans: Largest number of plans in the search for the best stationary policy. If they are not
            enough, the best policy that was found is returned with a bound on the best possible one.

    Example:
        >>> import sojourn as sj
        >>> found = value_of_the_law(sj.mdps.two_paths(), sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)]))
        >>> round(found.value, 6), round(found.stationary.loss, 6)
        (4.5, 0.0)
    """
    tolerance = check_tolerance(mdp, tolerance)
    max_plans = check_whole("max_plans", max_plans, least=1)
    search = _Search(mdp, law, tolerance)
    same_mean = geometric_with_mean(law.mean)
    geometric = search.loss("the geometric law with the same mean", *_geometric(mdp, same_mean, tolerance))
    single_gamma = search.best_single_gamma(same_mean)
    fixed_horizon = search.best("the best fixed horizon", _fixed_policies(mdp, law))
    stationary, bound = find_stationary_policy(
        mdp,
        law,
        starts=[single_gamma.policy[0], geometric.policy[0], search.plan.policy[0]],
        tolerance=tolerance,
        max_plans=max_plans,
    )
    least = max(0.0, search.lower - bound)
    found = search.loss("the best stationary policy", "", stationary[np.newaxis], "hold")
    return ValueOfTheLaw(
        problem=mdp.label,
        law=law,
        value=search.value,
        width=search.upper - search.lower,
        geometric=geometric,
        single_gamma=replace(single_gamma, least=min(least, single_gamma.loss)),  # it is stationary too
        fixed_horizon=fixed_horizon,
        stationary=replace(found, least=min(least, found.loss)),
        is_exact=bool(found.most - least <= 5.0 * tolerance),
    )


def find_single_gamma(mdp: TabularMDP, law: LengthLaw, *, tolerance: float | None = None) -> PolicyLoss:
    """Return the policy of the best single discount γ, and what it loses; see `value_of_the_law`."""
    return _Search(mdp, law, check_tolerance(mdp, tolerance)).best_single_gamma(geometric_with_mean(law.mean))


class _Search:
    """Evaluates policies under the true law, from the start states."""

    def __init__(self, mdp: TabularMDP, law: LengthLaw, tolerance: float) -> None:
        self.mdp, self.law, self.tolerance = mdp, law, tolerance
        self.plan: Plan = plan(mdp, law, tolerance=tolerance)
        parts = (self.plan.value, self.plan.lower, self.plan.upper)
        self.value, self.lower, self.upper = (float(mdp.start @ part) for part in parts)

    def loss(self, name: str, setting: str, policy: PolicyArray, after: str) -> PolicyLoss:
        """Return the loss of a policy."""
        found = evaluate(self.mdp, self.law, policy, after, tolerance=self.tolerance)
        value, lower = float(self.mdp.start @ found.value), float(self.mdp.start @ found.lower)
        loss = max(0.0, self.value - value)
        return PolicyLoss(name, setting, policy, after, loss, 0.0, max(loss, self.upper - lower))

    def best_single_gamma(self, same_mean: Geometric) -> PolicyLoss:
        """Return the best policy for a single γ: that of the same mean, or one from a grid."""
        discounts = [same_mean.gamma, *_discounts(self.law)]
        policies = {round(g, 12): _geometric(self.mdp, Geometric(g), self.tolerance) for g in discounts}
        return self.best("the best single γ", policies.values())

    def best(self, name: str, policies: Iterable[tuple[str, PolicyArray, str]]) -> PolicyLoss:
        """Return the policy with the smallest loss; equal policies are evaluated once."""
        seen: dict[bytes, PolicyLoss] = {}
        for setting, policy, after in policies:
            key = policy.tobytes() + bytes(str(policy.shape), "ascii")
            if key not in seen:
                seen[key] = self.loss(name, setting, policy, after)
        return min(seen.values(), key=lambda found: found.loss)


def _geometric(mdp: TabularMDP, law: Geometric, tolerance: float) -> tuple[str, PolicyArray, str]:
    """Return γ as text and the best stationary policy for it."""
    return f"γ = {law.gamma:.4g}", plan(mdp, law, tolerance=tolerance).policy[:1], "hold"


def _discounts(law: LengthLaw) -> FloatArray:
    """Return discounts whose 1/(1 − γ) goes by ratios from 1 to ten times the effective horizon."""
    try:
        longest = min(10.0 * law.effective_horizon(law.mean / 100.0), _LONGEST)
    except ValueError:  # the horizon of a very heavy tail has no exact number
        longest = _LONGEST
    return 1.0 - 1.0 / np.geomspace(1.0, longest, _GAMMAS)


def _fixed_policies(mdp: TabularMDP, law: LengthLaw) -> Iterable[tuple[str, PolicyArray, str]]:
    """Yield the best policy of each fixed horizon; all come from one plan, by the number of steps left."""
    most = min(max(30, math.ceil(10.0 * law.mean)), _LONGEST)
    few = min(most, 30)
    horizons = np.unique([*range(1, few + 1), *np.geomspace(few, most, _MOST_HORIZONS - few).astype(int)])
    whole = plan(mdp, Fixed(int(horizons[-1]))).policy
    missing = int(horizons[-1]) - len(whole)  # rows at the end that repeat the last one are not stored
    whole = np.concatenate([whole, np.repeat(whole[-1:], missing, axis=0)])
    for horizon in horizons.tolist():
        yield f"H = {horizon}", whole[len(whole) - horizon :], "restart"


def _describe(found: PolicyLoss, is_exact: bool) -> str:
    if found.setting:
        return f"{found.name}, {found.setting}"
    return found.name if is_exact else f"{found.name} that was found"


def _format_loss(found: PolicyLoss) -> str:
    if found.loss <= found.most - found.loss:  # not distinguishable from 0
        return f"< {found.most:.1e}"
    return f"{found.loss:,.4g}"


def _format_share(found: PolicyLoss, value: float) -> str:
    if value == 0.0 or found.loss <= found.most - found.loss:
        return "–"
    return f"{100.0 * found.loss / abs(value):.2g}%"
