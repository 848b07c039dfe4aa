"""When nobody told the law, or the horizon."""

from __future__ import annotations

from sojourn.agents import D3RB, HorizonSelection, PaperBonus, UnknownLaw
from sojourn.laws import Geometric
from sojourn.learning import Comparison, learn
from sojourn.mdps import river_swim
from sojourn.plots import choices_figure, estimates_figure, panels_figure
from sojourn.reports import Chapter, Claim, Picture, Table, Verdict
from sojourn.reproduction._censoring import Errors, censoring_errors, fitted_slope
from sojourn.reproduction._runner import Workbench
from sojourn.reproduction._verdicts import judge_ratio, paired_ratio
from sojourn.theory import block_length

__all__ = ["unknown"]

_NAMES = ("law known", "estimated, Kaplan–Meier", "estimated, empirical", "the paper's literal form")
_CANDIDATES = (2, 4, 8, 16, 32, 64, 128)
_PAPERS_EPISODES = 100
_CONSTANT, _FACTOR = 2.0, 3.0
"""Ratios up to which the law's estimation, and a choice of horizons, are said to cost a constant factor."""


def unknown(bench: Workbench) -> Chapter:
    """Estimating the law while learning, censoring, and choosing the horizon."""
    comparisons = bench.compare("unknown", over=["bonus.scale"])
    (horizons,) = bench.compare("horizon")
    seeds, n = (range(2), 1_000) if bench.quick else (range(10), 100_000)
    errors = censoring_errors(seeds, n)
    return Chapter(
        "unknown",
        "When the law, or the horizon, is unknown",
        "Blocks of doubling length, each played with the law estimated so far; and learners with seven "
        "horizons that take turns. Where a terminal state ends an episode, its length stays hidden.",
        pictures=(
            Picture(
                "unknown",
                "Regret with the law known and estimated.",
                panels_figure(comparisons, names=_NAMES, titles=[c.problem for c in comparisons]),
            ),
            *_examples(bench),
        ),
        tables=_tables(comparisons, horizons, errors),
        claims=(_block(), _cost(comparisons), _empirical(errors), *_selection(horizons)),
        settings=bench.settings("unknown", "horizon"),
    )


def _block() -> Claim:
    last = max(episodes for episodes in range(1, 5_000) if block_length(episodes) >= episodes)
    return Claim(
        "Algorithm 2",
        "The block length √T · ln T · ln(ln(T)/δ) lets the law be estimated.",
        Verdict.DEPENDS if last >= _PAPERS_EPISODES else Verdict.HOLDS,
        f"At T = {_PAPERS_EPISODES} and δ = 0.1 the first block is {block_length(_PAPERS_EPISODES)} "
        f"episodes long: nothing is ever estimated. It is so up to T = {last:,}.",
    )


def _cost(comparisons: list[Comparison]) -> Claim:
    """Judge the paper's form; ours stands beside it."""
    told, verdicts = [], set()
    for comparison in comparisons:
        total = comparison.cumulative_regret[:, :, -1]
        ours, literal = paired_ratio(total[1], total[0]), paired_ratio(total[3], total[0])
        verdicts.add(judge_ratio(literal, _CONSTANT))
        told.append(
            f"{literal.texts()[0]} times on {comparison.problem} (with all lengths and counts kept, our "
            f"form, {ours.texts()[0]})"
        )
    first = comparisons[0]
    return Claim(
        "Algorithm 2",
        "Not knowing the law costs no more than a constant factor.",
        verdicts.pop() if len(verdicts) == 1 else Verdict.DEPENDS,
        f"Over {first.episodes:,} episodes and {len(first.seeds)} seeds, its literal form has the regret "
        f"of the learner that knows the law {' and '.join(told)}; at most {_CONSTANT:g} times is called a "
        "constant here.",
    )


def _empirical(errors: Errors) -> Claim:
    counts, ours, theirs = errors
    return Claim(
        "Algorithm 2",
        "The empirical distribution of what was played estimates the law.",
        Verdict.DEPENDS if theirs[:, -1].mean() > 2.0 * ours[:, -1].mean() else Verdict.HOLDS,
        "Without terminal states it does, and is the same as Kaplan–Meier's. Where they hide lengths its "
        f"largest error stays at {theirs[:, -1].mean():.2f} after {counts[-1]:,} episodes ({len(ours)} "
        f"seeds); Kaplan–Meier's falls with slope {fitted_slope(counts, ours):.2f}.",
    )


def _selection(horizons: Comparison) -> list[Claim]:
    """Judge the paper's way to choose a horizon, and ours, against the best single one."""
    total = dict(zip(horizons.names, horizons.cumulative_regret[:, :, -1], strict=True))
    singles = {name: found for name, found in total.items() if name.startswith("single")}
    best = min(singles.values(), key=lambda found: float(found.mean()))
    worst = max(singles.values(), key=lambda found: float(found.mean()))
    claims = []
    for source, rule, told in (
        ("Section 5", "dynamic balancing", ""),
        ("Section 5, ours", "D3RB", ", its constants c and first set to 0.003 by hand"),
    ):
        ratio = paired_ratio(total[rule], best)
        claims.append(
            Claim(
                source,
                f"Model selection over horizons by {rule} costs only a constant factor.",
                judge_ratio(ratio, _FACTOR),
                f"After {horizons.episodes:,} episodes, {len(horizons.seeds)} seeds{told}: "
                f"{ratio.texts()[0]} times the regret of the best of {len(singles)} horizons, and "
                f"{float(total[rule].mean() / worst.mean()):.2f} of the worst's; at most {_FACTOR:g} times "
                "is called a constant here.",
            )
        )
    return claims


def _tables(comparisons: list[Comparison], horizons: Comparison, errors: Errors) -> tuple[Table, ...]:
    counts, ours, theirs = errors
    return (
        Table(
            "Total regret, each at its best scale",
            ("problem", *_NAMES),
            [(c.problem, *c.total_regret.texts()) for c in comparisons],
        ),
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
