"""Grids: `{ grid = [1, 2, 3] }` may replace any value of an agent's settings by several."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["count_points", "points"]

_GRID = "grid"


def points(settings: Mapping[str, Any], place: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield every combination of grid values: the filled-in settings, and the values by dotted path.

    Example:
        >>> found = points({"ties": "first", "bonus": {"scale": {"grid": [1, 2]}}}, "agent")
        >>> [(settings["bonus"]["scale"], varied) for settings, varied in found]
        [(1, {'bonus.scale': 1}), (2, {'bonus.scale': 2})]
    """
    grids = dict(_grids(settings, (), place))
    for combination in itertools.product(*grids.values()):
        chosen = dict(zip(grids, combination, strict=True))
        filled = _filled(settings, (), chosen)
        yield filled, {".".join(map(str, path)): value for path, value in chosen.items()}


def count_points(settings: Mapping[str, Any], place: str) -> int:
    """Return the number of combinations without building them."""
    return math.prod(len(values) for _, values in _grids(settings, (), place))


def _is_grid(value: Any) -> bool:
    return isinstance(value, Mapping) and _GRID in value


def _grids(
    value: Any, path: tuple[str | int, ...], place: str
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if _is_grid(value):
        where = ".".join(map(str, (place, *path)))
        if len(value) > 1:
            other = next(key for key in value if key != _GRID)
            raise ValueError(f"{where} must hold nothing beside its grid; got {other!r}.")
        values = value[_GRID]
        if not isinstance(values, list) or not values:
            raise ValueError(f"{where}.grid must be a list of at least one value; got {values!r}.")
        yield path, values
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _grids(inner, (*path, key), place)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _grids(inner, (*path, i), place)


def _filled(value: Any, path: tuple[str | int, ...], chosen: Mapping[tuple[str | int, ...], Any]) -> Any:
    if path in chosen:
        return chosen[path]
    if isinstance(value, Mapping):
        return {key: _filled(inner, (*path, key), chosen) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, (*path, i), chosen) for i, inner in enumerate(value)]
    return value
