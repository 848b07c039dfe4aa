"""Measure how often intervals of fitted discount functions cover the truth, on simulated subjects.

    python evidence/choices.py measure       500 subjects per family (about five minutes on one core)
    python evidence/choices.py table         write the table in docs/behavior.md

Each simulated subject has its own parameters, drawn around typical ones, and makes 162 choices: three
front-end delays, six delays and nine amounts. Results are kept in choices.json beside this file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from tuned import table, write_part

from sojourn import behavior

HERE = Path(__file__).parent
PAGE, STORED = HERE.parent / "docs" / "behavior.md", HERE / "choices.json"
N_SUBJECTS, SEED = 500, 0

CENTERS = {
    "exponential": {"k": -4.5},
    "mazur": {"k": -4.0},
    "green_myerson": {"k": -3.5, "s": -0.2},
    "rachlin": {"k": -3.0, "s": -0.2},
    "beta_delta": {"beta": -0.3, "k": -4.8},
}
"""Means of the logarithms of the parameters; their standard deviation is 0.3, and 0.15 for β and s."""


def simulate(family: str, seed: int) -> tuple[dict[str, list[float]], list[dict[str, float]]]:
    """Return the choices of simulated subjects, and their parameters."""
    rng = np.random.default_rng([seed, list(CENTERS).index(family)])
    names = ["subjID", "amount_sooner", "delay_sooner", "amount_later", "delay_later", "choice"]
    columns: dict[str, list[float]] = {name: [] for name in names}
    truths = []
    for subject in range(N_SUBJECTS):
        logs = [rng.normal(mean, 0.3 if name == "k" else 0.15) for name, mean in CENTERS[family].items()]
        sensitivity = float(np.exp(rng.normal(-1.0, 0.2)))
        truths.append({name: float(np.exp(value)) for name, value in zip(CENTERS[family], logs, strict=True)})

        def worth(amount: float, delay: float, logs: list[float] = logs) -> float:
            log_d = behavior.FAMILIES[family].log_discount(np.array(logs), np.array([float(delay)]))[0]
            return amount * float(np.exp(log_d[0]))

        for front in (0, 14, 42):
            for wait in (7, 14, 30, 60, 120, 240):
                for share in (0.3, 0.45, 0.55, 0.65, 0.75, 0.82, 0.88, 0.94, 0.98):
                    row = (subject, 40.0 * share, front, 40.0, front + wait)
                    gap = worth(40.0, front + wait) - worth(40.0 * share, front)
                    choice = int(rng.random() < 1.0 / (1.0 + np.exp(-sensitivity * gap)))
                    for name, value in zip(names, (*row, choice), strict=True):
                        columns[name].append(value)
    return columns, truths


def measure() -> None:
    """Fit all simulated subjects of each family and store how often intervals cover."""
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    for family, centers in CENTERS.items():
        if family in stored:
            continue
        columns, truths = simulate(family, SEED)
        fit = behavior.fit_choices(columns, family=family)
        result = {}
        for name in centers:
            covered = [
                one.intervals[name][0] <= truth[name] <= one.intervals[name][1]
                for one, truth in zip(fit.subjects, truths, strict=True)
            ]
            errors = [
                float(np.log(one.parameters[name] / truth[name]))
                for one, truth in zip(fit.subjects, truths, strict=True)
                if not one.undetermined
            ]
            result[name] = {
                "covered": int(np.sum(covered)),
                "subjects": len(covered),
                "determined": len(errors),
                "bias": round(float(np.mean(errors)), 4),
                "error": round(float(np.std(errors)), 4),
            }
        stored[family] = result
        STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
        print(family, result, file=sys.stderr, flush=True)


def write_table() -> None:
    """Write the table in the docs."""
    rows = []
    for family, result in json.loads(STORED.read_text(encoding="utf-8")).items():
        for name, one in result.items():
            share = one["covered"] / one["subjects"]
            rows.append(
                [
                    family.replace("_", "-"),
                    name,
                    f"{100 * share:.1f}% of {one['subjects']}",
                    f"{one['bias']:+.3f}",
                    f"{one['error']:.3f}",
                ]
            )
    headings = ["family", "parameter", "95% intervals that cover", "bias of its logarithm", "its error"]
    write_part(PAGE, "coverage", table(headings, rows))


if __name__ == "__main__":
    {"measure": measure, "table": write_table}[sys.argv[1]]()
