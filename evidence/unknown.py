"""Measure how fast estimated laws converge.

    python evidence/unknown.py error       convergence of the estimated laws
    python evidence/unknown.py censoring   errors of the paper's estimator if terminal states censor lengths

What it costs not to know the law is in costs.py. Without a name, both parts are run. Each writes a
table in docs/evidence.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tuned import table, write_part

import sojourn as sj
from sojourn.reproduction import censoring_errors, fitted_slope

PAGE = Path(__file__).parent.parent / "docs" / "evidence.md"
SEEDS = 20
LAWS = ["geometric(0.9)", "polynomial(1.4, offset=20)", "quasi_hyperbolic(0.7, gamma=0.95)"]


def error() -> None:
    """Write the largest error of γ̂ and the relative error of the mean, by number of complete lengths."""
    counts, rows = np.array([100, 1_000, 10_000, 100_000]), []
    for text in [*LAWS, "polynomial(2.5)"]:
        law = sj.parse_law(text)
        sups, means = np.empty((2, SEEDS, counts.size))
        for seed in range(SEEDS):
            lengths = law.sample(np.random.default_rng(seed), int(counts[-1]))
            for i, n in enumerate(counts):
                estimate = sj.Empirical(lengths[:n])
                h = np.arange(1, min(int(lengths[:n].max()) + 2, 100_000))
                sups[seed, i] = np.abs(estimate.survival(h) - law.survival(h)).max()
                means[seed, i] = abs(estimate.mean / law.mean - 1.0)
        for what, errors in (("γ̂, largest error", sups), ("mean length, relative", means)):
            middle = np.median(errors, axis=0)
            rows.append(
                (
                    text,
                    what,
                    *(f"{value:.2g}" for value in middle),
                    f"{fitted_slope(counts, middle[np.newaxis]):.2f}",
                )
            )
    header = ["law", "error (median of 20 seeds)", *(f"n = {n:,}" for n in counts), "slope"]
    write_part(PAGE, "unknown-error", table(header, rows))


def censoring() -> None:
    """Write the errors of the paper's estimator, which ignores censoring, and of Kaplan–Meier."""
    counts, ours, theirs = censoring_errors(range(SEEDS), 100_000)
    rows = [
        (
            name,
            *(f"{value:.2g}" for value in errors.mean(axis=0)[::2]),
            f"{fitted_slope(counts, errors):.2f}",
        )
        for name, errors in (("Kaplan–Meier", ours), ("empirical", theirs))
    ]
    header = ["estimator", *(f"n = {n:,}" for n in counts[::2]), "slope"]
    write_part(PAGE, "unknown-censoring", table(header, rows))


PARTS: dict[str, Callable[[], None]] = {
    "error": error,
    "censoring": censoring,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
