"""Chapter "unknown": learners that estimate the law, or that select the horizon."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sojourn.agents import PaperBonus, UnknownLaw
from sojourn.laws import Geometric
from sojourn.learning import Comparison, learn
from sojourn.mdps import river_swim
from sojourn.plots import estimates_figure, panels_figure
from sojourn.reports import Chapter, Claim, ClaimVerdict, Picture, ReportTable
from sojourn.reproduction._censoring import Errors, censoring_errors, episode_counts, fitted_slope
from sojourn.reproduction._learners import rows_by_name
from sojourn.reproduction._runner import ExperimentRunner
from sojourn.reproduction.claims import (
    Interval,
    announced_exponent,
    bootstrap_ratio,
    corollary_5,
    corollary_6,
    dkw,
    factor_between_rates,
    lemma_5,
    lemma_6,
    lemma_7,
    theorem_4,
)
from sojourn.theory import printed_unknown_law_bound

__all__ = ["unknown"]

_NAMES = {
    "known": "law known",
    "estimated": "estimated, Kaplan–Meier",
    "empirical": "estimated, empirical",
    "literal": "Algorithm 2 as printed",
}
"""Display names by the names in the spec."""

_CANDIDATES = (2, 4, 8, 16, 32, 64, 128)
"""Horizons in the spec "selection", in this order after the learner that selects one."""

_BIASED = 2.0
"""An estimate whose largest error is more than this many times that of Kaplan–Meier counts as biased."""


def unknown(runner: ExperimentRunner) -> Chapter:
    """Run learners that estimate the law or select the horizon, and measure the effect of censoring."""
    comparisons = runner.compare("unknown", over=["bonus.scale"])
    n_seeds, n = (2, 1_000) if runner.quick else (10, 100_000)
    counts = episode_counts(n)
    zeros = np.zeros((n_seeds, counts.size)).tolist()
    found = runner.remember(
        _censoring_errors, like=(counts.tolist(), zeros, zeros), n_seeds=n_seeds, n_episodes=n
    )
    _, ours, theirs = map(np.array, found)
    errors = counts, ours, theirs
    return Chapter(
        "unknown",
        "When the law, or the horizon, is unknown",
        "Learners that estimate the law play blocks of doubling length, each with the law estimated so far. "
        "If a terminal state ends an episode, its length is censored. More episodes, and rules that select "
        "the horizon, are in docs/evidence.md.",
        pictures=(
            Picture(
                "unknown",
                "Regret if the law is known and if it is estimated.",
                panels_figure(
                    comparisons, names=_shown_names(comparisons[0]), titles=[c.problem for c in comparisons]
                ),
            ),
            _estimates_picture(runner),
        ),
        tables=_tables(comparisons, errors),
        claims=(
            announced_exponent(),
            theorem_4(),
            dkw(),
            lemma_5(),
            lemma_6(),
            lemma_7(),
            corollary_5(),
            corollary_6(),
            _empirical_law_claim(errors),
            factor_between_rates(),
            _cost_claim(comparisons),
            _selection_claim(runner),
        ),
        settings=runner.settings("unknown", "selection"),
    )


def _shown_names(comparison: Comparison) -> list[str]:
    return [_NAMES[name] for name in rows_by_name(comparison)]


def _cost_claim(comparisons: list[Comparison]) -> Claim:
    """Report the ratio of the mean regrets of Algorithm 2 as printed and of a learner that knows the law."""
    parts = []
    for comparison in comparisons:
        rows, total = rows_by_name(comparison), comparison.cumulative_regret[:, :, -1]
        ours, literal = (
            bootstrap_ratio(total[rows[name]], total[rows["known"]]) for name in ("estimated", "literal")
        )
        parts.append(
            f"{literal} on {comparison.problem} ({ours} for our form, which keeps all lengths and counts)"
        )
    first = comparisons[0]
    return Claim(
        "Section 5",
        "“[F]or geometric discounting we recover the same regret as corollary 3.” (Introduction: “up to "
        "logarithmic factors”.)",
        ClaimVerdict.UNPROVEN,
        "It restates Corollary 6; as a comparison of the two printed formulas it is right. It is about "
        "bounds; the ratio of two regrets on one problem does not decide it. For T = "
        f"{first.episodes:,} and {len(first.seeds)} seeds, the mean regret of Algorithm 2 as printed is, in "
        f"units of that of a learner that knows the law, {' and '.join(parts)}; each learner at its best "
        "bonus scale, bootstrap intervals. After its last layer, where the paper plays “an arbitrary "
        "action”, it starts again. docs/evidence.md has T = 20,000 and 100,000.",
    )


def _censoring_errors(n_seeds: int, n_episodes: int) -> list[Any]:
    """Return the arrays of `censoring_errors` as lists."""
    return [array.tolist() for array in censoring_errors(range(n_seeds), n_episodes)]


def _empirical_law_claim(errors: Errors) -> Claim:
    counts, ours, theirs = errors
    return Claim(
        "Section 5",
        "“Since every episode we get one sample from the distribution of H (the random length of the "
        "current episode) we can use the empirical distribution function of horizon length to obtain γ̂.”",
        ClaimVerdict.DEPENDS
        if theirs[:, -1].mean() > _BIASED * ours[:, -1].mean()
        else ClaimVerdict.CONSISTENT,
        "True where no terminal state is reached. Algorithm 1 stops at terminal states, which hide H. If "
        "lengths are geometric with γ = 0.9, half of the episodes reach one after three steps, and the steps "
        f"played are taken for H, the largest error of γ̂ stays at {theirs[:, -1].mean():.3f} (in the limit "
        f"γ(4)/2 = {0.9**3 / 2:.3f}) after {counts[-1]:,} episodes ({len(ours)} seeds); "
        f"that of the Kaplan–Meier estimate falls with slope {fitted_slope(counts, ours):.2f}.",
    )


def _selection_claim(runner: ExperimentRunner) -> Claim:
    """Evaluate the printed bound beside H*, and measure dynamic balancing over candidate horizons."""
    law, episodes = Geometric(0.9), 10**8
    horizon = math.log(episodes) / (2.0 * math.log(1.0 / law.gamma))
    bounds = [
        printed_unknown_law_bound(
            law, episodes, horizon=round(share * horizon), n_states=6, n_actions=2
        ).total
        for share in (1.0, 1.25, 1.5, 2.0)
    ]
    larger = [bound / bounds[0] for bound in bounds[1:]]
    (comparison,) = runner.compare("selection")
    ratio, best = _selection_cost(comparison)
    return Claim(
        "Section 5",
        "For an unknown H*, “there exists H̃ ≤ 2H* for which the regret is increased by at most a "
        "constant”, and “algorithm 1 from [CDDG+21]” over 2, 4, 8, … gives “a regret bound of at most "
        "O(√(log T) Reg(H̃)) = Õ(Reg(H*))”.",
        ClaimVerdict.UNPROVEN,
        "No proof is given. The step that is named looks at t/γ only. The whole bound of Theorem 8 (γ = "
        f"0.9, T = 10⁸, constants 1, best β) is about {_rounded(larger[0])}, {_rounded(larger[1])} and "
        f"{_rounded(larger[2])} times larger at 1¼, 1½ and 2 H*; at H̃ = xH* with x below 1 its term "
        "Γ(H̃+1)T is larger by T^((1−x)/2). This concerns the bound, not the regret. Algorithm 1 of "
        "[CDDG+21] (dynamic balancing) also needs a bound for each candidate, which contains the unknown Γ. "
        f"Measured with the true Γ in these bounds ({comparison.problem}, T = {comparison.episodes:,}, "
        f"{len(comparison.seeds)} seeds): {ratio} times the regret of the horizon with the least measured "
        f"regret among {len(_CANDIDATES)}, which is {best}. An earlier version of this table said "
        "that the rule fails: we had left the truncation term out of its bounds.",
    )


def _rounded(ratio: float) -> str:
    """Return a number with two digits in words, such as "2.8 million".

    Example:
        >>> _rounded(2_836_733.2), _rounded(276.2), _rounded(4.96)
        ('2.8 million', '280', '5')
    """
    if ratio >= 1e6:
        return f"{ratio / 1e6:.2g} million"
    return f"{float(f'{ratio:.2g}'):,g}"


def _selection_cost(comparison: Comparison) -> tuple[Interval, int]:
    """Return the regret of dynamic balancing over that of the best single horizon, and this horizon."""
    totals = comparison.cumulative_regret[:, :, -1]
    best = 1 + int(np.argmin(totals[1:].mean(axis=1)))
    return bootstrap_ratio(totals[0], totals[best]), _CANDIDATES[best - 1]


def _tables(comparisons: list[Comparison], errors: Errors) -> tuple[ReportTable, ...]:
    counts, ours, theirs = errors
    return (
        ReportTable(
            "Total regret, each learner at its best bonus scale",
            ("problem", *_shown_names(comparisons[0])),
            [(c.problem, *c.total_regret.texts()) for c in comparisons],
        ),
        ReportTable(
            "Largest error of the estimated law if half of the episodes end in a terminal state",
            ("estimator", *(f"n = {k:,}" for k in counts[::2]), "slope"),
            [
                (name, *(f"{x:.3f}" for x in e.mean(axis=0)[::2]), f"{fitted_slope(counts, e):.2f}")
                for name, e in (("Kaplan–Meier", ours), ("empirical", theirs))
            ],
        ),
    )


def _estimates_picture(runner: ExperimentRunner) -> Picture:
    law, n = Geometric(0.9), 300 if runner.quick else 2_000
    learner = learn(UnknownLaw(40, PaperBonus(0.03)), river_swim(6), law, episodes=n, seed=0).learner
    return Picture(
        "estimates",
        "Laws estimated while learning, one seed; the last has a simultaneous 95% confidence band.",
        estimates_figure(learner.estimates, law),
    )
