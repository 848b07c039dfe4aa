"""Chapter "figure1": the paper's Figure 1 with the published constants."""

from __future__ import annotations

import numpy as np

from sojourn.laws import LengthLaw, parse_law
from sojourn.learning import Comparison, learn
from sojourn.mdps import TabularMDP
from sojourn.plots import law_figure, panels_figure
from sojourn.reports import Chapter, Claim, ClaimVerdict, Picture, ReportTable
from sojourn.reproduction._learners import N_PAPER_AGENTS, paper_agents, paper_names, random_row
from sojourn.reproduction._runner import ExperimentRunner
from sojourn.reproduction._verdicts import won_and_lost

__all__ = ["figure1", "panel_table"]


def figure1(runner: ExperimentRunner) -> Chapter:
    """Run the nine panels on Taxi for 100 episodes at bonus scale 1: too short for any learner to learn."""
    comparisons = runner.compare("figure1")
    won, lost = won_and_lost(comparisons, N_PAPER_AGENTS)
    deviation = max(_deviation_from_random(comparison) for comparison in comparisons)
    episodes = 20 if runner.quick else 100
    same = all(_all_behave_alike(comparison.law, episodes) for comparison in comparisons)
    n_seeds = len(comparisons[0].seeds)
    claims = (
        Claim(
            "Figure 1",
            "With the published constants, on Taxi over 100 episodes, the general learner has strictly less "
            "regret than every UCB-VI variant for γ = 0.95, 0.975 and all quasi-hyperbolic laws.",
            ClaimVerdict.FAILS if won == 0 else ClaimVerdict.DEPENDS,
            f"Over {comparisons[0].episodes:,} episodes it beats every variant in {won} of "
            f"{len(comparisons)} panels, and some variant beats it in {lost} (paired 95% intervals, "
            f"{n_seeds} seeds, not adjusted for the number of tests). No learner's regret differs from that "
            f"of random play by more than {100 * deviation:.1f}%.",
        ),
        Claim(
            "Section 6",
            "The experiments use the algorithm as stated.",
            ClaimVerdict.FAILS if same else ClaimVerdict.DEPENDS,
            f"If ties go to the lowest action, over {episodes} episodes and one seed, "
            + (
                f"all seven learners behave identically under all {len(comparisons)} laws: rewards are "
                "bit-identical, and regrets agree to 1e-9. Nothing that they observed changed their actions."
                if same
                else "the learners do not all behave identically."
            ),
        ),
    )
    return Chapter(
        "figure1",
        "Figure 1 with the published constants",
        "Taxi, 100 episodes, the paper's bonuses at scale 1. For the learners, rewards are mapped to [0, 1], "
        "also those of the absorbing state; regret is in Taxi's own units.",
        pictures=(
            Picture(
                "figure1",
                "Cumulative regret with the published constants. The curves of all learners are close to "
                "that of random play.",
                panels_figure(comparisons, names=paper_names(comparisons[0])),
            ),
            Picture(
                "law",
                "A law of lengths is a discount function: survival, hazard and implied discount of a "
                "polynomial law, beside the geometric law with the same mean.",
                law_figure(parse_law("polynomial(1.4, offset=20)")),
            ),
        ),
        tables=(panel_table(comparisons, "Total regret at bonus scale 1"),),
        claims=claims,
        settings=runner.settings("figure1"),
    )


def panel_table(comparisons: list[Comparison], caption: str) -> ReportTable:
    """Return a table of the general learner's total regret, the best rival's, and their paired difference."""
    rows = []
    for comparison in comparisons:
        total, rivals = comparison.total_regret, slice(1, N_PAPER_AGENTS)
        best = 1 + int(np.argmin(total.mean[rivals]))
        texts, name = total.texts(), paper_names(comparison)[best].removeprefix("UCB-VI ")
        rows.append(
            (str(comparison.law), texts[0], f"{name}: {texts[best]}", comparison.difference.texts()[best])
        )
    header = ("law", "general", "best rival", "best rival minus general")
    return ReportTable(f"{caption}; {len(comparisons[0].seeds)} seeds, 95% intervals", header, rows)


def _deviation_from_random(comparison: Comparison) -> float:
    """Return the largest relative difference between a learner's mean regret and the random player's."""
    means = comparison.total_regret.mean
    return float(np.abs(means / means[random_row(comparison)] - 1.0).max())


def _all_behave_alike(law: LengthLaw, episodes: int) -> bool:
    """Return whether all agents of the paper get the same rewards if ties go to the first action."""
    mdp = TabularMDP.from_env("Taxi-v4")
    runs = [learn(agent, mdp, law, episodes=episodes, seed=0) for agent in paper_agents(law, ties="first")]
    rewards, regrets = runs[0].rewards, np.asarray(runs[0].regret)
    return all(
        np.array_equal(run.rewards, rewards) and float(np.abs(np.asarray(run.regret) - regrets).max()) <= 1e-9
        for run in runs
    )
