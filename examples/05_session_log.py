"""From a log of session lengths to a law, a discount and a horizon.

One row a session: how many steps it lasted, and whether it was seen to end. The sample comes with Sojourn and
is generated, so that what is found can be held against the truth. Name a CSV file to read your own.

Run: python examples/05_session_log.py [sessions.csv]
"""

from __future__ import annotations

import sys

import numpy as np

import sojourn as sj
from sojourn.sessions import analyze, law_words, read_sessions, sample_path

TRUTH = sj.BetaGeometric(2.2, 5.0)


def main(path: str | None = None) -> None:
    """Read, fit, and say what it means for an agent."""
    # 1. Read. Rows that cannot be used are counted and named, never repaired.
    log = read_sessions(path or sample_path("streaming"))
    n_open = int(log.counts[~log.observed].sum())
    print(f"{log.name}: {len(log):,} sessions, {n_open:,} still open, {log.account.n_rejected} rejected.")

    # 2. Open sessions are not short sessions.
    print(f"Mean of the steps seen: {np.average(log.lengths, weights=log.counts):.2f}.")

    # 3. Fit seven families, rank them, and hold each against a band around the data.
    found = analyze(log)
    print(f"Best law: {law_words(found.best.fit)}, mean {found.law.mean:.2f}.")
    for one in found.fits[:3]:
        inside = "in the band" if one.in_band else "outside"
        print(f"  {type(one.fit.law).__name__:16} BIC {one.bic_gap:5.1f} more than the best, {inside}")

    # 4. The discount: from one step to the next, ρ(h).
    steps = np.array([1, 2, 5, 10, 20])
    print("ρ(h) at steps 1, 2, 5, 10, 20:", found.law.continuation(steps).round(3))
    print(f"One γ for all steps: {found.geometric.gamma:.3f} is closest, off by {found.gap:.2f} steps.")
    print(f"Plan {found.horizon(0.1)} steps ahead, and all later ones weigh at most 0.1.")

    # 5. Held against the truth, which only a generated log has.
    if path is None:
        error = np.abs(found.law.survival(steps) - TRUTH.survival(steps)).max()
        print(f"Largest error of γ at these steps: {error:.3f}.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
