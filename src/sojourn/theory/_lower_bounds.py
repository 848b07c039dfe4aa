"""Lower bounds on the regret of every learner: Theorems A, D and E of the theory page.

Each is a minimax statement: for every learner there is a problem on which its expected regret is at least the
bound, even if it knows the law, the rewards and everything else except which arms are better. The problem may
depend on T. `sojourn.mdps.rare_choice` and `sojourn.mdps.waiting_bandit` build these problems.
"""

from __future__ import annotations

import math

import numpy as np

from sojourn._validation import check_whole
from sojourn.laws import LengthLaw, Polynomial
from sojourn.theory._checks import check_episodes, check_law

__all__ = ["lower_bound", "polynomial_lower_bound", "rare_choice_lower_bound"]

_CONSTANT = 0.058
"""Constant of the bandit lemma of the proofs: 0.25 · 0.233, rounded down."""

_MAX_CORRIDOR = 10_000
"""Longest corridor that is tried."""


def rare_choice_lower_bound(law: LengthLaw, episodes: int, *, gap: float = 0.025) -> float:
    """Return a lower bound on the mean of the expected regrets on the two problems `rare_choice(gap)`.

    The arm is chosen at step 2 and pays from step 3 on, so the wrong one loses gap·Γ(3). Its outcome is seen
    in γ(2)·T episodes on average. For every learner, the mean of the two expected regrets is at least
    ½·gap·(Γ(3)/γ(2))·K·(1 − ⅔√(kK/2)) with K = γ(2)·T and k = −½ ln(1 − 4·gap²) (Theorem A).

    Args:
        law: The law of episode lengths.
        episodes: Number of episodes T.
        gap: Advantage of the better arm, in (0, 0.5).

    Example:
        >>> from sojourn.laws import QuasiHyperbolic
        >>> [round(rare_choice_lower_bound(QuasiHyperbolic(beta, 0.9), round(400 / (0.9 * beta))), 2)
        ...  for beta in (1e-2, 1e-6, 1e-10)]
        [29.99, 29.99, 29.99]
    """
    law, n_episodes = check_law(law), float(check_episodes(episodes))
    if not 0.0 < gap < 0.5:
        raise ValueError(f"gap must be in (0, 0.5); got {gap!r}.")
    seen = n_episodes * float(law.survival(2))
    divergence = -0.5 * math.log1p(-4.0 * gap * gap)
    chance = 1.0 - 2.0 / 3.0 * math.sqrt(divergence * seen / 2.0)
    return max(0.0, 0.5 * gap * n_episodes * float(law.tail(3)) * chance)


def lower_bound(
    law: LengthLaw, episodes: int, *, n_states: int, n_actions: int, any_start: bool = False
) -> float:
    """Return a lower bound on the worst-case expected regret of every learner; 0 where none is proven.

    A corridor of d − 1 states leads to one of S − d − 1 bandits with A arms at step d:
    0.058·max_d (Γ(d+1)/√γ(d))·√((S−d−1)·A·T), over all d from 2 to S − 2 with γ(d)·T ≥ (S−d−1)·A (Theorem D).

    If start states may be chosen, as the paper allows, episodes can begin in the bandits themselves. This is
    d = 1, with T rounded down to a multiple of S − 2.

    Args:
        law: The law of episode lengths.
        episodes: Number of episodes T.
        n_states: Number of states S.
        n_actions: Number of actions A, at least 2.
        any_start: Whether the problem may choose a different start state in each episode.

    Example:
        >>> from sojourn.laws import Geometric
        >>> round(lower_bound(Geometric(0.9), 2_000, n_states=6, n_actions=2), 1)
        54.2
    """
    law, n_episodes = check_law(law), float(check_episodes(episodes))
    n_states = check_whole("n_states", n_states, least=1)
    n_actions = check_whole("n_actions", n_actions, least=2)
    d = np.arange(1 if any_start else 2, min(n_states - 2, _MAX_CORRIDOR) + 1)
    if d.size == 0:
        return 0.0
    bandits = n_states - d - 1.0
    played = np.where(d == 1, n_episodes // bandits * bandits, n_episodes)
    survival = law.survival(d)
    is_proven = survival * played >= bandits * n_actions
    root = np.sqrt(np.where(is_proven, survival, 1.0))
    values = np.where(is_proven, law.tail(d + 1) / root * np.sqrt(bandits * n_actions * played), 0.0)
    return _CONSTANT * float(values.max())


def polynomial_lower_bound(law: LengthLaw, episodes: int, *, n_states: int, n_actions: int) -> float:
    """Return a lower bound on the worst-case expected regret for γ(h) = h^(−p) with 1 < p < 2.

    It is c·((S−4)A)^(1−1/p)·T^(1/p) with c = 0.058·3^(1−p)·C^(1/p−1)/(p−1) and C = √e·Γ(2−p), where this Γ is
    Euler's gamma function (Theorem E). Two waiting states, each left with probability
    θ = ((S−4)A/(C·T))^(1/p) per step, lead to one of S − 4 bandits with A arms. Where θ > ½, the result is 0.

    Args:
        law: `Polynomial(p)` with 1 < p < 2 and no offset.
        episodes: Number of episodes T.
        n_states: Number of states S, at least 5.
        n_actions: Number of actions A, at least 2.

    Example:
        >>> from sojourn.laws import Polynomial
        >>> round(polynomial_lower_bound(Polynomial(1.4), 1_000, n_states=5, n_actions=2), 1)
        12.2
    """
    n_episodes = float(check_episodes(episodes))
    match check_law(law):
        case Polynomial(p=p, offset=0) if p < 2.0:
            pass
        case _:
            raise ValueError(f"law must be Polynomial(p) with 1 < p < 2 and no offset; got {law!r}.")
    n_bandits = check_whole("n_states", n_states, least=5) - 4
    pairs = float(n_bandits * check_whole("n_actions", n_actions, least=2))
    scale = math.sqrt(math.e) * math.gamma(2.0 - p)
    if n_episodes < 2.0**p * pairs / scale:
        return 0.0
    constant = _CONSTANT * 3.0 ** (1.0 - p) / (p - 1.0) * scale ** (1.0 / p - 1.0)
    return float(constant * pairs ** (1.0 - 1.0 / p) * n_episodes ** (1.0 / p))
