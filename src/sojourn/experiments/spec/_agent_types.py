"""What can be named in an experiment, and what it says of itself: arguments, types, defaults."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import types
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Union, get_args, get_origin, get_type_hints

from sojourn import agents
from sojourn._imports import import_object, is_import_path
from sojourn._validation import did_you_mean
from sojourn.laws import LengthLaw

__all__ = ["Kind", "describe", "find_kind", "full_name", "has", "plain_number", "settings_type", "shown"]

_ENDINGS = ("bonus", "player")
_LARGEST = 2**53


@dataclasses.dataclass(frozen=True)
class Kind:
    """A class, or anything else that makes an object from settings.

    Attributes:
        name: Its name in `sojourn.agents`, or its import path.
        make: The class itself.
        parameters: Its arguments by name.
        hints: Their types, as far as they are stated.
        defaults: Their defaults, for those that have one.
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
        """Whether the plain form of a value is that of the argument's default; 1 is 1.0, and not true."""
        default = self._plain_defaults.get(name)
        return default is not None and _are_same(default, [value])

    @functools.cached_property
    def _plain_defaults(self) -> dict[str, list[Any] | None]:
        return {name: _plain(default) for name, default in self.defaults.items()}


def find_kind(name: str) -> Kind:
    """Return what a full name stands for."""
    make = import_object(name) if is_import_path(name) else _offered()[name]
    return _kind_of(name, make) if isinstance(make, Hashable) else _kind_of.__wrapped__(name, make)


@functools.lru_cache(maxsize=256)  # a grid asks for the same again and again; a class loaded anew is another
def _kind_of(name: str, make: Any) -> Kind:
    found = inspect.signature(make).parameters.values()
    parameters = {p.name: p for p in found if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
    defaults = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
    for field in getattr(make, "__dataclass_fields__", {}).values():
        if field.name in defaults and field.default_factory is not dataclasses.MISSING:
            defaults[field.name] = field.default_factory()
    return Kind(name, make, parameters, _hints(make), defaults)


@functools.cache
def _offered() -> Mapping[str, Any]:
    """Return everything that `sojourn.agents` offers and that has settings, by its name."""
    offered = ((name, getattr(agents, name)) for name in agents.__all__)
    return {name: kind for name, kind in offered if isinstance(kind, type) and dataclasses.is_dataclass(kind)}


def full_name(given: Any, place: str) -> str:
    """Return the one name of what a file calls by any; `place` is where, for messages."""
    if not isinstance(given, str):
        raise ValueError(f"{place}.type must be a name such as 'ucbvi'; got {shown(given)}.")
    if is_import_path(given):
        if not callable(import_object(given)):
            raise ValueError(f"{place}.type must be a class; {given} is none.")
        return given
    short = _short_names()
    wanted = given.lower().replace("_", "").replace("-", "").replace(" ", "")
    if wanted not in short:
        near = did_you_mean(wanted, _offered()) if len(wanted) < 100 else ""
        advice = near or " See 'sojourn list agents', or name your own: 'module:Name'."
        raise ValueError(f"Unknown type {shown(given)} in {place}.{advice}")
    return short[wanted]


@functools.cache
def _short_names() -> Mapping[str, str]:
    """Return all that a file may call what `sojourn.agents` offers, with its name."""
    short: dict[str, str] = {}
    for name in _offered():
        plain = name.lower()
        for called in (plain, *(plain.removesuffix(ending) for ending in _ENDINGS)):
            short.setdefault(called, name)
    return short


def _hints(make: Any) -> dict[str, Any]:
    try:
        return get_type_hints(make if dataclasses.is_dataclass(make) else make.__init__)
    except Exception:  # names that a user's module imports for type checkers only
        return {}


def _plain(value: Any) -> list[Any] | None:
    """Return a value's plain form in a list, or None if it has none."""
    if value is None or isinstance(value, (str, bool)):
        return [value]
    if isinstance(value, (int, float)) and math.isfinite(value):
        return [plain_number(value, "")]
    if isinstance(value, LengthLaw):
        return [{"law": repr(value)}]
    if isinstance(value, (list, tuple)):
        items = [_plain(item) for item in value]
        return None if None in items else [[item[0] for item in items if item is not None]]
    described = describe(value)
    return None if described is None else [described]


def describe(value: Any) -> dict[str, Any] | None:
    """Return the plain settings of an object that `sojourn.agents` offers, or None for any other."""
    if _offered().get(type(value).__name__) is not type(value):
        return None
    kind = find_kind(type(value).__name__)
    settings: dict[str, Any] = {"type": kind.name}
    for name in kind.parameters:
        plain = _plain(getattr(value, name))
        if plain is None:
            return None
        if not kind.is_default(name, plain[0]):
            settings[name] = plain[0]
    return settings


def settings_type(hint: Any) -> str | None:
    """Return the name of the one class with settings that a type hint allows, or None."""
    found = [part.__name__ for part in _parts(hint) if isinstance(part, type) and part in _offered().values()]
    return found[0] if len(found) == 1 else None


def has(hint: Any, wanted: type[Any]) -> bool:
    """Whether a type hint allows a class."""
    return any(isinstance(part, type) and issubclass(part, wanted) for part in _parts(hint))


def _parts(hint: Any) -> Iterator[Any]:
    if get_origin(hint) in (Union, types.UnionType):
        for part in get_args(hint):
            yield from _parts(part)
    else:
        yield hint


def plain_number(value: Any, place: str) -> Any:
    """Return a number in one form only: 1.0 is 1. What is no finite number of at most 2**53 is refused."""
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, (int, float)):
        raise ValueError(f"{place} must be a number, a text, a list or a table; got {shown(value)}.")
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise ValueError(f"{place} must be at most 2**53; got a larger number.")
    if not -math.inf < value < math.inf:
        raise ValueError(f"{place} must be a finite number; got {value!r}.")
    return int(value) if float(value).is_integer() and abs(value) <= _LARGEST else value


def shown(value: Any) -> str:
    """Return a value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _are_same(one: Any, other: Any) -> bool:
    """Whether plain values are equal, where numbers are not taken for truth values."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_are_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_are_same(one[key], other[key]) for key in one)
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
