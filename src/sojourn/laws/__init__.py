"""Length laws: laws of episode lengths, which are discount functions."""

from __future__ import annotations

from sojourn.laws._bands import Band, band_of_sample, survival_band
from sojourn.laws._base import MAX_STEP, LengthLaw, steps
from sojourn.laws._beta_geometric import BetaGeometric
from sojourn.laws._discrete_weibull import DiscreteWeibull
from sojourn.laws._distance import closest_geometric, distance
from sojourn.laws._empirical import Empirical
from sojourn.laws._fixed import Fixed
from sojourn.laws._geometric import Geometric
from sojourn.laws._kaplan_meier import KaplanMeier
from sojourn.laws._labels import label
from sojourn.laws._likelihood import FAMILIES, Fit, MaximumLikelihood, fit, fit_sample, log_likelihood
from sojourn.laws._mixture import Mixture
from sojourn.laws._negative_binomial import NegativeBinomial
from sojourn.laws._parse import LAWS, parse_law
from sojourn.laws._polynomial import Polynomial
from sojourn.laws._quasi_hyperbolic import QuasiHyperbolic
from sojourn.laws._sample import Sample, take_sample
from sojourn.laws._shape import is_heavy, quantile, same_mean
from sojourn.laws._tabulated import Tabulated
from sojourn.laws._uniform import Uniform

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
    "MaximumLikelihood",
    "Mixture",
    "NegativeBinomial",
    "Polynomial",
    "QuasiHyperbolic",
    "Sample",
    "Tabulated",
    "Uniform",
    "band_of_sample",
    "closest_geometric",
    "distance",
    "fit",
    "fit_sample",
    "is_heavy",
    "label",
    "log_likelihood",
    "parse_law",
    "quantile",
    "same_mean",
    "steps",
    "survival_band",
    "take_sample",
]
