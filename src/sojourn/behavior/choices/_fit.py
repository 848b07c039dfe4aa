"""Discount functions fitted to choices: one per subject, and one for all subjects together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn._typing import FloatArray
from sojourn._validation import check_choice, check_open_unit, check_whole
from sojourn.behavior.choices._data import ChoiceData, read_choices
from sojourn.behavior.choices._design import NAIVETE, NOT_TOLD, check_identified, simulate_errors
from sojourn.behavior.choices._families import FAMILIES
from sojourn.behavior.choices._likelihood import Maximum, maximize
from sojourn.behavior.choices._results import DesignErrors, GoodnessOfFit, SubjectFit
from sojourn.behavior.choices._scaling import ScaledChoices

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["ChoiceFit", "compare_families", "fit_choices"]

_BINS = 10


@dataclass(frozen=True, eq=False)
class ChoiceFit:
    """Discount functions of one family, fitted to choices.

    Attributes:
        data: The choices.
        family: Name of the family.
        subjects: One fit per subject, in the order of `data.subjects`.
        pooled: The fit to all choices; its standard errors allow for differences between subjects.
        confidence: Confidence level of the intervals.
    """

    data: ChoiceData
    family: str
    subjects: tuple[SubjectFit, ...]
    pooled: SubjectFit
    confidence: float
    _has_lapses: bool
    _maxima: tuple[Maximum, ...]

    @property
    def log_likelihood(self) -> float:
        """Sum over the subjects' own fits."""
        return math.fsum(one.log_likelihood for one in self.subjects)

    @property
    def aic(self) -> float:
        """Akaike's criterion of the subjects' own fits."""
        return math.fsum(one.aic for one in self.subjects)

    @property
    def bic(self) -> float:
        """Schwarz's criterion of the subjects' own fits, summed over subjects."""
        return math.fsum(one.bic for one in self.subjects)

    def medians(self) -> dict[str, float]:
        """Return the medians of the subjects' estimates, over those whose choices at least bound them."""
        names = [name for name in self.pooled.parameters if name != "lapse"]
        return {
            name: float(np.median(values))
            for name in names
            if (values := [one.parameters[name] for one in self.subjects if one.bounds(name)])
        }

    def predictions(self) -> FloatArray:
        """Return the probability of choosing later that the subjects' own fits give, `(n,)`."""
        scaled = ScaledChoices.of(self.data, FAMILIES[self.family], has_lapses=self._has_lapses)
        found = np.empty(len(self.data))
        for i, best in enumerate(self._maxima):
            found[self.data.of_subject(i)] = scaled.trials(i).chances(best.theta)
        return found

    def design_errors(self, *, simulations: int = 100, seed: int = 0) -> DesignErrors:
        """Simulate subjects with this design, and return the errors of their estimates.

        They have the pooled discount function and the median subject's sensitivity: the pooled sensitivity
        is lower, because it takes differences between subjects for errors.

        Args:
            simulations: Number of simulated subjects; each has the design of a real one in turn.
            seed: Of the simulation.
        """
        scaled = ScaledChoices.of(self.data, FAMILIES[self.family], has_lapses=self._has_lapses)
        typical = self.pooled.parameters | {
            name: float(np.median(values))
            for name in ("sensitivity", *(["lapse"] if self._has_lapses else []))
            if (values := [one.parameters[name] for one in self.subjects if one.bounds(name)])
        }
        return simulate_errors(scaled, typical, simulations=simulations, seed=seed)

    def goodness_of_fit(self, *, simulations: int = 99, seed: int = 0) -> GoodnessOfFit:
        """Test the subjects' fits by simulated data sets, which are fitted in the same way.

        Args:
            simulations: Number of simulated data sets.
            seed: Of the simulation.
        """
        n, rng = check_whole("simulations", simulations, least=1), np.random.default_rng(seed)
        scaled = ScaledChoices.of(self.data, FAMILIES[self.family], has_lapses=self._has_lapses)
        all_trials = [scaled.trials(i) for i in range(self.data.n_subjects)]
        chances = np.concatenate(
            [trials.chances(best.theta) for trials, best in zip(all_trials, self._maxima, strict=True)]
        )
        chosen = np.concatenate([trials.chose_later for trials in all_trials])
        statistic, predicted, observed = _calibration(chances, chosen)
        n_worse = 0
        for _ in range(n):
            again, drawn = [], []
            for trials, best in zip(all_trials, self._maxima, strict=True):
                one = trials.simulate(best.theta, rng)
                again.append(one.chances(maximize(one, start=best.theta).theta))
                drawn.append(one.chose_later)
            n_worse += _calibration(np.concatenate(again), np.concatenate(drawn))[0] >= statistic
        return GoodnessOfFit(statistic, (1 + n_worse) / (1 + n), n, predicted, observed)

    def plot(self, *, unit: str = "") -> Figure:
        """Draw the discount functions and the choices; see `sojourn.plots.choice_fit_figure`."""
        from sojourn.plots import choice_fit_figure  # noqa: PLC0415

        return choice_fit_figure(self, unit=unit)

    def as_dict(self) -> dict[str, Any]:
        """Return the fit as plain data, for JSON."""

        def row(one: SubjectFit) -> dict[str, Any]:
            return {
                "name": one.name,
                "choices": one.n_choices,
                "chose_later": one.n_later,
                "parameters": one.parameters,
                "standard_errors": {name: _finite(value) for name, value in one.standard_errors.items()},
                "intervals": {name: [_finite(end) for end in ends] for name, ends in one.intervals.items()},
                "log_likelihood": one.log_likelihood,
                "aic": one.aic,
                "bic": one.bic,
                "accuracy": one.accuracy,
                "undetermined": list(one.undetermined),
            }

        return {
            "family": self.family,
            "formula": FAMILIES[self.family].formula,
            "confidence": self.confidence,
            "log_likelihood": self.log_likelihood,
            "aic": self.aic,
            "bic": self.bic,
            "medians": self.medians(),
            "pooled": row(self.pooled),
            "subjects": [row(one) for one in self.subjects],
        }

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name} {value:.4g}" for name, value in self.medians().items())
        about = f"{self.family}, {self.data.n_subjects:,} subjects, medians {parameters}"
        return f"ChoiceFit({about}, BIC {self.bic:,.1f})"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def fit_choices(
    data: Any, family: str = "mazur", *, lapse: bool = False, confidence: float = 0.95
) -> ChoiceFit:
    """Fit a discount function to choices between a sooner and a later reward, by maximum likelihood.

    The worth of an amount A after a delay t is A · D(t), and the later reward is chosen with probability
    1/(1 + exp(−μ (worth later − worth sooner))). Every subject is fitted alone, and all together.

    Args:
        data: A file, data frame or mapping with hBayesDM's columns; see `read_choices`.
        family: "exponential", "mazur", "green_myerson", "rachlin" or "beta_delta".
        lapse: Whether to estimate a lapse rate: with that chance a choice is a coin flip.
        confidence: Confidence level of the profile likelihood intervals.

    Raises:
        ValueError: If the design cannot tell the family's parameters; one line says why.

    Example:
        >>> from sojourn.behavior import sample_choices
        >>> fit = fit_choices(sample_choices("money"), family="mazur")
        >>> fit.data.n_subjects, f"{fit.pooled.parameters['k']:.3f}"
        (40, '0.021')
    """
    if family in NAIVETE:
        raise ValueError(NOT_TOLD)
    check_choice("family", family, FAMILIES)
    confidence = check_open_unit("confidence", confidence)
    choices, chosen = read_choices(data), FAMILIES[family]
    check_identified(choices, chosen)
    scaled = ScaledChoices.of(choices, chosen, has_lapses=bool(lapse))
    pooled_trials = scaled.trials(None)
    pooled = maximize(pooled_trials)
    maxima = [
        max(
            (maximize(trials), maximize(trials, start=pooled.theta)),
            key=lambda one: one.log_likelihood,
        )
        for trials in (scaled.trials(i) for i in range(choices.n_subjects))
    ]
    clusters = choices.subject if choices.n_subjects > 1 else None
    return ChoiceFit(
        data=choices,
        family=family,
        subjects=tuple(
            scaled.subject_fit(choices.subjects[i], scaled.trials(i), best, confidence)
            for i, best in enumerate(maxima)
        ),
        pooled=scaled.subject_fit("all", pooled_trials, pooled, confidence, clusters=clusters),
        confidence=confidence,
        _has_lapses=bool(lapse),
        _maxima=tuple(maxima),
    )


def compare_families(
    data: Any, families: Iterable[str] | None = None, *, lapse: bool = False, confidence: float = 0.95
) -> tuple[list[ChoiceFit], dict[str, str]]:
    """Fit several families to the same choices.

    Args:
        data: A file, data frame or mapping; see `read_choices`.
        families: Their names; all by default.
        lapse: Whether to estimate a lapse rate.
        confidence: Confidence level of the intervals.

    Returns:
        The fits, the lowest BIC first, and the reason for each family that the design cannot tell.
    """
    choices, fits, refused = read_choices(data), [], {}
    for family in families or FAMILIES:
        try:
            fits.append(fit_choices(choices, family, lapse=lapse, confidence=confidence))
        except ValueError as error:
            refused[family] = str(error)
    return sorted(fits, key=lambda one: one.bic), refused


def _calibration(chances: FloatArray, chosen: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return the statistic and the predicted and observed shares of groups, sorted by prediction."""
    groups = np.array_split(np.argsort(chances, kind="stable"), min(_BINS, max(chances.size // 5, 1)))
    statistic, predicted, observed = 0.0, [], []
    for group in groups:
        variance = float((chances[group] * (1.0 - chances[group])).sum())
        gap = float((chosen[group] - chances[group]).sum())
        statistic += gap**2 / max(variance, 1e-9)
        predicted.append(float(chances[group].mean()))
        observed.append(float(chosen[group].mean()))
    return statistic, np.array(predicted), np.array(observed)
