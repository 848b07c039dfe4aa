"""Checks of wrappers: a law is applied only once, and no step follows the end of an episode."""

from __future__ import annotations

from typing import Any

import gymnasium

__all__ = ["metadata_with_law", "refuse_second_law", "refuse_step_after_end", "wrapper_with_law"]

_KEY = "sojourn_law"
"""Key in an environment's metadata for the name of the wrapper that applies a law.

Wrappers and vector environments pass metadata on, even from other processes.
"""


def wrapper_with_law(env: Any) -> str | None:
    """Return the name of the wrapper inside `env` that applies a law, or None."""
    layer = env
    while layer is not None:
        found = (getattr(layer, "metadata", None) or {}).get(_KEY)
        if found is not None:
            return str(found)
        layer = getattr(layer, "env", None)  # a wrapper may have replaced the metadata
    return None


def refuse_second_law(env: Any, name: str) -> None:
    """Raise `ValueError` if a wrapper inside `env` applies a law already, which would count twice."""
    found = wrapper_with_law(env)
    if found is not None:
        raise ValueError(f"env must not have {found} inside, or with {name} a law counts twice; got {env}.")


def refuse_step_after_end(is_over: bool) -> None:
    """Raise `ResetNeeded` if no episode is in progress."""
    if is_over:
        raise gymnasium.error.ResetNeeded("step must follow reset: the episode is over, or never began.")


def metadata_with_law(env: Any, name: str) -> dict[str, Any]:
    """Return the environment's metadata with the name of the wrapper that applies a law."""
    return {**env.metadata, _KEY: name}
