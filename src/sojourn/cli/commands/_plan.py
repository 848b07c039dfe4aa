"""`sojourn plan`: find the best policy under a law, and its value."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from sojourn._text import one_line
from sojourn.cli._errors import reading_input
from sojourn.cli._laws import complete_law, read_law
from sojourn.cli._options import Debug, parse_positive, parse_whole
from sojourn.cli._output_files import check_output_file
from sojourn.cli._problems import complete_problem, read_problem_option
from sojourn.cli._solution import Bracket, Solution, solve
from sojourn.cli.output._numbers import format_bounds, format_number, shorten
from sojourn.cli.output._progress import show_progress
from sojourn.cli.output._streams import print_json, print_message, print_results
from sojourn.cli.output._strips import plan_strips
from sojourn.cli.output._tables import labeled_texts

if TYPE_CHECKING:
    from sojourn.laws import LengthLaw
    from sojourn.mdps import TabularMDP
    from sojourn.planning.policy_view import PolicyView

__all__ = ["EXAMPLES", "plan"]

EXAMPLES = (
    "sojourn plan --problem Taxi-v4 --law 'geometric(0.95)'",
    "sojourn plan --problem 'cash_or_invest(5)' --law 'discrete_weibull(0.5, 0.5)'",
    "sojourn plan --problem FrozenLake-v1 --law 'fixed(20)' --save lake.npz",
    "sojourn plan --problem 'garnet(9, 4, 3, seed=0)' --law 'uniform(1, 40)' --json",
)


def plan(
    *,
    problem: Annotated[
        str,
        typer.Option(
            "--problem",
            "--env",
            metavar="PROBLEM",
            help="A Gymnasium id, or a builder with its arguments; see 'sojourn list problems'.",
            autocompletion=complete_problem,
            show_default=False,
        ),
    ],
    law: Annotated[
        str,
        typer.Option(
            metavar="LAW",
            help="The law of episode lengths; see 'sojourn list laws'.",
            autocompletion=complete_law,
            show_default=False,
        ),
    ],
    tolerance: Annotated[
        str | None,
        typer.Option(
            metavar="WIDTH",
            help="Maximum width of the certified bracket of the value.",
            show_default="1e-6, or less if all rewards are smaller than 1",
        ),
    ] = None,
    max_layers: Annotated[
        str,
        typer.Option(
            metavar="N",
            help="Maximum number of steps computed one by one.",
            show_default="1,000,000",
        ),
    ] = "1000000",
    normalized: Annotated[bool, typer.Option("--normalized", help="Map rewards to [0, 1] first.")] = False,
    no_price: Annotated[
        bool,
        typer.Option("--no-price", help="Leave out the price of not knowing the length, which can be slow."),
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save the plan to a .npz file for load_plan.", show_default=False),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON; a horizon above 2^53 is null.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Find the best policy when the length of an episode is random and hidden.

    Values are averages over the start states, with proven bounds.
    """
    with show_progress("Reading the problem") as task:
        with reading_input():
            given_width = None if tolerance is None else parse_positive("--tolerance", tolerance)
            layers = parse_whole("--max-layers", max_layers, least=1)
            given, mdp = _read(problem, law, save)
            mdp = mdp.normalized() if normalized else mdp
        then = "" if no_price else ", then pricing what it costs not to know the length (--no-price skips it)"
        task.announce(f"Planning{then}; the first use compiles for some seconds.")
        from sojourn.mdps import check_tolerance  # noqa: PLC0415
        from sojourn.planning.policy_view import view_plan  # noqa: PLC0415 - loads numba

        width = check_tolerance(mdp, given_width)
        solution = solve(mdp, given, width, layers, with_price=not no_price, task=task)
        task.describe("Comparing with the best single γ")
        view = view_plan(solution.plan, single_gamma=False if no_price else None)
        if save is not None:
            with reading_input():
                solution.plan.save(save)
    if as_json:
        print_json(_data(solution, view, normalized=normalized, saved=save))
    else:
        title = Text(one_line(f"{mdp.name} under {shorten(repr(given))}"), style="bold cyan")
        rows = labeled_texts(_rows(solution, normalized=normalized))
        print_results(title, "", rows, "", *plan_strips(view))
    if save is not None:
        print_message(f"Saved to {save}.")
    print_message(solution.timing)


def _read(problem: str, law: str, save: Path | None) -> tuple[LengthLaw, TabularMDP]:
    """Check the input, the cheapest part first."""
    if save is not None:
        check_output_file("--save", save, [".npz"])
    given = read_law(law)
    if save is not None:
        from sojourn.laws import law_to_text  # noqa: PLC0415

        law_to_text(given, remedy="Leave out --save.")  # refuses a law that the file cannot hold
    return given, read_problem_option(problem)


def _rows(solution: Solution, *, normalized: bool) -> list[tuple[str, str]]:
    """Return the labels and texts that describe a solution."""
    mdp, blind, tolerance = solution.mdp, solution.blind, solution.tolerance
    low, value, high = format_bounds(blind.lower, blind.value, blind.upper, least=tolerance / 10.0)
    unit = ", rewards mapped to [0, 1]" if normalized else ""
    rows = [
        ("problem", f"{mdp.n_states:,} states, {mdp.n_actions} actions{unit}"),
        ("value", f"{value}, averaged over the start states"),
        ("certified", f"{low} ≤ V* ≤ {high}"),
    ]
    if normalized:
        rows.append(("in original units", format_number(solution.original(blind.value))))
    rows += [("policy", _describe_layers(solution)), _describe_horizon(solution)]
    if solution.clairvoyant is not None and solution.price is not None:
        rows.append(("if the length is known", solution.clairvoyant.text(tolerance)))
        rows.append(("price of not knowing", solution.price.text(tolerance)))
    return rows


def _describe_layers(solution: Solution) -> str:
    layers, longest = len(solution.plan.policy), solution.law.longest
    if layers == 1:
        return "1 layer: stationary, the same at every step"
    if longest is None:
        return f"{layers:,} layers, one per step; the last applies to all later steps"
    rest = "; the last applies until the end" if layers < longest else ""
    return f"{layers:,} layers, one per step{rest}"


def _describe_horizon(solution: Solution) -> tuple[str, str]:
    """Return the effective horizon, or a remark that the late steps were bounded instead of computed."""
    from sojourn.laws import effective_horizon  # noqa: PLC0415

    horizon = effective_horizon(solution.law, solution.truncation)
    if horizon is None or horizon > solution.max_layers:
        n_layers = "over 2^53" if horizon is None else format_number(horizon)
        return "late steps", f"bounded by proof; computing them would take {n_layers} layers"
    weight = f"Γ(N) ≤ {solution.truncation:.1g}, the tolerance over the reward range"
    return "effective horizon", f"{format_number(horizon)} ({weight})"


def _data(solution: Solution, view: PolicyView, *, normalized: bool, saved: Path | None) -> dict[str, Any]:
    """Return a solution as plain data, for JSON."""
    from sojourn.laws import effective_horizon  # noqa: PLC0415

    mdp = solution.mdp
    return {
        "problem": mdp.name,
        "states": mdp.n_states,
        "actions": mdp.n_actions,
        "law": repr(solution.law),
        "normalized": normalized,
        "scale": mdp.reward_scale,
        "shift": mdp.reward_shift,
        "tolerance": solution.tolerance,
        "max_layers": solution.max_layers,
        **_bracket_data(solution.blind, "value", ""),
        "effective_horizon": {
            "truncation": solution.truncation,
            "horizon": effective_horizon(solution.law, solution.truncation),
        },
        "layers": len(solution.plan.policy),
        "after": solution.plan.after,
        "stationary": len(solution.plan.policy) == 1,
        "actions_by_step": _steps_data(view),
        "single_gamma": [
            {"name": one.name, "value": one.value, "loss": one.loss} for one in view.policies[1:]
        ],
        **_bracket_data(solution.clairvoyant, "clairvoyant", "clairvoyant_"),
        **_bracket_data(solution.price, "price", "price_"),
        "saved": None if saved is None else str(saved),
    }


def _steps_data(view: PolicyView) -> list[dict[str, Any]]:
    """Return what the plan does in each shown state, one entry per stretch of steps with the same action."""
    return [
        {
            "state": state,
            "state_name": name,
            "stretches": [
                {"first": part.first, "last": part.last, "action": view.action_names[part.action]}
                for part in view.stretches(view.policies[0], i)
            ],
        }
        for i, (state, name) in enumerate(zip(view.states, view.state_names, strict=True))
    ]


def _bracket_data(bracket: Bracket | None, name: str, prefix: str) -> dict[str, float | None]:
    values = (None, None, None) if bracket is None else (bracket.value, bracket.lower, bracket.upper)
    return dict(zip((name, f"{prefix}lower", f"{prefix}upper"), values, strict=True))
