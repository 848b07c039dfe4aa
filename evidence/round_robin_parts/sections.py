"""Sections of the round-robin page: ranks, paired tests, total regrets, unknown rewards and time."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tuned import paragraph, table

import sojourn as sj
from round_robin_parts.baselines import BASELINES
from round_robin_parts.results import RoundRobin
from round_robin_parts.statistics import (
    RATIO_OFFSET,
    RESAMPLES,
    bold_texts,
    certified_width,
    holm,
    mean_ranks,
    paired_test,
    rank_with_ties,
    regret_ratios,
    regret_texts,
    share_of_leads,
)
from sojourn.agents import EpisodeBatch
from sojourn.laws import label
from sojourn.learning._learn import start_on
from sojourn.learning._reference import cached_reference, problem_arrays

__all__ = [
    "furthest_behind",
    "paired_tests",
    "ranks",
    "regrets",
    "times",
    "unknown_rewards",
    "where_learning_fails",
]

LEVEL = 0.05
"""Significance level of the paired tests."""

CLOCKS = 3
"""Number of timed runs; the fastest counts."""

VARIANTS = ("simple Bernstein", "EQO")
"""Learners that differ from the paper's only in the bonus."""

NOISES, NOISE_SEEDS = (0.5, 0.1, 0.01, 0.0), range(1_000, 1_003)
"""Reward noises that PSRL may assume if rewards are unknown, and the seeds on which one is chosen."""

UNKNOWN_REWARD_PROBLEMS = ("RiverSwim(6)", "FrozenLake-v1", "Garnet(20, 3, 3, seed=0)")
UNKNOWN_REWARD_SEEDS = 10


def ranks(results: RoundRobin) -> str:
    """Return mean ranks, how often each learner was first, and its regret relative to the best."""
    means, learners = results.means, range(len(results.names))
    found = np.array(
        [rank_with_ties(row, certified_width(c)) for row, c in zip(means, results.comparisons, strict=True)]
    )
    mean, first = found.mean(axis=0), (found == found.min(axis=1, keepdims=True)).sum(axis=0)
    others = [i for i in learners if results.names[i] not in VARIANTS]
    apart = dict(zip(others, mean_ranks(results.comparisons, others), strict=True))
    paying = results.learning_pays
    there = found[paying].mean(axis=0) if paying.any() else np.full(mean.size, np.nan)
    order, leads = np.argsort(mean, kind="stable"), share_of_leads(results.comparisons)
    relative = np.exp(np.log(regret_ratios(means)).mean(axis=0))
    rows = [
        (
            results.names[i],
            f"{mean[i]:.2f}",
            f"{leads[i]:.0%}",
            f"{apart[i]:.2f}" if i in apart else "–",
            f"{there[i]:.2f}",
            str(first[i]),
            f"{relative[i]:.2f}",
        )
        for i in order
    ]
    header = ["learner", "mean rank", "leads", "without variants", f"where learning pays ({paying.sum()})"]
    header += [f"times first, of {len(means)}", "regret relative to the best"]
    best = results.names[min(apart, key=lambda i: apart[i])]
    best_there = results.names[int(np.argmin(there))] if paying.any() else "no learner"
    note = f"""{_about_ranks(results, mean)} Without these variants, {best} has the best mean rank; where
        learning pays, {best_there} has it."""
    return f"{table(header, rows)}\n\n{paragraph(note)}"


def _about_ranks(results: RoundRobin, mean: np.ndarray) -> str:
    """Return an explanation of the columns of the table of ranks."""
    ahead = [results.names[i] for i in np.argsort(mean, kind="stable") if mean[i] < mean[0]]
    behind = f", behind {' and '.join(ahead)}" if ahead else ""
    return f"""Ranks are by mean total regret: 1 is best, and ties share a rank. The column "leads" is the
        share of {RESAMPLES:,} bootstrap samples of seeds in which a learner has the best mean rank. It
        reflects the randomness of seeds alone; with other problems, laws or learners the order may differ.
        The learners {" and ".join(VARIANTS)} are variants of the paper's learner with another bonus. They
        often get neighboring ranks and push other learners back, so ranks are also given without them.
        Learning pays where some learner has less regret than a myopic player that never learns (see [Total
        regret](#total-regret)). The last column is a geometric mean of ratios of regrets, with
        {RATIO_OFFSET:g} added to both regrets. By mean rank, the paper's learner is number {len(ahead) + 1}
        of {len(mean)}{behind}."""


def paired_tests(results: RoundRobin) -> str:
    """Return the paired tests between the paper's learner and all others."""
    means, p_values = (np.array(part) for part in zip(*map(paired_test, results.comparisons), strict=True))
    sure = holm(p_values) <= LEVEL
    lost, won = int((sure & (means < 0)).sum()), int((sure & (means > 0)).sum())
    lines = []
    for comparison, mean, is_lost in zip(results.comparisons, means, sure & (means < 0), strict=True):
        shares = mean / comparison.total_regret.mean[0]
        winners = [f"{results.names[i + 1]} ({shares[i]:+.0%})" for i in np.flatnonzero(is_lost)]
        if winners:
            lines.append(f"- **{comparison.problem}, {label(comparison.law)}**: {', '.join(winners)}")
    text = f"""There are {means.size} paired tests: {means.shape[1]} learners against the paper's, paired by
        seed, on {len(means)} combinations of problem and law. At the {LEVEL:.0%} level,
        {(p_values <= LEVEL).sum()} of them are significant one by one; {LEVEL * means.size:.0f} would be
        expected by chance if all learners were equally good. With Holm's correction (a chance of at most
        {LEVEL:.0%} that any result is wrong), the paper's learner wins {won} and loses
        {lost}{_against_psrl(results, means, sure)}{", to:" if lines else "."}"""
    return "\n".join([f"{paragraph(text)}\n", *lines] if lines else [paragraph(text)])


def _against_psrl(results: RoundRobin, means: np.ndarray, sure: np.ndarray) -> str:
    """Return how often the paper's learner beats PSRL, and PSRL it."""
    if "PSRL" not in results.names[1:]:
        return ""
    i = results.names.index("PSRL") - 1
    won, lost = (sure[:, i] & (means[:, i] > 0)).sum(), (sure[:, i] & (means[:, i] < 0)).sum()
    return f" ({won} and {lost} of {len(means)} against PSRL alone)"


def furthest_behind(results: RoundRobin) -> str:
    """Return where the paper's learner is furthest behind, and how many actions it has tried there."""
    behind = np.log(regret_ratios(results.means)[:, 0])
    on = np.array([comparison.problem for comparison in results.comparisons])
    by_problem = {problem: float(behind[on == problem].mean()) for problem in results.problems}
    problem = max(by_problem, key=lambda one: by_problem[one])
    comparison = results.on(problem)[0]
    best = int(comparison.total_regret.mean.argmin())
    paper_tried, best_tried = (_tried_share(results, comparison, i) for i in (0, best))
    text = f"""It is furthest behind on {problem}, with {np.exp(by_problem[problem]):.1f} times the regret of
        the best learner. After {results.episodes} episodes under {label(comparison.law)}, it has tried
        {paper_tried:.0%} of the actions of the states that it visited; {results.names[best]} has tried
        {best_tried:.0%}."""
    if paper_tried > best_tried:
        text += """ This is the cost of optimism: whatever the bonus scale, an untried action has the largest
            possible value, so every action of every state is tried first."""
    if not results.learning_pays[on == problem].any():
        text += f""" It says little about learning: in {results.episodes} episodes, no learner beats the
            myopic player there."""
    return paragraph(text)


def _tried_share(results: RoundRobin, comparison: sj.Comparison, learner: int) -> float:
    """Return the share of actions that were tried, in the visited states."""
    mdp, agent = sj.parse_problem(results.problems[comparison.problem]), comparison.agents[learner]
    run = sj.learn(agent, mdp, comparison.law, episodes=results.episodes, seed=0)
    visits = run.learner.visits.toarray()
    return float((visits[visits.sum(axis=1) > 0] > 0).mean())


def regrets(results: RoundRobin) -> str:
    """Return the total regrets, one table per problem, with the baselines in the last rows."""
    parts = [where_learning_fails(results)]
    baselines = {id(one): other for one, other in zip(results.comparisons, results.baselines, strict=True)}
    for problem in results.problems:
        some = results.on(problem)
        header = ["learner", *(label(comparison.law) for comparison in some)]
        rows = [*zip(results.names, *map(bold_texts, some), strict=True)]
        last_rows = zip(BASELINES, *(regret_texts(baselines[id(one)]) for one in some), strict=True)
        rows += [tuple(f"*{cell}*" for cell in row) for row in last_rows]
        parts.append(f"### {problem}\n\n{table(header, rows)}")
    return "\n\n".join(parts)


def where_learning_fails(results: RoundRobin) -> str:
    """Return where no learner has less regret than the myopic baseline."""
    laws = {problem: [label(one.law) for one in results.on(problem)] for problem in results.problems}
    without: dict[str, list[str]] = {}
    for comparison, pays in zip(results.comparisons, results.learning_pays, strict=True):
        if not pays:
            without.setdefault(comparison.problem, []).append(label(comparison.law))
    text = """The last two rows of each table are baselines that never learn; they are not in the ranks and
        tests. *Chance* plays all actions with equal probability, and *myopic* those with the largest
        immediate reward, which is known. A learner beats the myopic player if the 95% interval of the
        difference, paired by seed, is below 0."""
    if not without:
        return paragraph(f"{text} On every problem and under every law, some learner does.")
    where = "; ".join(
        f"{problem} under {'all laws' if some == laws[problem] else ' and '.join(some)}"
        for problem, some in without.items()
    )
    text += f""" **No learner beats the myopic player on {where}.** {results.episodes} episodes are too few
        there: these columns show which learner explores least, not which learns best, and settings that
        switch learning off do well."""
    return paragraph(text)


@dataclass(frozen=True)
class WithUnknownRewards:
    """An agent that is started without the rewards, and learns them."""

    agent: Any

    def start(self, *, rewards: Any = None, **problem: Any) -> Any:
        """Start the agent without `rewards`."""
        return self.agent.start(**problem)


def unknown_rewards(results: RoundRobin) -> str:
    """Return total regrets if rewards are unknown, at the settings that were chosen with known rewards."""
    columns, header = [], ["learner"]
    for problem in UNKNOWN_REWARD_PROBLEMS:
        known = results.on(problem)[0]
        mdp = sj.parse_problem(results.problems[problem])
        agents = {
            name: WithUnknownRewards(
                _with_best_noise(agent, mdp, known) if isinstance(agent, sj.PSRL) else agent
            )
            for name, agent in zip(results.names, known.agents, strict=True)
        }
        found = sj.compare(agents, mdp, known.law, episodes=results.episodes, seeds=UNKNOWN_REWARD_SEEDS)
        columns.append(bold_texts(found))
        header.append(f"{problem}, {label(known.law)}")
    note = f"""The same learners on {UNKNOWN_REWARD_SEEDS} seeds, but with unknown rewards. Their settings
        are those that were chosen with known rewards. PSRL also assumes a noise of the rewards: the best of
        {", ".join(f"{noise:g}" for noise in NOISES)} on {len(NOISE_SEEDS)} other seeds. For Q-learning and
        ε-greedy only the number of seeds changes, as they use only the rewards that they observe."""
    return f"{paragraph(note)}\n\n{table(header, zip(results.names, *columns, strict=True))}"


def _with_best_noise(agent: sj.PSRL, mdp: sj.TabularMDP, known: sj.Comparison) -> sj.PSRL:
    """Return PSRL with the best assumed reward noise."""
    agents = [replace(agent, noise=noise) for noise in NOISES]
    wrapped = {str(one): WithUnknownRewards(one) for one in agents}
    found = sj.compare(wrapped, mdp, known.law, episodes=known.episodes, seeds=NOISE_SEEDS)
    return agents[int(found.total_regret.mean.argmin())]


def times(results: RoundRobin) -> str:
    """Return the processor time per episode for playing and learning."""
    rows = {name: [] for name in results.names}
    for problem, text in results.problems.items():
        mdp, some = sj.parse_problem(text), results.on(problem)
        for i, name in enumerate(results.names):
            spent = [_seconds(one.agents[i], mdp, one.law, results.episodes) for one in some]
            rows[name].append(f"{1e6 * float(np.mean(spent)) / results.episodes:,.0f}")
    note = f"""Microseconds of processor time per episode for playing and learning, without the exact
        evaluation of the policy; mean over the laws, best of {CLOCKS} trials. Machines differ: compare the
        ratios."""
    return f"{paragraph(note)}\n\n{table(['learner', *results.problems], ((k, *v) for k, v in rows.items()))}"


def _seconds(agent: Any, mdp: sj.TabularMDP, law: sj.LengthLaw, episodes: int) -> float:
    """Return the processor time of a trial without policy evaluation, the best of `CLOCKS`.

    There is no public function that plays without evaluating policies, so this one uses private modules.
    """
    unvalued = cached_reference(mdp, law).unvalued_arrays
    problem, clocks = problem_arrays(mdp), []
    for _ in range(CLOCKS):
        rng = np.random.default_rng(0)
        starts, drawn = rng.choice(mdp.n_states, size=episodes, p=mdp.start), law.sample(rng, episodes)
        learner = start_on(agent, mdp, episodes, rng)
        begun = time.process_time()
        learner.play(EpisodeBatch(problem, unvalued, rng, starts, drawn))
        clocks.append(time.process_time() - begun)
    return min(clocks)
