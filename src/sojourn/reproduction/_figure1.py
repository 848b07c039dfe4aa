"""Chapter "figure1": the paper's Figure 1 with the published constants."""

from __future__ import annotations

import math

import numpy as np

from sojourn._typing import FloatArray
from sojourn.laws import Geometric, LengthLaw, QuasiHyperbolic, label, law_to_text, parse_law
from sojourn.learning import FEWEST_SEEDS, Comparison, learn
from sojourn.mdps import TabularMDP
from sojourn.plots import law_figure, panels_figure
from sojourn.reports import Chapter, Claim, Picture, ReportTable
from sojourn.reproduction._learners import N_PAPER_AGENTS, paper_agents, paper_names, random_row
from sojourn.reproduction._runner import ExperimentRunner
from sojourn.reproduction.claims import judge_improvement, won_and_lost
from sojourn.theory import printed_truncation

__all__ = ["figure1", "panel_table", "paper_reports_improvement"]

_EPISODES = 100
"""Number of episodes in the paper's experiment."""

_TAXI_PAIRS = 501 * 6
"""Number of states, with the absorbing one, times number of actions of Taxi."""

_AS_PRINTED = {"ties": "first", "count": "first", "after": "hold"}
"""Settings as printed; the paper leaves open how ties are broken and what follows step N."""


def figure1(runner: ExperimentRunner) -> Chapter:
    """Run the nine panels on Taxi for 100 episodes at bonus scale 1: too short for any learner to learn."""
    comparisons = runner.compare("figure1")
    won, lost = zip(*(won_and_lost(c, N_PAPER_AGENTS) for c in comparisons), strict=True)
    improved = [paper_reports_improvement(c.law) for c in comparisons]
    deviation = max(_deviation_from_random(comparison) for comparison in comparisons)
    alike = [
        runner.remember(_all_behave_alike, like=True, law=law_to_text(one.law), episodes=one.episodes)
        for one in comparisons
    ]
    named = [c.law for c, said in zip(comparisons, improved, strict=True) if said]
    needed = min(_visits_needed(law, 11.0) / (law.mean * _EPISODES) for law in named)
    ending = min(_visits_needed_to_end(law) for law in named)
    claim = Claim(
        "Section 6, Figure 1",
        "On Taxi, over 100 episodes, “our algorithm (1)” has strictly less regret than all variants of "
        "UCB-VI for geometric discounting with γ = 0.95 and 0.975 and for quasi-hyperbolic discounting with "
        "β = 0.7, 0.8 and 0.9.",
        judge_improvement(won, lost, improved),
        f"Read with the printed bonus and rewards mapped to [0, 1], over {comparisons[0].episodes:,} "
        f"episodes ({len(comparisons[0].seeds)} seeds): it beats every variant in "
        f"{sum(w for w, said in zip(won, improved, strict=True) if said)} of these {sum(improved)} panels, "
        f"and no learner differs from random play by more than {100 * deviation:.1f}%. With ties going to "
        f"the lowest action, all seven learners earn identical rewards in every episode, under {sum(alike)} "
        f"of {len(alike)} laws. In these panels no Q value of the paper's learner can leave its initial "
        "value, with rewards in [0, 1] or raw: a pair that does not end the episode would need at least "
        f"{needed:.1f} times as many visits as there are steps on average in 100 episodes; one that does end "
        f"it needs more than {100 * math.floor(ending / 100):,}, and it is visited at most once per episode. "
        "The paper reports differences; what it reports "
        "depends on a bonus scale, reward scale, tie-breaking or implementation that the paper does not "
        "state.",
    )
    return Chapter(
        "figure1",
        "Figure 1 with the published constants",
        f"Taxi, {comparisons[0].episodes:,} episodes, the paper's bonuses at scale 1. For the learners, "
        "rewards are mapped to [0, "
        "1], also those of the absorbing state; regret is in Taxi's own units.",
        pictures=(
            Picture(
                "figure1",
                "Cumulative regret with the published constants. The curves of all learners are close to "
                "that of random play.",
                panels_figure(comparisons, names=paper_names(comparisons[0])),
            ),
            Picture(
                "law",
                "A law of lengths is a discount function: survival, hazard and expected remaining steps of a "
                "polynomial law, beside the geometric law with the same mean.",
                law_figure(parse_law("polynomial(1.4, offset=20)")),
            ),
        ),
        tables=(panel_table(comparisons, "Total regret at bonus scale 1"),),
        claims=(claim,),
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
            (label(comparison.law), texts[0], f"{name}: {texts[best]}", comparison.difference.texts()[best])
        )
    header = ("law", "general", "best rival", "best rival minus general")
    n_seeds = len(comparisons[0].seeds)
    ranges = "95% intervals" if n_seeds >= FEWEST_SEEDS else "in parentheses the smallest and the largest"
    return ReportTable(f"{caption}; {n_seeds} seeds, {ranges}", header, rows)


def paper_reports_improvement(law: LengthLaw) -> bool:
    """Return whether the paper reports that its learner has less regret than all others under this law."""
    return law in (Geometric(0.95), Geometric(0.975)) or isinstance(law, QuasiHyperbolic)


def _visits_needed(law: LengthLaw, most_lost: float) -> float:
    """Return how often a pair must be visited before a Q value of the paper's learner can fall, at scale 1.

    While all values are at their caps, the update of a pair with reward r is r + Γ(h+1)/γ(h) + bonus, and the
    cap is 1 + Γ(h+1)/γ(h). So the bonus 3 Γ(h+1)/γ(h) L/√n must fall below 1 − r.

    Args:
        law: The law.
        most_lost: The largest 1 − r: 1 for rewards in [0, 1], 11 for Taxi's own. For a pair that ends the
            episode, see `_visits_needed_to_end`.
    """
    reach, log = _reach_and_log(law)
    return float((3.0 * reach.min() * log / most_lost) ** 2)


def _visits_needed_to_end(law: LengthLaw) -> float:
    """Return how often a pair that ends the episode must be visited before a Q value of it can fall.

    It leads to a state of known value. With x = Γ(h+1)/γ(h), its update r + v x + 3 x L/√n must fall below
    the cap 1 + x. It pays r = 1 and the absorbing state v = 1/3 per step if rewards are mapped to [0, 1]; r =
    20 and v = 0 if they are Taxi's own.
    """
    reach, log = _reach_and_log(law)
    needed = []
    for reward, value in ((1.0, 1.0 / 3.0), (20.0, 0.0)):
        room = 1.0 + (1.0 - value) * reach - reward
        needed += list((3.0 * reach * log)[room > 0.0] / room[room > 0.0])
    return float(min(needed) ** 2)


def _reach_and_log(law: LengthLaw) -> tuple[FloatArray, float]:
    """Return Γ(h+1)/γ(h) for the layers h of the paper's learner, and the logarithm in its bonus."""
    layers = printed_truncation(law, _EPISODES).horizon
    h = np.arange(1, layers + 1)
    return np.asarray(law.tail(h + 1) / law.survival(h)), math.log(_TAXI_PAIRS * _EPISODES * layers / 0.1)


def _deviation_from_random(comparison: Comparison) -> float:
    """Return the largest relative difference between a learner's mean regret and the random player's."""
    means = comparison.total_regret.mean
    return float(np.abs(means / means[random_row(comparison)] - 1.0).max())


def _all_behave_alike(law: str, episodes: int) -> bool:
    """Return whether all agents of the paper get the same rewards if ties go to the first action."""
    mdp, true = TabularMDP.from_env("Taxi-v4"), parse_law(law)
    runs = [learn(agent, mdp, true, episodes=episodes, seed=0) for agent in paper_agents(true, **_AS_PRINTED)]
    rewards, regrets = runs[0].rewards, np.asarray(runs[0].regret)
    return all(
        np.array_equal(run.rewards, rewards) and float(np.abs(np.asarray(run.regret) - regrets).max()) <= 1e-9
        for run in runs
    )
