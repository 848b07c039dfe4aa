"""Problems from text: what TOML files and the command line take."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sojourn._imports import import_object, is_import_path
from sojourn._validation import check_arguments, did_you_mean
from sojourn.mdps._builders import cash_or_invest, chain, deep_sea, river_swim, two_paths
from sojourn.mdps._garnet import garnet
from sojourn.mdps._tabular import TabularMDP

__all__ = ["BUILDERS", "GYMNASIUM_IDS", "NamedProblem", "parse_problem", "read_problem"]

BUILDERS: Mapping[str, Callable[..., TabularMDP]] = MappingProxyType(
    {
        builder.__name__: builder
        for builder in (cash_or_invest, chain, deep_sea, garnet, river_swim, two_paths)
    }
)
"""Every builder by its name."""

GYMNASIUM_IDS = ("CliffWalking-v1", "CliffWalkingSlippery-v1", "FrozenLake-v1", "FrozenLake8x8-v1", "Taxi-v4")
"""Gymnasium's own environments with a transition table."""

_NAME_AND_ARGUMENTS = re.compile(r"\s*([^()]*[^()\s])\s*(?:\((.*)\)\s*)?", re.DOTALL)
_GYMNASIUM_ID = re.compile(r"(?:[\w.]+:)?(?:[\w.-]+/)?[\w.-]+-v\d+", re.IGNORECASE)
_MOST_CHARACTERS = 10_000


@dataclass(frozen=True)
class NamedProblem:
    """A problem's name and settings, checked but not built.

    Attributes:
        name: A builder, a Gymnasium id, or an import path.
        settings: Arguments by name.
    """

    name: str
    settings: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The name with every setting that is not the default: two texts for one problem give one."""
        if self.name in BUILDERS:
            parameters = inspect.signature(BUILDERS[self.name]).parameters
            told = {key: value for key, value in self.settings.items() if parameters[key].default != value}
        else:
            told = dict(self.settings)
        inside = ", ".join(f"{key}={_plain_number(told[key])!r}" for key in sorted(told))
        return f"{self.name}({inside})" if inside else self.name

    def build(self) -> TabularMDP:
        """Return the problem itself."""
        if self.name in BUILDERS:
            return BUILDERS[self.name](**self.settings)
        if not is_import_path(self.name):
            return TabularMDP.from_env(self.name, **self.settings)
        made = import_object(self.name)
        if not isinstance(made, TabularMDP) and callable(made):
            made = made(**self.settings)
        if not isinstance(made, TabularMDP):
            raise ValueError(
                f"{self.name} must be a TabularMDP or a function that returns one; got {made!r}."
            )
        return made


def parse_problem(text: str) -> TabularMDP:
    """Return the problem that a text such as "river_swim(6)" or "Taxi-v4" names.

    Names are taken in any case, those of builders with or without `_`; a Gymnasium id may have settings in
    parentheses; "package.module:function(3)" is a problem of your own. Of the text itself nothing is run.

    Raises:
        ValueError: If it names no problem; one line says what is wrong.

    Example:
        >>> parse_problem("RiverSwim(n=4)")
        TabularMDP('RiverSwim(4)', n_states=4, n_actions=2)
    """
    return read_problem(text, "problem").build()


def read_problem(text: str, what: str) -> NamedProblem:
    """Return the name and settings that a text states; `what` is what messages call it."""
    found = _NAME_AND_ARGUMENTS.fullmatch(text) if len(text) <= _MOST_CHARACTERS else None
    if found is None:
        raise ValueError(f"{what} must be written like 'Taxi-v4' or 'river_swim(6)'; got {text[:60]!r}.")
    name = found[1]
    places, names = _arguments(what, text, found[2] or "")
    builder = {_plain(key): key for key in BUILDERS}.get(_plain(name))
    if builder is not None:
        return NamedProblem(builder, check_arguments(builder, BUILDERS[builder], places, names))
    if is_import_path(name):
        return _of_ones_own(name, places, names)
    if not _GYMNASIUM_ID.fullmatch(name):
        known = did_you_mean(name, [*BUILDERS, *GYMNASIUM_IDS])
        raise ValueError(f"Unknown environment {name[:60]!r}.{known}")
    if places:
        raise ValueError(f"{name} takes its settings by name; got {places[0]!r}.")
    return NamedProblem(name, names)


def _of_ones_own(path: str, places: list[Any], names: dict[str, Any]) -> NamedProblem:
    made = import_object(path)
    if isinstance(made, TabularMDP):
        if places or names:
            raise ValueError(f"{path} is a problem already and takes no arguments.")
    elif callable(made):
        names = check_arguments(path, made, places, names)
    else:
        raise ValueError(_not_a_problem(path, made))
    return NamedProblem(path, names)


def _not_a_problem(path: str, made: object) -> str:
    return f"{path} must be a TabularMDP or a function that returns one; got {made!r}."


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _plain_number(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _arguments(what: str, text: str, inside: str) -> tuple[list[Any], dict[str, Any]]:
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
            f"{what} must have numbers and quoted text as arguments, as in 'river_swim(6)'; "
            f"got {text[:60]!r}."
        ) from None
