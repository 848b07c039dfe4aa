"""Regret bounds as functions: those that the paper prints, those that are proven, and lower bounds.

Names that begin with `printed` transcribe the paper, with its own numbering: Theorem 1 and Corollaries 2
(polynomial) and 3 (geometric) are for a known law, Theorem 4 and Corollaries 5 (polynomial) and 6 (geometric)
for an unknown one; Theorems 7 and 8 are the formal statements of 1 and 4. They are "up to constants": every
O(·) is read with the constant 1. Names that begin with `proven`, and the lower bounds, are Sojourn's own
theorems with their constants; the theory page states and proves them. All logarithms are natural.

Modules:
    `_printed_known_law`, `_printed_unknown_law`: the printed bounds, term by term.
    `_growth`: the growth t(h) of errors, which both printed bounds use.
    `_free_exponent`: the best value of the free exponent β of the paper's analysis.
    `_choices`: the truncation, β and block length that the paper's corollaries choose.
    `_printed_exponents`: the powers of T in the paper's corollaries.
    `_proven_bounds`: proven regret bounds and their powers of T.
    `_truncation`: the number of layers for which the proven bounds are smallest, up to constants.
    `_estimated_horizon`: a confidence bound for an estimated law, and the number of layers that follows.
    `_lower_bounds`: bounds from below on the regret of every learner.
    `_checks`: validation of arguments.
"""

from __future__ import annotations

from sojourn.theory._choices import Choice, block_length, printed_truncation
from sojourn.theory._estimated_horizon import estimated_horizon, survival_upper_bound
from sojourn.theory._growth import error_growth, error_weight, log_error_growth
from sojourn.theory._lower_bounds import lower_bound, polynomial_lower_bound, rare_choice_lower_bound
from sojourn.theory._printed_exponents import printed_known_law_exponent, printed_unknown_law_exponent
from sojourn.theory._printed_known_law import PrintedKnownLawBound, printed_known_law_bound
from sojourn.theory._printed_unknown_law import (
    PrintedUnknownLawBound,
    log_estimation_growth,
    printed_unknown_law_bound,
)
from sojourn.theory._proven_bounds import ProvenBound, proven_bound, proven_exponent
from sojourn.theory._truncation import PROVEN_BONUSES, BonusKind, proven_horizon, proven_truncation

__all__ = [
    "PROVEN_BONUSES",
    "BonusKind",
    "Choice",
    "PrintedKnownLawBound",
    "PrintedUnknownLawBound",
    "ProvenBound",
    "block_length",
    "error_growth",
    "error_weight",
    "estimated_horizon",
    "log_error_growth",
    "log_estimation_growth",
    "lower_bound",
    "polynomial_lower_bound",
    "printed_known_law_bound",
    "printed_known_law_exponent",
    "printed_truncation",
    "printed_unknown_law_bound",
    "printed_unknown_law_exponent",
    "proven_bound",
    "proven_exponent",
    "proven_horizon",
    "proven_truncation",
    "rare_choice_lower_bound",
    "survival_upper_bound",
]
