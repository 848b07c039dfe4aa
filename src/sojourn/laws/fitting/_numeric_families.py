"""Families without a closed form: their likelihoods, and starting points for the maximization."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sojourn._typing import FloatArray
from sojourn.laws._base import MAX_STEP, LengthLaw
from sojourn.laws.estimates._sample import Sample
from sojourn.laws.families._beta_geometric import BetaGeometric
from sojourn.laws.families._discrete_weibull import DiscreteWeibull
from sojourn.laws.families._geometric import Geometric
from sojourn.laws.families._log_logistic import LogLogistic
from sojourn.laws.families._log_normal import LogNormal
from sojourn.laws.families._mixture import Mixture
from sojourn.laws.families._negative_binomial import NegativeBinomial
from sojourn.laws.fitting._closed_form_families import (
    HIGHEST_GAMMA,
    GeometricFamily,
    QuasiHyperbolicFamily,
)
from sojourn.laws.fitting._family import NumericFamily
from sojourn.laws.fitting._optimizer import Maximum
from sojourn.laws.numerics._special import log_gamma_ratio

__all__ = [
    "BetaGeometricFamily",
    "DiscreteWeibullFamily",
    "LogLogisticFamily",
    "LogNormalFamily",
    "MixtureFamily",
    "NegativeBinomialFamily",
]


_SHORT = 4096.0
"""Up to this step, running sums over all steps cost less than special functions."""


def _sums(terms: FloatArray) -> FloatArray:
    """Return 0 followed by the cumulative sums."""
    return np.concatenate(([0.0], np.cumsum(terms)))


def _stop(sample: Sample) -> float:
    """Return the chance of stopping per step under a geometric law, kept away from 0 and 1."""
    gamma = GeometricFamily().solve(sample).values[0]
    return min(max(1.0 - gamma, 1e-12), 1.0 - 1e-6)


def _logit(share: float) -> float:
    return math.log(share) - math.log1p(-share)


class NegativeBinomialFamily(NumericFamily):
    """Negative binomial laws, in the variables ln r and ln E[K]."""

    name = "negative_binomial"
    parameters = ("r", "gamma")
    lower, upper = (math.log(1e-3), -25.0), (math.log(1e5), 30.0)

    def starts(self, sample: Sample) -> Sequence[Sequence[Sequence[float]]]:
        """Return starting points with the mean of the geometric fit and few to many stages."""
        stop = _stop(sample)
        stages = (0.2, 0.5, 1.0, 2.0, 6.0, 30.0)
        return [[(math.log(r), math.log1p(-stop) - math.log(stop)) for r in stages]]

    def natural(self, variables: FloatArray) -> tuple[float, ...]:
        """Return r and γ; the mean of K is rγ/(1 − γ)."""
        return math.exp(variables[0]), min(1.0 / (1.0 + math.exp(variables[0] - variables[1])), HIGHEST_GAMMA)

    def make(self, *values: float) -> LengthLaw:
        """Return the law."""
        return NegativeBinomial(*values)

    def log_survival(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return ln P(K ≥ h − 1), by the incomplete beta function unless it underflows."""
        from scipy.special import betainc  # noqa: PLC0415

        r, gamma = self.natural(variables)
        survival = betainc(h - 1.0, r, gamma)
        result = np.log(survival)
        if (small := ~(survival > 1e-290)).any():
            result[small] = NegativeBinomial(r, gamma)._log_survival(h[small])
        return np.asarray(result)

    def log_pmf(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return ln P(K = h − 1); for short lengths by P(K = k + 1)/P(K = k) = γ (r + k)/(k + 1)."""
        r, gamma = self.natural(variables)
        if h[-1] > _SHORT:
            return NegativeBinomial(r, gamma)._log_pmf(h - 1.0)
        k = np.arange(h[-1] - 1.0)
        return np.asarray(
            r * math.log1p(-gamma) + _sums(np.log(gamma * (r + k) / (k + 1.0)))[h.astype(int) - 1]
        )


class DiscreteWeibullFamily(NumericFamily):
    """Discrete Weibull laws, in the variables ln(−ln q) and ln(shape)."""

    name = "discrete_weibull"
    parameters = ("q", "shape")
    lower, upper = (math.log(1e-13), math.log(0.05)), (math.log(700.0), math.log(100.0))

    def starts(self, sample: Sample) -> Sequence[Sequence[Sequence[float]]]:
        """Return starting points around the slope of ln(−ln γ) against ln(h − 1) for the Kaplan–Meier γ."""
        at_risk = sample.at_risk(sample.ends)
        level = np.cumsum(np.log1p(-np.minimum(sample.end_counts / np.maximum(at_risk, 1), 0.999)))
        x, y = np.log(sample.ends), np.log(np.maximum(-level, 1e-12))
        shape, middle, height = 1.0, float(np.average(x, weights=sample.end_counts)), 0.0
        if x.size > 1:
            weights = np.sqrt(sample.end_counts)
            shape, at_one = np.polyfit(x, y, 1, w=weights) if np.ptp(x) > 0.0 else (1.0, float(y[0]))
            height = float(at_one + shape * middle)
        shapes = [min(max(shape * factor, 0.1), 50.0) for factor in (1.0, 0.5, 2.0)] + [1.0]
        return [[(height - one * middle, math.log(one)) for one in shapes]]

    def natural(self, variables: FloatArray) -> tuple[float, ...]:
        """Return q and the shape."""
        return math.exp(-math.exp(variables[0])), math.exp(variables[1])

    def make(self, *values: float) -> LengthLaw:
        """Return the law."""
        return DiscreteWeibull(*values)

    def log_survival(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return −λ (h − 1)^shape, or −inf where the mean length is too large for a law."""
        shape = math.exp(variables[1])
        if math.lgamma(1.0 + 1.0 / shape) - variables[0] / shape > math.log(MAX_STEP) - 1e-6:
            return np.full_like(h, -math.inf)
        return np.asarray(-math.exp(variables[0]) * (h - 1.0) ** shape)

    def log_pmf(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return ln γ(h) + ln(1 − γ(h + 1)/γ(h))."""
        here = self.log_survival(variables, h)
        later = np.where(h > 1.0, self.log_survival(variables, h + 1.0), -math.exp(variables[0]))
        return np.asarray(np.where(h > 1.0, here, 0.0 * here) + np.log(-np.expm1(later - here)))


class LogLogisticFamily(NumericFamily):
    """Log-logistic laws, in the variables ln(scale) and ln(shape − 1)."""

    name = "log_logistic"
    parameters = ("scale", "shape")
    lower: tuple[float, ...] = (-20.0, math.log(1e-3))
    upper: tuple[float, ...] = (30.0, math.log(900.0))

    def starts(self, sample: Sample) -> Sequence[Sequence[Sequence[float]]]:
        """Return starting points around the median of the observed lengths, for heavy and light tails."""
        middle = _log_middle(sample)
        return [[(middle + up, math.log(more)) for up in (-0.5, 0.0, 0.5) for more in (0.2, 0.6, 1.5, 6.0)]]

    def natural(self, variables: FloatArray) -> tuple[float, ...]:
        """Return the scale and the shape."""
        return math.exp(variables[0]), 1.0 + math.exp(variables[1])

    def make(self, *values: float) -> LengthLaw:
        """Return the law."""
        return LogLogistic(*values)

    def without_mean(self, sample: Sample, best: Maximum) -> str:
        """Return the most likely member with a shape ≤ 1, which has no mean, if the data favor one."""
        if best.at[1] > self.lower[1]:
            return ""
        family = _LogLogisticWithoutMean()
        scale, shape = family.natural(family.maximum(sample).at)
        return f"LogLogistic(scale={scale:.3g}, shape={shape:.3g})"

    def log_survival(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return −ln(1 + odds), or −inf where the mean length is too large for a law."""
        shape = 1.0 + math.exp(variables[1])
        whole = math.pi / shape / math.sin(math.pi * (shape - 1.0) / shape)
        if variables[0] + math.log(whole) > math.log(MAX_STEP) - 1e-3:
            return np.full_like(h, -math.inf)
        return np.asarray(-np.logaddexp(0.0, shape * (np.log(h - 1.0) - variables[0])))

    def log_pmf(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return ln γ(h) + ln(1 − γ(h + 1)/γ(h))."""
        survival = self.log_survival(variables, h)
        if not np.isfinite(survival).any():
            return survival
        return np.asarray(survival + np.log(LogLogistic(*self.natural(variables))._hazard(h)))


class _LogLogisticWithoutMean(LogLogisticFamily):
    """Log-logistic distributions with a shape ≤ 1, in the variables ln(scale) and ln(shape)."""

    lower, upper = (-20.0, math.log(0.01)), (30.0, 0.0)

    def starts(self, sample: Sample) -> Sequence[Sequence[Sequence[float]]]:
        """Return starting points around the median of the observed lengths."""
        middle = _log_middle(sample)
        return [[(middle + up, math.log(shape)) for up in (-0.5, 0.5, 2.0) for shape in (0.9, 0.5)]]

    def natural(self, variables: FloatArray) -> tuple[float, ...]:
        """Return the scale and the shape."""
        return math.exp(variables[0]), math.exp(variables[1])

    def log_survival(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return −ln(1 + odds)."""
        with np.errstate(divide="ignore"):
            odds = math.exp(variables[1]) * (np.log(h - 1.0) - variables[0])
        return np.asarray(-np.logaddexp(0.0, odds))

    def log_pmf(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return ln γ(h) + ln(1 − γ(h + 1)/γ(h)); survival changes little from step to step here."""
        here, later = self.log_survival(variables, h), self.log_survival(variables, h + 1.0)
        return np.asarray(here + np.log(-np.expm1(later - here)))


class LogNormalFamily(NumericFamily):
    """Log-normal laws, in the variables μ and ln σ."""

    name = "log_normal"
    parameters = ("mu", "sigma")
    lower, upper = (-20.0, math.log(0.0101)), (30.0, math.log(8.0))

    def starts(self, sample: Sample) -> Sequence[Sequence[Sequence[float]]]:
        """Return starting points around the median of the observed lengths, for narrow and wide laws."""
        middle = _log_middle(sample)
        return [[(middle + up, math.log(wide)) for up in (-0.5, 0.0, 0.7) for wide in (0.2, 0.6, 1.2, 2.5)]]

    def natural(self, variables: FloatArray) -> tuple[float, ...]:
        """Return μ and σ."""
        return float(variables[0]), math.exp(variables[1])

    def make(self, *values: float) -> LengthLaw:
        """Return the law."""
        return LogNormal(*values)

    def log_survival(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return ln P(Z > z), or −inf where the mean length is too large for a law."""
        mu, sigma = self.natural(variables)
        if mu + 0.5 * sigma * sigma > math.log(MAX_STEP) - 1e-3:
            return np.full_like(h, -math.inf)
        return LogNormal(mu, sigma)._log_survival(h)

    def log_pmf(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return ln γ(h) + ln(1 − γ(h + 1)/γ(h))."""
        survival = self.log_survival(variables, h)
        if not np.isfinite(survival).any():
            return survival
        return np.asarray(survival + np.log(LogNormal(*self.natural(variables))._hazard(h)))


def _log_middle(sample: Sample) -> float:
    """Return the logarithm of about the median of a time that is rounded up to the observed lengths."""
    seen = np.cumsum(sample.end_counts)
    median = float(sample.ends[int(np.searchsorted(seen, 0.5 * seen[-1]))])
    return math.log(max(median - 0.5, 0.5))


class BetaGeometricFamily(NumericFamily):
    """Beta-geometric laws, in the variables ln(a − 1) and the log-odds of stopping at the first step."""

    name = "beta_geometric"
    parameters = ("a", "b")
    lower: tuple[float, ...] = (math.log(1e-3), -30.0)
    upper: tuple[float, ...] = (math.log(1e6), 14.0)

    def starts(self, sample: Sample) -> Sequence[Sequence[Sequence[float]]]:
        """Return starting points with several chances of stopping at step 1, for heavy and light tails."""
        stop = _stop(sample)
        first = [_logit(min(stop * factor, 0.9)) for factor in (1.0, 2.0, 8.0)]
        tails = (0.05, 0.3, 2.0), (20.0, 1e3)
        return [[(math.log(more), odds) for odds in first for more in group] for group in tails]

    def natural(self, variables: FloatArray) -> tuple[float, ...]:
        """Return a and b; the chance of stopping at the first step is a/(a + b)."""
        a = 1.0 + math.exp(variables[0])
        return a, a * math.exp(-variables[1])

    def make(self, *values: float) -> LengthLaw:
        """Return the law."""
        return BetaGeometric(*values)

    def without_mean(self, sample: Sample, best: Maximum) -> str:
        """Return the most likely member with a ≤ 1, which has no mean, if the data favor one."""
        if best.at[0] > self.lower[0]:
            return ""
        a, b = _BetaGeometricWithoutMean().natural(_BetaGeometricWithoutMean().maximum(sample).at)
        return f"BetaGeometric(a={a:.3g}, b={b:.3g})"

    def log_survival(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return ln B(a, b + h − 1)/B(a, b); for short lengths as a sum of ln ρ."""
        a, b = self.natural(variables)
        if h[-1] > _SHORT:
            return log_gamma_ratio(a, b, h - 1.0)
        return np.asarray(_sums(-np.log1p(a / (b + np.arange(h[-1] - 1.0))))[h.astype(int) - 1])

    def log_pmf(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return ln γ(h) plus the logarithm of the hazard."""
        a, b = self.natural(variables)
        return np.asarray(self.log_survival(variables, h) + np.log(a / (a + (b + (h - 1.0)))))


class _BetaGeometricWithoutMean(BetaGeometricFamily):
    """Beta-geometric distributions with a ≤ 1, in ln a and the log-odds of stopping at the first step."""

    lower, upper = (math.log(1e-3), -30.0), (0.0, 14.0)

    def starts(self, sample: Sample) -> Sequence[Sequence[Sequence[float]]]:
        """Return starting points with several values of a and chances of stopping at step 1."""
        odds = _logit(min(2.0 * _stop(sample), 0.9))
        return [[(math.log(a), odds + up) for a in (0.9, 0.5, 0.2) for up in (-1.0, 0.0, 1.0)]]

    def natural(self, variables: FloatArray) -> tuple[float, ...]:
        """Return a and b."""
        a = math.exp(variables[0])
        return a, a * math.exp(-variables[1])


class MixtureFamily(NumericFamily):
    """Mixtures of two geometric laws, in the log-odds of the first weight and of both values of γ."""

    name = "mixture"
    parameters = ("weight", "gamma_1", "gamma_2")
    lower, upper = (-9.0, -12.0, -12.0), (9.0, 27.0, 27.0)

    def starts(self, sample: Sample) -> Sequence[Sequence[Sequence[float]]]:
        """Return three groups: pairs around the geometric fit, some very long episodes, some very short."""
        odds, longest = _logit(1.0 - _stop(sample)), math.log(10.0 * sample.longest)
        pairs = [(1.0, 1.0), (2.0, 1.0), (1.0, 2.5), (3.0, 3.0)]
        even = [(_logit(share), odds - down, odds + up) for down, up in pairs for share in (0.15, 0.5, 0.85)]
        late = [
            (_logit(share), odds - 0.3, long)
            for share in (0.9, 0.98, 0.998)
            for long in (odds + 2.0, longest)
        ]
        early = [(_logit(share), odds - down, odds + 0.1) for share in (0.02, 0.1) for down in (2.0, 5.0)]
        beta, gamma = QuasiHyperbolicFamily().solve(sample).values
        if 0.0 < beta < 1.0 and 0.0 < gamma < HIGHEST_GAMMA:
            early += [(_logit(1.0 - beta), first, _logit(gamma)) for first in (-3.0, -1.0)]
        return even, late, early

    def natural(self, variables: FloatArray) -> tuple[float, ...]:
        """Return the weight and the γ of the law that ends sooner, and the γ of the other."""
        weight, one, other = (1.0 / (1.0 + math.exp(-x)) for x in variables)
        return (weight, one, other) if one <= other else (1.0 - weight, other, one)

    def edge(self, maximum: Maximum) -> tuple[str, ...]:
        """Return the names of parameters at the edge; the two laws are swapped where `natural` swaps them."""
        names = super().edge(maximum)
        if maximum.at[1] <= maximum.at[2]:
            return names
        other = {"gamma_1": "gamma_2", "gamma_2": "gamma_1"}
        return tuple(sorted(other.get(name, name) for name in names))

    def make(self, *values: float) -> LengthLaw:
        """Return the law."""
        weight, one, other = values
        return Mixture([weight, 1.0 - weight], [Geometric(one), Geometric(min(other, HIGHEST_GAMMA))])

    def log_survival(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return the logarithm of the weighted sum of the two survival functions."""
        return self._log_sum(variables, h - 1.0, ended=False)

    def log_pmf(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return the logarithm of the weighted sum of the two probabilities."""
        return self._log_sum(variables, h - 1.0, ended=True)

    def _log_sum(self, variables: FloatArray, survived: FloatArray, *, ended: bool) -> FloatArray:
        log_true, log_false = -np.logaddexp(0.0, -variables), -np.logaddexp(0.0, variables)
        ends = log_false[1:] if ended else (0.0, 0.0)
        first = log_true[0] + ends[0] + survived * log_true[1]
        return np.asarray(np.logaddexp(first, log_false[0] + ends[1] + survived * log_true[2]))
