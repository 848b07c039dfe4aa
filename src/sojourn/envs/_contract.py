"""What wrappers refuse: a law that counts twice, as lengths and as weights, and steps after an end."""

from __future__ import annotations

from typing import Any

import gymnasium

__all__ = ["mark", "refuse_second_law", "refuse_step_after_end", "wrapper_with_law"]

_KEY = "sojourn_law"
"""In an environment's metadata: the wrapper that a law has come in by.

Metadata pass through wrappers and into vector environments, of other processes too.
"""


def wrapper_with_law(env: Any) -> str | None:
    """Return the name of the wrapper inside `env` that brings a law in, or None."""
    layer = env
    while layer is not None:
        found = (getattr(layer, "metadata", None) or {}).get(_KEY)
        if found is not None:
            return str(found)
        layer = getattr(layer, "env", None)  # below a wrapper that has metadata of its own
    return None


def refuse_second_law(env: Any, name: str) -> None:
    """Raise `ValueError` where a law would count twice."""
    found = wrapper_with_law(env)
    if found is not None:
        raise ValueError(f"env must not have {found} inside, or with {name} a law counts twice; got {env}.")


def refuse_step_after_end(is_over: bool) -> None:
    """Raise `ResetNeeded` where no episode is being played."""
    if is_over:
        raise gymnasium.error.ResetNeeded("step must follow reset: the episode is over, or never began.")


def mark(env: Any, name: str) -> dict[str, Any]:
    """Return the environment's metadata with a wrapper's name in them."""
    return {**env.metadata, _KEY: name}
