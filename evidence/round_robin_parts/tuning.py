"""Sections on tuning: grids, numbers of trials, and the chosen settings."""

from __future__ import annotations

from collections import Counter

from tuned import paragraph, table

from round_robin_parts.results import RoundRobin
from sojourn.experiments import Cell, Experiment
from sojourn.laws import label

__all__ = ["choices_at_grid_ends", "chosen_settings", "tuning_budgets"]

NATURAL_ENDS = {
    "scale": {0},
    "epsilon": {0, 1},
    "initial": {0, 1},
    "rate": {1},
    "decay": {1},
    "horizon": {1, 80},
}
"""Ends of grids beyond which no useful value exists: with a decay above 1 there is almost no exploration, and
80 layers cover more than 98% of all episodes."""


def tuning_budgets(experiment: Experiment, screening: int, tuning: int, kept: int) -> str:
    """Return the table of grid sizes and numbers of tuning trials, by learner."""
    first, points = experiment.cells[0].settings, {}
    for cell in experiment.cells:
        if all(cell.settings[key] == first[key] for key in ("problem", "law")):
            points.setdefault(cell.name, []).append(cell)
    rows = [
        (
            name,
            ", ".join(map(_last_part, cells[0].varied)),
            str(len(cells)),
            str(len(cells) * screening + min(kept, len(cells)) * tuning),
        )
        for name, cells in points.items()
    ]
    header = ["learner", "tuned settings", "points of the grid", "tuning trials per problem and law"]
    note = "All learners are tuned by the same rule; a learner with a larger grid gets more tuning trials."
    return f"{note}\n\n{table(header, rows)}"


def choices_at_grid_ends(whole: Experiment, best: Experiment) -> str:
    """Return which choices are at an end of their grid, so that a wider grid might be better."""
    grids: dict[tuple[str, str], set[float]] = {}
    for cell in whole.cells:
        for path, value in cell.varied.items():
            grids.setdefault((cell.name, path), set()).add(value)
    choices = [(cell, path) for cell in best.cells for path in cell.varied if not _has_no_effect(cell, path)]
    at_end: Counter[str] = Counter()
    for cell, path in choices:
        grid, value = grids[cell.name, path], cell.varied[path]
        if value in {min(grid), max(grid)} - NATURAL_ENDS.get(_last_part(path), set()):
            at_end[f"{cell.name}, {_last_part(path)} = {value:g}"] += 1
    listed = "; ".join(f"{what} ({n} times)" if n > 1 else what for what, n in at_end.most_common())
    text = f"Of {len(choices)} choices, {at_end.total()} are at an end of a grid that could be extended"
    return paragraph(f"{text}: {listed}." if at_end else f"{text}.")


def chosen_settings(results: RoundRobin) -> str:
    """Return the table of chosen settings."""
    rows = []
    for comparison in results.comparisons:
        chosen = [name.partition(" (")[2].removesuffix(")") for name in comparison.names]
        shortened = [
            text.replace("bonus.", "").replace("scale=", "").replace("prior=", "") for text in chosen
        ]
        rows.append((f"{comparison.problem}, {label(comparison.law)}", *shortened))
    return table(["problem and law", *results.names], rows)


def _last_part(path: str) -> str:
    return path.rpartition(".")[2]


def _has_no_effect(cell: Cell, path: str) -> bool:
    """Return whether a choice has no effect: if ε is 0, its decay is irrelevant."""
    return path == "decay" and cell.varied["epsilon"] == 0
