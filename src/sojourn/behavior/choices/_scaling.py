"""Choices in units of their medians, in which parameters are of order 1, and estimates in original units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtrit

from sojourn._typing import BoolArray, FloatArray
from sojourn.behavior.choices._data import ChoiceData, ChoiceDesign
from sojourn.behavior.choices._families import DiscountFamily
from sojourn.behavior.choices._likelihood import LOWEST, Maximum, Trials, profile_interval
from sojourn.behavior.choices._results import SubjectFit

__all__ = ["SINGULAR", "ScaledChoices", "find_undetermined", "smallest_eigenvalue"]

SINGULAR = 1e-9
"""Parameters are not determined if the smallest eigenvalue of their scaled information is below this."""

_LARGEST_ERROR = 50.0
"""Parameters are not determined if the standard error of their logarithm is above this."""

_LEAST_CLUSTERS = 3
"""Pooled intervals need at least this many subjects."""


@dataclass(frozen=True, eq=False)
class ScaledChoices:
    """Choices with amounts and delays in units of their medians, in which parameters are of order 1."""

    data: ChoiceDesign
    family: DiscountFamily
    has_lapses: bool
    amount: float
    delay: float

    @classmethod
    def of(cls, data: ChoiceDesign, family: DiscountFamily, *, has_lapses: bool) -> ScaledChoices:
        return cls(
            data, family, has_lapses, float(np.median(data.amount_later)), float(np.median(data.delay_later))
        )

    @cached_property
    def _columns(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        data = self.data
        return (
            np.column_stack([data.amount_sooner / self.amount, data.delay_sooner / self.delay]),
            np.column_stack([data.amount_later / self.amount, data.delay_later / self.delay]),
            data.chose_later if isinstance(data, ChoiceData) else np.zeros(len(data)),
        )

    def trials(self, subject: int | None) -> Trials:
        """Return the choices of one subject, or of all."""
        rows = slice(None) if subject is None else self.data.of_subject(subject)
        sooner, later, chose_later = (column[rows] for column in self._columns)
        return Trials(self.family, sooner, later, chose_later, self.has_lapses)

    @cached_property
    def _shifts(self) -> FloatArray:
        """Logarithms of the factors from scaled to original parameters, but for powers of the delay."""
        shifts = [-math.log(self.delay) if name == "k" else 0.0 for name in self.family.parameters]
        return np.array([*shifts, -math.log(self.amount), *([0.0] if self.has_lapses else [])])

    def _shift_of(self, theta: FloatArray) -> FloatArray:
        shifts = self._shifts.copy()
        if self.family.name == "rachlin":  # k t^s: the unit of k depends on s
            shifts[0] = -math.exp(theta[1]) * math.log(self.delay)
        return shifts

    def theta_of(self, parameters: dict[str, float]) -> FloatArray:
        """Return scaled logarithms of parameters in the units of the data."""
        names = (*self.family.parameters, "sensitivity")
        theta = np.array([math.log(parameters[name]) for name in names])
        if self.has_lapses:
            odds = parameters["lapse"] / (1.0 - parameters["lapse"])
            theta = np.append(theta, max(math.log(max(odds, 1e-300)), LOWEST))
        return np.asarray(theta - self._shift_of(theta))

    def subject_fit(
        self, name: str, trials: Trials, best: Maximum, confidence: float, clusters: Any = None
    ) -> SubjectFit:
        """Return the fit in the units of the data.

        With clusters, intervals are those of Student's t for standard errors of logarithms, with one degree
        of freedom less than there are clusters.
        """
        names = [*self.family.parameters, "sensitivity", *(["lapse"] if self.has_lapses else [])]
        logs = best.theta + self._shift_of(best.theta)
        errors = _standard_errors(trials, best, clusters)
        lost = find_undetermined(trials, best)
        values = {one: math.exp(logs[i]) for i, one in enumerate(names)}
        slopes = dict(values)
        if self.has_lapses:
            values["lapse"] = 1.0 / (1.0 + math.exp(-logs[-1]))
            slopes["lapse"] = values["lapse"] * (1.0 - values["lapse"])
        if self.family.name == "rachlin":  # its k has a unit that depends on s
            own = Trials(trials.family, *_in_units(trials, self.amount, self.delay), trials.has_lapses)
            there = Maximum(logs, best.log_likelihood)
            errors[0] = _standard_errors(own, there, clusters)[0]
        else:
            own, there = trials, best
        intervals = {}
        for i, one in enumerate(self.family.parameters):
            shift = logs[i] - there.theta[i]
            if clusters is None:
                low, high = profile_interval(own, there, i, confidence, float(errors[i]))
            else:
                is_lost = lost[: len(self.family.parameters)].any()  # the others would be conditional on it
                half = math.inf if is_lost else _quantile(confidence, clusters) * float(errors[i])
                low, high = there.theta[i] - half, there.theta[i] + half
            intervals[one] = _exp(low + shift), _exp(high + shift)
        errors = np.where(lost, math.nan, errors)
        standard = {one: float(errors[i]) * slopes[one] for i, one in enumerate(names)}
        undetermined = tuple(one for i, one in enumerate(names) if lost[i])
        if self.family.name == "beta_delta":
            values["delta"], standard["delta"] = (
                math.exp(-values["k"]),
                standard["k"] * math.exp(-values["k"]),
            )
            intervals["delta"] = math.exp(-intervals["k"][1]), math.exp(-intervals["k"][0])
        chance = trials.chances(best.theta)
        return SubjectFit(
            name=name,
            family=self.family.name,
            n_choices=trials.chose_later.size,
            n_later=int(trials.chose_later.sum()),
            parameters=values,
            standard_errors=standard,
            intervals=intervals,
            log_likelihood=best.log_likelihood,
            accuracy=float(((chance > 0.5) == (trials.chose_later > 0.5)).mean()),
            undetermined=undetermined,
        )


def find_undetermined(trials: Trials, best: Maximum) -> BoolArray:
    """Return which parameters the choices do not determine, `(p,)`.

    These are parameters at their bounds, those with no finite standard error, and all of them if the function
    predicts every choice: then other values do so too, and the likelihood rises with μ without end. A lapse
    rate of 0 is an estimate like any other.
    """
    errors = _standard_errors(trials, best)
    lost = best.is_edge | ~(errors <= _LARGEST_ERROR) | best.is_separated
    if trials.has_lapses:
        lost[-1] = False
    return np.asarray(lost)


def _quantile(confidence: float, clusters: Any) -> float:
    """Return the quantile of Student's t for an interval from clusters; inf if they are too few for one."""
    n = np.unique(clusters).size
    return float(stdtrit(n - 1, 0.5 + confidence / 2.0)) if n >= _LEAST_CLUSTERS else math.inf


def _exp(value: float) -> float:
    return math.exp(value) if value < 700.0 else math.inf


def _in_units(trials: Trials, amount: float, delay: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    unit = np.array([amount, delay])
    return trials.sooner * unit, trials.later * unit, trials.chose_later


def _standard_errors(trials: Trials, best: Maximum, clusters: Any = None) -> FloatArray:
    """Return standard errors on the logarithmic scale; with clusters, robust to differences between them."""
    errors = np.full(best.theta.size, math.nan)
    free = np.flatnonzero(~best.is_edge)
    information = trials.information(best.theta)[np.ix_(free, free)]
    if free.size == 0 or not smallest_eigenvalue(information) > SINGULAR:
        return errors
    covariance = np.linalg.inv(information)
    if clusters is not None:  # for subjects with the same design, n/(n − 1) is the correction CR2
        score = trials.score(best.theta)[:, free]
        sums = np.array([score[clusters == one].sum(axis=0) for one in np.unique(clusters)])
        n = len(sums)
        covariance = covariance @ (n / (n - 1.0) * sums.T @ sums) @ covariance
    errors[free] = np.sqrt(np.diag(covariance))
    return errors


def smallest_eigenvalue(information: FloatArray) -> float:
    """Return the smallest eigenvalue of an information matrix that is scaled to have ones on its diagonal."""
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    return float(np.linalg.eigvalsh(information / np.outer(scale, scale))[0])
