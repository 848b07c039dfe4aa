"""What a design can tell before there are choices: which families, and with what standard errors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn._typing import FloatArray
from sojourn._validation import check_choice, check_positive, check_whole
from sojourn.behavior.choices._data import ChoiceDesign, read_design
from sojourn.behavior.choices._families import FAMILIES, DiscountFamily
from sojourn.behavior.choices._likelihood import HIGHEST, LOWEST, maximize
from sojourn.behavior.choices._results import DesignErrors
from sojourn.behavior.choices._scaling import (
    SINGULAR,
    ScaledChoices,
    find_undetermined,
    smallest_eigenvalue,
)

__all__ = ["NAIVETE", "NOT_TOLD", "DesignAnalysis", "analyze_design", "check_identified", "simulate_errors"]

NAIVETE = ("naive", "sophisticated", "partially_naive", "beta_hat")
NOT_TOLD = (
    "β̂ (naivete) cannot be told from choices between dated rewards: it needs predictions of later choices, "
    "or choices to commit."
)

_TYPICAL = {"s": 1.0, "beta": 0.8}
_SENSITIVITY = 10.0
"""Assumed sensitivity, per median later amount."""

_QUANTILES = (0.75, 0.5, 0.25)
_PEOPLE = ("impatient", "typical", "patient")
_RELATIVE_ERROR = 0.5
"""A parameter counts as told if its relative standard error is at most this, and it is mostly determined."""


@dataclass(frozen=True, eq=False)
class DesignAnalysis:
    """What a design can tell about people with given discount functions.

    Attributes:
        design: The pairs of rewards.
        errors: For each family, the errors for each person.
        people: Names of the persons, in the order of the errors.
        refused: Why the design cannot tell the other families.
    """

    design: ChoiceDesign
    errors: dict[str, tuple[DesignErrors, ...]]
    people: tuple[str, ...]
    refused: dict[str, str]

    def findings(self) -> list[tuple[str, str]]:
        """Return the findings as pairs of a heading and a sentence or two; the answer is first."""
        found = [("What the design can tell", self._answer())]
        lost = {
            family: max(max(one.undetermined.values()) for one in errors)
            for family, errors in self.errors.items()
        }
        if worst := {family: share for family, share in lost.items() if share >= 0.05}:
            listed = ", ".join(f"{family} {100.0 * share:.0f}%" for family, share in worst.items())
            found.append(
                (
                    "Not determined",
                    f"Share of simulated subjects whose choices do not determine all parameters, at worst: "
                    f"{listed}. More pairs near indifference, or pooling subjects, helps.",
                )
            )
        found += [(f"Not {family}", reason) for family, reason in self.refused.items()]
        found.append(("Not naivete", NOT_TOLD))
        found.append(("Assumed", self._assumed()))
        return found

    def _answer(self) -> str:
        if not self.errors:
            return "Nothing: no family of discount functions can be told from it."
        told: list[str] = []
        rest: list[str] = []
        for family, errors in self.errors.items():
            middle = errors[len(errors) // 2]
            words = middle.relative_words()
            is_told = all(
                error <= _RELATIVE_ERROR and middle.undetermined[name] < _RELATIVE_ERROR
                for name, error in middle.errors.items()
            )
            (told if is_told else rest).append(f"{family} ({words})")
        n = next(iter(self.errors.values()))[0].n_choices
        begin = f"Relative standard errors for one typical subject with {n:,} choices"
        parts = [f"{begin}: {', '.join(told)}." if told else ""]
        if rest:
            limit = f"more than {100.0 * _RELATIVE_ERROR:.0f}%"
            parts.append(
                f"Hardly told for a single subject ({limit}, or mostly undetermined): {', '.join(rest)}."
            )
        return " ".join(part for part in parts if part)

    def _assumed(self) -> str:
        if len(self.people) == 1:
            return "The simulated subjects have the parameters that were given."
        return (
            "An impatient, a typical and a patient subject prefer the later reward in a quarter, half and "
            "three quarters of the pairs that tell people apart. s = 1, β = 0.8, and a difference of a tenth "
            "of the median later amount multiplies the odds of a choice by e. Standard errors for other "
            "people: analyze_design(…, parameters={'k': …, 'sensitivity': …})."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        return {
            "source": self.design.name,
            "subjects": self.design.n_subjects,
            "pairs": len(self.design),
            "families": {
                family: [
                    {"subject": name, **one.as_dict()} for name, one in zip(self.people, errors, strict=True)
                ]
                for family, errors in self.errors.items()
            },
            "refused": self.refused,
            "findings": [{"about": about, "text": text} for about, text in self.findings()],
        }


def analyze_design(
    source: Any,
    families: Sequence[str] | None = None,
    *,
    parameters: Mapping[str, float] | None = None,
    simulations: int = 99,
    seed: int = 0,
) -> DesignAnalysis:
    """Return what a design can tell, before there are choices.

    Subjects are simulated and fitted. Without `parameters` they are an impatient, a typical and a patient
    one: those who prefer the later reward in a quarter, half and three quarters of the pairs that tell people
    apart.

    Args:
        source: Amounts and delays, one row per choice; see `read_design`. Choices are not used.
        families: Names of families; by default all that the design can tell.
        parameters: Parameters of the simulated subjects, in the units of the design: "k", "s", "beta",
            "sensitivity". By default s = 1, β = 0.8, and the sensitivity is 10 per median later amount.
        simulations: Number of simulated subjects per family, shared equally among the persons.
        seed: Of the simulations.

    Raises:
        ValueError: If the design cannot be read, or a family or parameter is unknown.

    Example:
        >>> pairs = {"amount_sooner": [10, 20, 30, 36] * 4, "amount_later": [40] * 16,
        ...          "delay_later": [7] * 4 + [30] * 4 + [90] * 4 + [180] * 4}
        >>> found = analyze_design(pairs, ["mazur", "beta_delta"], simulations=20)
        >>> found.people, list(found.errors), list(found.refused)
        (('impatient', 'typical', 'patient'), ['mazur'], ['beta_delta'])
    """
    given = {name: check_positive(name, value) for name, value in (parameters or {}).items()}
    for name in given:
        check_choice("parameters", name, ("k", "s", "beta", "sensitivity"))
    design, errors, refused = read_design(source), {}, {}
    for name in families or FAMILIES:
        if name in NAIVETE:
            raise ValueError(NOT_TOLD)
        check_choice("families", name, FAMILIES)
        try:
            check_identified(design, FAMILIES[name])
        except ValueError as error:
            refused[name] = str(error)
            continue
        scaled = ScaledChoices.of(design, FAMILIES[name], has_lapses=False)
        people = _people(scaled, given)
        n = max(check_whole("simulations", simulations, least=2) // len(people), 2)
        errors[name] = tuple(simulate_errors(scaled, one, simulations=n, seed=seed) for one in people)
    return DesignAnalysis(design, errors, ("given",) if "k" in given else _PEOPLE, refused)


def _people(scaled: ScaledChoices, given: Mapping[str, float]) -> list[dict[str, float]]:
    """Return parameters of the persons to simulate."""
    rest = {"sensitivity": _SENSITIVITY / scaled.amount, **_TYPICAL, **given}
    names = [name for name in scaled.family.parameters if name != "k"]
    fixed = {name: rest[name] for name in (*names, "sensitivity")}
    if "k" in given:
        return [{"k": given["k"], **fixed}]
    return [{"k": k, **fixed} for k in np.quantile(_indifference_rates(scaled, fixed), _QUANTILES).tolist()]


def _indifference_rates(scaled: ScaledChoices, fixed: Mapping[str, float]) -> FloatArray:
    """Return the k at which each pair is worth the same, by bisection, where there is one."""
    trials, names = scaled.trials(None), scaled.family.parameters
    (sooner, front), (later, delay) = trials.sooner.T, trials.later.T

    log_discount = scaled.family.log_discount

    def gap(log_rates: FloatArray) -> FloatArray:
        logs = np.array(
            [log_rates if name == "k" else np.full(later.size, math.log(fixed[name])) for name in names]
        )
        return np.asarray(
            np.log(later / sooner) + log_discount(logs, delay)[0] - log_discount(logs, front)[0]
        )

    low, high = np.full(later.size, LOWEST), np.full(later.size, HIGHEST)
    has_root = (gap(low) > 0.0) & (gap(high) < 0.0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        is_low = gap(middle) > 0.0
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    rates = np.exp(low[has_root])
    if not rates.size:
        raise ValueError(
            "design must have a pair that some people value the same; in all of them the later reward is "
            "always better, or always worse."
        )
    power = fixed.get("s", 1.0) if scaled.family.name == "rachlin" else 1.0
    return np.asarray(rates / scaled.delay**power)


def simulate_errors(
    scaled: ScaledChoices, parameters: Mapping[str, float], *, simulations: int, seed: int
) -> DesignErrors:
    """Simulate subjects with given parameters, fit them, and return the errors of their estimates.

    Args:
        scaled: The design; each simulated subject has that of a real one in turn.
        parameters: In the units of the design.
        simulations: Number of simulated subjects.
        seed: Of the simulation.
    """
    n, rng = check_whole("simulations", simulations, least=2), np.random.default_rng(seed)
    truth, names, design = scaled.theta_of(dict(parameters)), scaled.family.parameters, scaled.data
    found = np.empty((n, len(names)))
    lost = np.zeros((n, len(names)), dtype=bool)
    for i in range(n):
        trials = scaled.trials(i % design.n_subjects).simulate(truth, rng)
        best = maximize(trials)
        found[i], lost[i] = best.theta[: len(names)], find_undetermined(trials, best)[: len(names)]
    return DesignErrors(
        family=scaled.family.name,
        parameters={name: parameters[name] for name in (*names, "sensitivity")},
        errors={
            name: float(np.std(found[~lost[:, j], j], ddof=1)) if (~lost[:, j]).sum() > 1 else math.nan
            for j, name in enumerate(names)
        },
        undetermined={name: float(lost[:, j].mean()) for j, name in enumerate(names)},
        n_choices=round(len(design) / design.n_subjects),
        n_simulated=n,
    )


def check_identified(design: ChoiceDesign, family: DiscountFamily) -> None:
    """Raise an error if the design cannot tell the family's parameters."""
    if family.name == "beta_delta":
        n_now, n = int((design.delay_sooner == 0.0).sum()), len(design)
        if n_now in (0, n):
            what = "are immediate" if n_now else "lie in the future"
            raise ValueError(
                f"beta_delta needs sooner rewards both now and after a front-end delay; all {n:,} {what}, so "
                "that β cannot be told from the rest of the curve."
            )
    scaled = ScaledChoices.of(design, family, has_lapses=False)
    information = scaled.trials(None).information(np.append(family.start, 1.5))
    if not smallest_eigenvalue(information) > SINGULAR:
        delays = np.append(design.delay_later, design.delay_sooner[design.delay_sooner > 0.0])
        n_delays, names = np.unique(delays).size, " and ".join(family.parameters)
        raise ValueError(
            f"{family.name} cannot be told from this design: it has {n_delays:,} different "
            f"delay{'s' * (n_delays != 1)}, and {names} and the sensitivity need more."
        )
