"""The regret bound that the paper prints for an unknown law: Theorem 4, in full Theorem 8 of its appendix."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import astuple, dataclass

import numpy as np

from sojourn._typing import ArrayLike, FloatArray
from sojourn._validation import check_positive, check_whole
from sojourn.laws import LengthLaw
from sojourn.theory._checks import check_delta, check_episodes, check_law
from sojourn.theory._choices import exact_block_length
from sojourn.theory._free_exponent import best_exponent, log_sum
from sojourn.theory._growth import at_steps, log_growth_by_beta
from sojourn.theory._printed_known_law import exp, log, log_remaining, within_longest

__all__ = ["PrintedUnknownLawBound", "log_estimation_growth", "printed_unknown_law_bound"]


@dataclass(frozen=True)
class PrintedUnknownLawBound:
    """The terms of Theorem 4 as printed, up to constants, for T episodes with H* layers.

    Attributes:
        estimation: min over L = 1 … T of TΓ(L+1) + 2L ln(T) √T: rewards weighted with the estimated law.
        truncation: Γ(H*+1) T: the steps after the last layer.
        blocks: √T ln(T) ln(ln(T)/δ): the Õ(√T) of the statement, and the first block, which has no law yet.
        growth: ln(T) · t(H*+1)/γ(H*+1) · g(H*+1): growth of errors up to the last layer.
        bonus: max_h t(h)/γ(h) g(h) (Γ(h+1) + T^(−1/4)) · ln(T)^(5/2) √(SATH*): exploration.
        second_order: max_h t(h)/γ(h) g(h) (Γ(h+1) + T^(−1/4))²/γ(h+1) · ln(T)² ln(TH*) S²A (H*)^β.
        noise: max_h t(h)/γ(h) g(h) (γ(h+1) + T^(−1/4)) · ln(T)^(5/2) √(TH* ln(TH*/δ)).
        beta: β, the free exponent of the analysis.
    """

    estimation: float
    truncation: float
    blocks: float
    growth: float
    bonus: float
    second_order: float
    noise: float
    beta: float

    @property
    def total(self) -> float:
        """The sum of the terms."""
        return math.fsum(astuple(self)[:7])


def printed_unknown_law_bound(
    law: LengthLaw,
    episodes: int,
    *,
    horizon: int,
    n_states: int,
    n_actions: int,
    delta: float = 0.1,
    beta: float | None = None,
) -> PrintedUnknownLawBound:
    """Return the bound of Theorem 4 as the paper prints it, term by term and up to constants.

    This is the formal statement of the appendix (Theorem 8). The informal one in the text has Γ(H*) T instead
    of Γ(H*+1) T, and O(T^(−1/4))/Γ(h+1) instead of 1 + O(T^(−1/4))/Γ(h+1), so that its main term would vanish
    as T grows. Where the formal statement writes Õ, the logarithms of its proof are used. Terms with
    γ(h+1) = 0 are 0.

    This is what the paper states, not what it proves. The proof builds on that of Theorem 1, which takes
    steps as seen that random lengths do not show; it bounds a product, (Γ(H*+1) T + blocks) · growth, by the
    sum of its factors; drops the factor L = ln(SATN/δ) of Theorem 1; and rests on a rate for |Γ̂ − Γ| that
    fails for heavy tails.

    Args:
        law: The true law of episode lengths.
        episodes: T, at least 2.
        horizon: H*, at most the longest length.
        n_states: S, including the absorbing state if there is one.
        n_actions: A.
        delta: Failure probability δ of the bound.
        beta: β; if it is None, the one with the smallest bound, found numerically.

    Raises:
        ValueError: If a number is out of range, or H* is above 10⁷.

    Example:
        >>> from sojourn.laws import Polynomial
        >>> sizes = {"n_states": 6, "n_actions": 2, "horizon": 100}
        >>> bound = printed_unknown_law_bound(Polynomial(2.0), 10**8, beta=1.0, **sizes)
        >>> round(bound.estimation), round(bound.truncation), round(bound.growth)
        (11953371, 995017, 82)
        >>> printed_unknown_law_bound(Polynomial(2.0), 10**8, **sizes).total < bound.total
        True
    """
    law, n_episodes = check_law(law), check_episodes(episodes, least=2)
    log_s = math.log(check_whole("n_states", n_states, least=1))
    log_a = math.log(check_whole("n_actions", n_actions, least=1))
    log_delta, log_t = math.log(check_delta(delta)), math.log(n_episodes)
    if beta is not None:
        beta = check_positive("beta", beta)
    n_layers = within_longest(law, horizon)

    errors_at = log_growth_by_beta(law, n_layers + 1)
    estimation_at = _log_estimation_by_beta(law, n_layers + 1, n_episodes)
    after = np.arange(2, n_layers + 2)
    survival = law.log_survival(after)
    tail = survival + log_remaining(law, after)
    alive = survival > -math.inf  # later layers do not exist: no estimated length exceeds the longest one
    survival, tail = survival[alive], tail[alive]
    log_error = np.full(survival.size, -0.25 * log_t)
    wide_tail = np.logaddexp(tail, log_error)
    wide_survival = np.logaddexp(survival, log_error)
    log_n, log_log_t = math.log(n_layers), log(log_t)
    steps_played = log_t + log_n
    fixed = [
        log(_estimation(law, n_episodes)),
        log_t + log(float(law.tail(n_layers + 1))),
        log(exact_block_length(n_episodes, delta)),
    ]

    def log_terms(exponent: float) -> FloatArray:
        growth = errors_at(exponent) + estimation_at(exponent)
        here = growth[:-1][alive]

        def largest(log_factors: FloatArray) -> float:
            return float((here + log_factors).max(initial=-math.inf))

        return np.array(
            [
                *fixed,
                log_log_t + growth[-1] if alive[-1] else -math.inf,
                2.5 * log_log_t + largest(wide_tail) + 0.5 * (log_s + log_a + steps_played),
                2.0 * log_log_t
                + log(steps_played)
                + largest(2.0 * wide_tail - survival)
                + (2.0 * log_s + log_a + exponent * log_n),
                2.5 * log_log_t
                + largest(wide_survival)
                + 0.5 * (steps_played + math.log(steps_played - log_delta)),
            ]
        )

    if beta is None:
        beta = best_exponent(lambda exponent: log_sum(log_terms(exponent)))
    estimation, given_up, blocks, growth, bonus, second_order, noise = map(exp, log_terms(beta))
    return PrintedUnknownLawBound(estimation, given_up, blocks, growth, bonus, second_order, noise, beta)


def log_estimation_growth(law: LengthLaw, h: ArrayLike, *, episodes: int, beta: float) -> FloatArray:
    """Return ln g(h) = T^(−1/4) Σ_{k=2}^{h} 1/(γ(k) + k^β Γ(k)): growth of errors due to estimating the law.

    This is large wherever γ(h) is far below T^(−1/4); inf past the longest length, where no layer exists.

    Example:
        >>> from sojourn.laws import Geometric
        >>> log_estimation_growth(Geometric(0.75), [1, 2], episodes=16, beta=2.0).round(6)  # ½/(¾ · 17)
        array([0.      , 0.039216])
    """
    exponent, n_episodes = check_positive("beta", beta), check_episodes(episodes)
    return at_steps(h, lambda last: _log_estimation_by_beta(check_law(law), last, n_episodes)(exponent))


def _log_estimation_by_beta(law: LengthLaw, last: int, episodes: float) -> Callable[[float], FloatArray]:
    """Return a function of β that gives ln g(h) for h = 1 … last."""
    k = np.arange(2.0, last + 1.0)
    log_k, survival, remaining = np.log(k), law.log_survival(k), log_remaining(law, k)

    def table(beta: float) -> FloatArray:
        # Computed as ln of 1/(γ (1 + k^β Γ/γ)), because γ may underflow and k^β overflow.
        log_terms = -survival - np.logaddexp(0.0, beta * log_k + remaining)
        with np.errstate(over="ignore"):
            terms = np.exp(log_terms) * episodes**-0.25
        return np.concatenate((np.zeros(1), np.cumsum(terms)))

    return table


def _estimation(law: LengthLaw, episodes: float) -> float:
    """Return the minimum over L = 1 … T of TΓ(L+1) + 2L ln(T) √T."""
    per_step = 2.0 * math.log(episodes) * math.sqrt(episodes)
    # Going from L − 1 to L adds 2 ln(T) √T − Tγ(L), which rises with L: take the last L where it is below 0.
    low, high = 1, int(min(episodes, 2**53 - 1))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if episodes * float(law.survival(middle)) > per_step else (low, middle - 1)
    return episodes * float(law.tail(low + 1)) + low * per_step
