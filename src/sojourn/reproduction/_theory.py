"""Chapter "theory": growth of the regret with the published constants."""

from __future__ import annotations

from sojourn.plots import slope_curves, slopes_figure
from sojourn.reports import Chapter, Claim, Picture, ReportTable
from sojourn.reproduction._errata import errata
from sojourn.reproduction._runner import ExperimentRunner
from sojourn.reproduction._verdicts import half_decades, judge_slopes
from sojourn.theory import printed_known_law_exponent

__all__ = ["theory"]


def theory(runner: ExperimentRunner) -> Chapter:
    """Compare the growth of the regret at bonus scale 1 with the rates of the corollaries."""
    panels, rows, claims = [], [], []
    for name, corollary in (("theory-geometric", "Corollary 2"), ("theory-polynomial", "Corollary 1")):
        (comparison,) = runner.compare(name)
        promised = printed_known_law_exponent(comparison.law)
        assert promised is not None  # both laws have a corollary
        panels.append(slope_curves(comparison, promised))
        slopes = half_decades(comparison)
        rows += [(str(comparison.law), f"{a:,} … {b:,}", f"{slope:.3f}") for a, b, slope in slopes]
        linear = max((b for _, b, slope in slopes if slope > 0.95), default=0)
        claims.append(
            Claim(
                corollary,
                f"Under {comparison.law} regret grows at most like T^{promised:.2f}, up to logarithmic "
                "factors.",
                judge_slopes([slope for _, _, slope in slopes], promised),
                f"At bonus scale 1 on {comparison.problem}, {len(comparison.seeds)} seeds, it grows linearly "
                f"up to {linear:,} episodes; the log-log slopes over the last half decades, up to "
                f"{comparison.episodes:,} episodes, are "
                f"{', '.join(f'{slope:.2f}' for _, _, slope in slopes[-3:])}.",
            )
        )
    return Chapter(
        "theory",
        "The theorem with the published constants",
        "Bonuses have scale 1. Regret is linear until the bonus is smaller than the differences between "
        "actions, which takes hundreds of thousands of episodes. Only then is the rate visible.",
        (Picture("theory", "Cumulative regret on logarithmic axes, and its slope.", slopes_figure(panels)),),
        (ReportTable("Log-log slopes of the regret over half decades", ("law", "episodes", "slope"), rows),),
        (*claims, *errata()),
        runner.settings("theory-geometric", "theory-polynomial"),
    )
