"""The theorem at its own constants."""

from __future__ import annotations

import itertools

import numpy as np

from sojourn.learning import Comparison
from sojourn.plots import slope_curves, slopes_figure
from sojourn.reports import Chapter, Claim, Picture, Table, Verdict
from sojourn.reproduction._workbench import Workbench
from sojourn.theory import known_law_exponent

__all__ = ["theory"]


def theory(bench: Workbench) -> Chapter:
    """Regret at scale 1, on logarithmic axes, beside the slopes of the corollaries."""
    panels, rows, claims = [], [], []
    for name, corollary in (("theory-geometric", "Corollary 2"), ("theory-polynomial", "Corollary 1")):
        (comparison,) = bench.compare(name)
        promised = known_law_exponent(comparison.law)
        assert promised is not None  # both laws have a corollary
        panels.append(slope_curves(comparison, promised))
        slopes = _slopes(comparison)
        rows += [(str(comparison.law), f"{a:,} … {b:,}", f"{slope:.3f}") for a, b, slope in slopes]
        last = slopes[-1][2]
        falls = len(slopes) > 1 and last < 1.0 and last < slopes[-3 if len(slopes) > 2 else 0][2]
        claims.append(
            Claim(
                corollary,
                f"Under {comparison.law} regret grows like T^{promised:.2f}, up to logarithms.",
                Verdict.HOLDS if falls and last <= promised + 0.05 else Verdict.DEPENDS,
                f"At scale 1 on {comparison.problem} the log-log slope over the last half decade, up to "
                f"{comparison.episodes:,} episodes, is {last:.2f}; regret is linear for most of the way "
                f"there.",
            )
        )
    return Chapter(
        "theory",
        "The theorem at its own constants",
        "RiverSwim at scale 1. Regret is linear until the bonus has fallen below what is at stake, "
        "which takes "
        "hundreds of thousands of episodes; only then can the rate be seen.",
        (Picture("theory", "Regret on logarithmic axes, and its slope.", slopes_figure(panels)),),
        (Table("Log-log slopes of the regret, half a decade each", ("law", "episodes", "slope"), rows),),
        tuple(claims),
    )


def _slopes(comparison: Comparison) -> list[tuple[int, int, float]]:
    k, total = comparison.checkpoints, comparison.cumulative_regret[0].mean(axis=0)
    last = np.log10(comparison.episodes)
    ends = [int(np.argmin(np.abs(np.log10(k) - x))) for x in np.arange(last % 0.5 + 2.0, last + 0.01, 0.5)]
    return [
        (int(k[a]), int(k[b]), float(np.log(total[b] / total[a]) / np.log(k[b] / k[a])))
        for a, b in itertools.pairwise(ends)
        if k[b] > k[a] and total[a] > 0.0
    ]
