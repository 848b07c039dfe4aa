"""What functions and classes say about themselves."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["signature", "summary"]


def signature(callable_: Callable[..., Any], name: str | None = None) -> str:
    """Return how something is called, without types: "river_swim(n=6)"."""
    made = {
        field.name: field.default_factory()
        for field in getattr(callable_, "__dataclass_fields__", {}).values()
        if field.default_factory is not dataclasses.MISSING
    }
    parameters = [
        parameter.name
        if parameter.default is parameter.empty
        else f"{parameter.name}={made.get(parameter.name, parameter.default)!r}"
        for parameter in inspect.signature(callable_).parameters.values()
    ]
    return f"{name or callable_.__name__}({', '.join(parameters)})"


def summary(documented: object) -> str:
    """Return the first sentence of a docstring."""
    return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split())
