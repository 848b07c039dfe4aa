"""The types that a spec can name, with their arguments: agents, bonuses and the user's own classes."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import math
import types
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Union, get_args, get_origin, get_type_hints

from sojourn import agents
from sojourn._imports import import_object, is_import_path
from sojourn._validation import did_you_mean
from sojourn.experiments.spec._plain_values import are_same, plain_number, shown
from sojourn.laws import LengthLaw

__all__ = [
    "SettingsType",
    "allows",
    "canonical_name",
    "check_callable",
    "describe",
    "find_type",
    "is_offered",
    "only_type",
]

_OPTIONAL_ENDINGS = ("bonus", "player")


@dataclasses.dataclass(frozen=True)
class SettingsType:
    """A class, or another callable, that makes an object from settings.

    Attributes:
        name: Its name in `sojourn.agents`, or its import path.
        make: The class itself.
        parameters: Its arguments by name.
        hints: Type hints of the arguments that have one.
        defaults: Defaults of the arguments that have one.
    """

    name: str
    make: Any
    parameters: Mapping[str, inspect.Parameter]
    hints: Mapping[str, Any]
    defaults: Mapping[str, Any]

    def missing(self, given: Mapping[str, Any]) -> list[str]:
        """Return the arguments that have no default and are not given."""
        return [name for name in self.parameters if name not in self.defaults and name not in given]

    def is_default(self, name: str, value: Any) -> bool:
        """Whether a plain value is the plain form of an argument's default.

        For a class of the user's own, 1.0 is not the default 1: it may compute something else.
        """
        if name not in self._plain_defaults:
            return False
        default = self._plain_defaults[name]
        return are_same(default, value) and (not self._is_own or json.dumps(default) == json.dumps(value))

    @property
    def is_ours(self) -> bool:
        """Whether it is a class of `sojourn.agents`, under whatever name."""
        return any(self.make is one for one in _offered().values())

    @property
    def _is_own(self) -> bool:
        return is_import_path(self.name)

    @functools.cached_property
    def _plain_defaults(self) -> dict[str, Any]:
        found = {}
        for name, default in self.defaults.items():
            try:
                found[name] = _plain(default, keeps_floats=self._is_own)
            except ValueError:
                continue
        return found


def find_type(name: str) -> SettingsType:
    """Return the type with a canonical name."""
    make = import_object(name) if is_import_path(name) else _offered()[name]
    return _inspect(name, make) if isinstance(make, Hashable) else _inspect.__wrapped__(name, make)


@functools.lru_cache(maxsize=256)  # every point of a grid needs the same types; a reloaded class is a new one
def _inspect(name: str, make: Any) -> SettingsType:
    found = inspect.signature(make).parameters.values()
    parameters = {p.name: p for p in found if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
    defaults = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
    for field in getattr(make, "__dataclass_fields__", {}).values():
        if field.name in defaults and field.default_factory is not dataclasses.MISSING:
            defaults[field.name] = field.default_factory()
    return SettingsType(name, make, parameters, _hints(make), defaults)


def _hints(make: Any) -> dict[str, Any]:
    try:
        return get_type_hints(make if dataclasses.is_dataclass(make) else make.__init__)
    except Exception:  # names that the user's module imports for type checkers only
        return {}


def is_offered(name: Any) -> bool:
    """Whether a name is the canonical name of a class of `sojourn.agents`; nothing is imported."""
    return isinstance(name, str) and name in _offered()


def check_callable(name: str, place: str, *, is_agent: bool, hint: Any = None) -> None:
    """Check that the type with a canonical name may be called; this imports it.

    Args:
        name: The name.
        place: Where it stands in the spec.
        is_agent: Whether it must be an agent; otherwise it must be a class.
        hint: Type hint of the argument of one of our classes that it is for; None if there is none.

    Raises:
        ValueError: If it is not a class, has no method `start` although it must be an agent, or is not what
            the hint says.
    """
    make = import_object(name) if is_import_path(name) else _offered()[name]
    if is_agent and not callable(getattr(make, "start", None)):
        raise ValueError(f"{place}.type must be an agent; {name} has no method start.")
    if not is_agent and not isinstance(make, type):
        raise ValueError(f"{place}.type must be a class; {name} is none.")
    wanted = [part for part in _parts(hint) if isinstance(part, type) and part not in _PLAIN]
    takes_function = any(get_origin(part) is Callable for part in _parts(hint))
    is_function = takes_function and any("__call__" in vars(one) for one in make.__mro__)
    if hint is not None and not is_function and not any(_provides(make, part) for part in wanted):
        names = " or ".join([part.__name__ for part in wanted] + ["callable"] * takes_function) or "no object"
        raise ValueError(f"{place}.type must be {names}; {name} is not.")


_PLAIN = (str, int, float, bool, type(None), tuple)
"""Types of arguments that are no tables."""


def _provides(make: Any, wanted: type[Any]) -> bool:
    """Whether a class is another one or a subclass of it, or has the methods of a protocol."""
    if not getattr(wanted, "_is_protocol", False):
        return isinstance(make, type) and issubclass(make, wanted)
    methods = [name for name, value in vars(wanted).items() if inspect.isfunction(value) and name[0] != "_"]
    return all(callable(getattr(make, name, None)) for name in methods)


@functools.cache
def _offered() -> Mapping[str, Any]:
    """Return every dataclass of `sojourn.agents` by its name."""
    offered = ((name, getattr(agents, name)) for name in agents.__all__)
    return {name: kind for name, kind in offered if isinstance(kind, type) and dataclasses.is_dataclass(kind)}


def canonical_name(given: Any, place: str) -> str:
    """Return the one name of a type for any spelling that a spec may use.

    Raises:
        ValueError: If there is no such type; `place` says where it stands in the spec.
    """
    if not isinstance(given, str):
        raise ValueError(f"{place}.type must be a name such as 'ucbvi'; got {shown(given)}.")
    if is_import_path(given):
        if not callable(import_object(given)):
            raise ValueError(f"{place}.type must be a class; {given} is none.")
        return given
    spellings = _spellings()
    wanted = given.lower().replace("_", "").replace("-", "").replace(" ", "")
    if wanted not in spellings:
        near = did_you_mean(wanted, _offered()) if len(wanted) < 100 else ""
        advice = near or " See 'sojourn list agents', or name your own: 'module:Name'."
        raise ValueError(f"Unknown type {shown(given)} in {place}.{advice}")
    return spellings[wanted]


@functools.cache
def _spellings() -> Mapping[str, str]:
    """Return the canonical name of each accepted spelling, in lower case."""
    found: dict[str, str] = {}
    for name in _offered():
        lower = name.lower()
        for spelling in (lower, *(lower.removesuffix(ending) for ending in _OPTIONAL_ENDINGS)):
            found.setdefault(spelling, name)
    return found


def _plain(value: Any, *, keeps_floats: bool = False) -> Any:
    """Return the plain form of a value, in which 1.0 is 1 or kept; raise `ValueError` if it has none."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, float)) and math.isfinite(value):
        number = plain_number(value, "")
        return value if keeps_floats else number
    if isinstance(value, LengthLaw):
        return {"law": repr(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(item, keeps_floats=keeps_floats) for item in value]
    settings = describe(value)
    if settings is None:
        raise ValueError(f"{shown(value)} has no plain form.")
    return settings


def describe(value: Any) -> dict[str, Any] | None:
    """Return the plain settings of an object whose class is in `sojourn.agents`, or None for any other."""
    if _offered().get(type(value).__name__) is not type(value):
        return None
    kind = find_type(type(value).__name__)
    settings: dict[str, Any] = {"type": kind.name}
    for name in kind.parameters:
        try:
            plain = _plain(getattr(value, name))
        except ValueError:
            return None
        if not kind.is_default(name, plain):
            settings[name] = plain
    return settings


def only_type(hint: Any) -> str | None:
    """Return the name of the one class of `sojourn.agents` that a type hint allows, or None."""
    found = [part.__name__ for part in _parts(hint) if isinstance(part, type) and part in _offered().values()]
    return found[0] if len(found) == 1 else None


def allows(hint: Any, wanted: type[Any]) -> bool:
    """Whether a type hint allows a class or one of its subclasses."""
    return any(isinstance(part, type) and issubclass(part, wanted) for part in _parts(hint))


def _parts(hint: Any) -> Iterator[Any]:
    """Yield the members of a union, or the hint itself."""
    if get_origin(hint) in (Union, types.UnionType):
        for part in get_args(hint):
            yield from _parts(part)
    else:
        yield hint
