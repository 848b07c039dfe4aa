"""Converts agents between three forms: a table of a TOML file, plain settings, and the object that plays.

A table has a `type`: a class of `sojourn.agents`, in any case and without a last word that only repeats its
kind ("paper" for PaperBonus), or the import path of the user's own class. All other keys are arguments of
that class. Plain settings are the canonical form, which is hashed: the type by its full name, laws written
out, no argument that equals its default.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args, get_origin

from sojourn._imports import call_imported, import_object, is_import_path
from sojourn._validation import did_you_mean
from sojourn.experiments.spec._agent_types import (
    allows,
    canonical_name,
    check_callable,
    describe,
    find_type,
    is_offered,
    only_type,
)
from sojourn.experiments.spec._plain_values import plain_number, shown
from sojourn.experiments.spec._relative_laws import parse_assumed_law
from sojourn.laws import LengthLaw, NamedLaw, own_law_path, parse_law, read_law
from sojourn.planning import Plan

__all__ = ["build", "build_offered", "import_paths", "resolve", "to_text", "with_place"]

_MOST_DEPTH = 16


def to_text(settings: Any) -> str:
    """Return plain settings as the text that is hashed: JSON, keys sorted, no spaces."""
    return json.dumps(settings, sort_keys=True, separators=(",", ":"), allow_nan=False)


def resolve(given: Mapping[str, Any], true_law: NamedLaw, place: str) -> dict[str, Any]:
    """Return an agent's plain settings.

    Args:
        given: The agent's table in the file, without grids.
        true_law: The true law, which assumed laws may refer to.
        place: Name of the table, for messages.

    Raises:
        ValueError: If the table does not describe an agent; one line names the place.

    Example:
        >>> true_law = read_law("geometric(0.95)")
        >>> resolve({"type": "ucbvi", "law": "fixed mean", "bonus": {"scale": 0.1}}, true_law, "mine")
        {'type': 'UCBVI', 'law': {'law': 'Fixed(length=20)'}, 'bonus': {'type': 'PaperBonus', 'scale': 0.1}}
    """
    if "type" not in given:
        raise ValueError(f"{place} needs a type, such as 'ucbvi'; see 'sojourn list agents'.")
    settings: dict[str, Any] = _SettingsReader(true_law).table(given, place, is_agent=True)
    return settings


def build(settings: Any, make_plan: Callable[[], Plan]) -> Any:
    """Return the object that plain settings describe; `make_plan` is called for agents that take a plan."""
    if isinstance(settings, list):
        return tuple(build(item, make_plan) for item in settings)
    if not isinstance(settings, Mapping):
        return settings
    if "type" not in settings:
        return _law(settings["law"]) if "law" in settings else import_object(settings["import"])
    kind = find_type(settings["type"])
    arguments = {key: build(value, make_plan) for key, value in settings.items() if key != "type"}
    for name in kind.missing(arguments):
        if allows(kind.hints.get(name), Plan):
            arguments[name] = make_plan()
    return call_imported(settings["type"], kind.make, arguments)


def build_offered(settings: Any, parse_stored_law: Callable[[str], LengthLaw]) -> Any:
    """Return the object that plain settings of a store describe, if all its parts come from `sojourn.agents`.

    Unlike `build`, this imports nothing, calls only classes of `sojourn.agents`, and makes no plan.

    Args:
        settings: The plain settings.
        parse_stored_law: Reads a law.

    Raises:
        ValueError: If a part is anything else; one line says which.
    """
    if isinstance(settings, list):
        return tuple(build_offered(item, parse_stored_law) for item in settings)
    if not isinstance(settings, Mapping):
        return settings
    own_law = next(_own_law_paths(settings), None)
    if "type" not in settings and "law" in settings and own_law is None:
        return parse_stored_law(settings["law"])
    name = own_law or settings.get("type", settings.get("import"))
    if not is_offered(name):
        raise ValueError(f"{shown(name)} is not part of sojourn, and reading results imports nothing.")
    kind = find_type(name)
    arguments = {k: build_offered(value, parse_stored_law) for k, value in settings.items() if k != "type"}
    missing = kind.missing(arguments)
    if missing:
        raise ValueError(f"{name} needs {missing[0]}, which is not stored.")
    return kind.make(**arguments)


def _law(text: str) -> LengthLaw:
    # Laws of the user's own are not kept: their module may be reloaded.
    return _parse_law(text) if own_law_path(text) is None else read_law(text).law


_parse_law = functools.lru_cache(maxsize=64)(parse_law)  # the points of a grid share their laws


def import_paths(settings: Any) -> Iterator[str]:
    """Yield all import paths in plain settings."""
    if isinstance(settings, Mapping):
        for key in ("type", "import"):
            path = settings.get(key)
            if isinstance(path, str) and is_import_path(path):
                yield path
        yield from _own_law_paths(settings)
    inner = settings.values() if isinstance(settings, Mapping) else settings
    if isinstance(settings, (Mapping, list)):
        for value in inner:
            yield from import_paths(value)


def _own_law_paths(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the import path of the law that plain settings stand for, if it is one of the user's own."""
    law = settings.get("law") if "type" not in settings else None
    path = own_law_path(law) if isinstance(law, str) else None
    if path is not None:
        yield path


class _SettingsReader:
    """Converts tables of a TOML file to plain settings, under one true law."""

    def __init__(self, true_law: NamedLaw) -> None:
        self._true_law = true_law

    def table(
        self,
        given: Mapping[str, Any],
        place: str,
        base: Mapping[str, Any] | None = None,
        *,
        is_agent: bool = False,
        expected: Any = None,
    ) -> Any:
        """Return the plain form of a table, and call its type to refuse bad settings.

        Args:
            given: The table.
            place: Its name, for messages.
            base: The settings that it changes, if it has no type.
            is_agent: Whether it must be an agent.
            expected: Type hint of the argument of one of our classes that it is for; None if any class will
                do.
        """
        if place.count(".") > _MOST_DEPTH:
            raise ValueError(f"{place[:60]}… is nested too deeply.")
        inherited = dict(base or {}) | {"type": (base or given).get("type")}
        name = with_place(place, canonical_name, given.get("type", inherited["type"]), place)
        check_callable(name, place, is_agent=is_agent, hint=expected)  # before anything is called
        kind = find_type(name)
        read: dict[str, Any] = {}
        for key, value in given.items():
            if key == "type":
                continue
            if key not in kind.parameters:
                takes = f" It takes {', '.join(kind.parameters) or 'none'}."
                near = did_you_mean(key, kind.parameters) if len(key) < 100 else takes
                raise ValueError(f"Unknown key {shown(key)} in {place}, a {name}.{near or takes}")
            hint = kind.hints.get(key)
            expected = hint if kind.is_ours else None
            plain = self._value(value, kind.defaults.get(key), hint, f"{place}.{key}", expected)
            read[key] = _with_floats(plain, value) if is_import_path(name) else plain
        settings = {**inherited, **read, "type": name}
        missing = kind.missing(settings)
        if not any(allows(kind.hints.get(argument), Plan) for argument in missing):  # a plan is made at play
            if missing:
                raise ValueError(f"{place} needs {' and '.join(missing)}, for {name}.")
            with_place(place, build, settings, _no_plan)  # refuses a bad setting before anything is played
        return {key: value for key, value in settings.items() if not kind.is_default(key, value)}

    def _value(self, value: Any, default: Any, hint: Any, place: str, expected: Any) -> Any:
        if isinstance(value, Mapping):
            return self._object(value, default, hint, place, expected)
        if isinstance(value, list):
            inner = next(iter(get_args(hint)), None) if get_origin(hint) in (list, tuple) else hint
            wanted = None if expected is None else inner
            return [self._value(item, None, inner, f"{place}.{i}", wanted) for i, item in enumerate(value)]
        if not isinstance(value, str):
            return plain_number(value, place)
        if allows(hint, LengthLaw):
            return {"law": self._law(value, place)}
        if dataclasses.is_dataclass(default) or only_type(hint) is not None:
            return self.table({"type": value}, place, expected=expected)
        return value

    def _object(self, value: Mapping[str, Any], default: Any, hint: Any, place: str, expected: Any) -> Any:
        if "type" in value:
            return self.table(value, place, expected=expected)
        if value.keys() == {"import"} and isinstance(value["import"], str):
            with_place(place, import_object, value["import"])
            return dict(value)
        only = only_type(hint)
        base = describe(default) or ({"type": only} if only is not None else None)
        if base is not None:
            return self.table(value, place, base, expected=expected)
        if value.keys() == {"law"}:
            return {"law": self._law(value["law"], place)}
        raise ValueError(f"{place} needs a type, an import path or a law; got {shown(dict(value))}.")

    def _law(self, text: Any, place: str) -> str:
        if not isinstance(text, str):
            raise ValueError(f"{place} must be a law such as 'geometric(0.95)' or 'true'; got {shown(text)}.")
        law: NamedLaw = with_place(place, parse_assumed_law, text, self._true_law)
        return law.text


def _with_floats(plain: Any, given: Any) -> Any:
    """Return plain settings with the floats of a table: a class of the user's own may need 1.0 and not 1."""
    if isinstance(given, list):
        return [_with_floats(*pair) for pair in zip(plain, given, strict=True)]
    return given if isinstance(given, float) else plain


def with_place(place: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function; if it raises, put the place in front of the message unless it is already named."""
    try:
        return function(*arguments)
    except (TypeError, ValueError, ArithmeticError, MemoryError) as error:
        reason = " ".join(str(error).split())
        reason = reason if len(reason) <= 300 else f"{reason[:299]}…"
        has_place = reason.startswith(place) or f" in {place}" in reason
        raise ValueError(reason if has_place else f"{place}: {reason}") from error


def _no_plan() -> Plan:
    raise ValueError("a plan cannot be part of another agent.")
