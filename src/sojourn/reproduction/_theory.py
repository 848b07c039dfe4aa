"""The theorem at its own constants."""

from __future__ import annotations

from sojourn.plots import slope_curves, slopes_figure
from sojourn.reports import Chapter, Claim, Picture, Table
from sojourn.reproduction._errata import errata
from sojourn.reproduction._runner import Workbench
from sojourn.reproduction._verdicts import half_decades, judge_slopes
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
        slopes = half_decades(comparison)
        rows += [(str(comparison.law), f"{a:,} … {b:,}", f"{slope:.3f}") for a, b, slope in slopes]
        linear = max((b for _, b, slope in slopes if slope > 0.95), default=0)
        claims.append(
            Claim(
                corollary,
                f"Under {comparison.law} regret grows at most like T^{promised:.2f}, up to logarithms.",
                judge_slopes([slope for _, _, slope in slopes], promised),
                f"At scale 1 on {comparison.problem}, {len(comparison.seeds)} seeds, it grows linearly up "
                f"to {linear:,} episodes; the log-log slopes of the last half decades, up to "
                f"{comparison.episodes:,}, are {', '.join(f'{slope:.2f}' for _, _, slope in slopes[-3:])}.",
            )
        )
    return Chapter(
        "theory",
        "The theorem at its own constants",
        "Bonuses at scale 1. Regret is linear until the bonus has fallen below what is at stake, which "
        "takes hundreds of thousands of episodes; only then can the rate be seen.",
        (Picture("theory", "Regret on logarithmic axes, and its slope.", slopes_figure(panels)),),
        (Table("Log-log slopes of the regret, half a decade each", ("law", "episodes", "slope"), rows),),
        (*claims, *errata()),
        bench.settings("theory-geometric", "theory-polynomial"),
    )
