"""`sojourn law`: show a law of episode lengths as a discount function."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from sojourn.cli._errors import reading_input
from sojourn.cli._laws import LAST_STEP, complete_law, read_law
from sojourn.cli._options import Debug, parse_positive
from sojourn.cli._output_files import check_output_file, write_figure
from sojourn.cli.output._numbers import format_number, shorten
from sojourn.cli.output._streams import print_json, print_results, results_console
from sojourn.cli.output._tables import table_to_fit
from sojourn.cli.output._terminal_plot import Curve, Frame, draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sojourn.laws import LengthLaw

__all__ = ["EXAMPLES", "law"]

EXAMPLES = (
    "sojourn law 'polynomial(1.4, offset=20)'",
    "sojourn law 'uniform(1, 40)' --steps 1,20,40 --no-plot",
    "sojourn law 'geometric(0.95)' --truncation 1e-3 --json",
    "sojourn law 'mixture([0.5, 0.5], [fixed(1), geometric(0.9)])' --plot law.svg",
)

_PLOT_SUFFIXES = (".png", ".svg", ".pdf")
_PLOT_COLUMNS = 120
_TAIL_DECADES = 4


def law(
    text: Annotated[
        str,
        typer.Argument(
            metavar="LAW",
            help="A law, as in the examples; see 'sojourn list laws'.",
            autocompletion=complete_law,
            show_default=False,
        ),
    ],
    *,
    truncation: Annotated[
        list[str] | None,
        typer.Option(
            metavar="Δ",
            help="Weight given up beyond the effective horizon; may be repeated.",
            show_default="1, 0.1, 0.01",
        ),
    ] = None,
    steps: Annotated[
        str | None,
        typer.Option(metavar="H,H,…", help="Steps to show, such as 1,10,100.", show_default="automatic"),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the law to a .png, .svg or .pdf file.", show_default=False),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON; a horizon above 2^53 is null.")
    ] = False,
    no_plot: Annotated[bool, typer.Option("--no-plot", help="Leave out the curve in the terminal.")] = False,
    debug: Debug = False,
) -> None:
    """Show what a law of episode lengths means as a discount function.

    Prints its mean, effective horizons and values by step, next to the geometric law of the same mean
    (ordinary discounting).
    """
    with reading_input():
        from sojourn.laws import same_mean  # noqa: PLC0415

        given = read_law(text)
        truncations = [parse_positive("--truncation", value) for value in truncation or ("1", "0.1", "0.01")]
        shown_steps = _read_steps(steps) if steps is not None else _chosen_steps(given)
        if plot is not None:
            check_output_file("--plot", plot, _PLOT_SUFFIXES)
    geometric = same_mean(given)
    if as_json:
        data = _describe(given, truncations, shown_steps)
        print_json(data | {"geometric": _describe(geometric or given, truncations, shown_steps)})
    else:
        _print(given, geometric, truncations, shown_steps)
        if plot is None and not no_plot:
            _print_curves(given, geometric)
    if plot is not None:
        write_figure(given.plot(), plot)


def _read_steps(text: str) -> list[int]:
    try:
        steps = [int(part) for part in text.split(",")]
    except ValueError:
        steps = []
    if not steps or not all(1 <= step <= LAST_STEP for step in steps):
        raise ValueError(f"--steps must be whole numbers from 1 to 2^53, such as 1,10,100; got {text!r}.")
    return steps


def _chosen_steps(given: LengthLaw) -> list[int]:
    """Return steps that show the law: quantiles, both sides of a sudden drop, round steps in the tail."""
    from sojourn.laws import is_heavy, quantile  # noqa: PLC0415

    heavy = is_heavy(given)
    shares = (0.9, 0.75, 0.5, 0.25, 0.1, 0.01, 0.001, 10.0**-_TAIL_DECADES)
    chosen = {quantile(given, left) for left in (shares if heavy else shares[:-1])}
    after_drops = {
        step + 1
        for step in chosen
        if step < (given.longest or LAST_STEP) and given.survival(step) - given.survival(step + 1) > 0.1
    }
    median, last = quantile(given, 0.5), max(chosen)
    round_steps = {10**power for power in range(16) if median < 10**power < last} if heavy else set()
    return sorted({1} | chosen | after_drops | round_steps)


def _describe(given: LengthLaw, truncations: Sequence[float], steps: Sequence[int]) -> dict[str, Any]:
    from sojourn.laws import effective_horizon, quantile  # noqa: PLC0415

    columns = {
        name: getattr(given, name)(steps).tolist()
        for name in ("survival", "hazard", "continuation", "remaining")
    }
    return {
        "law": repr(given),
        "mean": given.mean,
        "median": quantile(given, 0.5),
        "longest": given.longest,
        "effective_horizons": [
            {"truncation": truncation, "horizon": effective_horizon(given, truncation)}
            for truncation in truncations
        ],
        "steps": [
            {"step": step} | {name: column[i] for name, column in columns.items()}
            for i, step in enumerate(steps)
        ],
    }


def _print(
    given: LengthLaw, geometric: LengthLaw | None, truncations: Sequence[float], steps: Sequence[int]
) -> None:
    laws = [given] if geometric is None else [given, geometric]
    described = [_describe(one, truncations, steps) for one in laws]
    names = ["this law", "geometric"][: len(laws)]
    summary = [
        ("mean length", *[format_number(one["mean"]) for one in described]),
        ("median length", *[format_number(one["median"]) for one in described]),
        ("longest length", *[_number_or(one["longest"], "no limit") for one in described]),
    ]
    for i, truncation in enumerate(truncations):
        found = [_number_or(one["effective_horizons"][i]["horizon"], "> 2^53") for one in described]
        summary.append((f"effective horizon, Δ = {truncation:g}", *found))

    headings = ["step\nh", "survival\nγ(h)", "hazard", "continue\nρ(h)", "remaining\nsteps"]
    values = []
    for i, row in enumerate(described[0]["steps"]):
        shares = [_format_share(row[name]) for name in ("survival", "hazard", "continuation")]
        geometric_survival = [_format_share(one["steps"][i]["survival"]) for one in described[1:]]
        step, remaining = format_number(row["step"]), format_number(row["remaining"])
        values.append((step, *shares, remaining, *geometric_survival))
    print_results(
        Text(shorten(repr(given)), style="bold cyan"),
        "",
        *table_to_fit(["", *names], summary, optional=[2][: len(laws) - 1]),
        "",
        # ρ is 1 − hazard, so it is the first column to go.
        *table_to_fit(
            [*headings, *[f"{name}\nγ(h)" for name in names[1:]]],
            values,
            words=(),
            optional=[3, 4, 2, 5][: 2 + len(laws)],
        ),
    )


def _number_or(value: int | None, otherwise: str) -> str:
    return otherwise if value is None else format_number(value)


def _format_share(value: float) -> str:
    return f"{value:.1e}" if 0.0 < value < 1e-3 else f"{abs(value):.4f}"


def _print_curves(given: LengthLaw, geometric: LengthLaw | None) -> None:
    from sojourn.laws import is_heavy  # noqa: PLC0415

    console = results_console()
    heavy = is_heavy(given)
    curves = [Curve(lambda steps: given.survival(steps).tolist(), "this law", "cyan", "*")]
    last = _last_shown(given, heavy=heavy)
    if geometric is not None:
        heights = geometric.survival
        label = "geometric, same mean"
        curves.append(Curve(lambda steps: heights(steps).tolist(), label, "yellow", ".", dashed=True))
        last = max(last, _last_shown(geometric, heavy=heavy))
    axes = "survival γ(h) by step h" + (", both logarithmic" if heavy else "")
    frame = Frame(last, decades=_TAIL_DECADES if heavy else 0)
    width = min(console.width, _PLOT_COLUMNS)
    picture = draw(curves, frame, width=width, braille=console.encoding.startswith("utf"))
    print_results("", Text(axes, style="bold"), picture)


def _last_shown(given: LengthLaw, *, heavy: bool) -> int:
    """Return the step up to which the curve is drawn, where it is close to 0."""
    from sojourn.laws import quantile  # noqa: PLC0415

    if heavy:
        return max(quantile(given, 10.0**-_TAIL_DECADES), 10)
    late = quantile(given, 0.01)
    if given.longest is not None and given.longest <= 2 * late:
        late = given.longest + 1
    return min(max(late, 2), LAST_STEP)
