"""Prints the analysis of `sojourn fit` and writes its files."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Collection
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from sojourn._text import one_line
from sojourn.cli._errors import reading_input
from sojourn.cli._output_files import write_figure, write_report
from sojourn.cli.output._streams import print_message, print_results, print_text, results_console
from sojourn.cli.output._strips import plan_strips
from sojourn.cli.output._tables import labeled_texts, table_to_fit
from sojourn.cli.output._terminal_plot import Curve, Frame, draw

if TYPE_CHECKING:
    from sojourn.sessions import Account, Analysis, RankedFit

__all__ = ["check_rejected_share", "print_account", "print_analysis", "write_files", "write_schedule"]

_PLOT_COLUMNS = 100
_TAIL_DECADES = 3

_MAX_REJECTED_SHARE = 0.05


def print_account(name: str, account: Account) -> None:
    """Print to stderr which rows of a file could not be used, and what else to know about it."""
    if account.n_rejected:
        rows = f"{account.n_rejected:,} of {account.n_rows:,} rows"
        rest = "is left out:" if account.n_rejected == 1 else "are left out. The first of them:"
        print_message(f"{rows} cannot be used and {rest}", label="Warning")
        for one in account.first_rejected:
            print_message(f"  {name} {one}")
    for note in account.notes:
        print_message(note, label="Note")


def check_rejected_share(account: Account, what: str = "is no advice") -> None:
    """Raise `ValueError` if so many rows were rejected that the others may give a wrong picture.

    Args:
        account: Numbers of rows.
        what: What is not given then, as the words after "There".
    """
    from sojourn.sessions import percent  # noqa: PLC0415

    share, rows = account.n_rejected / max(account.n_rows, 1), "rows"
    if account.rejected_sessions is not None:
        has_steps = "step" in {what for what, _ in account.columns}
        share, rows = account.rejected_sessions, "steps" if has_steps else "sessions"
    why = f"{percent(share)} of the {rows} cannot be used, and the others may be of another kind"
    if share <= _MAX_REJECTED_SHARE:
        if not account.difference:
            return
        why = account.difference
    raise ValueError(
        " ".join(
            [
                f"There {what}: {why}.",
                *account.hints,
                "Pass --accept-rejects to go on without them.",
            ]
        )
    )


def print_analysis(found: Analysis, *, labels: bool, plot: bool) -> None:
    """Print what to do, the curves, the reasons, the families and the groups.

    The law is the last line, unless the log shows too little to choose one.
    """
    from sojourn.sessions import EDGE_NOTE, law_words, number, percent  # noqa: PLC0415

    def row(one: RankedFit) -> tuple[str, ...]:
        held = "inside" if one.in_band else f"{percent(one.excess)} outside"
        gaps = f"{one.bic_gap:,.1f}", f"{one.aic_gap:,.1f}"
        mean = number(one.fit.law.mean) if found.determines_mean and found.shows_most_of(one) else "–"
        return law_words(one.fit) + "*" * bool(one.fit.edge), *gaps, mean, held

    headings = ["law", "ΔBIC", "ΔAIC", "mean\nlength", "band of\nsurvival"]
    answer, *reasons = found.advice()
    print_results(Text(one_line(found.log.name), style="bold cyan"), "", labeled_texts([answer]))
    if plot:
        _print_curves(found)
    print_results("", labeled_texts(reasons))
    if found.shows_a_family:
        rows = [row(one) for one in found.fits]
        print_results("", *table_to_fit(headings, rows, words=(0, 4), optional=[2, 3, 4]))
        if any(one.fit.edge for one in found.fits):
            print_results(Text(f"* at the edge of its family: {EDGE_NOTE}.", style="dim"))
    if found.group_laws:
        _print_groups(found, labels=labels)
    best = found.plan() if found.determines_mean else None
    if best is not None:
        from sojourn.planning.policy_view import view_plan  # noqa: PLC0415 - loads numba

        print_results("", *plan_strips(view_plan(best, single_gamma=False)))
    if not found.shows_a_family:
        return
    what = "The best law, which the data contradict," if found.best_is_contradicted else "The law,"
    print_results("", Text(f"{what} in the form that all commands accept:", style="bold"))
    print_text(f"{found.law!r}\n")


def group_names(found: Analysis, *, labels: bool) -> list[str]:
    """Return the numbers of the groups that were compared, or the log's own names of them."""
    test = found.groups
    n, pooled = (0, 0) if test is None else (len(test.sizes), test.pooled)
    names = [found.log.labels[i] if labels else str(i + 1) for i in range(n)]
    return [*names[:-1], "all others"] if pooled else names


def _print_groups(found: Analysis, *, labels: bool) -> None:
    from sojourn.sessions import group_law_words, number  # noqa: PLC0415

    test = found.groups
    if test is None:
        return
    rows = []
    names = group_names(found, labels=labels)
    for i, (name, one) in enumerate(zip(names, found.group_laws, strict=True)):
        law = "–" if one.mean is None else number(one.mean), group_law_words(found, i)
        shown = name if name == str(i + 1) else f"{i + 1} ({name or 'empty'})"  # sentences use the numbers
        rows.append((shown, f"{test.sizes[i]:,}", f"{test.ratios[i]:.2f}", *law))
    headings = ["group", "sessions", "ends /\nexpected", "mean\nlength", "best law"]
    print_results("", *table_to_fit(headings, rows, words=(0, 4), optional=[4, 3]))


def _print_curves(found: Analysis) -> None:
    from sojourn.laws import is_heavy, quantile  # noqa: PLC0415

    console = results_console()
    geometric, heavy = found.ranked("geometric").fit.law, is_heavy(found.law)
    last = min(quantile(found.law, 1e-3 if heavy else 0.01), found.log.longest)
    band = found.band
    curves = [Curve(lambda steps: band.of(steps).tolist(), "the data", "white", "o", dashed=True)]
    if found.shows_a_family:
        law = Curve(lambda steps: band.of_law(found.law, steps).tolist(), "the law", "cyan", "*")
        curves.insert(0, law)
    if found.shows_a_family and found.best.fit.family != "geometric":
        heights = Curve(
            lambda steps: band.of_law(geometric, steps).tolist(), "geometric", "yellow", ".", dashed=True
        )
        curves.append(heights)
    frame = Frame(max(last, 2), decades=_TAIL_DECADES if heavy else 0)
    width = min(console.width, _PLOT_COLUMNS)
    picture = draw(curves, frame, width=width, braille=console.encoding.startswith("utf"))
    given = f"P(H ≥ h | H ≥ {found.first:,})" if found.first > 1 else "γ(h)"
    axes = f"survival {given} by step h" + (", both logarithmic" if heavy else "")
    print_results("", Text(axes, style="bold"), picture)


def write_files(found: Analysis, figure: Path | None, report: Path | None, table: Path | None) -> None:
    """Write the figure, the report and the table of survival that were asked for."""
    if figure is not None:
        write_figure(found.plot(), figure)
    if report is not None:
        from sojourn.reports import session_report  # noqa: PLC0415

        write_report(session_report(found), report)
    if table is not None:
        with reading_input():
            _write_survival(found, table)
        print_message(f'Survival written to {table}; it is a law: tabulated("{table}").')
        _note_on_cut_tail(found)


def write_schedule(found: Analysis, path: Path, *, labels: bool) -> None:
    """Write the discount of every step by the fitted law, or by the law of each group, for other systems.

    Args:
        found: The analysis.
        path: The .csv or .json file.
        labels: Whether to write the log's own names of groups.
    """
    with reading_input():
        tables, unknown = {"": found.schedule()} if found.determines_mean else {}, ""
        if found.group_laws:
            names = group_names(found, labels=labels)
            pairs = [(name, law.schedule()) for name, law in zip(names, found.group_laws, strict=True)]
            tables = {name: table for name, table in pairs if table is not None}
            unknown = ", ".join(name for name, table in pairs if table is None)
        if not tables and not found.determines_mean:
            raise ValueError(
                "--schedule must be left out: the log does not determine the discount of late steps; --table "
                "writes what the data show."
            )
        if not tables:
            raise ValueError(
                "--schedule must come with --group none: no group's sessions determine the discount of late "
                "steps."
            )
        _write_tables(path, tables)
    if unknown:
        reason = "whose sessions do not determine the discount of late steps"
        print_message(f"{path} leaves out each group {reason}: {unknown}.", label="Note")
    _note_on_poor_fits(found, path, tables, labels=labels)
    n_steps = sum(table["step"].size for table in tables.values())
    print_message(f"Discounts of {n_steps:,} steps written to {path}.")


def _note_on_poor_fits(found: Analysis, path: Path, tables: Collection[str], *, labels: bool) -> None:
    """Note which of the laws in a schedule the data contradict."""
    if found.group_laws:
        pairs = zip(group_names(found, labels=labels), found.group_laws, strict=True)
        poor = ", ".join(name for name, law in pairs if law.is_contradicted and name in tables)
        text = f"{path} has a law that does not fit its data for each of these groups: {poor}."
    else:
        poor = "the best fit" * found.best_is_contradicted
        text = f"{path} is for {poor}, which the data contradict; --table writes what the data show."
    if poor:
        print_message(text, label="Note")


def _write_tables(path: Path, tables: dict[str, dict[str, Any]]) -> None:
    """Write columns below their names; with several tables, a first column says which one a row is from.

    A .json file holds an object of columns; with several tables, an object of such objects.
    """
    from sojourn._files import write_atomically  # noqa: PLC0415

    grouped = "" not in tables
    if path.suffix.lower() == ".json":
        lists = {name: _as_lists(table) for name, table in tables.items()}
        content = json.dumps(lists if grouped else lists[""], allow_nan=False, ensure_ascii=False)
        write_atomically(path, lambda file: file.write(f"{content}\n".encode()))
        return
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*["group"] * grouped, *next(iter(tables.values()))])
    for name, table in tables.items():
        for row in zip(*(column.tolist() for column in table.values()), strict=True):
            writer.writerow([*[name] * grouped, *("" if math.isnan(cell) else repr(cell) for cell in row)])
    write_atomically(path, lambda file: file.write(text.getvalue().encode()))


def _as_lists(table: dict[str, Any]) -> dict[str, list[float | None]]:
    """Return columns for JSON, which has null for what is unknown."""
    return {
        name: [None if math.isnan(cell) else cell for cell in column.tolist()]
        for name, column in table.items()
    }


def _note_on_cut_tail(found: Analysis) -> None:
    """Note what the table leaves out if the longest session is open, because the table ends there."""
    from sojourn.sessions import number, percent  # noqa: PLC0415

    law, last = found.kaplan_meier, found.log.longest
    if law is None or not found.still_open:
        return
    cut = float(law.tail(last + 1))
    share = percent(float(law.survival(last)))
    text = f"The longest session, of {last:,} steps, is open, and {share} of all get that far. The table "
    if cut:
        text += f"ends there: with a geometric tail another {number(cut)} steps would follow, "
        text += f"{percent(cut / law.mean)} of the mean length"
    else:
        text += "ends there, so as a law it lets all of them end there"
    print_message(f"{text}.", label="Note")


def _write_survival(found: Analysis, path: Path) -> None:
    """Write the Kaplan–Meier survival γ(1), γ(2), … up to the longest session."""
    from sojourn._files import write_atomically  # noqa: PLC0415
    from sojourn.sessions import MAX_TABLE_STEPS  # noqa: PLC0415

    law, last = found.kaplan_meier, found.log.longest
    if last > MAX_TABLE_STEPS:
        raise ValueError(
            f"--table takes at most {MAX_TABLE_STEPS:,} steps; the longest session has {last:,}."
        )
    if found.first > 1:
        raise ValueError(
            f"--table cannot be written: the data are used from step {found.first:,} on only, so they do not "
            "say how many get that far."
        )
    if law is None:
        raise ValueError(
            "--table cannot be written: late entries leave the data's survival undefined, or the log has "
            "over a million different rows."
        )
    survival = law.survival(range(1, last + 1)).tolist()
    lines = (f"{h},{value!r}\n".encode() for h, value in enumerate(survival, start=1))
    write_atomically(path, lambda file: file.writelines(chain([b"h,survival\n"], lines)))
