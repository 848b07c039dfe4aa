"""A confidence bound for the survival of an estimated law, and the number of layers that follows from it."""

from __future__ import annotations

import numpy as np

from sojourn._typing import ArrayLike, FloatArray
from sojourn._validation import check_choice, check_not_masked, check_whole, to_floats
from sojourn.laws import LengthLaw
from sojourn.theory._checks import check_delta, check_episodes, check_law
from sojourn.theory._truncation import PROVEN_BONUSES, BonusKind

__all__ = ["estimated_horizon", "survival_upper_bound"]

_MAX_LAYERS = 10**6
"""Largest number of layers that `estimated_horizon` considers."""


def survival_upper_bound(survival: ArrayLike, seen: ArrayLike, *, delta: float = 0.1) -> FloatArray:
    """Return an upper confidence bound for γ(h) = P(H ≥ h) at all steps 1, 2, … at once.

    The bound is γ̂(h)·(√x + √(1+x))² with x = ι(h)/(2·k(h)) and ι(h) = ln(h(h+1)/δ), where k(h) episodes
    reached step h; at most 1, and never larger than at an earlier step.

    If all n lengths were observed, k(h) = n·γ̂(h), and the bound holds with probability at least 1 − δ: by
    Chernoff's inequality γ − γ̂ ≤ √(2γι/n) at step h, except with probability e^(−ι) = δ/(h(h+1)). These
    probabilities sum to δ. Solving for γ gives the bound; it is at most γ̂ + √(2γ̂ι/n) + 2ι/n.

    If some lengths are censored and γ̂ is the Kaplan–Meier estimate, Greenwood's estimate of the variance of
    γ̂(h)/γ(h) is at most 1/k(h). The bound then takes k(h)/γ̂(h) for n. It holds as far as the normal
    approximation does, not for every n.

    Args:
        survival: The estimate γ̂(h) at steps h = 1, 2, …, `(m,)`.
        seen: Number of episodes, observed or censored, that lasted at least h steps, ≥ 1, `(m,)`.
        delta: Probability that the bound may fail, in (0, 1).

    Example:
        >>> survival_upper_bound([1.0, 0.5, 0.1], [1000, 500, 100]).round(3)
        array([1.   , 0.568, 0.136])
    """
    estimate, n_seen = to_floats("survival", survival), to_floats("seen", seen)
    h = np.arange(1.0, estimate.size + 1.0)
    x = np.log(h * (h + 1.0) / check_delta(delta)) / (2.0 * n_seen)
    upper = np.minimum(estimate * (np.sqrt(x) + np.sqrt(1.0 + x)) ** 2, 1.0)
    return np.asarray(np.minimum.accumulate(upper))


def estimated_horizon(
    law: LengthLaw,
    lengths: ArrayLike,
    episodes: int,
    *,
    bonus: BonusKind = "paper",
    delta: float | None = None,
) -> int:
    """Return the number of layers N for a law that was estimated from lengths.

    It minimizes T·Γ̂(N+1) + √(T·Σ_{h≤N} Γ̂(h+1)²/γ̂(h)) over N = 1 … L, where L is the longest length seen:
    the terms of the proven bound that depend on T, with constants 1. For the monotone Bernstein bonus the
    second term is √(T·Σ_{2≤h≤N} (2h−3)γ̂(h)) + max_{h≤N} Γ̂(h)/γ̂(h). Where tails are light, N is L or nearly
    L. Steps after L are left out: no data can bound their weight, because an event too rare to be seen may
    have any length.

    With `delta`, the weight of steps N+1 … L in the first term is its upper confidence bound,
    Σ `survival_upper_bound`. As every seen step then weighs at least about 2ι/n, N is L in most cases, even
    where L is one very long episode.

    Args:
        law: The estimated law.
        lengths: Lengths from which it was estimated, observed or censored, `(n,)`.
        episodes: Number of episodes T to plan for.
        bonus: Kind of exploration bonus.
        delta: Probability that the confidence bound may fail, in (0, 1); None for the estimate itself.

    Example:
        >>> import numpy as np
        >>> from sojourn.laws import Empirical, Geometric, Polynomial
        >>> def layers(law, delta=None):
        ...     lengths = law.sample(np.random.default_rng(1), 10_000)
        ...     return int(lengths.max()), estimated_horizon(Empirical(lengths), lengths, 10_000, delta=delta)
        >>> layers(Geometric(0.9)), layers(Polynomial(1.4)), layers(Polynomial(1.4), delta=0.1)
        ((84, 84), (554, 52), (554, 554))
    """
    n_episodes = check_episodes(episodes)
    check_choice("bonus", bonus, PROVEN_BONUSES)
    check_not_masked("lengths", lengths)
    seen = np.asarray(lengths)
    last = min(check_whole("lengths", int(seen.max()), least=1), _MAX_LAYERS)
    if check_law(law).longest is not None:
        last = min(last, int(law.longest or last))
    h = np.arange(1, last + 1)
    survival, tail = law.survival(h), law.tail(np.arange(1, last + 2))
    left_out = tail[1:]
    if delta is not None:
        reached = np.cumsum(np.bincount(np.minimum(seen, last), minlength=last + 1)[::-1])[::-1][1:]
        upper = survival_upper_bound(survival, reached, delta=delta)
        left_out = np.append(np.cumsum(upper[:0:-1])[::-1], 0.0)
    if bonus == "monotone_bernstein":
        explored = np.sqrt(n_episodes * np.cumsum(np.maximum(2 * h - 3, 0) * survival))
        explored += np.maximum.accumulate(tail[:-1] / survival)
    else:
        explored = np.sqrt(n_episodes * np.cumsum(tail[1:] ** 2 / survival))
    return 1 + int(np.argmin(n_episodes * left_out + explored))
