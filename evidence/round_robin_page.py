"""Write docs/round-robin.md from the results of round_robin.py: `python evidence/round_robin_page.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from round_robin import ENTRANTS, EPISODES, LAWS, MEANS, PROBLEMS, SEEDS, TUNING, Results, Standings
from tuned import paragraph, table

import sojourn as sj
from sojourn._typing import FloatArray
from sojourn.learning import Interval, interquartile_mean, percentile_interval

PAGE = Path(__file__).parent.parent / "docs" / "round-robin.md"
RESAMPLES = 2_000
MARGIN = 0.05
"""Ends of simultaneous intervals move by up to this share of the half width with other bootstrap samples."""
N_CELLS = len(PROBLEMS) * len(LAWS)
HORIZONS = ", ".join(f"{means:g}" for means in MEANS)

INTRODUCTION = f"""`python evidence/round_robin_page.py` writes this page, including the text about the
outcome, from the trials of `evidence/round_robin.py`. It compares {len(ENTRANTS)} learners on
{len(PROBLEMS)} problems under {len(LAWS)} laws of lengths ({N_CELLS} *cells*), over {EPISODES} episodes and
{len(SEEDS)} seeds, with known rewards. Learners assume the true law as far as they can: `UCB-VI` (Azar,
Osband and Munos 2017, with Hoeffding's bonus) assumes a fixed length, and `UCBVI-γ` and `ε-greedy` with one
table assume a constant discount. `paper` is the paper's Algorithm 1 with its bonus scaled down. The two
learners "scale 1" have no settings: their bonuses are those of their proofs. The page [Agents](learners.md)
describes all of them."""

MEASURE = f"""*Relative regret* is the total regret divided by that of random play: 0 is the best policy, 1
is random play. Tables show its interquartile mean (IQM) over all cells and seeds. The 95% intervals come
from {RESAMPLES:,} bootstrap samples of both problems and seeds; a problem is drawn with all of its laws. So
they say what other problems of this kind might show, with the same settings: these were chosen on the same
{len(PROBLEMS)} problems and are not chosen again in the samples. All learners get the same draws. The
intervals of the {len(ENTRANTS) - 1} differences from `paper` are simultaneous: all of them should hold with
95% confidence. With {len(PROBLEMS)} problems these levels are approximate. A difference is *decided* if its
interval excludes 0 by more than {MARGIN:.0%} of the half width; with other bootstrap samples, ends move by
about as much.
*Leads* is the share of the samples in which a learner has the smallest IQM."""

CHOICE = f"""Settings were chosen on {len(TUNING)} other seeds. *One setting* for all cells has the smallest
IQM of relative regret there; *the best setting per cell* has the smallest mean regret in that cell.
Learners that need a horizon, `UCB-VI` among them, choose it from {HORIZONS} times the mean length
(`means`). `UCBVI-γ` may back up once per episode or once per step. The last column shows what it costs to
have one setting for all: the ratio of both IQMs. A setting that is chosen on {len(TUNING)} seeds is not
always the best on others. After a first version of this page, the grids of `PSRL` (prior), `Q-learning` in
both forms (scale), `UCBVI-γ` (scale) and `ε-greedy` (rate) were extended at an end where some best settings
were."""

PROFILES = """The share of trials whose relative regret is at most the number on the horizontal axis: higher
is better. Left: one setting for all cells. Right: the best setting per cell."""

LIMITS = """These are {problems} small problems that we chose, with at most {states} states: `PSRL, exact
Dirichlet` costs S²·A·N per episode. (The garnet has the first seed for which a myopic player has at least a
tenth of the regret of random play under the geometric law.) {episodes} episodes show which learners learn
fast, not which is best in the limit. Learners with larger grids get more trials for tuning. At scale 0
`paper`, `simple Bernstein` and `EQO` are the same learner, which explores by its optimistic initial values
alone. In {myopic} of {cells} cells a myopic player, which takes the action with the largest reward and
never learns, has less regret than random play; its column in the heat maps shows where learning pays."""


def page() -> str:
    """Return the page."""
    standings = Standings(Results())
    limits = LIMITS.format(
        problems=len(PROBLEMS),
        states=max(sj.parse_problem(text).n_states for text in PROBLEMS),
        episodes=EPISODES,
        myopic=int((standings.myopic < 1).sum()),
        cells=N_CELLS,
    )
    answer, numbers = outcome(standings, is_tuned_per_cell=False)
    parts = [
        "# Round robin",
        "*For researchers who choose a learning algorithm.*",
        answer,
        paragraph(INTRODUCTION),
        paragraph(MEASURE),
        "## One setting for all cells",
        numbers,
        "![Relative regret at one setting, by cell and learner](figures/round-robin-one.svg)",
        "## The best setting per cell",
        *outcome(standings, is_tuned_per_cell=True),
        "![Relative regret at the best settings, by cell and learner](figures/round-robin-best.svg)",
        "## Performance profiles",
        paragraph(PROFILES),
        "![Share of trials with at most a given relative regret](figures/round-robin-profiles.svg)",
        "## How settings were chosen",
        paragraph(CHOICE),
        settings_table(standings),
        paragraph(choices_at_ends(standings)),
        "## What this does not show",
        paragraph(limits),
    ]
    return "\n\n".join(parts) + "\n"


def outcome(standings: Standings, *, is_tuned_per_cell: bool) -> tuple[str, str]:
    """Return sentences about the outcome, and the table."""
    names, relative, n = standings.names, standings.relative(is_tuned_per_cell), len(PROBLEMS)
    value = interquartile_mean(relative.reshape(len(names), -1))
    again = resample(relative, n)
    gap = simultaneous_interval((value - value[0])[1:], (again - again[:, :1])[:, 1:], n)
    leads = (again == again.min(axis=1, keepdims=True)).mean(axis=0)
    columns = (names, percentile_interval(value, again, n, axis=0).texts(), ["–", *gap.texts()], leads)
    rows = [[*texts, f"{lead:.0%}"] for *texts, lead in zip(*columns, strict=True)]
    order = np.argsort(value, kind="stable")
    first, second = (names[i] for i in order[:2])
    margin = MARGIN * (gap.high - gap.low) / 2.0
    better = [name for name, is_less in zip(names[1:], gap.high < -margin, strict=True) if is_less]
    worse = [name for name, is_more in zip(names[1:], gap.low > margin, strict=True) if is_more]
    unclear = [name for name in names[1:] if name not in better + worse]
    setting = "the best setting per cell" if is_tuned_per_cell else "one setting for all problems and laws"
    sentences = (
        f"With {setting}, `{first}` has the smallest IQM, followed by `{second}`; it leads in "
        f"{leads[order[0]]:.0%} of the samples. Compared with `paper`, less regret: {listed(better)}. "
        f"More regret: {listed(worse)}. Not decided: {listed(unclear)}."
    )
    header = ["learner", "IQM of relative regret", "difference from paper", "leads"]
    return paragraph(sentences), table(header, [rows[i] for i in order])


def listed(names: list[str]) -> str:
    """Return names as a list in a sentence."""
    return ", ".join(f"`{name}`" for name in names) or "none"


def settings_table(standings: Standings) -> str:
    """Return the table of chosen settings and of what one setting for all cells costs."""
    one, best = (
        interquartile_mean(standings.relative(is_tuned).reshape(len(ENTRANTS), -1))
        for is_tuned in (False, True)
    )
    rows = []
    for i, (name, entrant) in enumerate(ENTRANTS.items()):
        chosen = entrant.settings[standings.one_setting[name]]
        text = ", ".join(f"{key} {value}" for key, value in chosen.items()) or "–"
        used = len(set(standings.best_settings[name]))
        rows.append([name, str(len(entrant.settings)), text, str(used), f"{one[i] / best[i]:.2f}"])
    header = ["learner", "settings", "one setting", "different best settings", "IQM, one over best"]
    return table(header, rows)


def choices_at_ends(standings: Standings) -> str:
    """Return how often the best setting of a cell is at an end of its grid that could be extended."""
    found = []
    for name, entrant in ENTRANTS.items():
        for key, values in entrant.grid.items():
            numbers = [value for value in values if not isinstance(value, str)]
            ends = {min(numbers, default=0), max(numbers, default=0)} - {0}
            ends -= {1} if key in {"rate", "initial"} else set()  # they are at most 1
            chosen = [entrant.settings[number][key] for number in standings.best_settings[name]]
            if count := sum(value in ends for value in chosen):
                found.append(f"{key} of `{name}` ({count})")
    return (
        f"Best settings at an end of a grid that could be extended, with the number of cells, of {N_CELLS}: "
        f"{', '.join(found) or 'none'}."
    )


def resample(relative: FloatArray, n_problems: int, *, resamples: int = RESAMPLES) -> FloatArray:
    """Return the interquartile means of bootstrap samples of problems and seeds, `(resamples, learners)`.

    Problems are drawn with replacement, each with all of its laws, and in each of their cells seeds are drawn
    with replacement. All learners get the same draws.

    Args:
        relative: `(learners, cells, seeds)`; the cells of a problem are neighbors.
        n_problems: Number of problems.
        resamples: Number of bootstrap samples.
    """
    rng, (n_learners, n_cells, n_seeds) = np.random.default_rng(0), relative.shape
    n_laws, found = n_cells // n_problems, np.empty((resamples, n_learners))
    for i in range(resamples):
        problems = rng.integers(n_problems, size=n_problems)
        drawn = (problems[:, np.newaxis] * n_laws + np.arange(n_laws)).ravel()
        seeds = rng.integers(n_seeds, size=(n_cells, n_seeds))
        sample = relative[:, drawn[:, np.newaxis], seeds]
        found[i] = interquartile_mean(sample.reshape(n_learners, -1))
    return found


def simultaneous_interval(value: FloatArray, again: FloatArray, n: int) -> Interval:
    """Return intervals that hold together: value ± the 95% quantile of the largest studentized error."""
    error = np.maximum(again.std(axis=0, ddof=1), 1e-12) * np.sqrt(n / (n - 1))
    largest = np.quantile((np.abs(again - value) / error).max(axis=1), 0.95)
    return Interval(value, value - largest * error, value + largest * error)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
