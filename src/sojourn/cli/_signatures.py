"""What functions and classes say about themselves."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["signature", "summary"]


def signature(callable_: Callable[..., Any], name: str | None = None) -> str:
    """Return how something is called, without types: "river_swim(n=6)"."""
    parameters = [
        parameter.name if parameter.default is parameter.empty else f"{parameter.name}={parameter.default!r}"
        for parameter in inspect.signature(callable_).parameters.values()
    ]
    return f"{name or callable_.__name__}({', '.join(parameters)})"


def summary(documented: object) -> str:
    """Return the first sentence of a docstring."""
    return " ".join((inspect.getdoc(documented) or "").split("\n\n")[0].split())
