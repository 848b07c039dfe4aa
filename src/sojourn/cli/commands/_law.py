"""`sojourn law`: look at a law of episode lengths."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from sojourn.cli._errors import reading_input
from sojourn.cli._laws import LAST_STEP, complete_law, horizon
from sojourn.cli._options import Debug, positive
from sojourn.cli._targets import check_target
from sojourn.cli.output._console import fitted, number, print_json, results, shortened, show, write_line
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
            help="A law, as in the examples; 'sojourn list laws' has them all.",
            autocompletion=complete_law,
            show_default=False,
        ),
    ],
    *,
    truncation: Annotated[
        list[str] | None,
        typer.Option(
            metavar="Δ",
            help="Weight that may be left after the effective horizon; may be repeated.",
            show_default="1, 0.1, 0.01",
        ),
    ] = None,
    steps: Annotated[
        str | None,
        typer.Option(metavar="H,H,…", help="Steps to show, such as 1,10,100.", show_default="chosen to fit"),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the law into a .png, .svg or .pdf file.", show_default=False),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON; a horizon above 2^53 is null.")
    ] = False,
    no_plot: Annotated[bool, typer.Option("--no-plot", help="Leave out the curve in the terminal.")] = False,
    debug: Debug = False,
) -> None:
    """Show what a law of episode lengths means as a discount function.

    Its mean, effective horizons and course, beside the geometric law (ordinary discounting) of the same mean.
    """
    with reading_input():
        from sojourn.laws import parse_law, same_mean  # noqa: PLC0415

        given = parse_law(text)
        truncations = [positive("--truncation", value) for value in truncation or ("1", "0.1", "0.01")]
        shown_steps = _read_steps(steps) if steps is not None else _chosen_steps(given)
        if plot is not None:
            check_target("--plot", plot, _PLOT_SUFFIXES)
    rival = same_mean(given)
    if as_json:
        data = _describe(given, truncations, shown_steps)
        print_json(data | {"geometric": _describe(rival or given, truncations, shown_steps)})
    else:
        _print(given, rival, truncations, shown_steps)
        if plot is None and not no_plot:
            _print_curves(given, rival)
    if plot is not None:
        figure = given.plot()
        with reading_input():
            figure.savefig(plot)
        write_line(f"Drawn into {plot}.")


def _read_steps(text: str) -> list[int]:
    try:
        steps = [int(part) for part in text.split(",")]
    except ValueError:
        steps = []
    if not steps or not all(1 <= step <= LAST_STEP for step in steps):
        raise ValueError(f"--steps must be whole numbers from 1 to 2^53, such as 1,10,100; got {text!r}.")
    return steps


def _chosen_steps(given: LengthLaw) -> list[int]:
    """Return the steps at which the law falls: quantiles, both sides of a sudden fall, round ones far out."""
    from sojourn.laws import is_heavy, quantile  # noqa: PLC0415

    heavy = is_heavy(given)
    shares = (0.9, 0.75, 0.5, 0.25, 0.1, 0.01, 0.001, 10.0**-_TAIL_DECADES)
    chosen = {quantile(given, left) for left in (shares if heavy else shares[:-1])}
    sudden = {
        step + 1
        for step in chosen
        if step < (given.longest or LAST_STEP) and given.survival(step) - given.survival(step + 1) > 0.1
    }
    middle, last = quantile(given, 0.5), max(chosen)
    far = {10**power for power in range(16) if middle < 10**power < last} if heavy else set()
    return sorted({1} | chosen | sudden | far)


def _describe(given: LengthLaw, truncations: Sequence[float], steps: Sequence[int]) -> dict[str, Any]:
    from sojourn.laws import quantile  # noqa: PLC0415

    columns = {
        name: getattr(given, name)(steps).tolist()
        for name in ("survival", "hazard", "continuation", "remaining")
    }
    return {
        "law": repr(given),
        "mean": given.mean,
        "median": quantile(given, 0.5),
        "longest": given.longest,
        "effective_horizons": [{"truncation": left, "horizon": horizon(given, left)} for left in truncations],
        "steps": [
            {"step": step} | {name: column[i] for name, column in columns.items()}
            for i, step in enumerate(steps)
        ],
    }


def _print(
    given: LengthLaw, rival: LengthLaw | None, truncations: Sequence[float], steps: Sequence[int]
) -> None:
    laws = [given] if rival is None else [given, rival]
    described = [_describe(one, truncations, steps) for one in laws]
    names = ["this law", "geometric"][: len(laws)]
    summary = [
        ("mean length", *[number(one["mean"]) for one in described]),
        ("median length", *[number(one["median"]) for one in described]),
        ("longest length", *[_or(one["longest"], "no limit") for one in described]),
    ]
    for i, left in enumerate(truncations):
        found = [_or(one["effective_horizons"][i]["horizon"], "> 2^53") for one in described]
        summary.append((f"effective horizon, Δ = {left:g}", *found))

    headings = ["step\nh", "survival\nγ(h)", "hazard", "continue\nρ(h)", "remaining\nsteps"]
    course = []
    for i, row in enumerate(described[0]["steps"]):
        shares = [_share(row[name]) for name in ("survival", "hazard", "continuation")]
        rivals = [_share(one["steps"][i]["survival"]) for one in described[1:]]
        course.append((number(row["step"]), *shares, number(row["remaining"]), *rivals))
    show(
        Text(shortened(repr(given)), style="bold cyan"),
        "",
        *fitted(["", *names], summary, drop=[2][: len(laws) - 1]),
        "",
        # ρ is 1 − hazard, so it goes first.
        *fitted(
            [*headings, *[f"{name}\nγ(h)" for name in names[1:]]],
            course,
            left=(),
            drop=[3, 4, 2, 5][: 2 + len(laws)],
        ),
    )


def _or(value: int | None, otherwise: str) -> str:
    return otherwise if value is None else number(value)


def _share(value: float) -> str:
    return f"{value:.1e}" if 0.0 < value < 1e-3 else f"{abs(value):.4f}"


def _print_curves(given: LengthLaw, rival: LengthLaw | None) -> None:
    from sojourn.laws import is_heavy  # noqa: PLC0415

    console = results()
    heavy = is_heavy(given)
    curves = [Curve(lambda steps: given.survival(steps).tolist(), "this law", "cyan", "*")]
    last = _last_shown(given, heavy=heavy)
    if rival is not None:
        heights = rival.survival
        label = "geometric, same mean"
        curves.append(Curve(lambda steps: heights(steps).tolist(), label, "yellow", ".", dashed=True))
        last = max(last, _last_shown(rival, heavy=heavy))
    axes = "survival γ(h) by step h" + (", both logarithmic" if heavy else "")
    frame = Frame(last, decades=_TAIL_DECADES if heavy else 0)
    width = min(console.width, _PLOT_COLUMNS)
    picture = draw(curves, frame, width=width, braille=console.encoding.startswith("utf"))
    show("", Text(axes, style="bold"), picture)


def _last_shown(given: LengthLaw, *, heavy: bool) -> int:
    """Return where the curve has come down."""
    from sojourn.laws import quantile  # noqa: PLC0415

    if heavy:
        return max(quantile(given, 10.0**-_TAIL_DECADES), 10)
    late = quantile(given, 0.01)
    if given.longest is not None and given.longest <= 2 * late:
        late = given.longest + 1
    return min(max(late, 2), LAST_STEP)
