"""`reproduce`: run the experiments of all or some parts, and write figures and the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn._validation import did_you_mean
from sojourn.experiments import Executor, Store
from sojourn.plots import save_figure
from sojourn.reports import (
    Chapter,
    Claim,
    claims_page,
    is_reproduction_report,
    reproduction_report,
    write_page,
)
from sojourn.reproduction._figure1 import figure1
from sojourn.reproduction._price import price
from sojourn.reproduction._runner import ExperimentRunner, Watch
from sojourn.reproduction._shape import shape
from sojourn.reproduction._theory import theory
from sojourn.reproduction._tuned import figure1_tuned
from sojourn.reproduction._unknown import unknown
from sojourn.reproduction.claims import in_order_of_the_paper

__all__ = ["PARTS", "Reproduction", "reproduce"]

PARTS: dict[str, Callable[[ExperimentRunner], Chapter]] = {
    "figure1": figure1,
    "figure1-tuned": figure1_tuned,
    "theory": theory,
    "unknown": unknown,
    "price": price,
    "shape": shape,
}
"""Functions that make the chapters, by name of the part, in the order of the report."""


@dataclass(frozen=True, eq=False)
class Reproduction:
    """Result of `reproduce`.

    Attributes:
        chapters: Chapters of the parts that were run.
        report: File of the report.
        page: File of the page of claims, in Markdown.
        figures: Files of the figures.
    """

    chapters: tuple[Chapter, ...]
    report: Path
    page: Path
    figures: tuple[Path, ...]

    @property
    def claims(self) -> list[Claim]:
        """The claims of all chapters, in the order of the paper."""
        return in_order_of_the_paper(claim for chapter in self.chapters for claim in chapter.claims)


def reproduce(
    parts: Sequence[str] = (),
    *,
    folder: str | Path = "reproduction",
    quick: bool = False,
    executor: Executor | None = None,
    watching: Callable[[str], Watch | None] | None = None,
    on_part: Callable[[str, int, int], object] | None = None,
) -> Reproduction:
    """Reproduce the paper: run experiments, draw figures, write a report. Finished trials are not repeated.

    The report is `report.html`, and the claims alone are in `paper-claims.md`. The files of a quick run or of
    some parts have other names, such as `report-price-quick.html`.

    Args:
        parts: Names of the parts to run; all by default.
        folder: Folder for results, figures and the report.
        quick: Whether to run small versions of the experiments.
        executor: Where trials are run; by default in processes on this machine.
        watching: Called with the name of each experiment; returns the progress callback for its trials.
        on_part: Called before each part, and before figures and the report are written, with its name, its
            number and the number of all.
    """
    for name in parts:
        if name not in PARTS:
            raise ValueError(f"Unknown part {name!r}.{did_you_mean(name, PARTS)}")
    folder = Path(folder)
    wanted = [name for name in PARTS if name in parts]
    suffix = ["quick"] if quick else []
    # A quick run, or a run of some parts, does not overwrite the full report.
    ending = "-".join(["", *wanted, *suffix])
    report, place = folder / f"report{ending}.html", folder / "-".join(["figures", *suffix])
    page = folder / f"paper-claims{ending}.md"
    _check_folder(report, page, place, folder / "tables", folder / "results")
    store = Store(folder / "results")
    runner = ExperimentRunner(store, quick, executor, watching if watching is not None else _no_progress)
    chosen = [name for name in PARTS if not parts or name in parts]
    announce = on_part if on_part is not None else _ignore_part
    chapters = tuple(_chapter(name, runner, announce, chosen) for name in chosen)
    announce("figures and report", len(chosen) + 1, len(chosen) + 1)
    figures: list[Path] = []
    for chapter in chapters:
        for picture in chapter.pictures:
            figures += save_figure(picture.figure, place / picture.name, svg=picture.svg)
    made = Reproduction(chapters, report, page, tuple(figures))
    command = _command(parts, quick=quick)
    write_page(reproduction_report(chapters, made.claims, quick=quick, command=command), made.report)
    write_page(claims_page(made.claims, quick=quick), made.page)
    return made


def _check_folder(report: Path, page: Path, *places: Path) -> None:
    """Check that a reproduction would write over its own files only, and not elsewhere through links.

    The page of claims is written after the report, so that one without a report is not ours.
    """
    for place in places:
        if place.is_symlink():
            raise ValueError(f"{place} must not be a link; choose another --folder.")
    if page.exists() and not report.exists():
        raise ValueError(f"{page} is no page of 'sojourn reproduce'; move it, or choose another --folder.")
    if report.is_symlink() or (report.exists() and not is_reproduction_report(report)):
        raise ValueError(f"{report} is no page of 'sojourn reproduce'; move it, or choose another --folder.")


def _chapter(
    name: str, runner: ExperimentRunner, announce: Callable[[str, int, int], object], chosen: Sequence[str]
) -> Chapter:
    announce(name, chosen.index(name) + 1, len(chosen) + 1)
    return PARTS[name](runner)


def _ignore_part(name: str, number: int, n_parts: int) -> None:
    """Show nothing."""


def _command(parts: Sequence[str], *, quick: bool) -> str:
    return " ".join(["sojourn reproduce", *parts, *(["--quick"] if quick else [])])


def _no_progress(name: str) -> None:
    """Return no progress callback."""
