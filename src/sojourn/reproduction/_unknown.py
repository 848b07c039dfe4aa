"""Chapter "unknown": learners that estimate the law, and that select the horizon."""

from __future__ import annotations

from sojourn.agents import D3RB, HorizonSelection, PaperBonus, UnknownLaw
from sojourn.laws import Geometric
from sojourn.learning import Comparison, learn
from sojourn.mdps import river_swim
from sojourn.plots import choices_figure, estimates_figure, panels_figure
from sojourn.reports import Chapter, Claim, ClaimVerdict, Picture, ReportTable
from sojourn.reproduction._censoring import Errors, censoring_errors, fitted_slope
from sojourn.reproduction._learners import rows_by_name
from sojourn.reproduction._runner import ExperimentRunner
from sojourn.reproduction._verdicts import judge_ratio, paired_ratio
from sojourn.theory import block_length

__all__ = ["unknown"]

_NAMES = {
    "known": "law known",
    "estimated": "estimated, Kaplan–Meier",
    "empirical": "estimated, empirical",
    "literal": "paper's literal form",
}
"""Display names by the names in the spec."""

_CANDIDATES = (2, 4, 8, 16, 32, 64, 128)
_PAPER_EPISODES = 100
"""Number of episodes in the paper's experiments."""

_MAX_ESTIMATION_RATIO = 2.0
"""Ratios of regrets up to this count as a constant factor, for estimating the law."""

_MAX_SELECTION_RATIO = 3.0
"""Ratios of regrets up to this count as a constant factor, for selecting the horizon."""


def unknown(runner: ExperimentRunner) -> Chapter:
    """Run learners that estimate the law or select the horizon, and measure the effect of censoring."""
    comparisons = runner.compare("unknown", over=["bonus.scale"])
    (horizons,) = runner.compare("horizon")
    seeds, n = (range(2), 1_000) if runner.quick else (range(10), 100_000)
    errors = censoring_errors(seeds, n)
    return Chapter(
        "unknown",
        "When the law, or the horizon, is unknown",
        "Learners that estimate the law play blocks of doubling length, each with the law estimated so far. "
        "Rules that select the horizon choose between learners with seven horizons. If a terminal state "
        "ends an episode, its length is censored.",
        pictures=(
            Picture(
                "unknown",
                "Regret if the law is known and if it is estimated.",
                panels_figure(
                    comparisons, names=_shown_names(comparisons[0]), titles=[c.problem for c in comparisons]
                ),
            ),
            *_examples(runner),
        ),
        tables=_tables(comparisons, horizons, errors),
        claims=(
            _block_length_claim(),
            _cost_claim(comparisons),
            _empirical_law_claim(errors),
            *_selection_claims(horizons),
        ),
        settings=runner.settings("unknown", "horizon"),
    )


def _shown_names(comparison: Comparison) -> list[str]:
    return [_NAMES[name] for name in rows_by_name(comparison)]


def _block_length_claim() -> Claim:
    last = max(episodes for episodes in range(1, 5_000) if block_length(episodes) >= episodes)
    return Claim(
        "Algorithm 2",
        "With the block length √T · ln T · ln(ln(T)/δ), the law can be estimated.",
        ClaimVerdict.DEPENDS if last >= _PAPER_EPISODES else ClaimVerdict.HOLDS,
        f"At T = {_PAPER_EPISODES} and δ = 0.1 the first block is {block_length(_PAPER_EPISODES)} "
        f"episodes long, so nothing is ever estimated. The same is true up to T = {last:,}.",
    )


def _cost_claim(comparisons: list[Comparison]) -> Claim:
    """Judge the paper's form of the algorithm, and report our form beside it."""
    parts, verdicts = [], set()
    for comparison in comparisons:
        rows, total = rows_by_name(comparison), comparison.cumulative_regret[:, :, -1]
        known = total[rows["known"]]
        ours, literal = (paired_ratio(total[rows[name]], known) for name in ("estimated", "literal"))
        verdicts.add(judge_ratio(literal, _MAX_ESTIMATION_RATIO))
        parts.append(
            f"{literal.texts()[0]} on {comparison.problem} ({ours.texts()[0]} for our form, which keeps all "
            "lengths and counts)"
        )
    first = comparisons[0]
    return Claim(
        "Algorithm 2",
        "Not knowing the law costs no more than a constant factor.",
        verdicts.pop() if len(verdicts) == 1 else ClaimVerdict.DEPENDS,
        f"Over {first.episodes:,} episodes and {len(first.seeds)} seeds, the ratio of the literal form's "
        f"regret to that of the learner that knows the law is {' and '.join(parts)}. A ratio of at most "
        f"{_MAX_ESTIMATION_RATIO:g} counts as a constant here.",
    )


def _empirical_law_claim(errors: Errors) -> Claim:
    counts, ours, theirs = errors
    return Claim(
        "Algorithm 2",
        "The empirical distribution of the numbers of steps played estimates the law.",
        ClaimVerdict.DEPENDS if theirs[:, -1].mean() > 2.0 * ours[:, -1].mean() else ClaimVerdict.HOLDS,
        "Without terminal states it does, and it equals the Kaplan–Meier estimate. If terminal states hide "
        "lengths, its largest error stays at "
        f"{theirs[:, -1].mean():.2f} after {counts[-1]:,} episodes ({len(ours)} "
        f"seeds); that of Kaplan–Meier falls with slope {fitted_slope(counts, ours):.2f}.",
    )


def _selection_claims(horizons: Comparison) -> list[Claim]:
    """Judge the paper's rule for selecting a horizon, and ours, against the best single horizon."""
    total = dict(zip(horizons.names, horizons.cumulative_regret[:, :, -1], strict=True))
    singles = {name: found for name, found in total.items() if name.startswith("single")}
    best = min(singles.values(), key=lambda found: float(found.mean()))
    worst = max(singles.values(), key=lambda found: float(found.mean()))
    claims = []
    for source, rule, settings in (
        ("Section 5", "dynamic balancing", ""),
        ("Section 5, our rule", "D3RB", ", its constants `c` and `first` set to 0.003 by hand"),
    ):
        ratio = paired_ratio(total[rule], best)
        claims.append(
            Claim(
                source,
                f"Model selection over horizons by {rule} costs only a constant factor.",
                judge_ratio(ratio, _MAX_SELECTION_RATIO),
                f"After {horizons.episodes:,} episodes, {len(horizons.seeds)} seeds{settings}: "
                f"{ratio.texts()[0]} times the regret of the best of {len(singles)} horizons, and "
                f"{float(total[rule].mean() / worst.mean()):.2f} times that of the worst. A ratio of at most "
                f"{_MAX_SELECTION_RATIO:g} counts as a constant here.",
            )
        )
    return claims


def _tables(comparisons: list[Comparison], horizons: Comparison, errors: Errors) -> tuple[ReportTable, ...]:
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
        ReportTable(
            "Total regret of single horizons, and of rules that select a horizon",
            ("learner", "total regret"),
            list(zip(horizons.names, horizons.total_regret.texts(), strict=True)),
        ),
    )


def _examples(runner: ExperimentRunner) -> tuple[Picture, Picture]:
    law, mdp = Geometric(0.9), river_swim(6)
    base, n = UnknownLaw(40, PaperBonus(0.03)), 300 if runner.quick else 2_000
    unknown_law = learn(base, mdp, law, episodes=n, seed=0).learner
    agent = HorizonSelection(base, candidates=_CANDIDATES, rule=D3RB(c=0.003, first=0.003))
    selection = learn(agent, mdp, law, episodes=5 * n, seed=0).learner
    return (
        Picture(
            "estimates",
            "Laws estimated while learning, one seed; the last has a simultaneous 95% confidence band.",
            estimates_figure(unknown_law.estimates, law),
        ),
        Picture(
            "choices",
            "Which horizon was played in which episodes, one seed.",
            choices_figure(selection.choices, selection.horizons),
        ),
    )
