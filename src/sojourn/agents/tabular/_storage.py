"""Learners on disk: one `.npz` file with arrays and a line of JSON, without pickle.

The file holds all tables and the assumed law, so that a loaded learner continues bit for bit. Scratch arrays
are not stored. Some names on disk differ from those in the code, because they are kept from version 0.1.0.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from sojourn._files import read_archive, write_archive
from sojourn._kernels import AssumedLaw, BernsteinUpdate, MonotoneBernsteinTerms, Tables
from sojourn._typing import IntArray
from sojourn._validation import check_reward_range, check_whole
from sojourn.agents._registry import BONUSES
from sojourn.agents._ucbvi import UCBVI, UCBVILearner, UCBVIState
from sojourn.agents.tabular._reward_map import RewardMap
from sojourn.agents.tabular._table_memory import empty_tables, make_assumed_law
from sojourn.laws import law_to_text, parse_stored_law

__all__ = ["load_learner", "save_learner"]

_FORMAT = "sojourn learner 1"
_LARGEST = 2**53  # number of states, actions or episodes
_NOT_KEPT = {"incumbent", "runner_up", "greedy_masks"}  # computed from the other tables
_TABLES_ON_DISK = {
    "reward_total": "paid",
    "reward_estimate": "reward",
    "bonus_share": "root",
    "last_arc_into": "into",
    "arc_next_into": "arc_other",
}
_KEPT = {
    name: f"tables.{_TABLES_ON_DISK.get(name, name)}" for name in Tables._fields if name not in _NOT_KEPT
}
"""Tables that are stored, with their names on disk."""

_LAW_ON_DISK = {
    "outlook.ratios": "ratios",
    "outlook.caps": "caps",
    "outlook.last": "final_value",
    "outlook.bonus": "bonus",
    "outlook.power": "bonus_power",
    "outlook.reward_bonus": "reward_bonus",
}
"""Names on disk of the parts of an `AssumedLaw`."""

_BERNSTEIN_ON_DISK = {
    "outlook.spread.outer": "factor",
    "outlook.spread.variance": "variance",
    "outlook.spread.plain": "linear",
    "outlook.spread.rare": "next_term",
    "outlook.spread.most": "next_cap",
}
"""Names on disk of the parts of a `BernsteinUpdate`; their arrays are empty for other bonuses."""

_MONOTONE_ON_DISK = {f"monotone.{name}": name for name in MonotoneBernsteinTerms._fields}
"""Names on disk of the parts of a `MonotoneBernsteinTerms`; other bonuses have no such arrays."""

_SCALARS = {"final_value", "bonus_power", "reward_bonus", "variance", "weight", "log", "log_visits"}
"""Parts of an assumed law and of bonuses that are single numbers."""

_MOST_UNSEEN_ACTIONS = 1_000_000
"""Largest number of actions of a learner that has seen no state."""

Arrays = dict[str, np.ndarray[Any, Any]]


_Terms = BernsteinUpdate | MonotoneBernsteinTerms | None


class _DamagedError(ValueError):
    """Raised if a learner's file has the right arrays, but their content is invalid."""


def save_learner(learner: UCBVILearner, path: str | Path) -> Path:
    """Write a learner to `path` between two episodes, atomically."""
    state = learner.state()
    about = {
        "format": _FORMAT,
        "settings": _settings_to_json(state.settings),
        "n_states": None if state.n_states is None else int(state.n_states),
        "n_actions": int(state.n_actions),
        "episode": int(state.episode),
        "key": state.key,
        "low": float(state.reward_map.low),
        "span": float(state.reward_map.span),
    }
    arrays: dict[str, Any] = {
        "played": np.array(state.played, dtype=np.int64),
        "last_planned": np.array(sorted(state.last_planned.items()), dtype=np.int64).reshape(-1, 2),
    }
    if state.rewards is not None:
        arrays["rewards"] = state.rewards
    arrays |= {disk: getattr(state.tables, name) for name, disk in _KEPT.items()}
    arrays |= {disk: getattr(state.assumed, name) for disk, name in _LAW_ON_DISK.items()}
    terms = state.bernstein
    for disk, name in _BERNSTEIN_ON_DISK.items():
        absent = 0.0 if name in _SCALARS else np.empty(0)
        arrays[disk] = getattr(terms, name) if isinstance(terms, BernsteinUpdate) else absent
    if isinstance(terms, MonotoneBernsteinTerms):
        arrays |= {disk: getattr(terms, name) for disk, name in _MONOTONE_ON_DISK.items()}
    return write_archive(path, about, arrays)


def load_learner(path: str | Path) -> UCBVILearner:
    """Return the learner that `UCBVILearner.save` wrote to `path`; it continues where it stopped.

    Raises:
        ValueError: If the file was not written by `UCBVILearner.save`, or is damaged.

    Example:
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> import sojourn as sj
        >>> agent = sj.UCBVI(sj.Geometric(0.9))
        >>> learner = agent.start(n_states=3, n_actions=2, episodes=10, rng=np.random.default_rng(0))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = load_learner(learner.save(pathlib.Path(folder) / "learner.npz"))
        >>> again.settings == agent and bool((again.policy() == learner.policy()).all())
        True
    """
    about, arrays = read_archive(path, form=_FORMAT, writer="UCBVILearner.save")
    try:
        return UCBVILearner.from_state(_read_state(about, arrays))
    except _DamagedError as error:
        raise ValueError(f"{path} is a damaged learner: {error}.") from error
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, MemoryError) as error:
        raise ValueError(f"{path} is not a file that UCBVILearner.save wrote, or it is damaged.") from error


def _settings_to_json(settings: UCBVI) -> dict[str, Any]:
    """Return the settings with the law as text and the bonus by name."""
    bonus = settings.bonus
    if BONUSES.get(type(bonus).__name__) is not type(bonus):
        raise ValueError(
            f"bonus must be one of {', '.join(BONUSES)} to be saved; got {type(bonus).__name__}."
        )
    values = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    values = {
        name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()
    }
    values["law"] = law_to_text(settings.law, remedy="A law class of your own cannot be saved.")
    values["bonus"] = {"name": type(bonus).__name__, **dataclasses.asdict(bonus)}  # type: ignore[call-overload]
    return values


def _settings_from_json(values: dict[str, Any]) -> UCBVI:
    bonus = dict(values["bonus"])
    kind = BONUSES[bonus.pop("name")]
    return UCBVI(**{**values, "law": parse_stored_law(values["law"]), "bonus": kind(**bonus)})


def _read_state(about: dict[str, Any], arrays: Arrays) -> UCBVIState:
    """Return the state in a file, checked as far as compiled loops rely on it."""
    assumed, bernstein = _read_law(arrays)
    n_actions, episode = _whole(about["n_actions"]), _whole(about["episode"])
    n_states = None if about["n_states"] is None else _whole(about["n_states"])
    low, span = float(about["low"]), float(about["span"])
    check_reward_range((low, low + span))
    tables = _read_tables(arrays, assumed, n_actions, bernstein)
    played = arrays["played"]
    _check_indices(tables, played, n_actions, n_states)
    states, pairs = slice(tables.sizes[0]), slice(tables.sizes[1])
    numbers = (tables.value[states], tables.q[pairs], tables.reward_total[pairs], *assumed)
    if not all(np.isfinite(part).all() for part in numbers):
        raise _DamagedError("a table holds infinity or NaN")
    return UCBVIState(
        settings=_settings_from_json(about["settings"]),
        assumed=assumed,
        bernstein=bernstein,
        n_states=n_states,
        n_actions=n_actions,
        rewards=arrays.get("rewards"),
        reward_map=RewardMap(low, span),
        key=int(about["key"]),
        episode=episode,
        tables=tables,
        played=tuple(int(pair) for pair in played),
        last_planned={int(pair): int(count) for pair, count in arrays["last_planned"]},
    )


def _whole(value: Any) -> int:
    """Return a number of the description, after checking that compiled loops can hold it."""
    if check_whole("numbers", value, least=0) > _LARGEST:
        raise _DamagedError(f"it holds {value:,}")
    return int(value)


def _read_law(arrays: Arrays) -> tuple[AssumedLaw, _Terms]:
    """Return the assumed law and the terms of the bonus, all with the same number of layers."""
    parts = {name: _floats(arrays[disk]) for disk, name in _LAW_ON_DISK.items()}
    n_layers = np.size(parts["ratios"])
    _check_shapes(parts, n_layers, n_caps=n_layers + 1)
    if parts["reward_bonus"] < 0.0:
        parts["reward_bonus"] = None
    bernstein: _Terms = None
    terms = {name: _floats(arrays[disk]) for disk, name in _BERNSTEIN_ON_DISK.items()}
    if np.size(terms["factor"]) > 0:
        _check_shapes(terms, n_layers, n_caps=n_layers)
        bernstein = BernsteinUpdate(**terms)
    elif any(disk in arrays for disk in _MONOTONE_ON_DISK):
        terms = {name: _floats(arrays[disk]) for disk, name in _MONOTONE_ON_DISK.items()}
        _check_shapes(terms, n_layers, n_caps=n_layers)
        bernstein = MonotoneBernsteinTerms(**terms)
    return make_assumed_law(**parts), bernstein


def _check_shapes(parts: dict[str, Any], n_layers: int, *, n_caps: int) -> None:
    """Raise an error unless parts are single numbers or have one entry per layer; "caps" has `n_caps`."""
    for name, part in parts.items():
        shape = () if name in _SCALARS else (n_caps if name == "caps" else n_layers,)
        if n_layers == 0 or np.shape(part) != shape:
            raise _DamagedError("its assumed law does not fit its layers")


def _floats(array: np.ndarray[Any, Any]) -> Any:
    """Return an array of floats in C order, or a float if the array has no axes."""
    if array.dtype != np.float64:
        raise ValueError(f"The assumed law must hold floats; got {array.dtype}.")
    return array.item() if array.ndim == 0 else np.ascontiguousarray(array)


def _read_tables(arrays: Arrays, assumed: AssumedLaw, n_actions: int, bernstein: _Terms) -> Tables:
    """Return the tables in a file; those that are not stored are empty."""

    def allocate(states: int, pairs: int, arcs: int) -> Tables:
        return empty_tables(
            assumed,
            n_actions,
            states=states,
            pairs=pairs,
            arcs=arcs,
            has_incumbents=bernstein is None,
            has_layer_visits=isinstance(bernstein, BernsteinUpdate),
        )

    kept = {name: np.ascontiguousarray(arrays[disk]) for name, disk in _KEPT.items()}
    states, pairs, arcs = kept["names"].size, kept["visits"].size, kept["arc_to"].size
    if kept["pair_of"].shape != (states, n_actions):  # before memory for that many actions is allocated
        raise _DamagedError("its table 'pair_of' has the wrong shape")
    if not states and n_actions > _MOST_UNSEEN_ACTIONS:  # the file holds nothing of that size
        raise _DamagedError(f"it holds {n_actions:,} actions and no state")
    # Allocate tiny tables (4 states, 5 pairs, 6 arcs) to learn which axis of each table grows with what.
    sizes = {4: states, 5: pairs, 6: arcs, 8: 2 << (states - 1).bit_length()}
    tiny = allocate(4, 5, 6)._asdict()
    for name, array in tiny.items():
        shape = (sizes.get(len(array), len(array)), *array.shape[1:])
        if name in kept and (kept[name].dtype, kept[name].shape) != (array.dtype, shape):
            raise _DamagedError(f"its table {name!r} has the wrong shape")
    tables, used = allocate(states, pairs, arcs), dict(zip((4, 5, 6), kept["sizes"].tolist(), strict=True))
    for name, array in kept.items():  # the parts that are not in use stay empty, as kernels expect
        n_used = used.get(len(tiny[name]), len(array))
        getattr(tables, name)[:n_used] = array[:n_used]
    return tables


def _check_indices(tables: Tables, played: IntArray, n_actions: int, n_states: int | None) -> None:
    """Raise an error for an index out of range, or lists that are not those that a learner makes."""
    used_states, used_pairs, used_arcs = (int(n) for n in tables.sizes)
    capacities = (tables.names.size, tables.visits.size, tables.arc_to.size)
    are_sizes = 1 <= used_states <= capacities[0] and min(capacities) > 0
    if not (are_sizes and 0 <= used_pairs <= capacities[1] and 0 <= used_arcs <= capacities[2]):
        raise _DamagedError("its tables hold more than fits")
    pairs, arcs = slice(used_pairs), slice(used_arcs)
    ranges = [
        (tables.slots, -1, used_states),
        (tables.names[1:used_states], 0, np.inf if n_states is None else n_states),
        (tables.pair_of, -1, used_pairs),
        (tables.state_of[pairs], 0, used_states),
        (tables.action_of[pairs], 0, n_actions),
        (tables.visits[pairs], 1, np.inf),
        (tables.arc_from[arcs], 0, used_pairs),
        (tables.arc_to[arcs], 0, used_states),
        (played, 0, used_pairs),
    ]
    is_in_range = all(((array >= least) & (array < stop)).all() for array, least, stop in ranges)
    # The hash table must have empty slots, or the lookup of a new state would not terminate.
    has_free_slots = np.count_nonzero(tables.slots >= 0) == used_states
    counts_actions = np.array_equal(tables.tried, np.count_nonzero(tables.pair_of >= 0, axis=1))
    if not (is_in_range and has_free_slots and counts_actions and _has_sound_lists(tables)):
        raise _DamagedError("an index in its tables is out of range")


def _has_sound_lists(tables: Tables) -> bool:
    """Whether each pair stands once in `pair_of`, and each arc once in both of its lists.

    Kernels copy all of them to scratch arrays that have room for each pair and each arc once.
    """
    _, used_pairs, used_arcs = (int(n) for n in tables.sizes)
    pairs, arcs = slice(used_pairs), slice(used_arcs)
    numbers = tables.pair_of[tables.state_of[pairs], tables.action_of[pairs]]
    arc_from, arc_to = tables.arc_from[arcs], tables.arc_to[arcs]
    before, after = _neighbors(arc_from)
    before_into, after_into = _neighbors(arc_to)
    (first,), (last,), (last_into,) = (np.nonzero(part < 0) for part in (before, after, after_into))
    return (
        np.array_equal(numbers, np.arange(used_pairs))
        and np.count_nonzero(tables.pair_of >= 0) == used_pairs == first.size
        and np.count_nonzero(tables.last_arc_into >= 0) == last_into.size
        and np.array_equal(tables.arc_next[arcs], after)
        and np.array_equal(tables.arc_next_into[arcs], before_into)
        and np.array_equal(tables.first_arc[arc_from[first]], first)
        and np.array_equal(tables.last_arc[arc_from[last]], last)
        and np.array_equal(tables.last_arc_into[arc_to[last_into]], last_into)
    )


def _neighbors(ends: IntArray) -> tuple[IntArray, IntArray]:
    """Return for each arc the arcs before and after it that have the same end, or −1 if there is none."""
    order = np.argsort(ends, kind="stable")
    is_same = ends[order[1:]] == ends[order[:-1]]
    earlier, later = order[:-1][is_same], order[1:][is_same]
    before, after = np.full(ends.size, -1), np.full(ends.size, -1)
    before[later], after[earlier] = earlier, later
    return before, after
