"""Chapter "theory": regret with a known law, and how it grows with the number of episodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sojourn.laws import Geometric, LengthLaw, Polynomial, label
from sojourn.learning import Comparison
from sojourn.plots import slope_curves, slopes_figure
from sojourn.reports import Chapter, Claim, Picture, ReportTable
from sojourn.reproduction._learners import rows_by_name
from sojourn.reproduction._runner import ExperimentRunner
from sojourn.reproduction.claims import (
    OPTIMISM_CASES,
    Interval,
    Optimism,
    bootstrap_slope,
    check_optimism,
    corollary_2_claims,
    corollary_3,
    describe_growth,
    error_growth_claim,
    least_episodes,
    lemma_3,
    minimax_remark,
    printed_slope,
    theorem_1,
)
from sojourn.theory import printed_known_law_exponent

__all__ = ["theory"]

_EXPERIMENTS = ("growth-short", "growth-medium", "growth-long")
_LEARNERS = {"published": "bonus scale 1", "proven": "bonus scale 0.075"}
"""Learners of the experiments; Theorem B of docs/theory.md holds from a scale of about 0.075 on."""

_CHAIN = (2, 2)
"""Numbers of states and actions of Chain(2), the problem of the experiments."""

_FINDINGS = {
    "consistent": "consistent with the bound's {:.2f}",
    "linear": "linear so far (bound {:.2f})",
    "not decided": "not decided (bound {:.2f})",
}
"""How the claims word each finding of `describe_growth`, with the slope of the printed bound."""


@dataclass(frozen=True)
class _Growth:
    """How a learner's regret grows under one law.

    Attributes:
        law: The law.
        learner: Name of the learner in the experiments.
        episodes: Numbers of episodes, each played on its own.
        means: Mean total regret for each of them.
        slope: Log-log slope.
        printed: Slope of the printed bound.
    """

    law: LengthLaw
    learner: str
    episodes: list[int]
    means: list[float]
    slope: Interval
    printed: float

    @property
    def finding(self) -> str:
        """Whether the slope agrees with the printed bound; see `describe_growth`."""
        return describe_growth(self.slope, self.printed)


def theory(runner: ExperimentRunner) -> Chapter:
    """Measure growth in separate runs for each T, check optimism, and evaluate the bounds."""
    runs = [runner.compare(name) for name in _EXPERIMENTS]
    growths = [
        _growth([one[i] for one in runs], learner) for i in range(len(runs[0])) for learner in _LEARNERS
    ]
    n_seeds = len(runs[0][0].seeds)
    rows = [
        (
            label(g.law),
            _LEARNERS[g.learner],
            ", ".join(f"{mean:,.0f}" for mean in g.means),
            str(g.slope),
            f"{g.printed:.2f}",
            g.finding,
        )
        for g in growths
    ]
    episodes = ", ".join(f"{n:,}" for n in growths[0].episodes)
    panels = [
        slope_curves(one, exponent)
        for one in runs[-1]
        if (exponent := printed_known_law_exponent(one.law)) is not None
    ]
    return Chapter(
        "theory",
        "Regret with a known law",
        "Algorithm 1 as printed, told the number of episodes T of each run. At bonus scale 1 regret is "
        "linear until the bonus is smaller than the differences between actions, which takes up to millions "
        "of episodes. Larger T, up to 316,228, are in docs/evidence.md.",
        (
            Picture(
                "theory",
                f"Regret within the longest runs, T = {growths[0].episodes[-1]:,}, at bonus scale 1.",
                slopes_figure(panels),
            ),
        ),
        (
            ReportTable(
                f"Growth of total regret over T = {episodes}; {n_seeds} seeds for each T, bootstrap "
                "intervals",
                ("law", "learner", "mean regret", "slope", "slope of the printed bound", "finding"),
                rows,
            ),
        ),
        (
            theorem_1(),
            _optimism_claim(runner),
            *corollary_2_claims(
                {
                    "p ≥ 2": _sentence(
                        growths, n_seeds, lambda law: isinstance(law, Polynomial) and law.p >= 2.0
                    ),
                    "p < 2": _sentence(
                        growths, n_seeds, lambda law: isinstance(law, Polynomial) and law.p < 2.0
                    ),
                }
            ),
            corollary_3(_sentence(growths, n_seeds, lambda law: isinstance(law, Geometric))),
            error_growth_claim(),
            minimax_remark(),
        ),
        runner.settings(*_EXPERIMENTS),
    )


def _growth(comparisons: list[Comparison], learner: str) -> _Growth:
    """Return the growth of one learner's regret over comparisons that differ in their number of episodes."""
    rows = [rows_by_name(one)[learner] for one in comparisons]
    regrets = [one.cumulative_regret[row, :, -1] for one, row in zip(comparisons, rows, strict=True)]
    episodes, law = [one.episodes for one in comparisons], comparisons[0].law
    printed = printed_slope(law, *_CHAIN, episodes[0], episodes[-1])
    means = [float(values.mean()) for values in regrets]
    return _Growth(law, learner, episodes, means, bootstrap_slope(episodes, regrets), printed)


def _sentence(growths: list[_Growth], n_seeds: int, wanted: Callable[[LengthLaw], bool]) -> str:
    """Return sentences on the growth under the laws for which `wanted` is true."""
    found = [g for g in growths if wanted(g.law)]
    if not found:
        return ""
    first, last = found[0].episodes[0], found[0].episodes[-1]
    parts = [
        f"{label(g.law)}, scale {_LEARNERS[g.learner].rpartition(' ')[2]}: {g.slope}, "
        + _FINDINGS[g.finding].format(g.printed)
        for g in found
    ]
    required = {label(g.law): least_episodes(g.law, *_CHAIN) for g in found}
    too_few = [f"{least:,} for {name}" for name, least in required.items() if least > last]
    below = f" These T are below the corollary's own condition: {', '.join(too_few)}." if too_few else ""
    return (
        f"Measured log-log slopes of regret on one problem, Chain(2), T = {first:,} to {last:,} (separate "
        f"runs for each T, {n_seeds} seeds), beside the slope of the printed bound with its logarithms over "
        f"this range: {'; '.join(parts)}.{below}"
    )


def _optimism_claim(runner: ExperimentRunner) -> Claim:
    """Check optimism in several runs, and once with a bonus that is too small."""
    episodes, seeds = (1_000, 1) if runner.quick else (8_000, 2)

    def check(**arguments: float) -> Optimism:
        return Optimism(*runner.remember(check_optimism, like=Optimism(0, 0, 0.0), **arguments))

    checks = [
        check(case=case, scale=1.0, episodes=episodes, seed=seed)
        for case in range(len(OPTIMISM_CASES))
        for seed in range(seeds)
    ]
    return lemma_3(checks, check(case=0, scale=0.001, episodes=500, seed=0))
