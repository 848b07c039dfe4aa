"""Measure how often intervals of fitted discount functions cover the truth, on simulated subjects.

    python evidence/choices.py measure       500 subjects per family and design (fifteen minutes on one core)
    python evidence/choices.py pooled        200 samples of 3, 5 and 12 subjects (about five minutes)
    python evidence/choices.py table         write the tables in docs/behavior.md

Each simulated subject has its own parameters, drawn around typical ones, and makes 162, 54 or 27 choices:
three front-end delays, six or three delays, and nine or three amounts; or answers the 27 questions of Kirby,
Petry and Bickel (1999), in which the sooner reward is always now. Results are kept in choices.json beside
this file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tuned import table, write_part

from sojourn import behavior

HERE = Path(__file__).parent
PAGE, STORED = HERE.parent / "docs" / "behavior.md", HERE / "choices.json"
SEED, N_SAMPLES, SAMPLE_SIZES = 0, 200, (3, 5, 12)

FRONTS, LONG, SHORT = (0, 14, 42), (7, 14, 30, 60, 120, 240), (14, 60, 240)
MANY, FEW = (0.3, 0.45, 0.55, 0.65, 0.75, 0.82, 0.88, 0.94, 0.98), (0.45, 0.75, 0.94)


def pairs(waits: tuple[float, ...], shares: tuple[float, ...]) -> list[tuple[float, float, float, float]]:
    """Return amounts and delays of the sooner and the later rewards for every front-end delay."""
    return [
        (40.0 * share, front, 40.0, front + wait) for front in FRONTS for wait in waits for share in shares
    ]


KIRBY = """54 55 117; 55 75 61; 19 25 53; 31 85 7; 14 25 19; 47 50 160; 15 35 13; 25 60 14; 78 80 162;
40 55 62; 11 30 7; 67 75 119; 34 35 186; 27 50 21; 69 85 91; 49 60 89; 80 85 157; 24 35 29; 33 80 14;
28 30 179; 34 50 30; 25 30 80; 41 75 20; 54 60 111; 54 80 30; 22 25 136; 20 55 7"""
"""The 27 questions of Kirby, Petry and Bickel (1999): amount now, amount later, days."""

DESIGNS = {
    "162": pairs(LONG, MANY),
    "54": pairs(LONG, FEW),
    "27": pairs(SHORT, FEW),
    "27 (Kirby)": [
        (now, 0.0, later, days) for now, later, days in (map(float, row.split()) for row in KIRBY.split(";"))
    ],
}
"""By number of choices: the amounts and delays of the sooner and the later rewards."""

N_SUBJECTS = 500

CENTERS = {
    "exponential": {"k": -4.5},
    "mazur": {"k": -4.0},
    "green_myerson": {"k": -3.5, "s": -0.2},
    "rachlin": {"k": -3.0, "s": -0.2},
    "beta_delta": {"beta": -0.3, "k": -4.8},
}
"""Means of the logarithms of the parameters; their standard deviation is 0.3, and 0.15 for β and s."""


def simulate(
    family: str, design: str, n_subjects: int, seed: list[int]
) -> tuple[dict[str, list[float]], list[dict[str, float]]]:
    """Return the choices of simulated subjects, and their parameters."""
    rng = np.random.default_rng(seed)
    names = ["subjID", "amount_sooner", "delay_sooner", "amount_later", "delay_later", "choice"]
    columns: dict[str, list[float]] = {name: [] for name in names}
    truths = []
    for subject in range(n_subjects):
        logs = [rng.normal(mean, 0.3 if name == "k" else 0.15) for name, mean in CENTERS[family].items()]
        sensitivity = float(np.exp(rng.normal(-1.0, 0.2)))
        truths.append({name: float(np.exp(value)) for name, value in zip(CENTERS[family], logs, strict=True)})

        def worth(amount: float, delay: float, logs: list[float] = logs) -> float:
            log_d = behavior.FAMILIES[family].log_discount(np.array(logs), np.array([float(delay)]))[0]
            return amount * float(np.exp(log_d[0]))

        for row in DESIGNS[design]:
            sooner, front, later, delay = row
            gap = worth(later, delay) - worth(sooner, front)
            choice = int(rng.random() < 1.0 / (1.0 + np.exp(-sensitivity * gap)))
            for name, value in zip(names, (subject, *row, choice), strict=True):
                columns[name].append(value)
    return columns, truths


def load() -> dict[str, Any]:
    """Return the stored results: of single subjects by number of choices, and of pooled fits."""
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    return {"subjects": {}, "pooled": {}} | stored


def store(results: dict[str, Any]) -> None:
    """Write the results."""
    STORED.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def measure() -> None:
    """Fit all simulated subjects of each family and store how often intervals cover."""
    for design, rows in DESIGNS.items():
        for i, (family, centers) in enumerate(CENTERS.items()):
            is_kirby = "Kirby" in design
            if family in load()["subjects"].get(design, {}) or (is_kirby and len(centers) > 1):
                continue  # Kirby's questions hardly tell two parameters of one subject
            seed = [SEED, i] if design == "162" else [SEED, i, len(rows), int(is_kirby)]
            columns, truths = simulate(family, design, N_SUBJECTS, seed)
            fit = behavior.fit_choices(columns, family=family)
            result = {name: coverage(fit, truths, name) for name in centers}
            results = load()
            results["subjects"].setdefault(design, {})[family] = result
            store(results)
            print(design, family, result, file=sys.stderr, flush=True)


def coverage(fit: behavior.ChoiceFit, truths: list[dict[str, float]], name: str) -> dict[str, float]:
    """Return how often the subjects' intervals cover, and the errors of their estimates."""
    covered = [
        one.intervals[name][0] <= truth[name] <= one.intervals[name][1]
        for one, truth in zip(fit.subjects, truths, strict=True)
    ]
    errors = [
        float(np.log(one.parameters[name] / truth[name]))
        for one, truth in zip(fit.subjects, truths, strict=True)
        if not one.undetermined
    ]
    consistent = [hit for hit, one in zip(covered, fit.subjects, strict=True) if one.is_consistent]
    return {
        "covered": int(np.sum(covered)),
        "subjects": len(covered),
        "consistent": len(consistent),
        "consistent_covered": int(np.sum(consistent)),
        "determined": len(errors),
        "bias": round(float(np.mean(errors)), 4),
        "error": round(float(np.std(errors)), 4),
    }


def measure_pooled() -> None:
    """Store how often pooled intervals of few subjects cover the estimate from 400 subjects."""
    truth = behavior.fit_choices(simulate("mazur", "54", 400, [SEED, 99])[0], family="mazur")
    k = truth.pooled.parameters["k"]
    for n in SAMPLE_SIZES:
        if str(n) in load()["pooled"]:
            continue
        covered = 0
        for sample in range(N_SAMPLES):
            columns, _ = simulate("mazur", "54", n, [SEED, n, sample, 7])
            low, high = behavior.fit_choices(columns, family="mazur").pooled.intervals["k"]
            covered += low <= k <= high
        results = load()
        results["pooled"][str(n)] = {"covered": covered, "samples": N_SAMPLES}
        store(results)
        print(n, "subjects", covered, "of", N_SAMPLES, file=sys.stderr, flush=True)


def consistent_words(one: dict[str, float]) -> str:
    """Return how often intervals of subjects cover whose choices one function predicts without error."""
    n = one.get("consistent", 0)
    return f"{100 * one['consistent_covered'] / n:.0f}% of {n}" if n >= 10 else "–"


def write_table() -> None:
    """Write the table in the docs."""
    results, rows = load(), []
    for design, families in results["subjects"].items():
        for family, result in families.items():
            for name, one in result.items():
                share = one["covered"] / one["subjects"]
                rows.append(
                    [
                        design,
                        family.replace("_", "-"),
                        name,
                        f"{100 * share:.1f}% of {one['subjects']}",
                        consistent_words(one),
                        f"{100 * (1 - one['determined'] / one['subjects']):.0f}%",
                        f"{one['bias']:+.3f}",
                        f"{one['error']:.3f}",
                    ]
                )
    headings = ["choices", "family", "parameter", "95% intervals that cover"]
    headings += ["of consistent subjects", "undetermined"]
    write_part(PAGE, "coverage", table([*headings, "bias of its logarithm", "its error"], rows))
    pooled = [
        [n, f"{100 * one['covered'] / one['samples']:.1f}% of {one['samples']}"]
        for n, one in results["pooled"].items()
    ]
    write_part(PAGE, "pooled", table(["subjects", "pooled 95% intervals that cover"], pooled))


if __name__ == "__main__":
    {"measure": measure, "pooled": measure_pooled, "table": write_table}[sys.argv[1]]()
