"""Problems from Gymnasium environments: the only module of this folder that imports Gymnasium."""

from __future__ import annotations

import importlib
import inspect
import reprlib
import warnings
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import wrappers
from gymnasium.envs.registration import (
    EnvSpec,
    find_highest_version,
    get_env_id,
    load_env_creator,
    parse_env_id,
    registry,
)

from sojourn._validation import did_you_mean
from sojourn.errors import NewerVersionWarning, NoTableError
from sojourn.mdps._outcomes import Outcomes
from sojourn.mdps._tabular import TabularMDP

__all__ = ["make_env", "modules_of_env", "name_env", "read_env", "wrapper_hiding_table"]

_ADVICE = (
    "Use an environment with one (Taxi, FrozenLake, CliffWalking), "
    "or TabularMDP.from_transitions on logged data."
)
_HARMLESS_WRAPPERS = (
    wrappers.Autoreset,
    wrappers.HumanRendering,
    wrappers.OrderEnforcing,
    wrappers.PassiveEnvChecker,
    wrappers.RecordEpisodeStatistics,
    wrappers.RecordVideo,
    wrappers.RenderCollection,
    wrappers.TimeLimit,
)


def read_env(env: Any, start: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of the `TabularMDP` that the environment's table describes."""
    if isinstance(env, (str, EnvSpec)):
        made = make_env(env, kwargs)
        try:
            return _read(made, start) | {"name": name_env(made, kwargs)}
        finally:
            made.close()
    if isinstance(env, type) or (not hasattr(env, "unwrapped") and not hasattr(env, "P")):
        raise TypeError(f"env must be a Gymnasium id or environment; got {env!r}.")
    if kwargs:
        raise TypeError(
            f"{next(iter(kwargs))} must come with an id; got an environment that is made already."
        )
    return _read(env, start) | {"name": name_env(env, {})}


def name_env(env: Any, kwargs: dict[str, Any]) -> str:
    """Return the id of an environment, or else its class name, with the settings it was made with."""
    spec, bare = getattr(env, "spec", None), getattr(env, "unwrapped", env)
    problem = getattr(getattr(bare, "mdp", None), "name", None)
    label = str(spec.id) if spec is not None else str(problem or type(bare).__name__)
    settings = ", ".join(f"{key}={reprlib.repr(value)}" for key, value in kwargs.items())
    return f"{label}({settings})" if settings else label


def make_env(env: str | EnvSpec, kwargs: dict[str, Any]) -> Any:
    """Make an environment from its id or spec, without Gymnasium's checker."""
    if isinstance(env, str) and ":" not in env:
        env = _registered(env)
    try:
        return gymnasium.make(env, **{"disable_env_checker": True, **kwargs})
    except Exception as error:  # the environment's constructor may raise anything on a bad setting
        name = env if isinstance(env, str) else env.id
        _refuse_unknown_settings(name, env, kwargs)
        reason = " ".join(str(error).split())
        if isinstance(error, LookupError):
            reason = f"no {reason}"  # the text of a LookupError is only the missing key
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"env {name!r} could not be made: {reason}") from error


def _refuse_unknown_settings(name: str, env: str | EnvSpec, kwargs: dict[str, Any]) -> None:
    """Raise `TypeError` for a setting that neither the environment nor `gymnasium.make` has."""
    try:
        entry = (gymnasium.spec(env) if isinstance(env, str) else env).entry_point
        creator = load_env_creator(entry) if isinstance(entry, str) else entry
        parameters = inspect.signature(creator).parameters  # type: ignore[arg-type]
    except Exception:  # without a signature, unknown settings cannot be detected
        return
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    for setting in kwargs:
        if setting not in parameters and setting not in inspect.signature(gymnasium.make).parameters:
            takes = f" It takes {', '.join(parameters) or 'none'}."
            hint = did_you_mean(setting, parameters) or takes
            raise TypeError(f"{name} has no setting {setting!r}.{hint}")


def _registered(name: str) -> str:
    """Return the id as the registry spells it, or its newest version if that version is not registered."""
    if name.lower().startswith("sojourn/"):
        importlib.import_module("sojourn.envs")  # registers them
    if name in registry:
        return name
    spelled = [known for known in registry if known.lower() == name.lower()]
    if len(spelled) == 1:
        return spelled[0]
    try:
        space, word, version = parse_env_id(name)
    except gymnasium.error.Error:
        space, word, version = None, name, None
    newest = find_highest_version(space, word)
    if newest is None or (version is not None and version > newest):
        known = [get_env_id(space, word, newest)] if newest is not None else list(registry)
        raise ValueError(f"Unknown environment {name!r}.{did_you_mean(name, known)}")
    found = get_env_id(space, word, newest)
    warnings.warn(f"{name} is not in this Gymnasium; using {found}.", NewerVersionWarning, stacklevel=5)
    return found


def modules_of_env(name: str) -> list[str]:
    """Return the modules that register (if the id names one) and define an environment and its wrappers."""
    registering, _, plain = name.rpartition(":")
    if registering:
        importlib.import_module(registering)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NewerVersionWarning)
        spec = gymnasium.spec(plain if registering else _registered(plain))
    entries = [spec.entry_point, *(wrapper.entry_point for wrapper in spec.additional_wrappers)]
    made_by = [e.partition(":")[0] if isinstance(e, str) else getattr(e, "__module__", "") for e in entries]
    return [module for module in (registering, *made_by) if module]


def wrapper_hiding_table(env: Any) -> str | None:
    """Return the name of the wrapper that makes an environment's transition table unusable, or None."""
    bare = getattr(env, "unwrapped", env)
    has_table = isinstance(getattr(bare, "mdp", None), TabularMDP) or _is_table(getattr(bare, "P", None))
    return _changing_wrapper(env) if has_table else None


def _changing_wrapper(env: Any) -> str | None:
    """Return the name of the outermost wrapper that may change what an environment does, or None."""
    while isinstance(env, gymnasium.Wrapper):
        if not isinstance(env, _HARMLESS_WRAPPERS) and type(env).step is not gymnasium.Wrapper.step:
            return type(env).__name__
        env = env.env
    return None


def _read(env: Any, start: Any) -> dict[str, Any]:
    """Return the constructor arguments from the table of an environment that is made already."""
    label, wrapper = name_env(env, {}), _changing_wrapper(env)
    if wrapper is not None:
        raise NoTableError(
            f"{wrapper} may change what {label} does and is not in its transition table; "
            "pass env.unwrapped for the table as it is."
        )
    bare = getattr(env, "unwrapped", env)
    problem = getattr(bare, "mdp", None)
    if isinstance(problem, TabularMDP):
        return _tables_of(problem, start)
    table = getattr(bare, "P", None)
    if not _is_table(table):
        raise NoTableError(f"{label} has no transition table P. {_ADVICE}")
    if isinstance(table, np.ndarray) and table.ndim == 3 and table.dtype != object:
        raise NoTableError(f"{label} has a P of probabilities only. Use TabularMDP(env.P, rewards).")
    if getattr(bare, "fickle_passenger", False):
        raise NoTableError(
            f"fickle_passenger must be False; got True. The change of mind is not in the table of {label}."
        )
    outcomes = _outcomes(table)
    if start is None:
        start = getattr(bare, "initial_state_distrib", getattr(bare, "isd", None))
    if start is None:
        raise ValueError(f"{label} has no initial_state_distrib; pass start=, a state or a distribution.")
    return outcomes.tables(start, divide=False, **_names_on_map(bare, outcomes.n_states))


def _names_on_map(bare: Any, n_states: int) -> dict[str, Any]:
    """Return the names of states and actions, and the map, of Gymnasium's own grids; nothing for others."""
    if not type(bare).__module__.startswith("gymnasium.envs.toy_text."):
        return {}
    kind = type(bare).__name__
    actions: tuple[str, ...]
    if kind == "TaxiEnv":
        stands = ("R", "G", "Y", "B")
        at = [*(f"passenger at {stand}" for stand in stands), "passenger on board"]
        details, grid = [f", {place}, to {goal}" for place in at for goal in stands], (5, 5)
        actions = ("south", "north", "east", "west", "pick up", "drop off")
    elif kind == "FrozenLakeEnv":
        details, grid, actions = [""], (bare.nrow, bare.ncol), ("left", "down", "right", "up")
    elif kind == "CliffWalkingEnv":
        details, grid, actions = [""], tuple(bare.shape), ("up", "right", "down", "left")
    else:
        return {}
    rows, columns = (int(side) for side in grid)
    names = [f"row {r}, column {c}{more}" for r in range(rows) for c in range(columns) for more in details]
    if len(names) != n_states:
        return {}
    return {"state_names": names, "action_names": actions, "grid": (rows, columns)}


def _tables_of(problem: TabularMDP, start: Any) -> dict[str, Any]:
    """Return the constructor arguments of an equal problem."""
    return {
        "transitions": problem.transitions,
        "rewards": problem.rewards,
        "start": problem.start if start is None else start,
        "terminal": problem.terminal,
        "state_names": problem.state_names,
        "action_names": problem.action_names,
        "grid": problem.grid,
        "units": {"reward_scale": problem.reward_scale, "reward_shift": problem.reward_shift},
    }


def _outcomes(table: Any) -> Outcomes:
    n_states, n_actions = len(table), 0
    pairs: list[int] = []
    entries: list[Any] = []
    for state in range(n_states):
        row = _at(table, state, f"P[{state}]")
        n_actions = n_actions or len(row)
        if len(row) != n_actions:
            raise ValueError(f"P[{state}] must list {n_actions} actions, as P[0] does; got {len(row)}.")
        for action in range(n_actions):
            listed = list(_at(row, action, f"P[{state}][{action}]"))
            if not listed:
                raise ValueError(f"P[{state}][{action}] must list at least one outcome; got none.")
            pairs.extend([state * n_actions + action] * len(listed))
            entries.extend(listed)
    if not entries:
        raise ValueError(f"P must list states and their actions; got {n_states} states, {n_actions} actions.")
    return _checked(np.asarray(pairs, dtype=np.int64), entries, n_states, n_actions)


def _is_table(part: Any) -> bool:
    return hasattr(part, "__len__") and hasattr(part, "__getitem__") and not isinstance(part, (str, bytes))


def _at(part: Any, index: int, place: str) -> Any:
    if isinstance(part, Mapping) and index not in part:
        raise ValueError(
            f"{place} must exist: states and actions are numbered from 0; got {reprlib.repr(list(part))}."
        )
    if not _is_table(part[index]):
        raise ValueError(f"{place} must be a list or a mapping; got {part[index]!r}.")
    return part[index]


def _checked(pairs: Any, entries: list[Any], n_states: int, n_actions: int) -> Outcomes:
    def refuse(entry: int, rule: str) -> None:
        place = f"P[{pairs[entry] // n_actions}][{pairs[entry] % n_actions}]"
        raise ValueError(f"{place} must list {rule}; got {entries[entry]!r}.")

    form = "(probability, next state, reward, terminated)"
    values = np.empty((len(entries), 4))
    for i, entry in enumerate(entries):
        try:
            probability, next_state, reward, ends = entry
            # If the episode ends, the next state is ignored and may be None.
            values[i] = probability, np.nan if next_state is None else next_state, reward, ends
        except (TypeError, ValueError):
            refuse(i, form)
    probabilities, next_states, rewards, flags = values.T
    ended = flags != 0.0
    goes = ended | ((next_states >= 0) & (next_states < n_states) & (next_states == np.floor(next_states)))
    for good, rule in (
        (probabilities >= 0.0, f"{form} with probability ≥ 0"),
        ((flags == 0.0) | (flags == 1.0), f"{form} with terminated true or false"),
        (goes, f"{form} with a next state in 0 … {n_states - 1}"),
        (np.isfinite(rewards), f"{form} with a finite reward"),
    ):
        if not good.all():
            refuse(int(np.argmin(good)), rule)
    # Outcomes with probability 0 are dropped.
    happens = probabilities > 0.0
    return Outcomes(
        n_states=n_states,
        n_actions=n_actions,
        pairs=pairs[happens],
        weights=probabilities[happens],
        next_states=np.where(ended, 0, next_states)[happens].astype(np.int64),
        rewards=rewards[happens],
        terminated=ended[happens],
    )
