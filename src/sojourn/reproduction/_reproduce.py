"""All parts, or some: played, drawn, written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn._validation import did_you_mean
from sojourn.experiments import Executor, Store
from sojourn.plots import save_figure
from sojourn.reports import Chapter, reproduction_report, write_page
from sojourn.reproduction._figure1 import figure1
from sojourn.reproduction._price import price
from sojourn.reproduction._runner import Watch, Workbench
from sojourn.reproduction._shape import shape
from sojourn.reproduction._theory import theory
from sojourn.reproduction._tuned import figure1_tuned
from sojourn.reproduction._unknown import unknown

__all__ = ["PARTS", "Reproduction", "reproduce"]

PARTS: dict[str, Callable[[Workbench], Chapter]] = {
    "figure1": figure1,
    "figure1-tuned": figure1_tuned,
    "theory": theory,
    "unknown": unknown,
    "price": price,
    "shape": shape,
}
"""The parts by name, in the order of the report."""


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What was made.

    Attributes:
        chapters: The parts.
        report: The report's file.
        figures: The figures' files.
    """

    chapters: tuple[Chapter, ...]
    report: Path
    figures: tuple[Path, ...]


def reproduce(
    parts: Sequence[str] = (),
    *,
    folder: str | Path = "reproduction",
    quick: bool = False,
    executor: Executor | None = None,
    watching: Callable[[str], Watch | None] | None = None,
) -> Reproduction:
    """Reproduce the paper: play, draw and report; what was played before is not played again.

    The report is `report.html`; that of a quick run or of some parts has another name, such as
    `report-price-quick.html`.

    Args:
        parts: Which parts, by name; all of them by default.
        folder: Where results, figures and the report go.
        quick: Whether everything is shown in small.
        executor: Where trials are played; by default in processes of this machine.
        watching: Gives, for the name of an experiment, what is called as its trials come.
    """
    for name in parts:
        if name not in PARTS:
            raise ValueError(f"Unknown part {name!r}.{did_you_mean(name, PARTS)}")
    folder = Path(folder)
    store = Store(folder / "results")
    bench = Workbench(store, quick, executor, watching if watching is not None else _nobody)
    chapters = tuple(PARTS[name](bench) for name in PARTS if not parts or name in parts)
    wanted = [name for name in PARTS if name in parts]
    small = ["quick"] if quick else []
    figures: list[Path] = []
    for chapter in chapters:
        for picture in chapter.pictures:
            figures += save_figure(picture.figure, folder / "-".join(["figures", *small]) / picture.name)
    page = reproduction_report(chapters, quick=quick, command=_command(parts, quick=quick))
    # A quick run, or one of some parts, leaves the report of the whole as it is.
    report = folder / f"{'-'.join(['report', *wanted, *small])}.html"
    return Reproduction(chapters, write_page(page, report), tuple(figures))


def _command(parts: Sequence[str], *, quick: bool) -> str:
    return " ".join(["sojourn reproduce", *parts, *(["--quick"] if quick else [])])


def _nobody(name: str) -> None:
    """Watch nothing."""
