"""What the paper says, and the computations and rules that decide each claim."""

from __future__ import annotations

from sojourn.reproduction.claims._known_law import (
    corollary_2_claims,
    corollary_3,
    error_growth_claim,
    least_episodes,
    lemma_3,
    minimax_remark,
    printed_slope,
    theorem_1,
)
from sojourn.reproduction.claims._model import equivalence, lemma_1, lemma_2, same_minimizers
from sojourn.reproduction.claims._optimism import OPTIMISM_CASES, Optimism, check_optimism
from sojourn.reproduction.claims._places import PLACES, in_order_of_the_paper
from sojourn.reproduction.claims._unknown_law import (
    announced_exponent,
    corollary_5,
    corollary_6,
    dkw,
    factor_between_rates,
    lemma_5,
    lemma_6,
    lemma_7,
    theorem_4,
)
from sojourn.reproduction.claims._verdicts import (
    Interval,
    bootstrap_ratio,
    bootstrap_slope,
    describe_growth,
    judge_improvement,
    won_and_lost,
)

__all__ = [
    "OPTIMISM_CASES",
    "PLACES",
    "Interval",
    "Optimism",
    "announced_exponent",
    "bootstrap_ratio",
    "bootstrap_slope",
    "check_optimism",
    "corollary_2_claims",
    "corollary_3",
    "corollary_5",
    "corollary_6",
    "describe_growth",
    "dkw",
    "equivalence",
    "error_growth_claim",
    "factor_between_rates",
    "in_order_of_the_paper",
    "judge_improvement",
    "least_episodes",
    "lemma_1",
    "lemma_2",
    "lemma_3",
    "lemma_5",
    "lemma_6",
    "lemma_7",
    "minimax_remark",
    "printed_slope",
    "same_minimizers",
    "theorem_1",
    "theorem_4",
    "won_and_lost",
]
