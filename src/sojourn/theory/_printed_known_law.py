"""The regret bound that the paper prints for a known law: Theorem 1, in full Theorem 7 of its appendix."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import numpy as np

from sojourn._typing import ArrayLike, FloatArray
from sojourn._validation import check_positive, check_whole
from sojourn.laws import LengthLaw
from sojourn.theory._checks import check_delta, check_episodes, check_law, check_layers
from sojourn.theory._choices import printed_truncation
from sojourn.theory._free_exponent import best_exponent, log_sum
from sojourn.theory._growth import log_growth_by_beta

__all__ = ["PrintedKnownLawBound", "exp", "log", "log_remaining", "printed_known_law_bound", "within_longest"]


@dataclass(frozen=True)
class PrintedKnownLawBound:
    """The terms of Theorem 1 as printed, up to constants, for T episodes with N layers.

    Attributes:
        truncation: ΔT · t(N+1)/γ(N+1): the steps after the last layer.
        noise: max_h t(h) γ(h+1)/γ(h) · √(TN ln(TN/δ)): randomness of the visited states.
        bonus: max_h t(h) Γ(h+1)/γ(h) · L √(SATN): exploration.
        second_order: max_h t(h) Γ(h+1)²/(γ(h) γ(h+1)) · L S²A N^β ln(TN): errors of the model times errors of
            the value. It dominates until T is large.
        beta: β, the free exponent of the analysis.
        horizon: N, the number of layers.
    """

    truncation: float
    noise: float
    bonus: float
    second_order: float
    beta: float
    horizon: int

    @property
    def total(self) -> float:
        """The sum of the terms."""
        return math.fsum(astuple(self)[:4])


def printed_known_law_bound(
    law: LengthLaw,
    episodes: int,
    *,
    n_states: int,
    n_actions: int,
    delta: float = 0.1,
    horizon: int | None = None,
    truncation: float | None = None,
    beta: float | None = None,
) -> PrintedKnownLawBound:
    """Return the bound of Theorem 1 as the paper prints it, term by term and up to constants.

    Reg ≤ ΔT t(N+1)/γ(N+1) + max_h t(h) γ(h+1)/γ(h) · √(TN ln(TN/δ)) + max_h t(h) Γ(h+1)/γ(h) · L √(SATN)
    + max_h t(h) Γ(h+1)²/(γ(h) γ(h+1)) · L S²A N^β ln(TN), with h = 1 … N and L = ln(SATN/δ). Terms with
    γ(h+1) = 0 are 0. The factors L and ln(TN) are those of the proof; the statement (Theorem 7) hides them.

    This is what the paper states. Its proof takes all N steps of every episode as seen. Where episodes end at
    random lengths, the bound does not hold for every law with constants that do not depend on the law: see
    `rare_choice_lower_bound`. Corrected bounds are in `proven_bound`.

    For a geometric law the bound is Õ(√(SAT)/(1−γ)^1.5) (Corollary 3). T counts episodes; the minimax
    analogue is √(SAT)/(1−γ).

    Args:
        law: The law of episode lengths.
        episodes: T.
        n_states: S, including the absorbing state if there is one.
        n_actions: A.
        delta: Failure probability δ of the bound.
        horizon: N, at most the longest length; then Δ = Γ(N+1).
        truncation: Δ; then N is `law.effective_horizon(truncation)`, the paper's N(Δ). If neither is given,
            the result of `printed_truncation` is used.
        beta: β; if it is None, the one with the smallest bound, found numerically.

    Raises:
        ValueError: If a number is out of range, or N is above 10⁷.

    Example:
        >>> from sojourn.laws import Geometric
        >>> bound = printed_known_law_bound(Geometric(0.9), 10**6, n_states=6, n_actions=2, beta=1.5)
        >>> round(bound.truncation), round(bound.noise), round(bound.bonus), round(bound.second_order)
        (12, 47574, 8447028, 4367924419)
        >>> best = printed_known_law_bound(Geometric(0.9), 10**6, n_states=6, n_actions=2)
        >>> round(best.beta, 2), best.total < bound.total
        (0.05, True)
    """
    law, n_episodes = check_law(law), check_episodes(episodes)
    log_s = math.log(check_whole("n_states", n_states, least=1))
    log_a = math.log(check_whole("n_actions", n_actions, least=1))
    log_delta, log_t = math.log(check_delta(delta)), math.log(n_episodes)
    if beta is not None:
        beta = check_positive("beta", beta)
    n_layers, given_up = _truncate(law, n_episodes, horizon, truncation)
    check_layers("horizon", n_layers)

    growth_at = log_growth_by_beta(law, n_layers + 1)
    survival = law.log_survival(np.arange(2, n_layers + 2))
    remaining = log_remaining(law, np.arange(2, n_layers + 2))
    log_n = math.log(n_layers)
    log_all = math.log(log_s + log_a + log_t + log_n - log_delta)
    steps_played = log_t + log_n
    log_given_up = log(given_up) + log_t if survival[-1] > -math.inf else -math.inf

    def log_terms(exponent: float) -> FloatArray:
        growth = growth_at(exponent)
        noise = growth[:-1] + survival
        bonus = noise + remaining
        second_order = bonus + remaining
        return np.array(
            [
                log_given_up + growth[-1],
                noise.max() + 0.5 * (steps_played + math.log(steps_played - log_delta)),
                bonus.max() + log_all + 0.5 * (log_s + log_a + steps_played),
                second_order.max() + log_all + 2.0 * log_s + log_a + exponent * log_n + log(steps_played),
            ]
        )

    if beta is None:
        beta = best_exponent(lambda exponent: log_sum(log_terms(exponent)))
    given_up, noise, bonus, second_order = (exp(term) for term in log_terms(beta))
    return PrintedKnownLawBound(given_up, noise, bonus, second_order, beta, n_layers)


def _truncate(
    law: LengthLaw, episodes: float, horizon: int | None, truncation: float | None
) -> tuple[int, float]:
    """Return N and Δ."""
    if horizon is not None and truncation is not None:
        raise ValueError(f"horizon must be None if truncation is given; got {horizon!r} and {truncation!r}.")
    if horizon is not None:
        n_layers = within_longest(law, horizon)
        return n_layers, float(law.tail(n_layers + 1))
    if truncation is not None:
        return law.effective_horizon(truncation), float(truncation)
    choice = printed_truncation(law, int(episodes))
    return choice.horizon, choice.truncation


def within_longest(law: LengthLaw, horizon: int) -> int:
    """Return the number of layers, at most the longest length."""
    n_layers = check_whole("horizon", horizon, least=1)
    return check_layers("horizon", n_layers if law.longest is None else min(n_layers, law.longest))


def log_remaining(law: LengthLaw, h: ArrayLike) -> FloatArray:
    """Return ln(Γ(h)/γ(h)); −inf past the longest length."""
    with np.errstate(divide="ignore"):
        return np.log(law.remaining(h))


def log(x: float) -> float:
    """Return ln(x), or −inf at 0."""
    return math.log(x) if x > 0.0 else -math.inf


def exp(x: float) -> float:
    """Return e^x, or inf if it is too large for a float."""
    with np.errstate(over="ignore"):
        return float(np.exp(x))
