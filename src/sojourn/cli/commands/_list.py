"""`sojourn list`: what there is."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.text import Text

from sojourn.cli._options import Debug
from sojourn.cli._problems import gymnasium_problems
from sojourn.cli._signatures import signature, summary
from sojourn.cli.output._console import is_narrow, print_json, show, stacked, table, working

__all__ = ["EXAMPLES", "list_names"]

EXAMPLES = ("sojourn list laws", "sojourn list envs", "sojourn list agents", "sojourn list laws --json")


class Kind(StrEnum):
    """What can be listed."""

    laws = "laws"
    agents = "agents"
    envs = "envs"
    specs = "specs"
    samples = "samples"


def list_names(
    kind: Annotated[Kind, typer.Argument(metavar="WHAT", help="What to list.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    debug: Debug = False,
) -> None:
    """List the laws, agents, environments, example experiments or sample logs that other commands take."""
    readers = {
        Kind.laws: _laws,
        Kind.agents: _agents,
        Kind.envs: _envs,
        Kind.specs: _specs,
        Kind.samples: _samples,
    }
    rows = readers[kind]()
    if as_json:
        print_json(rows)
    elif kind is Kind.laws:
        _print(rows, "law")
    elif kind is Kind.specs:
        _print(rows, "experiment")
    elif kind is Kind.samples:
        _print(rows, "sample log, generated")
    elif kind is Kind.agents:
        _print([row for row in rows if row["kind"] == "learner"], "learner")
        show("")
        _print([row for row in rows if row["kind"] == "bonus"], "bonus")
    else:
        _print(rows, "environment")


def _laws() -> list[dict[str, Any]]:
    from sojourn.laws import LAWS  # noqa: PLC0415

    return [
        {"name": name, "signature": signature(law, name), "description": summary(law)}
        for name, law in LAWS.items()
    ]


def _agents() -> list[dict[str, Any]]:
    with working("Loading the learners"):
        from sojourn.agents import AGENTS, BONUSES  # noqa: PLC0415

    return [
        {"name": name, "kind": kind, "signature": signature(class_, name), "description": summary(class_)}
        for kind, classes in (("learner", AGENTS), ("bonus", BONUSES))
        for name, class_ in classes.items()
    ]


def _specs() -> list[dict[str, Any]]:
    from sojourn.experiments import example_names, read_example  # noqa: PLC0415

    rows = []
    for name in example_names():
        first = read_example(name).partition("\n")[0]
        rows.append({"name": name, "signature": name, "description": first.removeprefix("# ")})
    return rows


def _samples() -> list[dict[str, Any]]:
    with working("Loading the samples"):
        from sojourn.sessions import SAMPLES  # noqa: PLC0415

    return [
        {"name": name, "signature": f"sample:{name}", "description": sample.about}
        for name, sample in SAMPLES.items()
    ]


def _envs() -> list[dict[str, Any]]:
    with working("Reading Gymnasium's tables"):
        from sojourn.envs import IDS  # noqa: PLC0415
        from sojourn.mdps import BUILDERS  # noqa: PLC0415

        rows: list[dict[str, Any]] = []
        for id_, name in IDS.items():
            about = {"signature": signature(BUILDERS[name]), "description": summary(BUILDERS[name])}
            rows.append({"name": name, "kind": "builder", "id": id_, **about})
        for problem in gymnasium_problems():
            size = {"states": problem.n_states, "actions": problem.n_actions}
            text = f"From Gymnasium: {problem.n_states:,} states, {problem.n_actions} actions."
            row = {"name": problem.name, "kind": "gymnasium", "signature": problem.name, "description": text}
            rows.append(row | size)
    return rows


def _print(rows: list[dict[str, Any]], what: str) -> None:
    entries = [(row["signature"], row["description"]) for row in rows]
    if is_narrow():
        show(stacked(entries))
    else:
        listing = table(what, "what it is", left=(0, 1))
        for entry in entries:
            listing.add_row(*entry)
        show(listing)
    if what == "environment":
        note = (
            "Other Gymnasium ids with a transition table will do as well. States include the added end. "
            f"In Python, 'import sojourn.envs' registers the first {sum('id' in row for row in rows)} with "
            f"Gymnasium: {rows[0]['name']} is gymnasium.make('{rows[0]['id']}')."
        )
        show("", Text(note, style="dim"))
