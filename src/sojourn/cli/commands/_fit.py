"""`sojourn fit`: fit laws to a session log and explain the discount that they imply."""

from __future__ import annotations

from dataclasses import dataclass
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn.cli._errors import reading_input
from sojourn.cli._options import Debug, FigureFile, ReportFile, parse_confidence, parse_positive
from sojourn.cli._output_files import check_output_file, check_output_files
from sojourn.cli._problems import complete_problem, read_problem_option
from sojourn.cli._sources import open_source
from sojourn.cli.output._analysis import (
    check_rejected_share,
    print_account,
    print_analysis,
    write_files,
    write_schedule,
)
from sojourn.cli.output._progress import show_progress
from sojourn.cli.output._streams import print_json, print_message

if TYPE_CHECKING:
    from sojourn.mdps import TabularMDP
    from sojourn.sessions import GroupTest, SessionLog, StepLog

__all__ = ["EXAMPLES", "fit"]

RESAMPLES = 100
"""Number of resampled logs by default; twice as many for small logs."""

_SMALL = 100
"""Up to so many sessions, a log is small: its intervals are wide, and so their ends vary with the draws."""

EXAMPLES = (
    "sojourn fit sample:streaming --figure streaming.png",
    "sojourn fit sessions.csv --report sessions.html",
    "sojourn fit sessions.parquet --length clicks --observed left --group country --json",
    "sojourn fit sessions.csv --truncation 0.1 --problem 'cash_or_invest(5)'",
)


def fit(
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="SESSIONS",
            help="Files or folders with one row per session, step or event (CSV, JSON lines, Parquet or "
            "SQLite; text may be compressed), or - for standard input; or sample:NAME, a generated log that "
            "comes with Sojourn (streaming, support, course, shop).",
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
            help="The column that says whether a session was seen to end; 'none' if all were.",
            show_default="observed, ended, …, or open, censored",
        ),
    ] = None,
    entry: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column with the step from which a session was seen; 'none' if from the first.",
            show_default="entry",
        ),
    ] = None,
    entry_after: Annotated[
        bool,
        typer.Option(
            "--entry-after",
            help="Sessions were seen after the step of their entry, as in start–stop data, not from it on.",
        ),
    ] = False,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of groups, to test whether leaving depends on them; 'none' for no test.",
            show_default="group, state, segment",
        ),
    ] = None,
    ended: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD",
            help="What the column of --observed holds for sessions that ended, such as 2 or churned; may be "
            "repeated.",
            show_default="true, 1",
        ),
    ] = None,
    count: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column with the number of sessions, or of steps, that a row stands for.",
            show_default="every row is one",
        ),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="The length of a step, such as 1min, if lengths are durations (seconds, 1:02:03, 90s) or "
            "times of --start and --end; a step that has begun counts.",
            show_default="lengths are in steps",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column with the time at which a session began.", show_default="start"
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column with the time at which a session ended; empty while it is open.",
            show_default="end",
        ),
    ] = None,
    gap: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="The longest pause within a session, such as 30min: rows are events of users, and a "
            "session's length is its number of events.",
            show_default=False,
        ),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of users for --gap.", show_default="user, …"),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of times for --gap.", show_default="time, …"),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="The query to run on an SQLite file.", show_default="its table"),
    ] = None,
    truncation: Annotated[
        list[str] | None,
        typer.Option(
            "--truncation",
            metavar="Δ",
            help="Weight given up beyond the effective horizon; may be repeated.",
            show_default="1, 0.1, 0.01",
        ),
    ] = None,
    delta: Annotated[list[str] | None, typer.Option("--delta", hidden=True)] = None,
    confidence: Annotated[
        str, typer.Option(metavar="SHARE", help="Confidence level of the band around the data.")
    ] = "0.95",
    problem: Annotated[
        str | None,
        typer.Option(
            "--problem",
            "--env",
            metavar="PROBLEM",
            help="A problem on which to price a single γ; see 'sojourn list problems'.",
            autocompletion=complete_problem,
            show_default=False,
        ),
    ] = None,
    figure: FigureFile = None,
    report: ReportFile = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='Write the survival of the data to a .csv file for tabulated("FILE").',
            show_default=False,
        ),
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="Show the log's own names of groups (never in a report).")
    ] = False,
    open_survived: Annotated[
        bool,
        typer.Option(
            "--open-survived",
            help="Open sessions of n steps went on after step n (H ≥ n + 1), as lifelines and R assume.",
        ),
    ] = False,
    accept_rejects: Annotated[
        bool,
        typer.Option("--accept-rejects", help="Give advice even if many rows of the file cannot be used."),
    ] = False,
    schedule: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write γ(h), ρ(h) and expected remaining steps of the fitted law, or of each group's, to a "
            ".csv or .json file.",
            show_default=False,
        ),
    ] = None,
    resamples: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of resampled logs for the intervals, which include the choice of the family.",
            show_default="100, or 200 up to 100 sessions",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    no_plot: Annotated[bool, typer.Option("--no-plot", help="Leave out the curve in the terminal.")] = False,
    debug: Debug = False,
) -> None:
    """Fit laws to session lengths, and say what discount and what horizon they imply.

    Open sessions count as far as they got. Every family is fitted by maximum likelihood, ranked by BIC and
    compared with the data.
    """
    with show_progress("Reading the log") as task:
        with reading_input():
            confidence_level = parse_confidence(confidence)
            truncations = _parse_truncations(truncation, delta)
            for one in source:
                check_output_files(_log_path(one), figure, report, table)
                if schedule is not None:
                    check_output_file("--schedule", schedule, (".csv", ".json"), source=_log_path(one))
            if schedule is not None and table is not None and realpath(schedule) == realpath(table):
                raise ValueError(f"--schedule and --table must be two files; got {str(table)!r} for both.")
            given_problem = None if problem is None else read_problem_option(problem)
            found = _read_log(
                source,
                query=query,
                labels=labels,
                length=length,
                observed=observed,
                entry=entry,
                entry_after=entry_after,
                group=group,
                count=count,
                ended=ended,
                step=step,
                start=start,
                end=end,
                gap=gap,
                user=user,
                time=time,
                open_survived=open_survived,
            )
        print_account(found.log.name, found.log.account)
        with reading_input():
            if not accept_rejects:
                check_rejected_share(found.log.account)
            if step is not None and found.log.longest == 1:
                raise ValueError(
                    f"--step must be shorter than the longest session; all {len(found.log):,} have one step "
                    f"of {step}. If their unit is not the one that the note above says, give --step in the "
                    "unit of the durations, as a number alone."
                )
        task.describe("Fitting")
        if resamples is None:
            resamples = 2 * RESAMPLES if len(found.log) <= _SMALL else RESAMPLES
        with reading_input():
            from sojourn.sessions import analyze  # noqa: PLC0415

            analysis = analyze(
                found.log,
                confidence=confidence_level,
                truncations=truncations,
                problem=given_problem or found.problem,
                test=found.test,
                steps=None if given_problem else found.steps,
                resamples=resamples,
            )
    if as_json:
        print_json(analysis.as_dict(labels=labels))
    else:
        print_analysis(analysis, labels=labels, plot=not no_plot)
    with show_progress("Drawing"):
        write_files(analysis, figure, report, table)
        if schedule is not None:
            write_schedule(analysis, schedule, labels=labels)


def _parse_truncations(truncation: list[str] | None, delta: list[str] | None) -> list[float]:
    """Return the values of `--truncation` and of `--delta`, its name in version 0.1."""
    if delta:
        print_message("--delta is now called --truncation; the old name will be removed.", label="Note")
    texts = [*(truncation or ()), *(delta or ())]
    return [parse_positive("--truncation", text) for text in texts or ("1", "0.1", "0.01")]


def _log_path(source: str) -> Path:
    """Return the path of a log, which may be a sample."""
    from sojourn.sessions import sample_path  # noqa: PLC0415

    name = source.removeprefix("sample:")
    return Path(source) if name == source else sample_path(name)


@dataclass(frozen=True)
class _Log:
    """A log and what else its file shows.

    Attributes:
        log: The sessions.
        test: A test of whether leaving depends on the state; only for logs with one row per step.
        problem: The problem estimated from the steps; only for logs with one row per step.
        steps: The steps; only for logs with one row per step.
    """

    log: SessionLog
    test: GroupTest | None = None
    problem: TabularMDP | None = None
    steps: StepLog | None = None


def _read_log(
    sources: list[str], *, query: str | None, labels: bool, **options: str | list[str] | bool | None
) -> _Log:
    """Read a log with one row per session, event or step."""
    from sojourn.sessions import SessionLog, read_log  # noqa: PLC0415

    source = open_source("SESSIONS", sources, [_log_path(one) for one in sources])
    log = read_log(source, query=query, **options)
    if isinstance(log, SessionLog):
        return _Log(log)
    if labels:
        raise ValueError(f"--labels is for logs with one row per session; {log.name} has one row per step.")
    try:
        problem = log.problem()
    except ValueError as error:  # such as an action that was never tried in some state
        print_message(f"What a single γ costs on the log's own problem is unknown: {error}", label="Note")
        problem = None
    rewards = None if problem is None else log.rewards_left_out()
    if rewards is not None:
        seen, expected = (f"{one:.3g}" for one in rewards)
        print_message(
            f"The last steps of sessions pay {seen} on average; other steps with the same states and actions "
            f"pay {expected}. The log's own problem leaves last steps out, as their next state is unknown, "
            f"and takes them to pay {expected}. If sessions end because of what happens, mark such ends in a "
            "column 'terminated', and they are part of the problem.",
            label="Note",
        )
    if problem is not None and problem.rewards.min() == problem.rewards.max():
        print_message(
            "All steps of the log's own problem pay the same, so no policy is better than another. Last "
            "steps are no part of it.",
            label="Note",
        )
        problem = None
    test = None if options["group"] == "none" else log.leaving_test()
    if test is None and options["group"] != "none" and len(log.states) > 1:
        print_message(
            "Whether leaving depends on the state could not be tested: no two states occur at the same step, "
            "or too few sessions end.",
            label="Note",
        )
    return _Log(log.sessions(), test, problem, log)
