"""`sojourn fit`: from a session log to a law, a discount and advice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn.cli._errors import reading_input
from sojourn.cli._options import Debug, positive
from sojourn.cli._problems import complete_env, parse_env
from sojourn.cli._targets import check_target
from sojourn.cli.output._analysis import print_analysis, tell_account, write_files
from sojourn.cli.output._console import print_json, working

if TYPE_CHECKING:
    from sojourn.mdps import TabularMDP
    from sojourn.sessions import GroupTest, SessionLog

__all__ = ["EXAMPLES", "fit"]

EXAMPLES = (
    "sojourn fit sample:streaming --figure streaming.png",
    "sojourn fit sessions.csv --report sessions.html",
    "sojourn fit sessions.parquet --length clicks --observed left --group country --json",
    "sojourn fit sessions.csv --delta 0.1 --env 'cash_or_invest(5)'",
)

_FIGURES, _PAGES, _TABLES = (".png", ".svg", ".pdf"), (".html", ".htm"), (".csv",)


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
        tell_account(log)
        work.say("Fitting")
        with reading_input():
            from sojourn.sessions import analyze  # noqa: PLC0415

            found = analyze(log, confidence=share, truncations=lefts, problem=problem or own, test=test)
        if as_json:
            print_json(found.as_dict(labels=labels))
        else:
            print_analysis(found, labels=labels, plot=not no_plot)
        work.say("Drawing")
        write_files(found, figure, report, table)


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
