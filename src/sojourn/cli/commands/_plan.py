"""`sojourn plan`: the best policy under a law, and what it is worth."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from sojourn.cli._errors import reading_input
from sojourn.cli._laws import complete_law, horizon
from sojourn.cli._options import Debug, positive, whole
from sojourn.cli._problems import complete_env, parse_env
from sojourn.cli._targets import check_target
from sojourn.cli.output._console import (
    Work,
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
        str, typer.Option(metavar="WIDTH", help="How wide the certified bracket of the value may be.")
    ] = "1e-6",
    max_layers: Annotated[
        str,
        typer.Option(
            metavar="N", help="How many steps may be computed one by one.", show_default="1,000,000"
        ),
    ] = "1000000",
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
    debug: Debug = False,
) -> None:
    """Find the best policy when an episode's length is drawn from a law and not told.

    Values are averages over the start states, with bounds that are proven.
    """
    with working("Reading the problem") as work:
        with reading_input():
            width, layers = positive("--tolerance", tolerance), whole("--max-layers", max_layers, least=1)
            given, mdp = _read(env, law, save)
            mdp = mdp.normalized() if normalized else mdp
        then = "" if no_price else ", then pricing what it costs not to know the length (--no-price skips it)"
        work.announce(f"Planning{then}; the first use compiles for some seconds.")
        answer = _solve(mdp, given, width, layers, with_price=not no_price, work=work)
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


def _read(env: str, law: str, save: Path | None) -> tuple[LengthLaw, TabularMDP]:
    """Check what the user gave, the cheapest first."""
    from sojourn.laws import parse_law  # noqa: PLC0415

    if save is not None:
        check_target("--save", save, [".npz"])
    return parse_law(law), parse_env(env)


@dataclass(frozen=True)
class _Bracket:
    """A number and certified bounds on it."""

    lower: float
    value: float
    upper: float

    def said(self, tolerance: float) -> str:
        """Return the number with how certain it is; never without."""
        low, middle, high = bounds(self.lower, self.value, self.upper, least=tolerance / 10.0)
        off = max(self.value - self.lower, self.upper - self.value, tolerance / 10.0)
        if off > 2.0 * tolerance:
            return f"between {low} and {high}"
        return f"{'0' if abs(self.value) <= off else middle}, to within {_rounded_up(off)}"


def _rounded_up(value: float) -> str:
    """Return a number > 0 to one digit, no smaller than it is."""
    power = math.floor(math.log10(value))
    return f"{math.ceil(value / 10.0**power - 1e-9) * 10.0**power:.0e}".replace("e-0", "e-")


@dataclass(frozen=True)
class _Answer:
    """A plan, seen from the start distribution."""

    mdp: TabularMDP
    plan: Plan
    tolerance: float
    max_layers: int
    blind: _Bracket
    told: _Bracket | None
    timing: str

    @property
    def law(self) -> LengthLaw:
        return self.plan.law

    @property
    def truncation(self) -> float:
        """Weight of late steps that can move the value by the tolerance at most."""
        return self.tolerance / (float(self.mdp.rewards.max() - self.mdp.rewards.min()) or 1.0)

    @property
    def price(self) -> _Bracket | None:
        """What not knowing the length costs: never less than nothing, which is certain by itself."""
        if self.told is None:
            return None
        return _Bracket(
            lower=max(self.told.lower - self.blind.upper, 0.0),
            value=self.told.value - self.blind.value,
            upper=max(self.told.upper - self.blind.lower, 0.0),
        )

    def original(self, value: float) -> float:
        """Return a value of the normalised problem in the environment's own units."""
        return value * self.mdp.reward_scale + self.mdp.reward_shift * self.law.mean


def _solve(
    mdp: TabularMDP, law: LengthLaw, tolerance: float, max_layers: int, *, with_price: bool, work: Work
) -> _Answer:
    work.say("Planning (the first use compiles for some seconds)")
    from sojourn.planning import plan as find_plan  # noqa: PLC0415

    begun = time.perf_counter()
    found = find_plan(mdp, law, tolerance=tolerance, max_layers=max_layers, progress=work.share)
    planned = time.perf_counter()
    timing, told = f"Planned in {planned - begun:.2f} s", None
    lower, slack_below = _average(mdp, found.lower)
    upper, slack_above = _average(mdp, found.upper)
    blind = _Bracket(lower - slack_below, _average(mdp, found.value)[0], upper + slack_above)
    if with_price:
        work.say("Pricing what it costs not to know the length (--no-price skips this)")
        told = _tell(mdp, law, tolerance / 2.0, max_layers, blind)
        timing += f", priced in {time.perf_counter() - planned:.2f} s"
    return _Answer(mdp, found, tolerance, max_layers, blind, told, f"{timing}.")


def _tell(mdp: TabularMDP, law: LengthLaw, tolerance: float, max_layers: int, blind: _Bracket) -> _Bracket:
    """Return what knowing the length is worth.

    It is no less than what is had without, and no more than the largest reward at every step.
    """
    from sojourn.errors import WideBracketWarning  # noqa: PLC0415
    from sojourn.planning import clairvoyant_value  # noqa: PLC0415

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", WideBracketWarning)
        value, slack = _average(mdp, clairvoyant_value(mdp, law, tolerance=tolerance, max_layers=max_layers))
    width = tolerance
    for warning in caught:
        warnings.warn(warning.message, stacklevel=2)
        if isinstance(warning.message, WideBracketWarning):
            width = float(getattr(warning.message, "width", math.inf))
    off = width / 2.0 + slack  # the value is the middle of its bracket
    most = law.mean * float(mdp.rewards.max())
    return _Bracket(max(value - off, blind.lower), value, min(value + off, most + 1e-9 * abs(most)))


def _average(mdp: TabularMDP, values: FloatArray) -> tuple[float, float]:
    """Return the mean over the start states, and a bound on its rounding error."""
    terms = (mdp.start * values).tolist()
    total = math.fsum(mdp.start.tolist())
    return math.fsum(terms) / total, 2.0**-50 * math.fsum(map(abs, terms))


def _rows(answer: _Answer, *, normalized: bool) -> list[tuple[str, str]]:
    mdp, blind, tolerance = answer.mdp, answer.blind, answer.tolerance
    low, value, high = bounds(blind.lower, blind.value, blind.upper, least=tolerance / 10.0)
    unit = ", rewards mapped to [0, 1]" if normalized else ""
    rows = [
        ("problem", f"{mdp.n_states:,} states, {mdp.n_actions} actions{unit}"),
        ("value", f"{value}, averaged over the start states"),
        ("certified", f"{low} ≤ V* ≤ {high}"),
    ]
    if normalized:
        rows.append(("in its own units", number(answer.original(blind.value))))
    rows += [("policy", _layers(answer)), _reach(answer)]
    if answer.told is not None and answer.price is not None:
        rows.append(("if told the length", answer.told.said(tolerance)))
        rows.append(("price of not knowing", answer.price.said(tolerance)))
    return rows


def _layers(answer: _Answer) -> str:
    layers, longest = len(answer.plan.policy), answer.law.longest
    if layers == 1:
        return "1 layer: stationary, the same at every step"
    if longest is None:
        return f"{layers:,} layers, one a step; the last is held for ever"
    return f"{layers:,} layers, one a step" + ("; the last is held to the end" if layers < longest else "")


def _reach(answer: _Answer) -> tuple[str, str]:
    """Return how many steps count, or that so many would that they were bounded instead of computed."""
    reach = horizon(answer.law, answer.truncation)
    if reach is None or reach > answer.max_layers:
        needed = "2^53" if reach is None else number(reach)
        return (
            "late steps",
            f"bounded by proof; cutting them off would take {'over ' * (reach is None)}{needed} layers",
        )
    weight = f"Γ(N) ≤ {answer.truncation:.1g}, the tolerance over the reward range"
    return "effective horizon", f"{number(reach)} ({weight})"


def _data(answer: _Answer, *, normalized: bool, saved: Path | None) -> dict[str, Any]:
    mdp = answer.mdp
    return {
        "problem": mdp.name,
        "states": mdp.n_states,
        "actions": mdp.n_actions,
        "law": repr(answer.law),
        "normalized": normalized,
        "scale": mdp.reward_scale,
        "shift": mdp.reward_shift,
        "tolerance": answer.tolerance,
        "max_layers": answer.max_layers,
        **_fields(answer.blind, "value", ""),
        "effective_horizon": {
            "truncation": answer.truncation,
            "horizon": horizon(answer.law, answer.truncation),
        },
        "layers": len(answer.plan.policy),
        "after": answer.plan.after,
        "stationary": len(answer.plan.policy) == 1,
        **_fields(answer.told, "clairvoyant", "clairvoyant_"),
        **_fields(answer.price, "price", "price_"),
        "saved": None if saved is None else str(saved),
    }


def _fields(bracket: _Bracket | None, name: str, before: str) -> dict[str, float | None]:
    found = (None, None, None) if bracket is None else (bracket.value, bracket.lower, bracket.upper)
    return dict(zip((name, f"{before}lower", f"{before}upper"), found, strict=True))
