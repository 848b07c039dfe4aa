"""Draws the figures of the pages into docs/figures: `python docs/figures.py`, or some of them by name.

The description of each SVG file holds the numbers behind the figure; a test recomputes and compares them.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec

import sojourn as sj
from sojourn import behavior
from sojourn.laws import label
from sojourn.planning.policy_view import view_plan
from sojourn.plots import (
    COLORS,
    PlainFigure,
    comparison_curves,
    comparison_figure,
    draw_strips,
    new_figure,
    session_curves,
    session_figure,
    tidy,
)
from sojourn.plots._style import add_legend
from sojourn.sessions import analyze, read_sessions, sample_path

FOLDER = Path(__file__).parent / "figures"
EVIDENCE = FOLDER.parent.parent / "evidence"
Drawn = tuple[Figure, dict[str, Any]]


def overview() -> Drawn:
    """Draw the README's figure: a log, the chance of one more step that it shows, and what to do with it."""
    found = analyze(read_sessions(sample_path("streaming")))
    law, curves = found.law, session_curves(found)
    view = view_plan(sj.plan(sj.mdps.cash_or_invest(delay=5), law))
    best, single = view.policies
    figure = PlainFigure(figsize=(11.4, 3.0), facecolor="white")
    figure.set_layout_engine("constrained", w_pad=0.12, h_pad=0.06)
    log, chance, strips = figure.subplots(1, 3, width_ratios=[1.0, 1.1, 1.5])
    for panel in (log, chance, strips):
        tidy(panel)
    lengths = np.minimum(found.log.lengths, 21)
    shown = {}
    for is_open, color, name in ((False, COLORS[0], "ended"), (True, "#B8C4CC", "still open")):
        rows = found.log.observed != is_open
        counts = np.bincount(lengths[rows], found.log.counts[rows], minlength=22)[1:]
        bottom = shown.get("ended", 0.0)
        log.bar(np.arange(1, 22), counts, bottom=bottom, width=0.8, color=color, label=name)
        shown[name] = counts
    log.legend(frameon=False, fontsize=8.5, loc="upper right")
    log.set_xticks([1, 5, 10, 15, 21], ["1", "5", "10", "15", "21+"])
    log.grid(visible=False, axis="x")
    _title(log, f"1  A log of {len(found.log):,} visits", "steps of the visit", "visits")
    h = np.arange(1, 26)
    near = curves.dots <= h[-1]
    chance.errorbar(
        curves.dots[near],
        1.0 - curves.dot_hazard[near],
        curves.dot_error[near],
        fmt="o",
        color="#5B6770",
        markersize=3,
        elinewidth=0.8,
    )
    chance.plot(h, law.continuation(h), color=COLORS[0], linewidth=2.0)
    gamma = 1.0 - 1.0 / law.mean  # for this problem no other single γ is better
    chance.axhline(gamma, color=COLORS[1], linewidth=1.6, linestyle=(0, (5, 1.5)))
    chance.annotate("fitted law; dots: the log", (9, 0.955), fontsize=9, color=COLORS[0])
    chance.annotate(f"a single γ = {gamma:.2f}", (14, gamma - 0.03), fontsize=9, color=COLORS[1])
    chance.set(ylim=(0.6, 1.0), xlim=(0, h[-1] + 0.5))
    _title(chance, "2  The discount: chance of one more step", "step", "")
    draw_strips(
        replace(
            view, policies=(replace(best, name="plan for the log"), replace(single, name="best single γ"))
        ),
        strips,
    )
    for row, one in enumerate(view.policies):
        strips.annotate(
            f"earns {view.earns(one)}", (0.5, row + 0.47), fontsize=8.5, color="#222222", va="center"
        )
    strips.set_ylim(1.75, -0.5)
    _title(strips, "3  Cash (0.1 now) or invest (1 later)?", "step; the last action goes on", "")
    values = {"plan": best.value, "single": single.value, "change": view.changes[0], "gamma": gamma}
    return figure, {"law": law.continuation(h[::6]), **values, **shown}


def _title(panel: Any, title: str, x: str, y: str) -> None:
    panel.set_title(title, loc="left", fontsize=10, fontweight="bold", color="#222222")
    panel.set_xlabel(x, fontsize=9, color="#222222")
    panel.set_ylabel(y, fontsize=9, color="#222222")


def plan_strips() -> Drawn:
    """Draw the plan for RiverSwim with few steps left, beside the best single γ."""
    best = sj.plan(sj.mdps.river_swim(6), sj.Uniform(1, 40))
    return best.plot(), {"changes": view_plan(best, single_gamma=False).changes}


def plan_map() -> Drawn:
    """Draw the plan for Gymnasium's frozen lake as arrows."""
    best = sj.plan(sj.TabularMDP.from_env("FrozenLake-v1"), sj.Fixed(20))
    return best.plot(), {"value": best.value}


def agents() -> Drawn:
    """Draw what a committed, a sophisticated and a naive person do with a coupon."""
    found = behavior.compare(
        behavior.tasks.coupon([3, 5, 8, 13]), behavior.beta_delta(0.5, steps=4), deadline=4
    )
    return found.plot(), {"costs": [one.cost for one in found.agents]}


def researcher() -> Drawn:
    """Draw the comparison of four agents from the researcher's tutorial."""
    law, bonus = sj.Geometric(0.9), sj.PaperBonus(scale=0.01)
    agents = {
        "the law": sj.UCBVI(law, bonus),
        "fixed, 10": sj.UCBVI(sj.Fixed(10), bonus),
        "fixed, 20": sj.UCBVI(sj.Fixed(20), bonus),
        "law unknown": sj.UnknownLaw(40, bonus),
    }
    found = sj.compare(agents, sj.mdps.river_swim(6), law, episodes=1_000, seeds=10)
    curves = comparison_curves(found)
    last = {"mean": curves.mean[:, -1], "low": curves.low[:, -1], "high": curves.high[:, -1]}
    return comparison_figure(found), {"names": curves.names, "seeds": curves.n_seeds, **last}


def practitioner() -> Drawn:
    """Draw the streaming log with its confidence band, the best law and the best single γ."""
    found = analyze(read_sessions(sample_path("streaming")))
    h = np.array([1, 2, 5, 10, 20])
    shown = {"law": found.law.survival(h), "geometric": found.geometric.survival(h), "data": found.band.of(h)}
    return session_figure(found), {"sessions": len(found.log), **shown}


def scientist() -> Drawn:
    """Draw the weights of later rewards seen from steps 1 and 21, with a running and a restarted clock."""
    law, ahead = sj.BetaGeometric(2, 6), np.arange(41)
    first = law.survival(1 + ahead)
    later = law.survival(21 + ahead) / law.survival(21)
    figure, [left, right] = new_figure(2, width=4.2)
    left.plot(1 + ahead, first, color=COLORS[0], linewidth=1.8)
    for color, step, text in (
        (COLORS[1], 1, "now or in 5 steps: now"),
        (COLORS[2], 21, "in 20 or in 25: later"),
    ):
        weights = law.survival(step), 1.8 * law.survival(step + 5)
        left.plot([step, step + 5], weights, "o--", color=color, linewidth=1.0)
        left.annotate(text, (step + 6, weights[1]), fontsize=8.5, color=color, va="center")
    left.set(yscale="log", xlabel="step h", ylabel="γ(h), and the weights of 1 and 1.8")
    left.set_title("Seen from step 1", loc="left", fontsize=10, fontweight="bold")
    right.plot(21 + ahead, later, color=COLORS[2], linewidth=1.8, label="the clock runs on: γ(h)/γ(21)")
    right.plot(
        21 + ahead,
        first,
        color=COLORS[1],
        linewidth=1.8,
        linestyle="--",
        label="the clock restarts: γ(h − 20)",
    )
    right.plot([26, 26], [later[5], first[5]], "o", color="#222222", markersize=4)
    right.axhline(1 / 1.8, color="#888888", linewidth=0.8)
    right.annotate("above 1/1.8, waiting for 1.8 pays", (38, 0.57), fontsize=8.5)
    right.set(xlabel="step h", ylabel="weight", ylim=(0, 1.03))
    right.set_title("Seen from step 21", loc="left", fontsize=10, fontweight="bold")
    right.legend(frameon=False, fontsize=8.5, loc="upper right")
    return figure, {"from 1": first[::5], "from 21": later[::5]}


def monotone() -> Drawn:
    """Draw the regret of learners whose optimism is proven, from the trials of evidence/monotone.py."""
    stored = json.loads((EVIDENCE / "monotone.json").read_text(encoding="utf-8"))
    episodes, shown = np.array(stored["episodes"]), {}
    figure, [panel] = new_figure(1, width=6.4, height=3.6)
    names = ("the paper's bonus", "the paper's bonus, smallest proven scale", "MonotoneBernstein")
    for color, name in zip(COLORS, names, strict=False):
        mean, low, high = (of(stored["regret"][name], axis=0) for of in (np.mean, np.min, np.max))
        panel.plot(episodes, mean, color=color, linewidth=1.8, label=name)
        panel.fill_between(episodes, low, high, color=color, alpha=0.2, linewidth=0)
        shown[name] = mean[::8]
    panel.set(xscale="log", yscale="log", xlim=(300, episodes[-1]), ylim=(300, 2e5))
    panel.set(xlabel="episodes", ylabel="cumulative regret")
    panel.set_title("RiverSwim(6), Geometric(0.9): mean and range of seeds", loc="left", fontsize=10)
    panel.legend(frameon=False, fontsize=8.5, loc="upper left")
    return figure, shown


def _evidence(name: str) -> Any:
    """Return a module of the folder evidence."""
    sys.path.insert(0, str(EVIDENCE))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(EVIDENCE))


def round_robin_map(*, is_tuned_per_cell: bool) -> Drawn:
    """Draw the mean relative regrets of all learners in all cells of the round robin."""
    found = _evidence("round_robin")
    standings = found.Standings(found.Results())
    means = standings.relative(is_tuned_per_cell).mean(axis=2)
    shown = dict(zip(standings.names, means, strict=True)) | {"myopic, never learns": standings.myopic}
    rows = [
        re.sub(r"\w+=", "", f"{sj.parse_problem(mdp).label}, {label(sj.parse_law(law))}")
        for mdp, law in found.cells()
    ]
    figure, [panel] = new_figure(1, width=8.4, height=2.0 + 0.2 * len(rows))
    values = np.array(list(shown.values())).T
    colors = LogNorm(0.01, 2.0, clip=True)
    panel.imshow(np.maximum(values, 1e-9), norm=colors, cmap="cividis_r", aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        color = "white" if colors(max(value, 1e-9)) > 0.55 else "black"
        panel.text(j, i, f"{value:.2f}".lstrip("0"), ha="center", va="center", fontsize=7, color=color)
    panel.grid(visible=False)
    panel.set_xticks(range(len(shown)), shown, rotation=40, ha="left", rotation_mode="anchor")
    panel.set_yticks(range(len(rows)), rows)
    panel.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    for line in range(len(found.LAWS), len(rows), len(found.LAWS)):
        panel.axhline(line - 0.5, color="white", linewidth=2.0)
    return figure, shown


def round_robin_profiles() -> Drawn:
    """Draw the share of trials of the round robin whose relative regret is at most a number."""
    found = _evidence("round_robin")
    standings, at = found.Standings(found.Results()), np.geomspace(0.003, 2.0, 80)
    figure, panels = new_figure(2, width=4.4, height=4.2)
    shown = {}
    for panel, is_tuned, title in zip(
        panels, (False, True), ("One setting", "The best per cell"), strict=True
    ):
        for name, regrets in zip(standings.names, standings.relative(is_tuned), strict=True):
            share = (regrets.ravel()[:, np.newaxis] <= at).mean(axis=0)
            color, style = _PROFILE_STYLES[name]
            panel.plot(at, share, color=COLORS[color], linestyle=style, linewidth=1.5, label=name)
            shown[f"{title}: {name}"] = share[::8]
        panel.set(xscale="log", xlim=(at[0], at[-1]), ylim=(0, 1.01), xlabel="relative regret")
        panel.set_title(title, loc="left", fontsize=10, fontweight="bold")
    panels[0].set(ylabel="share of trials with at most this")
    lines, names = panels[0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return figure, shown


_PROFILE_STYLES = {
    "paper": (0, "-"),
    "paper, scale 1": (0, ":"),
    "MonotoneBernstein, scale 1": (6, ":"),
    "simple Bernstein": (5, "-"),
    "EQO": (5, "--"),
    "UCB-VI": (1, "-"),
    "PSRL": (2, "-"),
    "PSRL, exact Dirichlet": (2, "--"),
    "Q-learning": (3, "-"),
    "Q-learning, literal": (3, "--"),
    "UCBVI-γ": (4, "-"),
    "ε-greedy": (6, "--"),
}
"""Color and line style of each learner: variants of a learner have its color."""


def value_of_the_law() -> Drawn:
    """Draw the predicted gain from the right law and the measured advantage on 50 problems."""
    found = _evidence("value_of_the_law")
    predicted, measured = 100 * found.predictions(), 100 * found.advantages()
    mean, error = measured.mean(axis=1), measured.std(axis=1, ddof=1) / np.sqrt(measured.shape[1])
    figure, [panel] = new_figure(1, width=6.0, height=4.4)
    line = np.geomspace(0.01, 100, 50)
    panel.plot(line, line, color="#888888", linewidth=1.0)
    panel.annotate("advantage = prediction", (10.0, 10.0), (9.0, 1.2), fontsize=8.5, color="#5B6770")
    panel.errorbar(
        predicted, mean, 2 * error, fmt="o", color=COLORS[0], markersize=4, elinewidth=0.8, alpha=0.8
    )
    panel.set_xscale("symlog", linthresh=0.1)
    panel.set_yscale("symlog", linthresh=0.1)
    panel.set(xlabel="predicted gain, % of the best value", ylabel="measured advantage, % of the best value")
    panel.set_title("50 problems: mean and two standard errors of 20 seeds", loc="left", fontsize=10)
    return figure, {"predicted": predicted, "measured": mean}


def heads() -> Drawn:
    """Draw the error of mixtures of geometric laws against their number, from evidence/deep.py."""
    stored = json.loads((EVIDENCE / "heads.json").read_text(encoding="utf-8"))
    figure, [panel] = new_figure(1, width=6.4, height=3.6)
    shown = {}
    for color, (name, pairs) in zip(COLORS, stored.items(), strict=False):
        numbers_, errors = np.array(pairs).T
        style = "--" if "Riemann" in name else "o-"
        panel.plot(numbers_, errors, style, color=color, markersize=4, linewidth=1.5, label=name)
        shown[name] = errors
    panel.set(xscale="log", yscale="log", xlabel="number of geometric laws (heads)")
    panel.set(ylabel="Σ |γ(h) − γ'(h)| / mean length, h ≤ 1,000")
    panel.legend(frameon=False, fontsize=8.5, loc="lower right")
    return figure, shown


def deep() -> Drawn:
    """Draw learning curves of deep agents on the problems with computed limits, from evidence/deep.py."""
    found = _evidence("deep")
    limits = json.loads((EVIDENCE / "limits.json").read_text(encoding="utf-8"))
    names = [name for name, one in found.SETTINGS.items() if one.title in limits and found.curves(name)]
    figure, panels = new_figure(len(names), width=4.0, height=4.0)
    shown = {}
    for panel, name in zip(panels, names, strict=True):
        setting = found.SETTINGS[name]
        steps = setting.steps * np.arange(1, found.CHECKPOINTS + 1) / found.CHECKPOINTS
        for way, share in found.curves(name).items():
            style = "--" if way in (found.PUBLISHED, found.CORRECTED) else "-"
            color = COLORS[found.ALL.index(way)]
            panel.plot(steps, share, style, color=color, linewidth=1.8, label=way)
            shown[f"{name}: {way}"] = share[4::5]
        panel.set(xlabel="training steps", ylim=(0.3, 1.03), xlim=(0, steps[-1]))
        panel.xaxis.set_major_formatter("{x:,.0f}")
        panel.set_title(f"{setting.title}, {setting.agent}", loc="left", fontsize=10, fontweight="bold")
    panels[0].set(ylabel="share of the best value (IQM over seeds)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, fontsize=8.5, loc="outside lower center", ncols=2)
    return figure, shown


FIGURES: dict[str, Callable[[], Drawn]] = {
    "overview": overview,
    "plan-strips": plan_strips,
    "plan-map": plan_map,
    "agents": agents,
    "researcher": researcher,
    "practitioner": practitioner,
    "scientist": scientist,
    "monotone": monotone,
    "round-robin-one": partial(round_robin_map, is_tuned_per_cell=False),
    "round-robin-best": partial(round_robin_map, is_tuned_per_cell=True),
    "round-robin-profiles": round_robin_profiles,
    "value-of-the-law": value_of_the_law,
    "heads": heads,
    "deep": deep,
}


STACKED = ("deep", "overview", "plan-map", "plan-strips", "practitioner", "scientist", "round-robin-profiles")
"""Figures with panels side by side, which have a version for phones with the panels below each other."""


def stack(figure: Figure) -> None:
    """Put the panels of a figure below each other, and the entries of its legend too; break long lines."""
    for text in figure.texts:
        text.set_text(textwrap.fill(text.get_text(), 60))
    for old in list(figure.legends):
        handles, names = old.legend_handles, [text.get_text() for text in old.get_texts()]
        old.remove()
        add_legend(figure, handles, names, loc="outside lower center", ncols=1)
    panels = figure.axes
    width, height = figure.get_size_inches()
    grid = GridSpec(len(panels), 1, figure=figure)
    for i, panel in enumerate(panels):
        panel.set_subplotspec(grid[i])
    figure.set_size_inches(max(4.2, 1.15 * width / len(panels)), 0.95 * height * len(panels))


def numbers(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a figure as lists that JSON can hold, rounded to five digits."""
    plain = {}
    for name, values in data.items():
        listed = np.asarray(values).tolist()
        plain[name] = [
            float(f"{x:.5g}") if isinstance(x, float) else x for x in np.atleast_1d(listed).tolist()
        ]
    return plain


def main() -> None:
    """Draw the figures named on the command line, or all."""
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or FIGURES:
        figure, data = FIGURES[name]()
        about = {"Date": None, "Creator": None, "Description": json.dumps(numbers(data), ensure_ascii=False)}
        with mpl.rc_context({"svg.hashsalt": "sojourn", "svg.fonttype": "path"}):
            figure.savefig(FOLDER / f"{name}.svg", metadata=about)
            if name in STACKED:
                stack(figure)
                figure.savefig(FOLDER / f"{name}-narrow.svg", metadata=about)


if __name__ == "__main__":
    main()
