"""Base classes of the families that can be fitted, and the result of a fit."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray
from sojourn.laws._base import LengthLaw
from sojourn.laws.estimates._sample import Sample
from sojourn.laws.fitting._optimizer import Maximum, maximize

__all__ = ["Family", "NumericFamily", "Solution"]

_COARSE_DISTINCT = 2048
"""Number of distinct lengths with which the maximum is located before all of them are used."""

_LEAST_GAIN = 1e-3
"""`solve_near` stops after a short step that gains less log-likelihood than this: parameters are then nearer
to the maximum than a twentieth of their standard error."""


@dataclass(frozen=True)
class Solution:
    """The most likely member of a family.

    Attributes:
        law: The law.
        values: Its parameters, in the order of `Family.parameters`.
        covariance: Asymptotic covariance matrix of the parameters, `(k, k)`; NaN where the data do not
            determine it.
        edge: Names of the parameters that ended at the edge of their allowed range.
        without_mean: A more likely member of the family whose mean is infinite, in words; empty if there is
            none.
        variables: Where the maximization ended, in unconstrained variables; empty for closed forms.
        log_likelihood: What the maximization reached; NaN for closed forms.
    """

    law: LengthLaw
    values: tuple[float, ...]
    covariance: FloatArray
    edge: tuple[str, ...] = ()
    without_mean: str = ""
    variables: tuple[float, ...] = ()
    log_likelihood: float = math.nan

    @property
    def errors(self) -> tuple[float, ...]:
        """Standard errors of the parameters; NaN where the data do not determine one."""
        return tuple(np.sqrt(np.diag(self.covariance)).tolist())


class Family(ABC):
    """A family of laws: its parameters, and how to find the most likely ones."""

    name: str
    parameters: tuple[str, ...]

    @property
    def n_parameters(self) -> int:
        """Number of parameters that AIC and BIC count: those that are not whole numbers."""
        return len(self.parameters)

    @abstractmethod
    def make(self, *values: float) -> LengthLaw:
        """Return the law with these parameters."""

    @abstractmethod
    def solve(self, sample: Sample) -> Solution:
        """Return the most likely member of the family; the sample has at least one observed length."""

    def solve_near(self, sample: Sample, variables: Sequence[float]) -> Solution:
        """Return the most likely member, given that of a similar sample; by default the search is new."""
        return self.solve(sample)


class NumericFamily(Family):
    """A family whose likelihood is maximized numerically.

    The maximization is over unconstrained variables (logarithms and log-odds of the parameters) within a box
    from `lower` to `upper`. Subclasses define the box, `starts`, `natural`, `make`, `log_survival` and
    `log_pmf`.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]

    @abstractmethod
    def starts(self, sample: Sample) -> Sequence[Sequence[Sequence[float]]]:
        """Return starting points in groups; the search starts from the most likely point of each group."""

    @abstractmethod
    def natural(self, variables: FloatArray) -> tuple[float, ...]:
        """Return the parameters of the law that the unconstrained variables stand for."""

    @abstractmethod
    def log_survival(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return ln γ(h) for increasing steps h ≥ 2."""

    @abstractmethod
    def log_pmf(self, variables: FloatArray, h: FloatArray) -> FloatArray:
        """Return ln P(H = h) for increasing steps h."""

    def solve(self, sample: Sample) -> Solution:
        """Return the most likely member."""
        best = self.maximum(sample)
        return self._solution(best, sample.n, self.without_mean(sample, best))

    def solve_near(self, sample: Sample, variables: Sequence[float]) -> Solution:
        """Return the most likely member, searched from that of a similar sample on, to less precision."""
        begin, least_gain = np.array(variables), _LEAST_GAIN / sample.n
        best = self._maximize(self._mean_log_likelihood(sample), begin, least_gain)
        return self._solution(best, sample.n, "")

    def without_mean(self, sample: Sample, best: Maximum) -> str:
        """Return a more likely member of the family whose mean is infinite, in words; empty if none."""
        return ""

    def maximum(self, sample: Sample) -> Maximum:
        """Return the maximum of the likelihood, found from the best starting point of every group.

        If there are very many distinct lengths, a thinned sample is used to locate the maximum first.
        """
        coarse = sample.thinned(_COARSE_DISTINCT)
        objective = self._mean_log_likelihood(coarse)
        low, high = np.array(self.lower), np.array(self.upper)
        maxima = []
        for group in self.starts(coarse):
            begins: list[FloatArray] = [np.clip(np.array(start), low, high) for start in group]
            with np.errstate(all="ignore"):
                begin = max(begins, key=objective)
            maxima.append(self._maximize(objective, begin))
        best = max(maxima, key=lambda maximum: maximum.value)
        if coarse is not sample:
            best = self._maximize(self._mean_log_likelihood(sample), best.at)
        return best

    def _maximize(
        self, objective: Callable[[FloatArray], float], begin: FloatArray, least_gain: float = 0.0
    ) -> Maximum:
        # Warnings are switched off once for all evaluations: doing it in each would take a tenth of the time.
        with np.errstate(all="ignore"):
            return maximize(objective, begin, self.lower, self.upper, least_gain=least_gain)

    def _mean_log_likelihood(self, sample: Sample) -> Callable[[FloatArray], float]:
        """Return the mean log-likelihood per row as a function of the unconstrained variables.

        It may raise NumPy's warnings, which callers switch off.
        """
        ends, (marks, weights), n = sample.ends.astype(np.float64), sample.survival_terms(), sample.n

        def objective(variables: FloatArray) -> float:
            total = np.dot(sample.end_counts, self.log_pmf(variables, ends))
            if marks.size:
                total += np.dot(weights, self.log_survival(variables, marks))
            return float(total) / n if math.isfinite(total) else -math.inf

        return objective

    def _solution(self, maximum: Maximum, n: int, without_mean: str) -> Solution:
        """Return the law at a maximum, with the covariance of its parameters by the delta method."""
        values, inside = self.natural(maximum.at), maximum.inside
        covariance = np.full((len(values), len(values)), math.nan)
        information = -n * maximum.hessian[np.ix_(inside, inside)]
        if inside.any() and np.linalg.eigvalsh(information).min() > 1e-7 * n * _scale(information, n):
            slopes = np.array([self._slope(maximum.at, i) for i in np.flatnonzero(inside).tolist()]).T
            known = np.any(slopes != 0.0, axis=1)
            found = slopes @ np.linalg.inv(information) @ slopes.T
            covariance[np.ix_(known, known)] = found[np.ix_(known, known)]
        law, variables = self.make(*values), tuple(maximum.at.tolist())
        reached = n * maximum.value
        return Solution(law, values, covariance, self.edge(maximum), without_mean, variables, reached)

    def edge(self, maximum: Maximum) -> tuple[str, ...]:
        """Return the names of the parameters that ended at the edge of the box."""
        pairs = zip(self.parameters, maximum.inside, strict=True)
        return tuple(name for name, is_inside in pairs if not is_inside)

    def _slope(self, at: FloatArray, i: int, step: float = 1e-5) -> FloatArray:
        """Return the derivatives of the law's parameters with respect to unconstrained variable i."""
        unit = step * np.eye(at.size)[i]
        return np.asarray((np.array(self.natural(at + unit)) - self.natural(at - unit)) / (2.0 * step))


def _scale(information: FloatArray, n: int) -> float:
    return float(min(1.0, np.diag(information).max() / n))
