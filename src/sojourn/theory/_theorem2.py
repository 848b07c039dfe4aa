"""Theorem 2: the regret bound for a law that is estimated while learning."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import numpy as np

from sojourn._typing import ArrayLike, FloatArray
from sojourn._validation import check_positive, check_whole
from sojourn.laws import LengthLaw
from sojourn.theory._checks import check_delta, check_episodes, check_law
from sojourn.theory._choices import corollary, exact_block_length
from sojourn.theory._growth import at_steps, log_growth_table
from sojourn.theory._theorem1 import exp, log_remaining, within_longest

__all__ = ["UnknownLawBound", "log_estimation_growth", "unknown_law_bound"]


@dataclass(frozen=True)
class UnknownLawBound:
    """The terms of theorem 2, up to constants, for T episodes with H* layers.

    Attributes:
        estimation: min over L = 1 … T of TΓ(L+1) + 2L ln(T) √T: rewards weighted with the estimated law.
        truncation: Γ(H*+1) T: the steps after the last layer.
        blocks: √T ln(T) ln(ln(T)/δ): the Õ(√T) of the statement, and the first block, which has no law yet.
        growth: ln(T) · t(H*+1)/γ(H*+1) · g(H*+1): growth of errors up to the last layer.
        bonus: max_h t(h)/γ(h) g(h) (Γ(h+1) + T^(−1/4)) · ln(T)^(5/2) √(SATH*): exploration.
        second_order: max_h t(h)/γ(h) g(h) (Γ(h+1) + T^(−1/4))²/γ(h+1) · ln(T)² ln(TH*) S²A (H*)^β.
        noise: max_h t(h)/γ(h) g(h) (γ(h+1) + T^(−1/4)) · ln(T)^(5/2) √(TH* ln(TH*/δ)).
    """

    estimation: float
    truncation: float
    blocks: float
    growth: float
    bonus: float
    second_order: float
    noise: float

    @property
    def total(self) -> float:
        """The sum of the terms."""
        return math.fsum(astuple(self))


def unknown_law_bound(
    law: LengthLaw,
    episodes: int,
    *,
    horizon: int,
    n_states: int,
    n_actions: int,
    delta: float = 0.1,
    beta: float | None = None,
) -> UnknownLawBound:
    """Return the bound of theorem 2 on the regret of algorithm 2, term by term and up to constants.

    This is the formal statement of the appendix. The informal one in the text has Γ(H*) T instead of
    Γ(H*+1) T, and O(T^(−1/4))/Γ(h+1) instead of 1 + O(T^(−1/4))/Γ(h+1), so that its main term would vanish as
    T grows. Where the formal statement writes Õ, the logarithms of its proof are used. Terms with γ(h+1) = 0
    are 0.

    This is what the paper states, not what it proves. The proof bounds a product,
    (Γ(H*+1) T + blocks) · growth, by the sum of its factors; drops the factor L = ln(SATN/δ) of theorem 1;
    and rests on a rate for |Γ̂ − Γ| that fails for heavy tails. The first two cost logarithms.

    Args:
        law: The true law of episode lengths.
        episodes: T, at least 2.
        horizon: H*, at most the longest length.
        n_states: S, including the absorbing state if there is one.
        n_actions: A.
        delta: Failure probability δ of the bound.
        beta: β; by default that of `choose_truncation`.

    Raises:
        ValueError: If a number is out of range, or H* is above 10⁷.

    Example:
        >>> from sojourn.laws import Polynomial
        >>> bound = unknown_law_bound(Polynomial(2.0), 10**8, horizon=100, n_states=6, n_actions=2)
        >>> round(bound.estimation), round(bound.truncation), round(bound.growth)
        (11953371, 995017, 82)
        >>> bound.total > bound.bonus
        True
    """
    law, n_episodes = check_law(law), check_episodes(episodes, least=2)
    log_s = math.log(check_whole("n_states", n_states, least=1))
    log_a = math.log(check_whole("n_actions", n_actions, least=1))
    log_delta, log_t = math.log(check_delta(delta)), math.log(n_episodes)
    exponent = corollary(law, n_episodes)[1] if beta is None else check_positive("beta", beta)
    n_layers = within_longest(law, horizon)

    growth = log_growth_table(law, n_layers + 1, exponent)
    growth += _log_estimation_table(law, n_layers + 1, exponent, n_episodes)
    after = np.arange(2, n_layers + 2)
    survival = law.log_survival(after)
    tail = survival + log_remaining(law, after)
    alive = survival > -math.inf  # later layers do not exist: no estimated length exceeds the longest one
    log_error = np.full(int(alive.sum()), -0.25 * log_t)
    growth_here, survival = growth[:-1][alive], survival[alive]
    wide_tail = np.logaddexp(tail[alive], log_error)
    log_n = math.log(n_layers)
    steps_played = log_t + log_n

    def largest(log_factors: FloatArray, log_rest: float) -> float:
        return exp(float(log_factors.max(initial=-math.inf)) + log_rest)

    return UnknownLawBound(
        estimation=_estimation(law, n_episodes),
        truncation=n_episodes * float(law.tail(n_layers + 1)),
        blocks=exact_block_length(n_episodes, delta),
        growth=log_t * exp(growth[-1]) if alive[-1] else 0.0,
        bonus=log_t**2.5 * largest(growth_here + wide_tail, 0.5 * (log_s + log_a + steps_played)),
        second_order=log_t**2
        * steps_played
        * largest(growth_here + 2.0 * wide_tail - survival, 2.0 * log_s + log_a + exponent * log_n),
        noise=log_t**2.5
        * largest(
            growth_here + np.logaddexp(survival, log_error),
            0.5 * (steps_played + math.log(steps_played - log_delta)),
        ),
    )


def log_estimation_growth(law: LengthLaw, h: ArrayLike, *, episodes: int, beta: float) -> FloatArray:
    """Return ln g(h) = T^(−1/4) Σ_{k=2}^{h} 1/(γ(k) + k^β Γ(k)): growth of errors due to estimating the law.

    This is large wherever γ(h) is far below T^(−1/4); inf past the longest length, where no layer exists.

    Example:
        >>> from sojourn.laws import Geometric
        >>> log_estimation_growth(Geometric(0.75), [1, 2], episodes=16, beta=2.0).round(6)  # ½/(¾ · 17)
        array([0.      , 0.039216])
    """
    exponent, n_episodes = check_positive("beta", beta), check_episodes(episodes)
    return at_steps(h, lambda last: _log_estimation_table(check_law(law), last, exponent, n_episodes))


def _log_estimation_table(law: LengthLaw, last: int, beta: float, episodes: float) -> FloatArray:
    """Return ln g(h) for h = 1 … last."""
    k = np.arange(2.0, last + 1.0)
    # Computed as ln of 1/(γ (1 + k^β Γ/γ)), because γ may underflow and k^β overflow.
    log_terms = -law.log_survival(k) - np.logaddexp(0.0, beta * np.log(k) + log_remaining(law, k))
    with np.errstate(over="ignore"):
        terms = np.exp(log_terms) * episodes**-0.25
    return np.concatenate((np.zeros(1), np.cumsum(terms)))


def _estimation(law: LengthLaw, episodes: float) -> float:
    """Return the minimum over L = 1 … T of TΓ(L+1) + 2L ln(T) √T."""
    per_step = 2.0 * math.log(episodes) * math.sqrt(episodes)
    # Going from L − 1 to L adds 2 ln(T) √T − Tγ(L), which rises with L: take the last L where it is below 0.
    low, high = 1, int(min(episodes, 2**53 - 1))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if episodes * float(law.survival(middle)) > per_step else (low, middle - 1)
    return episodes * float(law.tail(low + 1)) + low * per_step
