"""The analysis behind `sojourn choices`: families, what the design can tell, and findings in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.behavior.choices._data import ChoiceData, read_choices
from sojourn.behavior.choices._families import FAMILIES
from sojourn.behavior.choices._fit import ChoiceFit, compare_families
from sojourn.behavior.choices._results import DesignErrors, GoodnessOfFit

__all__ = ["ChoiceAnalysis", "analyze_choices"]

_LEAST_SIMULATED = 99
"""Number of simulated data sets that a verdict on the fit needs; with 19 or fewer, p is never below 0.05."""

_FEW_SUBJECTS, _FEW_CHOICES = 10, 50


@dataclass(frozen=True, eq=False)
class ChoiceAnalysis:
    """Families fitted to choices, the lowest BIC first.

    Attributes:
        data: The choices.
        fits: The fits.
        refused: Why the design cannot tell the other families.
        design: What the design can tell about the best family.
        goodness: Whether the best family's predictions agree with the choices.
    """

    data: ChoiceData
    fits: tuple[ChoiceFit, ...]
    refused: dict[str, str]
    design: DesignErrors
    goodness: GoodnessOfFit

    @property
    def best(self) -> ChoiceFit:
        """The fit with the lowest BIC."""
        return self.fits[0]

    def findings(self) -> list[tuple[str, str]]:
        """Return the findings as pairs of a heading and a sentence or two; the answer is first."""
        found = [
            ("How they discount", self._discounting()),
            ("What the design can tell", self.design.words()),
            ("Does it fit", self._fitting()),
            ("Present bias", self._present_bias()),
            ("As a law", self._law()),
        ]
        intervals = self._intervals()
        if intervals:
            found.insert(2, ("How sure", intervals))
        unsure = [one.name for one in self.best.subjects if one.undetermined]
        if unsure:
            found.insert(
                2,
                (
                    "Not determined",
                    f"The choices of {len(unsure):,} of {self.data.n_subjects:,} subjects do not determine "
                    "all parameters, for example because they always chose the same way, or because several "
                    "discount functions predict every choice.",
                ),
            )
        return found

    def _discounting(self) -> str:
        best, data = self.best, self.data
        delays = np.append(0.0, np.geomspace(1e-3, 1.0, 400) * 4.0 * float(data.delay_later.max()))
        curves = np.array([one.discount(delays) for one in best.subjects if one.has_curve])
        middle = np.median(curves, axis=0) if len(curves) else best.pooled.discount(delays)
        below = np.flatnonzero(middle <= 0.5)
        half = (
            f"To the median subject, 1 is worth ½ after a delay of {delays[below[0]]:.3g}."
            if below.size
            else f"To the median subject, 1 is worth {middle[-1]:.2f} even after a delay of {delays[-1]:.3g}."
        )
        people = f"{data.n_subjects:,} subject{'s' * (data.n_subjects != 1)}"
        share = 100.0 * float(data.chose_later.mean())
        formula = FAMILIES[best.family].formula
        return (
            f"{half} {people} made {len(data):,} choices, {share:.0f}% of them for the later reward. The "
            f"family {best.family}, D(t) = {formula}, has the lowest BIC{self._rival()}."
        )

    def _rival(self) -> str:
        """Return in words which family has the lowest AIC, if it is not the best one."""
        rival = min(self.fits, key=lambda one: one.aic)
        if rival is self.best:
            return ""
        gaps = f"by {self.best.aic - rival.aic:,.1f}, against {rival.bic - self.best.bic:,.1f} in BIC"
        return (
            f", but {rival.family} has the lowest AIC ({gaps}): the two criteria disagree, and the choices "
            "do not settle which family is right"
        )

    def _intervals(self) -> str:
        """Return how far intervals can be trusted, in words; empty if there is nothing to say."""
        n, n_subjects = self.design.n_choices, self.data.n_subjects
        found = []
        if n < _FEW_CHOICES:
            n_consistent = sum(one.is_consistent for one in self.best.subjects)
            found.append(
                f"There are {n:,} choices per subject. With fewer than about {_FEW_CHOICES:,}, intervals of "
                "single subjects cover less often than they say: in simulations with 27 choices, 95% "
                "intervals covered 81% to 92% of the time, and 56% to 84% for subjects whose choices one "
                f"discount function predicts without error, as for {n_consistent:,} of {n_subjects:,} here."
            )
        if n_subjects == 2:
            found.append("Two subjects are too few for a pooled interval.")
        elif 2 < n_subjects < _FEW_SUBJECTS:
            found.append(
                f"Pooled intervals rest on {n_subjects:,} subjects: they use Student's t with "
                f"{n_subjects - 1:,} degrees of freedom, and are approximate."
            )
        return " ".join(found)

    def _fitting(self) -> str:
        test, right = self.goodness, 100.0 * np.mean([one.accuracy for one in self.best.subjects])
        p = f"(p = {test.p_value:.2g}, {test.n_simulated:,} simulated data sets)"
        if test.n_simulated < _LEAST_SIMULATED:
            verdict = f"Not tested: that needs at least {_LEAST_SIMULATED:,} simulated data sets."
        elif test.p_value < 0.05:
            verdict = f"Predicted and observed shares of later choices differ more than chance explains {p}."
        else:
            verdict = f"There is no evidence of misfit between predicted and observed choices {p}."
        return f"{verdict} The fitted functions predict {right:.0f}% of choices."

    def _present_bias(self) -> str:
        fit = next((one for one in self.fits if one.family == "beta_delta"), None)
        if fit is None:
            return self.refused.get("beta_delta", "The family beta_delta was not fitted.")
        beta, (low, high) = fit.pooled.parameters["beta"], fit.pooled.intervals["beta"]
        verdict = "present bias" if high < 1.0 else "future bias" if low > 1.0 else "no clear bias"
        level = f"{100.0 * fit.confidence:g}%"
        if not 0.0 < low <= high < math.inf:
            return f"Pooled β = {beta:.3f}, without an interval: the choices do not tell how sure that is."
        found = f"Pooled β = {beta:.3f} ({level} interval {low:.3f} to {high:.3f}): {verdict}."
        best = self.best.family
        if verdict == "no clear bias":
            rest = f" But {best} has the lowest BIC: the two disagree." * (best == "beta_delta")
        elif best == "beta_delta":
            rest = ""
        elif best == "exponential" or verdict == "future bias":
            rest = f" But {best} has the lower BIC, which speaks for no such bias: the two disagree."
        else:
            rest = (
                f" But {best} has the lower BIC. Its curve also falls fastest at first, so that β < 1 alone "
                "does not show a special weight on now. Nor does BIC, summed over subjects, rule it out: it "
                "favors families with fewer parameters."
            )
        return found + rest

    def _law(self) -> str:
        try:
            return f"The pooled discount function per unit of delay is {self.best.pooled.law()!r}."
        except ValueError as error:
            return str(error)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        account = self.data.account
        return {
            "source": self.data.name,
            "rows": {
                "read": account.n_rows,
                "used": account.n_used,
                "rejected": account.n_rejected,
                "first_rejected": [{"row": one.row, "rule": one.rule} for one in account.first_rejected],
            },
            "subjects": self.data.n_subjects,
            "choices": len(self.data),
            "chose_later": int(self.data.chose_later.sum()),
            "best": self.best.family,
            "fits": [one.as_dict() for one in self.fits],
            "refused": self.refused,
            "design": self.design.as_dict(),
            "goodness_of_fit": {
                "statistic": self.goodness.statistic,
                "p_value": self.goodness.p_value,
                "simulated": self.goodness.n_simulated,
                "predicted": self.goodness.predicted.tolist(),
                "observed": self.goodness.observed.tolist(),
            },
            "findings": [{"about": about, "text": text} for about, text in self.findings()],
        }


def analyze_choices(
    data: Any,
    families: Sequence[str] | None = None,
    *,
    lapse: bool = False,
    confidence: float = 0.95,
    simulations: int = 99,
    seed: int = 0,
) -> ChoiceAnalysis:
    """Fit families of discount functions to choices, and say what the design and the data can tell.

    Args:
        data: A file, data frame or mapping; see `read_choices`.
        families: Names of families; by default all that the design can tell.
        lapse: Whether to estimate a lapse rate.
        confidence: Confidence level of the intervals.
        simulations: Number of simulated subjects and data sets.
        seed: Of the simulations.

    Raises:
        ValueError: If the design cannot tell any of the families.
    """
    choices = read_choices(data)
    fits, refused = compare_families(choices, families, lapse=lapse, confidence=confidence)
    if not fits:
        raise ValueError(next(iter(refused.values())))
    return ChoiceAnalysis(
        data=choices,
        fits=tuple(fits),
        refused=refused,
        design=fits[0].design_errors(simulations=max(simulations, 2), seed=seed),
        goodness=fits[0].goodness_of_fit(simulations=simulations, seed=seed),
    )
