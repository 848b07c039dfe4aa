"""Problems from text, as in TOML files and on the command line."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sojourn._imports import call_imported, import_object, is_import_path, read_call, write_call
from sojourn._validation import check_arguments, did_you_mean
from sojourn.mdps._bandits import rare_choice, waiting_bandit
from sojourn.mdps._builders import cash_or_invest, chain, deep_sea, river_swim, two_paths
from sojourn.mdps._garnet import garnet
from sojourn.mdps._tabular import TabularMDP

__all__ = ["BUILDERS", "GYMNASIUM_IDS", "NamedProblem", "parse_problem", "read_problem"]

BUILDERS: Mapping[str, Callable[..., TabularMDP]] = MappingProxyType(
    {
        builder.__name__: builder
        for builder in (
            cash_or_invest,
            chain,
            deep_sea,
            garnet,
            rare_choice,
            river_swim,
            two_paths,
            waiting_bandit,
        )
    }
)
"""All builders by name."""

GYMNASIUM_IDS = ("CliffWalking-v1", "CliffWalkingSlippery-v1", "FrozenLake-v1", "FrozenLake8x8-v1", "Taxi-v4")
"""Ids of the environments in Gymnasium that have a transition table."""

_GYMNASIUM_ID = re.compile(r"(?:[\w.]+:)?(?:[\w.-]+/)?[\w.-]+-v\d+", re.IGNORECASE)


@dataclass(frozen=True)
class NamedProblem:
    """The name and settings of a problem, checked but not built.

    Attributes:
        name: A builder, a Gymnasium id, or an import path.
        settings: Arguments by name.
    """

    name: str
    settings: Mapping[str, Any]

    @property
    def text(self) -> str:
        """Canonical text: the name with every setting that is not the default, in sorted order."""
        if self.name not in BUILDERS:  # other functions may need 1.0 and not 1
            return write_call(self.name, self.settings, keeps_floats=True)
        parameters = inspect.signature(BUILDERS[self.name]).parameters
        shown = {key: value for key, value in self.settings.items() if parameters[key].default != value}
        return write_call(self.name, shown)

    def build(self) -> TabularMDP:
        """Build the problem."""
        if self.name in BUILDERS:
            return BUILDERS[self.name](**self.settings)
        if not is_import_path(self.name):
            return TabularMDP.from_env(self.name, **self.settings)
        made = import_object(self.name)
        if not isinstance(made, TabularMDP) and callable(made):
            made = call_imported(self.name, made, self.settings)
        if not isinstance(made, TabularMDP):
            raise ValueError(
                f"{self.name} must be a TabularMDP or a function that returns one; got {made!r}."
            )
        return made


def parse_problem(text: str) -> TabularMDP:
    """Return the problem that a text such as "river_swim(6)" or "Taxi-v4" names.

    Names may be in upper or lower case, those of builders with or without `_`. A Gymnasium id may have
    settings in parentheses. "package.module:function(3)" imports your own function and calls it. Arguments
    must be literals.

    Raises:
        ValueError: If the text does not name a problem; the message is one line.

    Example:
        >>> parse_problem("RiverSwim(n=4)")
        TabularMDP('RiverSwim(4)', n_states=4, n_actions=2)
    """
    return read_problem(text, "problem").build()


def read_problem(text: str, what: str) -> NamedProblem:
    """Parse the name and settings of a problem without building it; `what` names the text in errors."""
    name, positional, named = read_call(text, what, "'Taxi-v4' or 'river_swim(6)'")
    builder = {_plain(key): key for key in BUILDERS}.get(_plain(name))
    if builder is not None:
        return NamedProblem(builder, check_arguments(builder, BUILDERS[builder], positional, named))
    if is_import_path(name):
        return _imported_problem(name, positional, named)
    if not _GYMNASIUM_ID.fullmatch(name):
        known = did_you_mean(name, [*BUILDERS, *GYMNASIUM_IDS])
        raise ValueError(f"Unknown environment {name[:60]!r}.{known}")
    if positional:
        raise ValueError(f"{name} takes its settings by name; got {positional[0]!r}.")
    return NamedProblem(name, named)


def _imported_problem(path: str, positional: list[Any], named: dict[str, Any]) -> NamedProblem:
    made = import_object(path)
    if isinstance(made, TabularMDP):
        if positional or named:
            raise ValueError(f"{path} is a problem already and takes no arguments.")
    elif callable(made):
        named = check_arguments(path, made, positional, named)
    else:
        raise ValueError(_not_a_problem(path, made))
    return NamedProblem(path, named)


def _not_a_problem(path: str, made: object) -> str:
    return f"{path} must be a TabularMDP or a function that returns one; got {made!r}."


def _plain(name: str) -> str:
    return name.lower().replace("_", "")
