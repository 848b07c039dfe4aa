"""Problems by name: a builder with its arguments, or a Gymnasium id."""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING, Any

from sojourn._validation import check_arguments, did_you_mean

if TYPE_CHECKING:
    from sojourn.mdps import TabularMDP

__all__ = ["GYMNASIUM_IDS", "complete_env", "gymnasium_problems", "parse_env"]

GYMNASIUM_IDS = ("CliffWalking-v1", "CliffWalkingSlippery-v1", "FrozenLake-v1", "FrozenLake8x8-v1", "Taxi-v4")
"""Gymnasium's own environments with a transition table."""

_NAME_AND_ARGUMENTS = re.compile(r"\s*([^()]*[^()\s])\s*(?:\((.*)\)\s*)?", re.DOTALL)
_GYMNASIUM_ID = re.compile(r"(?:[\w.]+:)?(?:[\w.-]+/)?[\w.-]+-v\d+", re.IGNORECASE)


def complete_env(incomplete: str) -> list[str]:
    """Return the names of builders and Gymnasium ids that begin like this."""
    from sojourn.mdps import BUILDERS  # noqa: PLC0415

    return [name for name in (*BUILDERS, *GYMNASIUM_IDS) if name.startswith(incomplete)]


def parse_env(text: str) -> TabularMDP:
    """Return the problem that a text such as "river_swim(6)" or "Taxi-v4" names.

    Names are taken in any case, those of builders with or without `_`; a Gymnasium id may have settings in
    parentheses. Nothing in the text is run.

    Raises:
        ValueError: If it names no problem; one line says what is wrong.
    """
    from sojourn.mdps import BUILDERS, TabularMDP  # noqa: PLC0415

    found = _NAME_AND_ARGUMENTS.fullmatch(text)
    if found is None:
        raise ValueError(f"--env must be written like 'Taxi-v4' or 'river_swim(6)'; got {text!r}.")
    name = found[1]
    places, names = _arguments(text, found[2] or "")
    builder = {_plain(key): key for key in BUILDERS}.get(_plain(name))
    if builder is not None:
        return BUILDERS[builder](**check_arguments(builder, BUILDERS[builder], places, names))
    if not _GYMNASIUM_ID.fullmatch(name):
        raise ValueError(f"Unknown environment {name!r}.{did_you_mean(name, [*BUILDERS, *GYMNASIUM_IDS])}")
    if places:
        raise ValueError(f"{name} takes its settings by name; got {places[0]!r}.")
    return TabularMDP.from_env(name, **names)


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _arguments(text: str, inside: str) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments written between the parentheses, all of them literals."""
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError("more than one call")
        if any(keyword.arg is None for keyword in call.keywords):
            raise ValueError("** is not an argument")
        places = [ast.literal_eval(argument) for argument in call.args]
        return places, {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise ValueError(
            f"--env must have numbers and quoted text as arguments, as in 'river_swim(6)'; got {text!r}."
        ) from None


def gymnasium_problems() -> list[TabularMDP]:
    """Return the environments of `GYMNASIUM_IDS` as this Gymnasium has them, in their newest versions."""
    from sojourn.mdps import TabularMDP  # noqa: PLC0415

    problems = []
    for name in GYMNASIUM_IDS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                problems.append(TabularMDP.from_env(name))
            except ValueError:  # gone from this Gymnasium, so not to be listed
                continue
    return problems
