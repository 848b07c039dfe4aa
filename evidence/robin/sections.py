"""The sections of the round robin's page: who is ahead, who beats whom, by how much and in what time."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tuned import paragraph, table

import sojourn as sj
from robin.duels import (
    LITTLE,
    RESAMPLES,
    certified,
    duel,
    holm,
    leading,
    mean_ranks,
    plain_texts,
    ranked,
    ratios,
    texts,
)
from robin.field import Field
from robin.idle import IDLE
from sojourn.laws import label
from sojourn.learning._learn import start_on
from sojourn.learning._reference import cached_reference, problem_arrays

__all__ = ["furthest_behind", "learned", "losses", "ranks", "regrets", "times", "unbeaten"]

LEVEL, CLOCKS = 0.05, 3
TWINS = ("simple Bernstein", "EQO")
NOISES, NOISE_SEEDS = (0.5, 0.1, 0.01, 0.0), range(1_000, 1_003)
LEARNED, LEARNED_SEEDS = ("RiverSwim(6)", "FrozenLake-v1", "Garnet(20, 3, 3, seed=0)"), 10


def ranks(field: Field) -> str:
    """Mean ranks over all columns, how often a learner was first, and its regret relative to the best."""
    means, everybody = field.means, range(len(field.names))
    found = np.array([ranked(row, certified(c)) for row, c in zip(means, field.comparisons, strict=True)])
    mean, first = found.mean(axis=0), (found == found.min(axis=1, keepdims=True)).sum(axis=0)
    others = [i for i in everybody if field.names[i] not in TWINS]
    apart = dict(zip(others, mean_ranks(field.comparisons, others), strict=True))
    paying = field.pays_to_learn
    there = found[paying].mean(axis=0) if paying.any() else np.full(mean.size, np.nan)
    order, leads = np.argsort(mean, kind="stable"), leading(field.comparisons)
    relative = np.exp(np.log(ratios(means)).mean(axis=0))
    rows = [
        (
            field.names[i],
            f"{mean[i]:.2f}",
            f"{leads[i]:.0%}",
            f"{apart[i]:.2f}" if i in apart else "–",
            f"{there[i]:.2f}",
            str(first[i]),
            f"{relative[i]:.2f}",
        )
        for i in order
    ]
    header = ["learner", "mean rank", "leads", "without twins", f"where learning pays, {paying.sum()}"]
    header += [f"first, of {len(means)}", "regret relative to the best"]
    best = field.names[min(apart, key=lambda i: apart[i])]
    found_there = field.names[int(np.argmin(there))] if paying.any() else "nobody"
    note = f"""{_about_ranks(field, mean)} Without the twins {best} has the best mean rank, and where learning
        pays {found_there}."""
    return f"{table(header, rows)}\n\n{paragraph(note)}"


def _about_ranks(field: Field, mean: np.ndarray) -> str:
    """What the columns of the ranks are, and what they do not say."""
    ahead = [field.names[i] for i in np.argsort(mean, kind="stable") if mean[i] < mean[0]]
    behind = f", behind {' and '.join(ahead)}" if ahead else ""
    return f"""Ranks are by mean total regret, 1 is best, and ties share theirs. A learner leads in so many
        of {RESAMPLES:,} draws of seeds with replacement: then it has the best mean rank. This is about the
        luck of seeds alone, and not about the choice of the problems, the laws or the field, with others of
        which the order may be another. The learners {" and ".join(TWINS)} are the paper's with another
        bonus: they come in a row and push others back, so ranks are also given without them. Learning pays
        where anybody has less regret than a myopic player that never learns (see [Total
        regret](#total-regret)). The last column is a geometric mean of ratios, with {LITTLE:g} added to both
        regrets of each. By mean rank the paper's learner is number {len(ahead) + 1} of
        {len(mean)}{behind}."""


def losses(field: Field) -> str:
    """Who beats the paper's learner where, beyond chance, and whom it beats."""
    means, p_values = (np.array(part) for part in zip(*map(duel, field.comparisons), strict=True))
    sure = holm(p_values) <= LEVEL
    lost, won = int((sure & (means < 0)).sum()), int((sure & (means > 0)).sum())
    lines = []
    for comparison, mean, is_lost in zip(field.comparisons, means, sure & (means < 0), strict=True):
        shares = mean / comparison.total_regret.mean[0]
        told = [f"{field.names[i + 1]} ({shares[i]:+.0%})" for i in np.flatnonzero(is_lost)]
        if told:
            lines.append(f"- **{comparison.problem}, {label(comparison.law)}**: {', '.join(told)}")
    text = f"""There are {means.size} duels: {means.shape[1]} learners against the paper's, paired by
        seed, on {len(means)} problems and laws. Judged one by one at {LEVEL:.0%},
        {(p_values <= LEVEL).sum()} of them are decided; {LEVEL * means.size:.0f} would be by
        chance alone if nobody were better than anybody. Judged together (Holm: a chance of at most
        {LEVEL:.0%} that any of them is wrong), the paper's learner wins {won} and loses
        {lost}{_against_psrl(field, means, sure)}{", to:" if lines else "."}"""
    return "\n".join([f"{paragraph(text)}\n", *lines] if lines else [paragraph(text)])


def _against_psrl(field: Field, means: np.ndarray, sure: np.ndarray) -> str:
    """How often the paper's learner beats PSRL, and the other way round."""
    if "PSRL" not in field.names[1:]:
        return ""
    i = field.names.index("PSRL") - 1
    won, lost = (sure[:, i] & (means[:, i] > 0)).sum(), (sure[:, i] & (means[:, i] < 0)).sum()
    return f" ({won} and {lost} of {len(means)} against PSRL alone)"


def furthest_behind(field: Field) -> str:
    """Where the paper's learner is furthest behind, and how much has been tried there."""
    behind = np.log(ratios(field.means)[:, 0])
    on = np.array([comparison.problem for comparison in field.comparisons])
    by_problem = {problem: float(behind[on == problem].mean()) for problem in field.problems}
    problem = max(by_problem, key=lambda one: by_problem[one])
    comparison = field.on(problem)[0]
    best = int(comparison.total_regret.mean.argmin())
    mine, theirs = (_tried(field, comparison, i) for i in (0, best))
    text = f"""It is furthest behind on {problem}: {np.exp(by_problem[problem]):.1f} times the regret of
        the best there. Of all actions of the states that it played in, it has tried {mine:.0%} after
        {field.episodes} episodes under {label(comparison.law)}, and {field.names[best]} {theirs:.0%}."""
    if mine > theirs:
        text += """ This is what optimism costs: a pair that was never played is at its cap whatever the
            scale of the bonus, so that every action of every state is tried first."""
    if not field.pays_to_learn[on == problem].any():
        text += f""" It says little of learning: in {field.episodes} episodes nobody beats a player there that
            never learns."""
    return paragraph(text)


def _tried(field: Field, comparison: sj.Comparison, learner: int) -> float:
    """Return the share of actions that were ever played, in states that were played in."""
    mdp, agent = sj.parse_problem(field.problems[comparison.problem]), comparison.agents[learner]
    run = sj.learn(agent, mdp, comparison.law, episodes=field.episodes, seed=0)
    visits = run.learner.visits.toarray()
    return float((visits[visits.sum(axis=1) > 0] > 0).mean())


def regrets(field: Field) -> str:
    """Total regrets, a table a problem, with players that never learn in the last rows."""
    parts = [unbeaten(field)]
    idle = {id(one): beside for one, beside in zip(field.comparisons, field.idle, strict=True)}
    for problem in field.problems:
        some = field.on(problem)
        header = ["learner", *(label(comparison.law) for comparison in some)]
        rows = [*zip(field.names, *map(texts, some), strict=True)]
        beside = zip(IDLE, *(plain_texts(idle[id(one)]) for one in some), strict=True)
        rows += [tuple(f"*{cell}*" for cell in row) for row in beside]
        parts.append(f"### {problem}\n\n{table(header, rows)}")
    return "\n\n".join(parts)


def unbeaten(field: Field) -> str:
    """Where nobody has less regret than a player that never learns."""
    laws = {problem: [label(one.law) for one in field.on(problem)] for problem in field.problems}
    without: dict[str, list[str]] = {}
    for comparison, pays in zip(field.comparisons, field.pays_to_learn, strict=True):
        if not pays:
            without.setdefault(comparison.problem, []).append(label(comparison.law))
    text = """The last two rows of each table never learn, and have no part in ranks and duels: *chance*
        plays all actions alike, and *myopic* those with the largest reward of the step, which is known. A
        learner beats it if the 95% interval of the difference, paired by seed, lies below 0."""
    if not without:
        return paragraph(f"{text} Somebody does on every problem under every law.")
    where = "; ".join(
        f"{problem} under {'all laws' if some == laws[problem] else ' and '.join(some)}"
        for problem, some in without.items()
    )
    text += f""" **Nobody beats the myopic player on {where}.** {field.episodes} episodes are too few there:
        these columns say who explores least, not who learns best, and a setting that switches learning off
        is a good one."""
    return paragraph(text)


@dataclass(frozen=True)
class Unaware:
    """A learner that is not told the rewards, and learns them."""

    agent: Any

    def start(self, *, rewards: Any = None, **problem: Any) -> Any:
        """Start it without them."""
        return self.agent.start(**problem)


def learned(field: Field) -> str:
    """Total regrets of learners that are not told the rewards, at the settings chosen with known ones."""
    columns, header = [], ["learner"]
    for problem in LEARNED:
        known = field.on(problem)[0]
        mdp = sj.parse_problem(field.problems[problem])
        agents = {
            name: Unaware(_quieter(agent, mdp, known) if isinstance(agent, sj.PSRL) else agent)
            for name, agent in zip(field.names, known.agents, strict=True)
        }
        found = sj.compare(agents, mdp, known.law, episodes=field.episodes, seeds=LEARNED_SEEDS)
        columns.append(texts(found))
        header.append(f"{problem}, {label(known.law)}")
    note = f"""The same learners, not told the rewards, on {LEARNED_SEEDS} seeds; their settings are those
        that were chosen with known rewards. PSRL also has the noise of rewards that it believes in, the
        best of {", ".join(f"{noise:g}" for noise in NOISES)} on {len(NOISE_SEEDS)} other seeds. For
        Q-learning and ε-greedy nothing changes but the number of seeds: they never ask for a reward that
        they have not seen."""
    return f"{paragraph(note)}\n\n{table(header, zip(field.names, *columns, strict=True))}"


def _quieter(agent: sj.PSRL, mdp: sj.TabularMDP, known: sj.Comparison) -> sj.PSRL:
    """Return posterior sampling with the best of some noises."""
    agents = [replace(agent, noise=noise) for noise in NOISES]
    unaware = {str(one): Unaware(one) for one in agents}
    found = sj.compare(unaware, mdp, known.law, episodes=known.episodes, seeds=NOISE_SEEDS)
    return agents[int(found.total_regret.mean.argmin())]


def times(field: Field) -> str:
    """Processor time of an episode: playing and learning."""
    rows = {name: [] for name in field.names}
    for problem, text in field.problems.items():
        mdp, some = sj.parse_problem(text), field.on(problem)
        for i, name in enumerate(field.names):
            spent = [_seconds(one.agents[i], mdp, one.law, field.episodes) for one in some]
            rows[name].append(f"{1e6 * float(np.mean(spent)) / field.episodes:,.0f}")
    note = f"""Microseconds of processor time an episode, mean over the laws: playing and learning, without
        the exact value of the policy, the best of {CLOCKS} trials. Machines differ; read the ratios."""
    return f"{paragraph(note)}\n\n{table(['learner', *field.problems], ((k, *v) for k, v in rows.items()))}"


def _seconds(agent: Any, mdp: sj.TabularMDP, law: sj.LengthLaw, episodes: int) -> float:
    """Return the processor time of a trial that is not valued, the best of some."""
    scale = cached_reference(mdp, law).scale._replace(survival=np.zeros(0), tails=np.zeros(1))
    world, clocks = problem_arrays(mdp), []
    for _ in range(CLOCKS):
        rng = np.random.default_rng(0)
        starts, drawn = rng.choice(mdp.n_states, size=episodes, p=mdp.start), law.sample(rng, episodes)
        learner = start_on(agent, mdp, episodes, rng)
        begun = time.process_time()
        learner.play(world, scale, rng, starts, drawn)
        clocks.append(time.process_time() - begun)
    return min(clocks)
