"""From a log of session lengths to a law, a discount and a horizon.

The log has one row per session: how many steps it lasted, and whether its end was observed. The sample
comes with Sojourn and is generated, so that results can be compared with the truth. Name a CSV file to read
your own.

Run: python examples/05_session_log.py [sessions.csv]
"""

from __future__ import annotations

import sys

import numpy as np

import sojourn as sj
from sojourn.sessions import analyze, law_words, read_sessions, sample_path

TRUTH = sj.BetaGeometric(2.2, 5.0)


def main(path: str | None = None) -> None:
    """Read a log, fit laws, and print what they mean for an agent."""
    # 1. Read the log. Rows that cannot be used are counted and listed, never repaired.
    log = read_sessions(path or sample_path("streaming"))
    n_open = int(log.counts[~log.observed].sum())
    print(f"{log.name}: {len(log):,} sessions, {n_open:,} still open, {log.account.n_rejected} rejected.")

    # 2. This mean is too small: the open sessions are longer than what was observed of them.
    print(f"Mean number of observed steps: {np.average(log.lengths, weights=log.counts):.2f}.")

    # 3. Fit nine families, rank them, and compare each with a confidence band of the data.
    found = analyze(log)
    print(f"Best law: {law_words(found.best.fit)}, mean {found.law.mean:.2f}.")
    for ranked in found.fits[:3]:
        inside = "inside the band" if ranked.in_band else "outside the band"
        print(f"  {type(ranked.fit.law).__name__:16} ΔBIC {ranked.bic_gap:5.1f}, {inside}")

    # 4. The discount ρ(h) from step h to the next.
    steps = np.array([1, 2, 5, 10, 20])
    print("ρ(h) at steps 1, 2, 5, 10, 20:", found.law.continuation(steps).round(3))
    print(f"Best single γ: {found.geometric.gamma:.3f}, which is off by {found.gap:.2f} steps.")
    print(f"Plan {found.horizon(0.1)} steps ahead: all later steps together have a weight of at most 0.1.")

    # 5. Compare with the true law, which is known only for a generated log.
    if path is None:
        error = np.abs(found.law.survival(steps) - TRUTH.survival(steps)).max()
        print(f"Largest error of γ at these steps: {error:.3f}.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
