"""Registers every builder's problem with Gymnasium: `gymnasium.make("sojourn/RiverSwim-v0", n=8)`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gymnasium

from sojourn import mdps
from sojourn.envs._tabular_env import TabularEnv

__all__ = ["IDS"]


def _as_env(builder: Callable[..., mdps.TabularMDP]) -> Callable[..., TabularEnv]:
    """Return a function with the builder's signature that returns an environment."""

    @functools.wraps(builder)
    def make(*, render_mode: str | None = None, **settings: Any) -> TabularEnv:
        return TabularEnv(builder(**settings), render_mode=render_mode)

    return make


# Module-level names, because an entry point is text that names a module and an attribute.
cash_or_invest = _as_env(mdps.cash_or_invest)
chain = _as_env(mdps.chain)
deep_sea = _as_env(mdps.deep_sea)
garnet = _as_env(mdps.garnet)
rare_choice = _as_env(mdps.rare_choice)
river_swim = _as_env(mdps.river_swim)
two_paths = _as_env(mdps.two_paths)
waiting_bandit = _as_env(mdps.waiting_bandit)

_DEFAULTS = {"garnet": {"n_states": 50, "n_actions": 4, "n_successors": 3}}
"""Default settings for builders that have none."""


def _register() -> dict[str, str]:
    """Register every builder and return the names of the builders by id."""
    ids = {}
    for name in mdps.BUILDERS:
        id_ = f"sojourn/{name.title().replace('_', '')}-v0"
        ids[id_] = name
        if id_ not in gymnasium.registry:
            gymnasium.register(id_, f"{__name__}:{name}", kwargs=dict(_DEFAULTS.get(name, {})))
    return ids


IDS: dict[str, str] = _register()
"""The registered ids and the name of the builder of each."""
