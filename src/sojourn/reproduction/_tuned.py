"""Figure 1 with every learner at its own best scale."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sojourn.experiments import Cell, Experiment, load_results, tuning_name
from sojourn.laws import label, parse_law
from sojourn.learning import Comparison
from sojourn.mdps import TabularMDP
from sojourn.planning import plan
from sojourn.plots import panels_figure, scale_curves, scales_figure, taxi_figure
from sojourn.reports import Chapter, Claim, Picture, Table, Verdict
from sojourn.reproduction._figure1 import NAMES, panel_table
from sojourn.reproduction._runner import Workbench
from sojourn.reproduction._verdicts import judge_panels, won_and_lost

__all__ = ["figure1_tuned"]

_PATH = "bonus.scale"
_CHOSEN_ON = (
    "Geometric(gamma=0.95)",
    "Polynomial(p=1.6, offset=20)",
    "QuasiHyperbolic(beta=0.8, gamma=0.95)",
)
_LENGTHS = ("tuned-100", "tuned-5000")


def figure1_tuned(bench: Workbench) -> Chapter:
    """The panels of Figure 1, each learner at the scale that was best on one panel of each family."""
    pictures, tables, won = [], [], []
    for name in _LENGTHS:
        best = _choose(bench, bench.read(name))
        comparisons = bench.play(best)
        episodes = comparisons[0].episodes
        won.append(
            (episodes, *won_and_lost(comparisons, len(NAMES)), len(comparisons), len(comparisons[0].seeds))
        )
        caption = f"Every learner at its own best scale, {episodes:,} episodes."
        pictures.append(Picture(f"figure1-{name}", caption, panels_figure(comparisons, names=NAMES)))
        tables += [
            panel_table(comparisons, f"Total regret, {episodes:,} episodes"),
            _scales(best, comparisons),
        ]
        pictures.append(_sensitivity(bench, name, episodes))
    taxi = TabularMDP.from_env("Taxi-v4")
    law = parse_law("polynomial(1.4, offset=20)")
    figure = taxi_figure(plan(taxi, law).policy, title=label(law), steps=(1, 20))
    pictures.append(Picture("taxi-policy", "The best blind policy on Taxi's grid at two steps.", figure))
    told = "; ".join(
        f"at {episodes:,} episodes and {seeds} seeds it beats every variant in {best} of {n} panels, and "
        f"one beats it in {beaten}"
        for episodes, best, beaten, n, seeds in won
    )
    verdicts = {judge_panels(best, beaten, n) for _, best, beaten, n, _ in won}
    claim = Claim(
        "Section 6",
        "The general learner strictly improves on all variants of UCB-VI in most panels, and equals the "
        "best one in the others.",
        verdicts.pop() if len(verdicts) == 1 else Verdict.DEPENDS,
        f"Each at the scale that was best on one panel of its family ({bench.n_tuning} seeds of their "
        f"own), by paired 95% intervals, not adjusted for their number: {told}.",
    )
    return Chapter(
        "figure1-tuned",
        "Figure 1, tuned",
        "The paper must have scaled its bonuses and does not say how. Here every learner plays at the "
        f"scale of one grid that had the least regret on other seeds ({bench.n_tuning}), on one panel of "
        "each family of laws. Where that is 0 there is no bonus at all, and learners with the same "
        "horizon are the same. Few seeds can be afforded at 5,000 episodes; docs/evidence.md has one "
        "panel with 20.",
        tuple(pictures),
        tuple(tables),
        (claim,),
        bench.settings(*_LENGTHS),
    )


def _choose(bench: Workbench, experiment: Experiment) -> Experiment:
    """Return the experiment with the scale of each learner that was best on its family's panel."""
    some = replace(experiment, cells=tuple(c for c in experiment.cells if c.settings["law"] in _CHOSEN_ON))
    chosen = {_key(cell): cell.varied[_PATH] for cell in bench.tune(some, [_PATH]).cells}
    return replace(experiment, cells=tuple(c for c in experiment.cells if c.varied[_PATH] == chosen[_key(c)]))


def _key(cell: Cell) -> tuple[Any, ...]:
    """Return what cells that share a scale have in common: the family of the law, and the learner."""
    return (
        cell.settings["law"].partition("(")[0],
        cell.name,
        cell.varied.get("law"),
    )


def _scales(best: Experiment, comparisons: list[Comparison]) -> Table:
    by_law: dict[str, list[str]] = {}
    for cell in best.cells:
        by_law.setdefault(cell.settings["law"].partition("(")[0], []).append(f"{cell.varied[_PATH]:g}")
    rows = [(family, *scales[: len(NAMES)]) for family, scales in by_law.items()]
    header = ("family", *(name.removeprefix("UCB-VI ") for name in NAMES))
    return Table(f"Scales that were chosen, {comparisons[0].episodes:,} episodes", header, rows)


def _sensitivity(bench: Workbench, name: str, episodes: int) -> Picture:
    """Return how total regret depends on the scale, on the geometric panel that scales were chosen on."""
    experiment = bench.read(name)
    scales = {cell.varied[_PATH] for cell in experiment.cells}
    totals: dict[str, dict[float, list[float]]] = {}
    for trial in load_results(bench.store.folder, experiment=tuning_name(experiment)):
        if trial.law == _CHOSEN_ON[0] and trial.varied[_PATH] in scales:
            base, horizon = trial.agent.partition(" (")[0], trial.varied.get("law", "")
            called = f"{base} {horizon}".strip()
            totals.setdefault(called, {}).setdefault(float(trial.varied[_PATH]), []).append(
                float(trial.cumulative_regret[-1])  # type: ignore[index]
            )
    title = f"Geometric 0.95, {episodes:,} episodes"
    caption = f"How the scale of the bonus matters, {episodes:,} episodes, seeds of the choice."
    return Picture(f"scales-{name}", caption, scales_figure(scale_curves(totals), title=title))
