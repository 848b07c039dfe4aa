"""Maximum-likelihood fits of laws to lengths, with censoring and late entry."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sojourn._typing import ArrayLike
from sojourn._validation import did_you_mean
from sojourn.laws._base import LengthLaw
from sojourn.laws._card import law_card
from sojourn.laws.estimates._sample import Sample, take_sample
from sojourn.laws.fitting._closed_form_families import GeometricFamily, QuasiHyperbolicFamily
from sojourn.laws.fitting._family import Family, Solution
from sojourn.laws.fitting._numeric_families import (
    BetaGeometricFamily,
    DiscreteWeibullFamily,
    LogLogisticFamily,
    LogNormalFamily,
    MixtureFamily,
    NegativeBinomialFamily,
)
from sojourn.laws.fitting._polynomial_family import PolynomialFamily

__all__ = ["FAMILIES", "Fit", "MaximumLikelihood", "fit", "fit_sample", "log_likelihood", "refit_sample"]

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        GeometricFamily(),
        QuasiHyperbolicFamily(),
        NegativeBinomialFamily(),
        DiscreteWeibullFamily(),
        LogLogisticFamily(),
        LogNormalFamily(),
        BetaGeometricFamily(),
        PolynomialFamily(),
        MixtureFamily(),
    )
}
"""The families that can be fitted, by name; "mixture" is a mixture of two geometric laws."""


@dataclass(frozen=True)
class Fit:
    """The most likely law of a family.

    Attributes:
        family: The family's name.
        law: The law.
        parameters: Its parameters by name; for a mixture, the weight of the law that ends sooner and both γ.
        standard_errors: Asymptotic standard errors of the parameters by name; NaN where the data do not
            determine one, and for the offset of a polynomial law, a whole number that is found by search.
        log_likelihood: Natural logarithm of the likelihood of the data.
        n: Number of rows.
        n_observed: Number of rows that were observed to end.
        n_parameters: Number of parameters that AIC and BIC count. The offset of a polynomial law is not
            counted, because the evidence gained from a whole number does not grow with the data.
        covariance: Covariance matrix of the parameters, row by row, in their order; NaN where the standard
            error is.
        edge: Parameters that ended at the edge of their allowed range: the data favor a more extreme value
            or do not determine one.
        without_mean: A more likely member of the family whose mean is infinite, in words, which is not a
            law; empty if there is none.
        variables: Where the maximization ended, from where `refit_sample` goes on.
    """

    family: str
    law: LengthLaw
    parameters: dict[str, float]
    standard_errors: dict[str, float]
    log_likelihood: float
    n: int
    n_observed: int
    n_parameters: int
    covariance: tuple[tuple[float, ...], ...]
    edge: tuple[str, ...] = ()
    without_mean: str = ""
    variables: tuple[float, ...] = ()

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2k − 2 ln L: the smaller, the better."""
        return 2.0 * self.n_parameters - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion, k ln n − 2 ln L with n the number of rows: the smaller, the better."""
        return self.n_parameters * math.log(self.n) - 2.0 * self.log_likelihood

    def error_of(self, figure: Callable[[LengthLaw], float]) -> float:
        """Return the standard error of a function of the law, by the delta method.

        Parameters at an edge and whole-number parameters are treated as known. NaN if no parameter has a
        standard error.

        Args:
            figure: A smooth function of the law, such as its mean.

        Example:
            >>> found = fit([3, 1, 4, 7], family="geometric")
            >>> round(found.error_of(lambda law: law.mean) / found.law.mean, 4)  # √(γ/n) = √(11/60)
            0.4282
        """
        covariance, values = np.array(self.covariance), list(self.parameters.values())
        known = np.flatnonzero(~np.isnan(np.diag(covariance))).tolist()
        if not known:
            return math.nan
        slopes = [self._slope(figure, values, i, math.sqrt(covariance[i, i])) for i in known]
        variance = float(np.array(slopes) @ covariance[np.ix_(known, known)] @ np.array(slopes))
        return math.sqrt(max(variance, 0.0))

    def _slope(
        self, figure: Callable[[LengthLaw], float], values: list[float], i: int, error: float
    ) -> float:
        """Return the derivative with respect to parameter i, by a difference of 0.02 standard errors."""
        sides = []
        for side in (-0.01 * error, 0.01 * error):
            moved = [*values[:i], values[i] + side, *values[i + 1 :]]
            try:
                sides.append((side, float(figure(FAMILIES[self.family].make(*moved)))))
            except ValueError:
                sides.append((0.0, float(figure(self.law))))
        (left, low), (right, high) = sides
        return (high - low) / (right - left) if right > left else math.nan

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            (name, f"{value:.6g} ± {self.standard_errors[name]:.2g}")
            for name, value in self.parameters.items()
        ]
        rows += [("fitted to", f"{self.n:,} lengths"), ("ln L", f"{self.log_likelihood:.6g}")]
        return law_card(self.law, rows)


@dataclass(frozen=True)
class MaximumLikelihood:
    """An estimator that returns the most likely law of a family.

    It is called with the same arguments as `KaplanMeier` and can be used wherever an estimator of laws is
    expected.

    Args:
        family: "geometric", "quasi_hyperbolic", "negative_binomial", "discrete_weibull", "log_logistic",
            "log_normal", "beta_geometric", "polynomial" or "mixture" (of two geometric laws), in
            upper or lower case.

    Example:
        >>> estimate = MaximumLikelihood("geometric")
        >>> estimate([3, 1, 4], [True, True, False])  # 5 steps were survived, 2 were not
        Geometric(gamma=0.7142857142857143)
    """

    family: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", _family(self.family).name)

    def __call__(
        self,
        lengths: ArrayLike,
        observed: ArrayLike | None = None,
        *,
        entry: ArrayLike | None = None,
        counts: ArrayLike | None = None,
    ) -> LengthLaw:
        """Return the most likely law; see `fit`."""
        return fit(lengths, observed, family=self.family, entry=entry, counts=counts).law


def fit(
    lengths: ArrayLike,
    observed: ArrayLike | None = None,
    *,
    family: str,
    entry: ArrayLike | None = None,
    counts: ArrayLike | None = None,
) -> Fit:
    """Fit a family of laws to lengths by maximum likelihood.

    An observed length n contributes P(H = n) to the likelihood and a censored one γ(n) = P(H ≥ n), both
    conditional on H ≥ entry. Equal rows are counted first, so the cost depends on the number of distinct
    lengths. If there are more than 32,768 of them, those that differ by less than two in a thousand are
    merged.

    Args:
        lengths: Whole numbers ≥ 1, `(n,)`.
        observed: Whether each row was observed to its end, `(n,)`; True by default.
        family: One of `sojourn.laws.FAMILIES`.
        entry: Step from which each row was under observation (left truncation), `(n,)`; 1 by default.
        counts: Number of times that each row occurs, whole numbers ≥ 0, `(n,)`; 1 by default.

    Raises:
        ValueError: If the data are invalid, or no row was observed to end.

    Example:
        >>> result = fit([1, 1, 1, 2, 2, 5, 9, 9], [1, 1, 1, 1, 1, 1, 1, 0], family="quasi-hyperbolic")
        >>> float(result.law.survival(2))  # 5 of 8 first steps were survived
        0.625
        >>> result.law.gamma  # and 17 of 21 later ones
        0.8095238095238095
        >>> round(result.standard_errors["gamma"], 4)
        0.0857
    """
    return fit_sample(take_sample(lengths, observed, entry=entry, counts=counts), family)


def fit_sample(sample: Sample, family: str) -> Fit:
    """Fit a family of laws to lengths that are counted already; see `fit`."""
    chosen = _family(family)
    if not sample.n_observed:
        raise ValueError(
            "observed must be True for at least one length: with none the most likely mean length is "
            "infinite; add data."
        )
    sample = sample.thinned()
    found = chosen.solve(sample)
    return _result(chosen, found, sample, log_likelihood(found.law, sample))


def refit_sample(sample: Sample, near: Fit) -> Fit:
    """Fit the family of a fit to a similar sample, which is faster than `fit_sample`."""
    chosen = FAMILIES[near.family]
    found = chosen.solve_near(sample, near.variables) if near.variables else chosen.solve(sample)
    reached = found.log_likelihood
    return _result(
        chosen, found, sample, log_likelihood(found.law, sample) if math.isnan(reached) else reached
    )


def _result(chosen: Family, found: Solution, sample: Sample, likelihood: float) -> Fit:
    return Fit(
        family=chosen.name,
        law=found.law,
        parameters=dict(zip(chosen.parameters, found.values, strict=True)),
        standard_errors=dict(zip(chosen.parameters, found.errors, strict=True)),
        log_likelihood=likelihood,
        n=sample.n,
        n_observed=sample.n_observed,
        n_parameters=chosen.n_parameters,
        covariance=tuple(tuple(row) for row in found.covariance.tolist()),
        edge=found.edge,
        without_mean=found.without_mean,
        variables=found.variables,
    )


def log_likelihood(law: LengthLaw, sample: Sample) -> float:
    """Return the log-likelihood of a sample under any law; −inf if a length has probability 0."""
    marks, weights = sample.survival_terms()
    with np.errstate(divide="ignore", invalid="ignore"):  # −∞ + ∞: a late entry has probability 0 as well
        total = np.dot(sample.end_counts, law.log_survival(sample.ends) + np.log(law.hazard(sample.ends)))
        if marks.size:
            total += np.dot(weights, law.log_survival(marks))
    return float(total) if not math.isnan(total) else -math.inf


def _family(name: str) -> Family:
    if not isinstance(name, str):
        raise TypeError(f"family must be a name such as 'geometric'; got {name!r}.")
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    known = {key.replace("_", ""): key for key in FAMILIES}
    if plain.replace("_", "") not in known:
        listed = ", ".join(FAMILIES)
        raise ValueError(
            f"Unknown family {name!r}.{did_you_mean(plain, FAMILIES) or f' There are {listed}.'}"
        )
    return FAMILIES[known[plain.replace("_", "")]]
