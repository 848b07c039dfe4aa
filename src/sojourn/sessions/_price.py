"""The price of planning with a single γ on a given problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.laws import Geometric, LengthLaw
from sojourn.mdps import TabularMDP

__all__ = ["ProblemPrice", "price_geometric"]


@dataclass(frozen=True)
class ProblemPrice:
    """Values on a problem, averaged over its start states.

    Attributes:
        problem: Name of the problem.
        best: Value of the best policy under the law.
        geometric: Value under the law of the policy that is best under a geometric law.
        gamma: The γ of that geometric law.
        width: Sum of the widths of the certified brackets of the two values.
    """

    problem: str
    best: float
    geometric: float
    gamma: float
    width: float

    @property
    def loss(self) -> float:
        """Loss per session from assuming a geometric law."""
        return self.best - self.geometric


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
