"""Length laws: distributions of episode lengths, which are also discount functions.

Modules:
    `_base`: `LengthLaw`, which derives everything from a survival function.
    `families/`: parametric laws, one per file.
    `estimates/`: laws and confidence bands estimated from data without a parametric family.
    `fitting/`: parametric families fitted by maximum likelihood.
    `numerics/`: sums and special functions that stay accurate far out in the tail.
    `_staircase`: laws whose survival function is a step function (tables and estimates).
    `_parse`: laws from text and back; `_survival_csv`: survival tables from CSV files.
    `_own`: laws of a user's own code.
    `_as_mixture`: laws as mixtures of geometric laws.
    `_summaries`, `_distance`, `_labels`: numbers and names that describe a law; `_card`: its notebook card.
    `_checks`: validation of lengths; `_draw`: lengths drawn from a law, validated.
"""

from __future__ import annotations

from sojourn.laws._base import MAX_STEP, LengthLaw, steps
from sojourn.laws._distance import closest_geometric, distance
from sojourn.laws._draw import draw_lengths
from sojourn.laws._labels import label
from sojourn.laws._own import MissingLaw, NamedLaw, own_law_path, read_law, read_stored_law
from sojourn.laws._parse import LAWS, law_to_text, parse_law, parse_stored_law
from sojourn.laws._summaries import effective_horizon, geometric_with_mean, is_heavy, quantile, same_mean
from sojourn.laws.estimates._bands import Band, band_of_sample, survival_band
from sojourn.laws.estimates._empirical import Empirical
from sojourn.laws.estimates._kaplan_meier import KaplanMeier
from sojourn.laws.estimates._sample import Sample, take_sample
from sojourn.laws.families._beta_geometric import BetaGeometric
from sojourn.laws.families._discrete_weibull import DiscreteWeibull
from sojourn.laws.families._fixed import Fixed
from sojourn.laws.families._geometric import Geometric
from sojourn.laws.families._log_logistic import LogLogistic
from sojourn.laws.families._log_normal import LogNormal
from sojourn.laws.families._mixture import Mixture
from sojourn.laws.families._negative_binomial import NegativeBinomial
from sojourn.laws.families._polynomial import Polynomial
from sojourn.laws.families._quasi_hyperbolic import QuasiHyperbolic
from sojourn.laws.families._tabulated import Tabulated
from sojourn.laws.families._uniform import Uniform
from sojourn.laws.fitting._likelihood import (
    FAMILIES,
    Fit,
    MaximumLikelihood,
    fit,
    fit_sample,
    log_likelihood,
    refit_sample,
)

__all__ = [
    "FAMILIES",
    "LAWS",
    "MAX_STEP",
    "Band",
    "BetaGeometric",
    "DiscreteWeibull",
    "Empirical",
    "Fit",
    "Fixed",
    "Geometric",
    "KaplanMeier",
    "LengthLaw",
    "LogLogistic",
    "LogNormal",
    "MaximumLikelihood",
    "MissingLaw",
    "Mixture",
    "NamedLaw",
    "NegativeBinomial",
    "Polynomial",
    "QuasiHyperbolic",
    "Sample",
    "Tabulated",
    "Uniform",
    "band_of_sample",
    "closest_geometric",
    "distance",
    "draw_lengths",
    "effective_horizon",
    "fit",
    "fit_sample",
    "geometric_with_mean",
    "is_heavy",
    "label",
    "law_to_text",
    "log_likelihood",
    "own_law_path",
    "parse_law",
    "parse_stored_law",
    "quantile",
    "read_law",
    "read_stored_law",
    "refit_sample",
    "same_mean",
    "steps",
    "survival_band",
    "take_sample",
]
