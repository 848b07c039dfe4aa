"""Learners in play on disk: one `.npz` file, arrays and a line of JSON, no pickle.

All tables are kept as they are, and so is the assumed law layer by layer: a learner that comes back goes on
bit for bit. Scratch arrays are not kept. Some names on disk differ from those in code: they are those of the
first version of the format.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from sojourn._files import read_archive, write_archive
from sojourn._kernels import AssumedLaw, BernsteinUpdate, Tables, find_all_incumbents
from sojourn.agents._registry import BONUSES
from sojourn.agents._table_memory import empty_ucbvi_update, make_assumed_law
from sojourn.agents._ucbvi import UCBVI, UCBVILearner
from sojourn.laws import law_to_text, parse_law

__all__ = ["load_learner", "save_learner"]

_FORMAT = "sojourn learner 1"
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
"""Tables that are kept, with their names on disk."""

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

Arrays = dict[str, np.ndarray[Any, Any]]


def save_learner(learner: UCBVILearner, path: str | Path) -> Path:
    """Write a learner to `path` between two episodes, in one step: whole, or not at all."""
    if learner._awaited is not None or learner._step > 0:
        raise ValueError("save must come between episodes; this one has begun. Call end_episode first.")
    about = {
        "format": _FORMAT,
        "settings": _settings_to_text(learner.settings),
        "n_states": None if learner.n_states is None else int(learner.n_states),
        "n_actions": int(learner.n_actions),
        "episode": int(learner.episode),
        "key": int(learner._key),
        "low": float(learner._low),
        "span": float(learner._span),
    }
    arrays: dict[str, Any] = {
        "played": np.array(learner._played, dtype=np.int64),
        "last_planned": np.array(sorted(learner._last_planned.items()), dtype=np.int64).reshape(-1, 2),
    }
    if learner._rewards is not None:
        arrays["rewards"] = learner._rewards
    for name, disk in _KEPT.items():
        arrays[disk] = getattr(learner._tables, name)
    arrays.update(_law_to_arrays(learner))
    return write_archive(path, about, arrays)


def load_learner(path: str | Path) -> UCBVILearner:
    """Return the learner that `UCBVILearner.save` wrote to `path`, to go on where it stopped.

    Raises:
        ValueError: If it is not such a file, or damaged; one line says so.

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
        learner = _rebuild(about, arrays)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, MemoryError) as error:
        raise ValueError(f"{path} is not a file that UCBVILearner.save wrote, or it is damaged.") from error
    wrong = _what_is_wrong(learner)
    if wrong:
        raise ValueError(f"{path} is a damaged learner: {wrong}.")
    find_all_incumbents(learner._tables)
    return learner


def _settings_to_text(settings: UCBVI) -> dict[str, Any]:
    """Return settings as JSON takes them: the law as text, the bonus by name."""
    bonus = settings.bonus
    if BONUSES.get(type(bonus).__name__) is not type(bonus):
        raise ValueError(
            f"bonus must be one of {', '.join(BONUSES)} to be saved; got {type(bonus).__name__}."
        )
    told: dict[str, Any] = {
        field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)
    }
    told = {name: value.item() if isinstance(value, np.generic) else value for name, value in told.items()}
    told["law"] = law_to_text(settings.law, remedy="A law class of your own cannot be saved.")
    told["bonus"] = {"name": type(bonus).__name__, **dataclasses.asdict(bonus)}  # type: ignore[call-overload]
    return told


def _settings_from_text(told: dict[str, Any]) -> UCBVI:
    bonus = dict(told["bonus"])
    kind = BONUSES[bonus.pop("name")]
    return UCBVI(**{**told, "law": parse_law(told["law"]), "bonus": kind(**bonus)})


def _law_to_arrays(learner: UCBVILearner) -> dict[str, Any]:
    """Return the assumed law and the bonus under their names on disk."""
    assumed = learner._assumed
    arrays: dict[str, Any] = {disk: getattr(assumed, name) for disk, name in _LAW_ON_DISK.items()}
    for disk, name in _BERNSTEIN_ON_DISK.items():
        absent = 0.0 if name == "variance" else np.empty(0)
        arrays[disk] = absent if learner._bernstein is None else getattr(learner._bernstein, name)
    return arrays


def _law_from_arrays(arrays: Arrays) -> tuple[AssumedLaw, BernsteinUpdate | None]:
    parts = {name: _plain(arrays[disk]) for disk, name in _LAW_ON_DISK.items()}
    bernstein = BernsteinUpdate(**{name: _plain(arrays[disk]) for disk, name in _BERNSTEIN_ON_DISK.items()})
    if parts["reward_bonus"] < 0.0:
        parts["reward_bonus"] = None
    return make_assumed_law(**parts), bernstein if np.size(bernstein.factor) > 0 else None


def _plain(array: np.ndarray[Any, Any]) -> Any:
    """Return an array of floats in C order, or its number if it holds only one without a shape."""
    if array.dtype != np.float64:
        raise ValueError(f"The assumed law must hold floats; got {array.dtype}.")
    return array.item() if array.ndim == 0 else np.ascontiguousarray(array)


def _rebuild(about: dict[str, Any], arrays: Arrays) -> UCBVILearner:
    assumed, bernstein = _law_from_arrays(arrays)
    learner = UCBVILearner(
        _settings_from_text(about["settings"]),
        assumed,
        bernstein=bernstein,
        n_states=None if about["n_states"] is None else int(about["n_states"]),
        n_actions=int(about["n_actions"]),
        rewards=arrays.get("rewards"),
        reward_range=(0.0, 1.0),  # rewards are kept as they were mapped
        terminal_reward=0.0,
        key=int(about["key"]),
    )
    learner.episode = int(about["episode"])
    learner._low, learner._span = float(about["low"]), float(about["span"])
    kept = {name: np.ascontiguousarray(arrays[disk]) for name, disk in _KEPT.items()}
    rooms = (kept["names"].size, kept["visits"].size, kept["arc_to"].size)
    learner._tables = learner._empty_tables(*rooms)._replace(**kept)
    learner._ucbvi_update = empty_ucbvi_update(learner.n_layers, *rooms)
    learner._played = [int(pair) for pair in arrays["played"]]
    learner._seen_this_episode = set(learner._played)
    learner._last_planned = {int(pair): int(count) for pair, count in arrays["last_planned"]}
    return learner


def _what_is_wrong(learner: UCBVILearner) -> str:
    """Return what the parts of a learner break, or nothing: compiled loops look at nothing twice."""
    tables = learner._tables
    if not _has_layers(learner):
        return "its assumed law does not fit its layers"
    for name, (kind, shape) in _expected(learner).items():
        found = getattr(tables, name)
        if (found.dtype, found.shape) != (kind, shape):
            return f"its table {name!r} has the wrong shape"
    n_states, n_pairs, n_arcs = (int(n) for n in tables.sizes)
    rooms = (tables.names.size, tables.visits.size, tables.arc_to.size)
    if not (
        1 <= n_states <= rooms[0] and 0 <= n_pairs <= rooms[1] and 0 <= n_arcs <= rooms[2] and min(rooms)
    ):
        return "its tables hold more than fits"
    pairs, arcs, order = slice(n_pairs), slice(n_arcs), np.arange(n_arcs)
    newer, older = tables.arc_next[arcs], tables.arc_next_into[arcs]
    most = np.inf if learner.n_states is None else learner.n_states
    holds = [
        _are_in(tables.slots, -1, n_states),
        np.count_nonzero(tables.slots >= 0) == n_states,
        _are_in(tables.names[1:n_states], 0, most),
        _are_in(tables.pair_of, -1, n_pairs),
        np.array_equal(tables.tried, np.count_nonzero(tables.pair_of >= 0, axis=1)),
        _are_in(tables.last_arc_into, -1, n_arcs),
        _are_in(tables.state_of[pairs], 0, n_states),
        _are_in(tables.action_of[pairs], 0, learner.n_actions),
        _are_in(tables.visits[pairs], 1, np.inf),
        _are_in(tables.first_arc[pairs], 0, n_arcs),
        _are_in(tables.last_arc[pairs], 0, n_arcs),
        _are_in(tables.arc_from[arcs], 0, n_pairs),
        _are_in(tables.arc_to[arcs], 0, n_states),
        # Arcs are linked in the order in which they were made, so that no list runs in a circle.
        bool((((newer == -1) | (newer > order)) & (newer < n_arcs)).all()),
        bool(((older >= -1) & (older < order)).all()),
        _are_in(np.array(learner._played, dtype=np.int64), 0, n_pairs),
    ]
    if not all(holds):
        return "its tables point outside themselves"
    if not (_pairs_agree(tables, n_pairs) and _arcs_agree(tables, n_pairs, n_arcs)):
        return "its tables contradict each other"
    numbers = (tables.value[:n_states], tables.q[pairs], tables.reward_total[pairs], learner._assumed.bonus)
    if not all(np.isfinite(part).all() for part in numbers):
        return "its tables hold what is not a number"
    return ""


def _pairs_agree(tables: Tables, n_pairs: int) -> bool:
    """Tell whether every pair stands where its state and action say, and nothing else does."""
    states, actions = np.nonzero(tables.pair_of >= 0)
    found = tables.pair_of[states, actions]
    return bool(
        found.size == n_pairs
        and np.array_equal(np.sort(found), np.arange(n_pairs))
        and np.array_equal(tables.state_of[found], states)
        and np.array_equal(tables.action_of[found], actions)
    )


def _arcs_agree(tables: Tables, n_pairs: int, n_arcs: int) -> bool:
    """Tell whether every arc is in the list of its own pair, and in that of its own successor, once."""
    pairs, following = tables.arc_from[:n_arcs], tables.arc_next[:n_arcs]
    linked = np.concatenate([tables.first_arc[:n_pairs], following[following >= 0]])
    older = tables.arc_next_into[:n_arcs]
    into = np.concatenate([tables.last_arc_into[tables.last_arc_into >= 0], older[older >= 0]])
    order, heads = np.arange(n_arcs), np.flatnonzero(tables.last_arc_into >= 0)
    return bool(
        np.array_equal(np.sort(linked), order)
        and np.array_equal(np.sort(into), order)
        and np.array_equal(pairs[tables.first_arc[:n_pairs]], np.arange(n_pairs))
        and np.array_equal(pairs[following[following >= 0]], pairs[following >= 0])
        and np.array_equal(tables.arc_to[tables.last_arc_into[heads]], heads)
        and np.array_equal(tables.arc_to[older[older >= 0]], tables.arc_to[:n_arcs][older >= 0])
    )


def _has_layers(learner: UCBVILearner) -> bool:
    """Return whether all parts of the assumed law and of the bonus have the same number of layers."""
    assumed, bernstein = learner._assumed, learner._bernstein
    n_layers = np.size(assumed.ratios)
    per_layer = [assumed.ratios, assumed.bonus]
    if bernstein is not None:
        per_layer += [bernstein.factor, bernstein.linear, bernstein.next_term, bernstein.next_cap]
    single = [assumed.final_value, assumed.bonus_power, assumed.reward_bonus]
    single += [] if bernstein is None else [bernstein.variance]
    return (
        n_layers > 0
        and np.shape(assumed.caps) == (n_layers + 1,)
        and all(np.shape(part) == (n_layers,) for part in per_layer)
        and all(np.shape(part) == () for part in single)
    )


def _expected(learner: UCBVILearner) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
    """Return the type and shape of each table, read off small ones whose rooms tell them apart."""
    tables = learner._tables
    states = tables.names.size
    rooms = {4: states, 5: tables.visits.size, 6: tables.arc_to.size, 8: 2 << (states - 1).bit_length()}
    small = learner._empty_tables(4, 5, 6)._asdict()
    return {
        name: (array.dtype, (rooms.get(len(array), len(array)), *array.shape[1:]))
        for name, array in small.items()
    }


def _are_in(numbers: np.ndarray[Any, Any], least: int, stop: float) -> bool:
    return bool(((numbers >= least) & (numbers < stop)).all())
