"""Short display names for agents, all different."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from sojourn.laws import LengthLaw, label
from sojourn.planning import Plan

__all__ = ["name_agents"]

_MOST = 60
"""Longest text that is shown for one setting."""


def name_agents(agents: Iterable[object]) -> tuple[str, ...]:
    """Return a name for each agent, made from its settings; all names are different.

    A name has the type, the laws, the bonuses with their scale and every setting that is not the default.
    Agents whose names would be equal are numbered.

    Example:
        >>> import sojourn as sj
        >>> law = sj.Geometric(0.9)
        >>> name_agents([sj.UCBVI(law), sj.UCBVI(law, sj.PaperBonus(0.01), replan="doubling")])
        ('UCBVI(Geometric(0.9), PaperBonus(scale=1))',
         "UCBVI(Geometric(0.9), PaperBonus(scale=0.01), replan='doubling')")
        >>> name_agents([sj.RandomPlayer(), sj.RandomPlayer()])
        ('RandomPlayer', 'RandomPlayer (2)')
    """
    names: list[str] = []
    for agent in agents:
        name, number = _settings(agent), 1
        numbered = name
        while numbered in names:
            number += 1
            numbered = f"{name} ({number})"
        names.append(numbered)
    return tuple(names)


def _settings(thing: object) -> str:
    """Return the type and, in parentheses, the settings that differ from the default."""
    kind = type(thing).__name__
    if not dataclasses.is_dataclass(thing):
        return kind
    shown = []
    for field in sorted(dataclasses.fields(thing), key=lambda field: field.kw_only is True):
        value = getattr(thing, field.name)
        if _is_object(value) and not field.kw_only:
            shown.append(_text(value))
        elif field.name == "scale" or _is_object(value) or not _is_default(field, value):
            shown.append(f"{field.name}={_text(value)}")
    return f"{kind}({', '.join(shown)})" if shown else kind


def _is_object(value: object) -> bool:
    """Whether a value is an object with settings: a law, a bonus or another agent."""
    return isinstance(value, LengthLaw) or dataclasses.is_dataclass(value)


def _is_default(field: dataclasses.Field[Any], value: object) -> bool:
    default = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    if default is dataclasses.MISSING or isinstance(value, np.ndarray):
        return False
    return bool(value is default or value == default)


def _text(value: Any) -> str:
    if isinstance(value, LengthLaw):
        return label(value)
    if isinstance(value, Plan):
        return label(value.law)
    if dataclasses.is_dataclass(value):
        return _settings(value)
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        text = f"({', '.join(_text(item) for item in value)})"
        kinds = {type(item).__name__ for item in value}
        many = f"{len(value)} × {kinds.pop()}" if len(kinds) == 1 else f"{len(value)} items"
        return text if len(text) <= _MOST else many
    text = repr(value)
    return text if len(text) <= _MOST and "\n" not in text else type(value).__name__
