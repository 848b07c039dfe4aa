"""What learners could choose from in a round robin, and what they chose."""

from __future__ import annotations

from collections import Counter

from tuned import paragraph, table

from robin.field import Field
from sojourn.experiments import Cell, Experiment
from sojourn.laws import label

__all__ = ["at_an_end", "budgets", "settings"]

NATURAL = {"scale": {0}, "epsilon": {0, 1}, "initial": {0, 1}, "rate": {1}, "decay": {1}, "horizon": {1, 80}}
"""Ends of grids beyond which there is nothing: a decay above 1 is next to no chance at all, and 80 layers are
more than 98% of all episodes have steps."""


def budgets(experiment: Experiment, screening: int, tuning: int, kept: int) -> str:
    """How many settings each learner could choose from, and by how many trials."""
    first, points = experiment.cells[0].settings, {}
    for cell in experiment.cells:
        if all(cell.settings[key] == first[key] for key in ("problem", "law")):
            points.setdefault(cell.name, []).append(cell)
    rows = [
        (
            name,
            ", ".join(map(_short, cells[0].varied)),
            str(len(cells)),
            str(len(cells) * screening + min(kept, len(cells)) * tuning),
        )
        for name, cells in points.items()
    ]
    header = ["learner", "what it chooses", "points of the grid", "trials to choose by, each problem and law"]
    note = "All choose by the same rule; whoever has more to choose has more trials to choose by."
    return f"{note}\n\n{table(header, rows)}"


def at_an_end(whole: Experiment, best: Experiment) -> str:
    """Which choices lie at an end of their grid, so that a wider one might have had a better point."""
    grids: dict[tuple[str, str], set[float]] = {}
    for cell in whole.cells:
        for path, value in cell.varied.items():
            grids.setdefault((cell.name, path), set()).add(value)
    choices = [(cell, path) for cell in best.cells for path in cell.varied if not _is_moot(cell, path)]
    found: Counter[str] = Counter()
    for cell, path in choices:
        grid, value = grids[cell.name, path], cell.varied[path]
        if value in {min(grid), max(grid)} - NATURAL.get(_short(path), set()):
            found[f"{cell.name}, {_short(path)} = {value:g}"] += 1
    told = "; ".join(f"{what} ({n} times)" if n > 1 else what for what, n in found.most_common())
    text = f"Of {len(choices)} choices {found.total()} lie at an end of their grid beyond which there is more"
    return paragraph(f"{text}: {told}." if found else f"{text}.")


def settings(field: Field) -> str:
    """The settings that everybody was judged with."""
    rows = []
    for comparison in field.comparisons:
        chosen = [name.partition(" (")[2].removesuffix(")") for name in comparison.names]
        short = [text.replace("bonus.", "").replace("scale=", "").replace("prior=", "") for text in chosen]
        rows.append((f"{comparison.problem}, {label(comparison.law)}", *short))
    return table(["problem and law", *field.names], rows)


def _short(path: str) -> str:
    return path.rpartition(".")[2]


def _is_moot(cell: Cell, path: str) -> bool:
    """Tell whether nothing depends on a choice: a chance of 0 has no decay."""
    return path == "decay" and cell.varied["epsilon"] == 0
