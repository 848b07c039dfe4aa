"""`sojourn list`: list laws, agents, problems, example experiments and sample logs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.text import Text

from sojourn.cli._options import Debug
from sojourn.cli._problems import gymnasium_problems
from sojourn.cli._signatures import signature, summary
from sojourn.cli.output._progress import show_progress
from sojourn.cli.output._streams import is_narrow, print_json, print_results
from sojourn.cli.output._tables import labeled_texts, new_table, stacked_texts

__all__ = ["EXAMPLES", "list_names"]

EXAMPLES = ("sojourn list", "sojourn list laws", "sojourn list problems", "sojourn list laws --json")


class Kind(StrEnum):
    """The kinds of names that can be listed."""

    laws = "laws"
    agents = "agents"
    problems = "problems"
    specs = "specs"
    samples = "samples"


def _parse_kind(text: str) -> Kind:
    """Return what to list; "envs" is another name of "problems"."""
    if text == "envs":
        return Kind.problems
    if text not in list(Kind):
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(repr(kind.value) for kind in Kind)}")
    return Kind(text)


def _complete_kind(incomplete: str) -> list[str]:
    return [kind.value for kind in Kind if kind.value.startswith(incomplete)]


def list_names(
    kind: Annotated[
        Kind | None,
        typer.Argument(
            metavar="WHAT",
            help="laws, agents, problems (or envs), specs or samples.",
            parser=_parse_kind,
            autocompletion=_complete_kind,
            show_default="the names of all",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    debug: Debug = False,
) -> None:
    """List the laws, agents, problems, example experiments or samples that other commands accept."""
    readers = {
        Kind.laws: _laws,
        Kind.agents: _agents,
        Kind.problems: _problems,
        Kind.specs: _specs,
        Kind.samples: _samples,
    }
    if kind is None:
        _list_all({each.value: reader() for each, reader in readers.items()}, as_json=as_json)
        return
    rows = readers[kind]()
    if as_json:
        print_json(rows)
    elif kind is Kind.laws:
        _print(rows, "law")
    elif kind is Kind.specs:
        _print(rows, "experiment")
    elif kind is Kind.samples:
        _print([row for row in rows if row["kind"] == "log"], "sample for fit")
        print_results("")
        _print([row for row in rows if row["kind"] == "choices"], "for choices")
        print_results("", "All are generated; no real data.")
    elif kind is Kind.agents:
        _print([row for row in rows if row["kind"] == "agent"], "agent")
        print_results("")
        _print([row for row in rows if row["kind"] == "bonus"], "bonus")
    else:
        _print(rows, "problem")
        _print_note_on_problems(rows)


def _list_all(rows: dict[str, list[dict[str, Any]]], *, as_json: bool) -> None:
    """Print the names of everything, or all rows as JSON."""
    if as_json:
        print_json(rows)
        return
    bonuses = [row for row in rows["agents"] if row["kind"] == "bonus"]
    agents = [row for row in rows["agents"] if row["kind"] != "bonus"]
    shown = rows | {"agents": agents, "bonuses": bonuses}
    note = Text("'sojourn list laws' and so on show their arguments and what they are.", style="dim")
    texts = [(kind, ", ".join(row["name"] for row in found)) for kind, found in shown.items()]
    print_results(labeled_texts(texts), "", note)


def _laws() -> list[dict[str, Any]]:
    from sojourn.laws import LAWS  # noqa: PLC0415

    return [
        {"name": name, "signature": signature(law, name), "description": summary(law)}
        for name, law in LAWS.items()
    ]


def _agents() -> list[dict[str, Any]]:
    with show_progress("Loading the agents"):
        from sojourn.agents import AGENTS, BONUSES  # noqa: PLC0415

    return [
        {"name": name, "kind": kind, "signature": signature(class_, name), "description": summary(class_)}
        for kind, classes in (("agent", AGENTS), ("bonus", BONUSES))
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
    with show_progress("Loading the samples"):
        from sojourn.behavior import CHOICE_SAMPLES  # noqa: PLC0415
        from sojourn.sessions import SAMPLES  # noqa: PLC0415

    found = [("log", name, sample.about) for name, sample in SAMPLES.items()]
    found += [("choices", name, about) for name, about in CHOICE_SAMPLES.items()]
    return [
        {"name": name, "kind": kind, "signature": f"sample:{name}", "description": about}
        for kind, name, about in found
    ]


def _problems() -> list[dict[str, Any]]:
    with show_progress("Reading Gymnasium's tables"):
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
    """Print signatures and descriptions as a table."""
    entries = [(row["signature"], row["description"]) for row in rows]
    if is_narrow():
        print_results(stacked_texts(entries))
    else:
        listing = new_table(what, "description", words=(0, 1))
        for entry in entries:
            listing.add_row(*entry)
        print_results(listing)


def _print_note_on_problems(rows: list[dict[str, Any]]) -> None:
    n_builders = sum("id" in row for row in rows)
    note = (
        "Other Gymnasium ids with a transition table work as well. States include the added terminal state. "
        f"In Python, 'import sojourn.envs' registers the first {n_builders} with Gymnasium: "
        f"{rows[0]['name']} is gymnasium.make('{rows[0]['id']}')."
    )
    print_results("", Text(note, style="dim"))
