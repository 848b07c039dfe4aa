"""`sojourn plan`: the best policy under a law, and what it is worth."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from sojourn.cli._envs import complete_env, parse_env
from sojourn.cli._errors import reading_input
from sojourn.cli._files import check_target
from sojourn.cli._laws import complete_law, horizon
from sojourn.cli._output import (
    bounds,
    facts,
    number,
    print_json,
    shortened,
    show,
    working,
    write_line,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from sojourn._typing import FloatArray
    from sojourn.laws import LengthLaw
    from sojourn.mdps import TabularMDP
    from sojourn.planning import Plan

__all__ = ["EXAMPLES", "plan"]

EXAMPLES = (
    "sojourn plan --env Taxi-v4 --law 'geometric(0.95)'",
    "sojourn plan --env 'cash_or_invest(5)' --law 'discrete_weibull(0.5, 0.5)'",
    "sojourn plan --env FrozenLake-v1 --law 'fixed(20)' --save lake.npz",
    "sojourn plan --env 'garnet(50, 4, 3, seed=0)' --law 'uniform(1, 40)' --json",
)


def plan(
    *,
    env: Annotated[
        str,
        typer.Option(
            metavar="ENV",
            help="A Gymnasium id, or a builder with its arguments; see 'sojourn list envs'.",
            autocompletion=complete_env,
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
        float, typer.Option(metavar="WIDTH", help="How wide the certified bracket of the value may be.")
    ] = 1e-6,
    normalized: Annotated[bool, typer.Option("--normalized", help="Map rewards to [0, 1] first.")] = False,
    no_price: Annotated[
        bool,
        typer.Option("--no-price", help="Leave out what not knowing the length costs: it can take long."),
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save the plan to a .npz file for load_plan.", show_default=False),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON; a horizon above 2^53 is null.")
    ] = False,
) -> None:
    """Find the best policy when an episode's length is drawn from a law and not told.

    Values are averages over the start states, with bounds that are proven.
    """
    with working("Reading the problem") as say:
        with reading_input():
            given, mdp = _read(env, law, tolerance, save)
            mdp = mdp.normalized() if normalized else mdp
        answer = _solve(mdp, given, tolerance, with_price=not no_price, say=say)
        if save is not None:
            with reading_input():
                answer.plan.save(save)
    if as_json:
        print_json(_data(answer, normalized=normalized, saved=save))
    else:
        title = Text(f"{mdp.name} under {shortened(repr(given))}", style="bold cyan")
        show(title, "", facts(_rows(answer, normalized=normalized)))
    if save is not None:
        write_line(f"Saved to {save}.")
    write_line(answer.timing)


def _read(env: str, law: str, tolerance: float, save: Path | None) -> tuple[LengthLaw, TabularMDP]:
    """Check what the user gave, the cheapest first."""
    from sojourn._validation import check_positive  # noqa: PLC0415
    from sojourn.laws import parse_law  # noqa: PLC0415

    check_positive("--tolerance", tolerance)
    if save is not None:
        check_target("--save", save, [".npz"])
    return parse_law(law), parse_env(env)


@dataclass(frozen=True)
class _Answer:
    """A plan, seen from the start distribution."""

    mdp: TabularMDP
    plan: Plan
    tolerance: float
    value: float
    lower: float
    upper: float
    clairvoyant: float | None
    timing: str

    @property
    def law(self) -> LengthLaw:
        return self.plan.law

    @property
    def truncation(self) -> float:
        """Weight of late steps that can move the value by the tolerance at most."""
        return self.tolerance / (float(self.mdp.rewards.max() - self.mdp.rewards.min()) or 1.0)

    @property
    def price(self) -> float | None:
        return None if self.clairvoyant is None else self.clairvoyant - self.value

    def original(self, value: float) -> float:
        """Return a value of the normalised problem in the environment's own units."""
        return value * self.mdp.scale + self.mdp.shift * self.law.mean


def _solve(
    mdp: TabularMDP, law: LengthLaw, tolerance: float, *, with_price: bool, say: Callable[[str], None]
) -> _Answer:
    say("Planning")
    from sojourn.planning import clairvoyant_value  # noqa: PLC0415
    from sojourn.planning import plan as find_plan  # noqa: PLC0415

    begun = time.perf_counter()
    found = find_plan(mdp, law, tolerance=tolerance)
    planned = time.perf_counter()
    timing, clairvoyant = f"Planned in {planned - begun:.2f} s", None
    if with_price:
        say("Pricing what it costs not to know the length (--no-price skips this)")
        # The plan's value is half a tolerance off at most, and so is this.
        clairvoyant, _ = _average(mdp, clairvoyant_value(mdp, law, tolerance=tolerance / 2.0))
        timing += f", priced in {time.perf_counter() - planned:.2f} s"
    lower, slack_below = _average(mdp, found.lower)
    upper, slack_above = _average(mdp, found.upper)
    return _Answer(
        mdp=mdp,
        plan=found,
        tolerance=tolerance,
        value=_average(mdp, found.value)[0],
        lower=lower - slack_below,
        upper=upper + slack_above,
        clairvoyant=clairvoyant,
        timing=f"{timing}.",
    )


def _average(mdp: TabularMDP, values: FloatArray) -> tuple[float, float]:
    """Return the mean over the start states, and a bound on its rounding error."""
    terms = (mdp.start * values).tolist()
    total = math.fsum(mdp.start.tolist())
    return math.fsum(terms) / total, 2.0**-50 * math.fsum(map(abs, terms))


def _rows(answer: _Answer, *, normalized: bool) -> list[tuple[str, str]]:
    mdp, layers = answer.mdp, len(answer.plan.policy)
    low, value, high = bounds(answer.lower, answer.value, answer.upper, least=answer.tolerance / 10.0)
    unit = ", rewards mapped to [0, 1]" if normalized else ""
    reach = horizon(answer.law, answer.truncation)
    rows = [
        ("problem", f"{mdp.n_states:,} states, {mdp.n_actions} actions{unit}"),
        ("value", f"{value}, averaged over the start states"),
        ("certified", f"{low} ≤ V* ≤ {high}"),
    ]
    if normalized:
        rows.append(("in its own units", number(answer.original(answer.value))))
    stationary = "1 layer: stationary, the same at every step"
    held = f"{layers:,} layers, one a step; the last is held for ever"
    weight = f"Γ(N) ≤ {answer.truncation:.1g}, the tolerance over the reward range"
    rows += [
        ("policy", stationary if layers == 1 else held),
        ("effective horizon", f"{'> 2^53' if reach is None else number(reach)} ({weight})"),
    ]
    if answer.clairvoyant is not None and answer.price is not None:
        rows.append(("if told the length", number(answer.clairvoyant)))
        rows.append(("price of not knowing", _price(answer.price, answer.tolerance)))
    return rows


def _price(price: float, tolerance: float) -> str:
    return f"0, to within {tolerance:g}" if abs(price) <= tolerance else number(price)


def _data(answer: _Answer, *, normalized: bool, saved: Path | None) -> dict[str, Any]:
    mdp = answer.mdp
    return {
        "problem": mdp.name,
        "states": mdp.n_states,
        "actions": mdp.n_actions,
        "law": repr(answer.law),
        "normalized": normalized,
        "scale": mdp.scale,
        "shift": mdp.shift,
        "tolerance": answer.tolerance,
        "value": answer.value,
        "lower": answer.lower,
        "upper": answer.upper,
        "effective_horizon": {
            "truncation": answer.truncation,
            "horizon": horizon(answer.law, answer.truncation),
        },
        "layers": len(answer.plan.policy),
        "after": answer.plan.after,
        "stationary": len(answer.plan.policy) == 1,
        "clairvoyant": answer.clairvoyant,
        "price": answer.price,
        "saved": None if saved is None else str(saved),
    }
