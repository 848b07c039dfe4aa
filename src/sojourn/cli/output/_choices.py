"""Prints the analysis of `sojourn choices` and writes its files."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import IO, TYPE_CHECKING

from rich.text import Text

from sojourn._text import UniqueNames, one_line, without_formula
from sojourn.cli._errors import reading_input
from sojourn.cli._output_files import write_figure, write_report
from sojourn.cli.output._streams import print_message, print_results
from sojourn.cli.output._tables import labeled_texts, table_to_fit

if TYPE_CHECKING:
    from sojourn.behavior import ChoiceAnalysis, DesignAnalysis

__all__ = ["print_choice_analysis", "print_design_analysis", "write_choice_files"]


def print_choice_analysis(found: ChoiceAnalysis) -> None:
    """Print the findings and the table of families."""
    least_bic, least_aic = found.best.bic, min(one.aic for one in found.fits)
    rows = []
    for one in found.fits:
        medians = ", ".join(
            f"{name} {value:.3g}" for name, value in one.medians().items() if name != "sensitivity"
        )
        accuracy = sum(subject.accuracy for subject in one.subjects) / len(one.subjects)
        gaps = f"{one.bic - least_bic:,.1f}", f"{one.aic - least_aic:,.1f}"
        pooled = one.pooled.interval_words()
        rows.append((one.family, medians, *gaps, f"{100.0 * accuracy:.0f}%", pooled))
    level = f"{100.0 * found.best.confidence:g}%"
    headings = [
        "family",
        "median subject",
        "ΔBIC",
        "ΔAIC",
        "predicted\nchoices",
        f"pooled ({level} interval)",
    ]
    print_results(
        Text(one_line(found.data.name), style="bold cyan"),
        "",
        labeled_texts(found.findings()),
        "",
        *table_to_fit(headings, rows, words=(0, 1, 5), optional=[4, 3]),
    )


def print_design_analysis(found: DesignAnalysis) -> None:
    """Print what a design without choices can tell, and the table of standard errors."""
    rows = []
    for family, errors in found.errors.items():
        for person, one in zip(found.people, errors, strict=True):
            values = ", ".join(
                f"{name} {value:.3g}" for name, value in one.parameters.items() if name != "sensitivity"
            )
            lost = f"{100.0 * max(one.undetermined.values()):.0f}%"
            rows.append((family, person, values, one.relative_words(), lost))
    headings = ["family", "subject", "parameters", "relative\nstandard error", "undetermined"]
    print_results(
        Text(f"{one_line(found.design.name)}: a design without choices", style="bold cyan"),
        "",
        labeled_texts(found.findings()),
        "",
        *table_to_fit(headings, rows, words=(0, 1, 2, 3), optional=[4]),
    )


def write_choice_files(
    found: ChoiceAnalysis, figure: Path | None, report: Path | None, table: Path | None, *, unit: str
) -> None:
    """Write the figure, the report and the table of subjects that were asked for."""
    if figure is not None:
        write_figure(found.best.plot(unit=unit), figure)
    if report is not None:
        from sojourn.reports import choice_report  # noqa: PLC0415

        write_report(choice_report(found), report)
    if table is not None:
        from sojourn._files import write_atomically  # noqa: PLC0415

        with reading_input():
            write_atomically(table, lambda file: _write_subjects(found, file))
        print_message(f"Estimates of {found.data.n_subjects:,} subjects written to {table}.")


def _write_subjects(found: ChoiceAnalysis, file: IO[bytes]) -> None:
    """Write the estimates of every family, of each subject and pooled, as CSV, row by row."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(
        [
            *("family", "subject", "parameter", "estimate", "standard_error", "lower", "upper"),
            *("log_likelihood", "undetermined"),
        ]
    )
    names = UniqueNames()  # of two subjects that are equal without formulas, one is numbered
    pooled = names.name("pooled", "all subjects")
    for fit in found.fits:
        for one in (*fit.subjects, fit.pooled):
            subject = pooled
            if one is not fit.pooled:
                subject = names.name(without_formula(one_line(one.name)), f"subject {one.name}")
            for name, value in one.parameters.items():
                low, high = one.intervals.get(name, (float("nan"), float("nan")))
                numbers = (value, one.standard_errors[name], low, high, one.log_likelihood)
                cells = [f"{number:.10g}" for number in numbers]
                lost = "yes" if name in one.undetermined else "no"
                rows.writerow([fit.family, subject, name, *cells, lost])
    text.detach()
