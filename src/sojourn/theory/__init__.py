"""The paper's regret bounds and parameter choices as functions.

Bounds are "up to constants": every O(·) is read with the constant 1, log is the natural logarithm. They show
how regret grows and which term dominates, not how large it is. Theorems and corollaries are numbered by kind:
theorem 1 and corollaries 1 (polynomial) and 2 (geometric) are for a known law, theorem 2 and corollaries 3
(polynomial) and 4 (geometric) for an unknown one. The theorems are the formal ones of the appendix.

Modules:
    `_theorem1`, `_theorem2`: the regret bounds for a known and for an unknown law, term by term.
    `_growth`: the growth t(h) of errors, which both theorems use.
    `_choices`: the truncation, β and block length that the corollaries choose.
    `_exponents`: the powers of T in the corollaries.
    `_checks`: validation of arguments.
"""

from __future__ import annotations

from sojourn.theory._choices import Choice, block_length, choose_truncation
from sojourn.theory._exponents import known_law_exponent, unknown_law_exponent
from sojourn.theory._growth import error_growth, error_weight, log_error_growth
from sojourn.theory._theorem1 import RegretBound, known_law_bound
from sojourn.theory._theorem2 import UnknownLawBound, log_estimation_growth, unknown_law_bound

__all__ = [
    "Choice",
    "RegretBound",
    "UnknownLawBound",
    "block_length",
    "choose_truncation",
    "error_growth",
    "error_weight",
    "known_law_bound",
    "known_law_exponent",
    "log_error_growth",
    "log_estimation_growth",
    "unknown_law_bound",
    "unknown_law_exponent",
]
