"""What `sojourn fit` found: on the terminal and in files."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from sojourn.cli._errors import reading_input
from sojourn.cli.output._console import facts, fitted, results, show, write_line
from sojourn.cli.output._terminal_plot import Curve, Frame, draw

if TYPE_CHECKING:
    from sojourn.sessions import Analysis, RankedFit, SessionLog

__all__ = ["print_analysis", "tell_account", "write_files"]

_PLOT_COLUMNS = 100
_DECADES = 3
_LONGEST_TABLE = 1_000_000


def tell_account(log: SessionLog) -> None:
    """Say on stderr which rows could not be used."""
    account = log.account
    if account.n_rejected:
        rows = f"{account.n_rejected:,} of {account.n_rows:,} rows"
        write_line(f"{rows} cannot be used and are left out. The first of them:", label="Warning")
        for one in account.first_rejected:
            write_line(f"  {log.name} {one}")
    for note in account.notes:
        write_line(note, label="Note")


def print_analysis(found: Analysis, *, labels: bool, plot: bool) -> None:
    """Print the advice, the families, the groups and the curves; the law comes last, on a line of its own."""
    from sojourn.sessions import EDGE_NOTE, law_words, number, percent  # noqa: PLC0415

    def row(one: RankedFit) -> tuple[str, ...]:
        held = "in the band" if one.in_band else f"{percent(one.excess)} off"
        gaps = f"{one.bic_gap:,.1f}", f"{one.aic_gap:,.1f}"
        return law_words(one.fit) + "*" * bool(one.fit.edge), *gaps, number(one.fit.law.mean), held

    headings = ["law", "BIC\nmore by", "AIC\nmore by", "mean\nlength", "against\nthe data"]
    show(
        Text(found.log.name, style="bold cyan"),
        "",
        facts(found.advice()),
        "",
        *fitted(headings, [row(one) for one in found.fits], left=(0, 4), drop=[2, 3, 4]),
    )
    if any(one.fit.edge for one in found.fits):
        show(Text(f"* at the edge of its family: {EDGE_NOTE}.", style="dim"))
    if found.group_fits:
        _print_groups(found, labels=labels)
    if plot:
        _print_curves(found)
    show("", Text("The law, as every other command takes it:", style="bold"))
    typer.echo(repr(found.law))


def _print_groups(found: Analysis, *, labels: bool) -> None:
    from sojourn.sessions import law_words, number  # noqa: PLC0415

    test = found.groups
    if test is None:
        return
    rows = []
    for i, fit in enumerate(found.group_fits):
        pooled = test.pooled and i == len(test.sizes) - 1
        name = found.log.labels[i] if labels and not pooled else str(i + 1)
        law = ("–", "–") if fit is None else (number(fit.law.mean), law_words(fit))
        name = "all others" if pooled else name
        rows.append((name, f"{test.sizes[i]:,}", f"{test.ratios[i]:.2f}", *law))
    headings = ["group", "sessions", "ends,\ntimes due", "mean\nlength", "best law"]
    show("", *fitted(headings, rows, left=(0, 4), drop=[4, 3]))


def _print_curves(found: Analysis) -> None:
    from sojourn.laws import is_heavy, quantile  # noqa: PLC0415

    console = results()
    geometric, heavy = found.ranked("geometric").fit.law, is_heavy(found.law)
    last = min(quantile(found.law, 1e-3 if heavy else 0.01), found.log.longest)
    band = found.band
    curves = [
        Curve(lambda steps: band.of_law(found.law, steps).tolist(), "the law", "cyan", "*"),
        Curve(lambda steps: band.of(steps).tolist(), "the data", "white", "o", dashed=True),
    ]
    if found.best.fit.family != "geometric":
        heights = Curve(
            lambda steps: band.of_law(geometric, steps).tolist(), "geometric", "yellow", ".", dashed=True
        )
        curves.append(heights)
    frame = Frame(max(last, 2), decades=_DECADES if heavy else 0)
    width = min(console.width, _PLOT_COLUMNS)
    picture = draw(curves, frame, width=width, braille=console.encoding.startswith("utf"))
    given = f"P(H ≥ h | H ≥ {found.first:,})" if found.first > 1 else "γ(h)"
    axes = f"survival {given} by step h" + (", both logarithmic" if heavy else "")
    show("", Text(axes, style="bold"), picture)


def write_files(found: Analysis, figure: Path | None, report: Path | None, table: Path | None) -> None:
    """Write what is wanted of the figure, the report and the table of the data's own survival."""
    from sojourn._files import write_atomically  # noqa: PLC0415

    if figure is not None:
        drawn = found.plot()
        with reading_input():
            kind = figure.suffix[1:].lower()
            write_atomically(figure, lambda file: drawn.savefig(file, format=kind))
        write_line(f"Drawn into {figure}.")
    if report is not None:
        from sojourn.reports import session_report, write_page  # noqa: PLC0415

        page = session_report(found)
        with reading_input():
            write_page(page, report)
        write_line(f"Report written to {report}.")
    if table is not None:
        with reading_input():
            _write_table(found, table)
        write_line(f'Survival written to {table}; it is a law: tabulated("{table}").')
        _tell_cut(found)


def _tell_cut(found: Analysis) -> None:
    """Say what a table leaves out where the longest session is open: it lets nobody outlive it."""
    from sojourn.sessions import number, percent  # noqa: PLC0415

    law, last = found.kaplan_meier, found.log.longest
    if law is None or not float(law.survival(last + 1)):
        return
    cut = float(law.tail(last + 1))
    write_line(
        f"The longest session, of {last:,} steps, is open, and {percent(float(law.survival(last)))} of all "
        f"get that far. The table ends there: with a geometric tail another {number(cut)} steps would "
        f"follow, {percent(cut / law.mean)} of the mean length.",
        label="Note",
    )


def _write_table(found: Analysis, path: Path) -> None:
    """Write γ(1), γ(2), … of the data, up to the longest session."""
    from sojourn._files import write_atomically  # noqa: PLC0415

    law, last = found.kaplan_meier, found.log.longest
    if last > _LONGEST_TABLE:
        raise ValueError(f"--table takes at most {_LONGEST_TABLE:,} steps; the longest session has {last:,}.")
    if found.first > 1:
        raise ValueError(
            f"--table cannot be written: no session was seen before step {found.first:,}, and the data do "
            "not say how many get that far."
        )
    if law is None:
        raise ValueError("--table cannot be written: late entries leave the data's survival undefined.")
    survival = law.survival(range(1, last + 1)).tolist()
    lines = (f"{h},{value!r}\n".encode() for h, value in enumerate(survival, start=1))
    write_atomically(path, lambda file: file.writelines(chain([b"h,survival\n"], lines)))
