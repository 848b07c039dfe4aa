"""Results of fits to choices: of one subject, of a design, and of a test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn._typing import FloatArray
from sojourn._validation import check_positive, check_whole
from sojourn.behavior.choices._families import FAMILIES
from sojourn.behavior.choices._laws import GreenMyersonLaw, RachlinLaw
from sojourn.laws import Geometric, LengthLaw, QuasiHyperbolic, Tabulated

__all__ = ["DesignErrors", "GoodnessOfFit", "SubjectFit"]


@dataclass(frozen=True, eq=False)
class SubjectFit:
    """A discount function fitted to the choices of one subject, or of all subjects together.

    Attributes:
        name: Name of the subject; "all" for the pooled fit.
        family: Name of the family.
        n_choices: Number of choices.
        n_later: Number of them that were for the later reward.
        parameters: Estimates in the units of the data, by name; `sensitivity` is μ of the choice rule.
        standard_errors: Their standard errors, NaN where the data do not determine a parameter.
        intervals: Profile likelihood intervals, and those of Student's t for the pooled fit; an end that the
            data do not bound is 0 or inf. Pooled intervals need at least three subjects.
        log_likelihood: Of the choices.
        accuracy: Share of choices that the fitted function predicts.
        undetermined: Parameters that the data do not determine: those without a finite standard error, and
            all if the function predicts every choice, because other values do so too.
    """

    name: str
    family: str
    n_choices: int
    n_later: int
    parameters: dict[str, float]
    standard_errors: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    log_likelihood: float
    accuracy: float
    undetermined: tuple[str, ...]

    @property
    def aic(self) -> float:
        """Akaike's criterion: 2 · parameters − 2 · log likelihood."""
        return 2.0 * self._n_free - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion: ln(choices) · parameters − 2 · log likelihood."""
        return math.log(self.n_choices) * self._n_free - 2.0 * self.log_likelihood

    @property
    def _n_free(self) -> int:
        return len([name for name in self.parameters if name != "delta"])

    def bounds(self, name: str) -> bool:
        """Return whether the choices determine a parameter or at least bound it on both sides."""
        low, high = self.intervals.get(name, (0.0, math.inf))
        return name not in self.undetermined or 0.0 < low <= high < math.inf

    @property
    def has_curve(self) -> bool:
        """Whether the choices determine the discount function, or at least bound its parameters."""
        return all(self.bounds(name) for name in FAMILIES[self.family].parameters)

    @property
    def is_consistent(self) -> bool:
        """Whether the function predicts every choice; the interval is then too short for people who err."""
        return self.accuracy == 1.0

    def interval_words(self) -> str:
        """Return the estimates of the family's parameters with their intervals in words."""
        parts = []
        for name in FAMILIES[self.family].parameters:
            low, high = self.intervals[name]
            ends = "not bounded" if (low, high) == (0.0, math.inf) else f"{low:.3g} to {high:.3g}"
            parts.append(f"{name} {self.parameters[name]:.3g} ({ends})")
        return ", ".join(parts)

    def discount(self, delay: Any) -> FloatArray:
        """Return D(t), the worth of 1 after a delay in the units of the data."""
        family = FAMILIES[self.family]
        logs = np.log([self.parameters[name] for name in family.parameters])
        given = np.asarray(delay, dtype=np.float64)
        return np.asarray(np.exp(family.log_discount(logs, given.ravel())[0]).reshape(given.shape)[()])

    def law(self, *, step: float = 1.0, last: int | None = None) -> LengthLaw:
        """Return the discount function as a law, for plans and agents.

        Args:
            step: Length of one step, in the unit of the delays: 7 if delays are in days and steps are weeks.
            last: Last step that counts; needed where the sum of the function is infinite.

        Raises:
            ValueError: If the choices do not determine the function, if it has an infinite sum and `last` is
                not given, or if it rises.

        Example:
            >>> from sojourn.behavior import fit_choices, sample_choices
            >>> fit = fit_choices(sample_choices("immediate"), family="exponential")
            >>> fit.pooled.law(step=7), fit.pooled.law(step=7, last=52).longest  # doctest: +ELLIPSIS
            (Geometric(gamma=0.9...), 52)
        """
        step, found = check_positive("step", step), self.parameters
        if not self.has_curve:
            names = " and ".join(name for name in self.undetermined if name in self.intervals)
            raise ValueError(f"There is no law: the choices do not determine {names} of {self.family}.")
        if found.get("beta", 1.0) > 1.0:
            raise ValueError(
                f"beta must be at most 1 for a law; got {found['beta']:.4g}: later is worth more than now."
            )
        if last is not None:
            n = check_whole("last", last, least=1)
            return Tabulated(np.minimum.accumulate(self.discount(step * np.arange(n))))
        k = found["k"]
        if self.family == "exponential":
            return Geometric(math.exp(-k * step))
        if self.family == "beta_delta":
            return QuasiHyperbolic(found["beta"], math.exp(-k * step))
        if self.family == "green_myerson" and found["s"] > 1.0:
            return GreenMyersonLaw(k * step, found["s"])
        if self.family == "rachlin" and found["s"] > 1.0:
            return RachlinLaw(k * step ** found["s"], found["s"])
        formula = FAMILIES[self.family].formula
        power = "" if self.family == "mazur" else f" with s = {found['s']:.4g}"
        raise ValueError(
            f"{formula}{power} has an infinite sum and is not a law; pass last=n to end it after n steps."
        )


@dataclass(frozen=True)
class DesignErrors:
    """What a design can tell: errors of estimates from choices that were simulated for it.

    Attributes:
        family: Name of the family.
        parameters: The parameters of the simulated subjects.
        errors: Standard error of each estimate's logarithm, which is about its relative standard error: the
            standard deviation over simulated subjects whose choices determine it. NaN if fewer than two do.
        undetermined: Share of simulated subjects whose choices do not determine each parameter.
        n_choices: Number of choices per subject.
        n_simulated: Number of simulated subjects.
    """

    family: str
    parameters: dict[str, float]
    errors: dict[str, float]
    undetermined: dict[str, float]
    n_choices: int
    n_simulated: int

    def as_dict(self) -> dict[str, Any]:
        """Return the errors as plain data, for JSON."""
        return {
            "family": self.family,
            "parameters": self.parameters,
            "relative_errors": {
                name: error if math.isfinite(error) else None for name, error in self.errors.items()
            },
            "undetermined": self.undetermined,
            "choices": self.n_choices,
            "simulated": self.n_simulated,
        }

    def relative_words(self) -> str:
        """Return the relative standard error of each parameter, up to 100%; beyond, it means little."""
        return ", ".join(
            f"{name} {100.0 * error:.0f}%" if error <= 1.0 else f"{name} over 100%"
            for name, error in self.errors.items()
        )

    def words(self) -> str:
        """Return the errors in one sentence."""
        known = {name: error for name, error in self.errors.items() if math.isfinite(error)}
        lost = max(self.undetermined.values(), default=0.0)
        begin = f"With {self.n_choices:,} choices per subject"
        if not known:
            return f"{begin} this design does not determine {' and '.join(self.errors)} of a typical subject."
        parts = [f"{100.0 * error:.0f}% for {name}" for name, error in known.items()]
        rest = f"; in {100.0 * lost:.0f}% of subjects it does not determine all" if lost >= 0.005 else ""
        return f"{begin} the relative standard error of an estimate is about {' and '.join(parts)}{rest}."


@dataclass(frozen=True)
class GoodnessOfFit:
    """A test of the fitted functions: do predicted and observed shares of later choices agree?

    Attributes:
        statistic: Σ (observed − predicted)²/variance over ten groups of choices, sorted by prediction.
        p_value: Share of data sets, simulated from the fit and fitted again, with at least this statistic.
        n_simulated: Number of simulated data sets.
        predicted: Mean predicted share of each group.
        observed: Observed share of each group.
    """

    statistic: float
    p_value: float
    n_simulated: int
    predicted: FloatArray
    observed: FloatArray
