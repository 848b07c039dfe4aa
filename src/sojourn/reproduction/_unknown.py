"""When nobody told the law, or the horizon."""

from __future__ import annotations

import numpy as np

from sojourn.agents import D3RB, HorizonSelection, PaperBonus, UnknownLaw
from sojourn.laws import Geometric
from sojourn.learning import learn
from sojourn.mdps import river_swim
from sojourn.plots import choices_figure, estimates_figure, panels_figure
from sojourn.reports import Chapter, Claim, Picture, Table, Verdict
from sojourn.reproduction._censoring import censoring_errors, fitted_slope
from sojourn.reproduction._workbench import Workbench
from sojourn.theory import block_length

__all__ = ["unknown"]

_NAMES = ("law known", "estimated, Kaplan–Meier", "estimated, empirical", "the paper's literal form")
_CANDIDATES = (2, 4, 8, 16, 32, 64, 128)


def unknown(bench: Workbench) -> Chapter:
    """Estimating the law while learning, censoring, and choosing the horizon."""
    comparisons = bench.compare("unknown", over=["bonus.scale"])
    (horizons,) = bench.compare("horizon")
    seeds, n = (range(2), 1_000) if bench.quick else (range(10), 100_000)
    counts, ours, theirs = censoring_errors(seeds, n)
    singles = np.array([name.startswith("single") for name in horizons.names])
    means = horizons.total_regret.mean
    best, worst, chosen = means[singles].min(), means[singles].max(), means[int(np.argmin(singles))]
    rows = [(c.problem, *c.total_regret.texts()) for c in comparisons]
    ratio = means[int(np.argmin(singles))] / best
    price = comparisons[0].total_regret.mean[1] / comparisons[0].total_regret.mean[0]
    claims = (
        Claim(
            "Algorithm 2",
            "The block length √T · ln T · ln(ln(T)/δ) lets the law be estimated.",
            Verdict.DEPENDS,
            f"At T = 100 and δ = 0.1 the first block is {block_length(100)} episodes long: nothing is ever "
            f"estimated. It is so up to T = 784.",
        ),
        Claim(
            "Algorithm 2",
            "Estimating the law costs only a constant.",
            Verdict.HOLDS if price < 2.0 else Verdict.DEPENDS,
            f"On {comparisons[0].problem} total regret is {price:.2f} times that of the learner that "
            f"knows the "
            f"law, over {comparisons[0].episodes:,} episodes and {len(comparisons[0].seeds)} seeds.",
        ),
        Claim(
            "Algorithm 2",
            "The empirical distribution of what was played estimates the law.",
            Verdict.FAILS,
            f"Where terminal states hide lengths, its largest error stays at {theirs[:, -1].mean():.2f} "
            f"after "
            f"{counts[-1]:,} episodes; Kaplan–Meier's falls with slope {fitted_slope(counts, ours):.2f}.",
        ),
        Claim(
            "Section 5",
            "Model selection over horizons costs only a constant factor.",
            Verdict.HOLDS if ratio <= 3.0 and chosen <= worst / 2 else Verdict.DEPENDS,
            f"D3RB has {ratio:.1f} times the regret of the best single horizon and "
            f"{chosen / worst:.2f} of the worst's after {horizons.episodes:,} episodes.",
        ),
    )
    return Chapter(
        "unknown",
        "When the law, or the horizon, is unknown",
        "Blocks of doubling length, each played with the law estimated so far; and learners with seven "
        "horizons that "
        "take turns. Where a terminal state ends an episode, its length stays hidden.",
        pictures=(
            Picture(
                "unknown",
                "Regret with the law known and estimated.",
                panels_figure(comparisons, names=_NAMES, titles=[c.problem for c in comparisons]),
            ),
            *_examples(bench),
        ),
        tables=(
            Table("Total regret, each at its best scale", ("problem", *_NAMES), rows),
            Table(
                "Largest error of the estimated law where half of the episodes end in a terminal state",
                ("estimator", *(f"n = {k:,}" for k in counts[::2]), "slope"),
                [
                    (name, *(f"{x:.3f}" for x in e.mean(axis=0)[::2]), f"{fitted_slope(counts, e):.2f}")
                    for name, e in (("Kaplan–Meier", ours), ("empirical", theirs))
                ],
            ),
            Table(
                "Total regret of single horizons, and of rules that choose",
                ("learner", "total regret"),
                list(zip(horizons.names, horizons.total_regret.texts(), strict=True)),
            ),
        ),
        claims=claims,
    )


def _examples(bench: Workbench) -> tuple[Picture, Picture]:
    law, mdp = Geometric(0.9), river_swim(6)
    base, n = UnknownLaw(40, PaperBonus(0.03)), 300 if bench.quick else 2_000
    surveyor = learn(base, mdp, law, episodes=n, seed=0).learner
    agent = HorizonSelection(base, candidates=_CANDIDATES, rule=D3RB(c=0.003, first=0.003))
    selector = learn(agent, mdp, law, episodes=5 * n, seed=0).learner
    return (
        Picture(
            "estimates",
            "Laws estimated while learning, one seed, the last with a band that holds all of it at once "
            "(95%).",
            estimates_figure(surveyor.estimates, law),
        ),
        Picture(
            "choices",
            "Which horizon played when, one seed.",
            choices_figure(selector.choices, selector.horizons),
        ),
    )
