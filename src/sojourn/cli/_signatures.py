"""Signatures and summaries of functions and classes, for lists."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["signature", "summary"]


def signature(callable_: Callable[..., Any], name: str | None = None) -> str:
    """Return the signature of a callable without types, such as "river_swim(n=6)"."""
    factory_defaults = {
        field.name: field.default_factory()
        for field in getattr(callable_, "__dataclass_fields__", {}).values()
        if field.default_factory is not dataclasses.MISSING
    }
    parameters = [
        parameter.name
        if parameter.default is parameter.empty
        else f"{parameter.name}={factory_defaults.get(parameter.name, parameter.default)!r}"
        for parameter in inspect.signature(callable_).parameters.values()
    ]
    return f"{name or callable_.__name__}({', '.join(parameters)})"


def summary(documented: object) -> str:
    """Return the first paragraph of a docstring on one line."""
    return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split())
