"""`sojourn fit`: from a session log to a law, a discount and advice."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from sojourn.cli._curves import Curve, Frame, draw
from sojourn.cli._envs import complete_env, parse_env
from sojourn.cli._errors import reading_input
from sojourn.cli._files import check_target
from sojourn.cli._options import Debug, positive
from sojourn.cli._output import facts, fitted, print_json, results, show, working, write_line

if TYPE_CHECKING:
    from sojourn.mdps import TabularMDP
    from sojourn.sessions import Analysis, GroupTest, RankedFit, SessionLog

__all__ = ["EXAMPLES", "fit"]

EXAMPLES = (
    "sojourn fit sample:streaming --figure streaming.png",
    "sojourn fit sessions.csv --report sessions.html",
    "sojourn fit sessions.parquet --length clicks --observed left --group country --json",
    "sojourn fit sessions.csv --delta 0.1 --env 'cash_or_invest(5)'",
)

_FIGURES, _PAGES, _TABLES = (".png", ".svg", ".pdf"), (".html", ".htm"), (".csv",)
_PLOT_COLUMNS = 100
_DECADES = 3
_LONGEST_TABLE = 1_000_000


def fit(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SESSIONS",
            help="A .csv or .parquet file, one row a session, or a .csv file of every step; or sample:NAME, "
            "a generated log that comes with Sojourn (streaming, support, course, shop).",
            show_default=False,
        ),
    ],
    *,
    length: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of lengths in steps.", show_default="length, …"),
    ] = None,
    observed: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column that says whether a session was seen to end; 'none': all were.",
            show_default="observed, ended, …, or open, censored",
        ),
    ] = None,
    entry: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column with the step from which a session was seen; 'none': the first.",
            show_default="entry",
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of groups, to test whether leaving depends on them; 'none': no test.",
            show_default="group, state, segment",
        ),
    ] = None,
    truncation: Annotated[
        list[str] | None,
        typer.Option(
            "--delta",
            "--truncation",
            metavar="Δ",
            help="Weight that may be left after the effective horizon; may be repeated.",
            show_default="1, 0.1, 0.01",
        ),
    ] = None,
    confidence: Annotated[
        str, typer.Option(metavar="SHARE", help="Confidence of the band around the data.")
    ] = "0.95",
    env: Annotated[
        str | None,
        typer.Option(
            "--env",
            "--problem",
            metavar="ENV",
            help="A problem on which to price a single γ; see 'sojourn list envs'.",
            autocompletion=complete_env,
            show_default=False,
        ),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw into a .png, .svg or .pdf file.", show_default=False),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report to an .html file.", show_default=False),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='Write the data\'s own survival to a .csv file for tabulated("FILE").',
            show_default=False,
        ),
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="Show what the log calls its groups (never in a report).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    no_plot: Annotated[bool, typer.Option("--no-plot", help="Leave out the curve in the terminal.")] = False,
    debug: Debug = False,
) -> None:
    """Fit laws to session lengths, and say what discount and what horizon they imply.

    Open sessions count as far as they got. Every family is fitted by maximum likelihood, ranked by BIC and
    held against the data.
    """
    with working("Reading the log") as work:
        with reading_input():
            share = _share(confidence)
            lefts = [positive("--delta", value) for value in truncation or ("1", "0.1", "0.01")]
            _check_targets(_path(source), figure, report, table)
            problem = None if env is None else parse_env(env)
            log, test, own = _read(source, length, observed, entry, group, labels=labels)
        _account(log)
        work.say("Fitting")
        with reading_input():
            from sojourn.sessions import analyse  # noqa: PLC0415

            found = analyse(log, confidence=share, truncations=lefts, problem=problem or own, test=test)
        if as_json:
            print_json(found.as_dict(labels=labels))
        else:
            _print(found, labels=labels, plot=not no_plot)
        work.say("Drawing")
        _write(found, figure, report, table)


def _share(text: str) -> float:
    from sojourn._validation import check_open_unit  # noqa: PLC0415

    try:
        return check_open_unit("--confidence", float(text))
    except ValueError:
        raise ValueError(f"--confidence must be in (0, 1); got {text!r}.") from None


def _path(source: str) -> Path:
    """Return where a log is: a file, or a sample."""
    from sojourn.sessions import sample_path  # noqa: PLC0415

    name = source.removeprefix("sample:")
    return Path(source) if name == source else sample_path(name)


def _check_targets(source: Path, figure: Path | None, report: Path | None, table: Path | None) -> None:
    targets = (("--figure", figure, _FIGURES), ("--report", report, _PAGES), ("--table", table, _TABLES))
    for option, path, suffixes in targets:
        if path is not None:
            check_target(option, path, suffixes, source=source)


def _read(
    source: str, *columns: str | None, labels: bool
) -> tuple[SessionLog, GroupTest | None, TabularMDP | None]:
    """Return a log; one of every step comes with a test of its states, and the problem that it shows."""
    from sojourn.sessions import is_step_log, read_sessions, read_steps  # noqa: PLC0415

    path = _path(source)
    length, observed, entry, group = columns
    if length is not None or not is_step_log(path):
        log = read_sessions(path, length=length, observed=observed, entry=entry, group=group)
        return log, None, None
    given = {"--observed": observed is not None, "--entry": entry not in (None, "none"), "--labels": labels}
    given["--group"] = group not in (None, "none")
    for option in (option for option, is_given in given.items() if is_given):
        raise ValueError(f"{option} is for logs with one row a session; {path.name} has one row a step.")
    steps = read_steps(path)
    try:
        problem = steps.problem()
    except ValueError:  # not every action was tried everywhere: nothing to price
        problem = None
    return steps.sessions(), None if group == "none" else steps.leaving_by_state(), problem


def _account(log: SessionLog) -> None:
    """Say on stderr which rows could not be used."""
    account = log.account
    if account.n_rejected:
        rows = f"{account.n_rejected:,} of {account.n_rows:,} rows"
        write_line(f"{rows} cannot be used and are left out. The first of them:", label="Warning")
        for one in account.first_rejected:
            write_line(f"  {log.name} {one}")
    for note in account.notes:
        write_line(note, label="Note")


def _print(found: Analysis, *, labels: bool, plot: bool) -> None:
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
        show(Text(f"* {EDGE_NOTE}.", style="dim"))
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


def _write(found: Analysis, figure: Path | None, report: Path | None, table: Path | None) -> None:
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
