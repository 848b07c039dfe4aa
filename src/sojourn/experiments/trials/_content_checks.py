"""Rules for the content of a trial file: what its header and its arrays must be, given the settings.

Every name, shape and type follows from the settings, so a file that breaks a rule was not written by a
correct run, even if its hash is right. A `ValueError` gives the reason as a clause; callers add the place.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from sojourn._files import is_utf8
from sojourn._typing import IntArray
from sojourn.laws import (
    Empirical,
    Fixed,
    KaplanMeier,
    LengthLaw,
    Polynomial,
    Tabulated,
    Uniform,
    read_stored_law,
)
from sojourn.learning import REGRET_TOLERANCE, check_regret_tolerance, fits_strata, spread_by_ratios

__all__ = ["LARGEST_SEED", "Layout", "check_arrays", "check_header", "check_sizes", "layout_of"]

_MOST_EPISODES = 1_000_000_000
_MOST_RECORDED = 100_000_000
_MOST_CHECKPOINTS = 1_000_000
LARGEST_SEED = 2**53
"""Limits of specs, in this version and in 0.1.0."""

_LARGEST_INTEGER = 2**63 - 1
_LARGEST_NORM = 1e100
"""Below it, sums over episodes, means over seeds and their squares are finite."""

_MOST_HEADER_BYTES = 4_096
_KINDS = {
    "starts": "i",
    "lengths": "i",
    "observed": "b",
    "rewards": "f",
    "regret": "f",
    "regret_width": "f",
    "price": "f",
}
"""Arrays of one entry per episode, with the kind of their data type: whole, boolean or floating-point."""

_TYPES = {"i": np.dtype("<i8"), "b": np.dtype("?"), "f": np.dtype("<f8")}
"""Data types that runs write, by kind."""

_REGRET = ("regret", "regret_width")
"""Absent together, if the agent does not show its policy or the problem has no transition table."""

_OPTIONAL = (*_REGRET, "price", "valued", "regret_error")

_LEAST = {"starts": 0, "lengths": 1, "observed": 0, "regret_width": 0, "regret_error": 0}
"""Arrays that have a least possible value; checkpoints are checked apart."""

_SUM_KINDS = {"checkpoints": "i"} | {
    f"sum_{name}": "i" if kind == "b" else kind for name, kind in _KINDS.items() if name != "starts"
}
"""Arrays of one entry per checkpoint."""

_OF_VALUED = {"valued": "i"}
"""Arrays of one entry per valued episode, like those of `_REGRET`, if only some episodes were valued."""

_PER_VALUED = (*_OF_VALUED, *_REGRET)

_OF_ESTIMATES = {"regret_error": "f"}
"""Arrays of one entry per checkpoint, if only some episodes were valued."""


class Layout(NamedTuple):
    """The arrays that a trial with certain settings has."""

    kinds: Mapping[str, str]
    """Every possible array, with the kind of its data type."""

    prefix: str
    """What comes before the names of `_KINDS`: "sum_" for sums up to checkpoints."""

    most: int
    """Number of entries, or the largest number of checkpoints."""

    episodes: int
    """Number of episodes."""

    n_valued: int | None = None
    """Number of episodes whose regret was computed; None for all."""

    lengths: tuple[int, int | None] = (1, None)
    """Smallest and largest possible length of an episode; None if there is no largest one."""


def layout_of(settings: Mapping[str, Any]) -> Layout:
    """Return the arrays that a trial with these settings has.

    Raises:
        ValueError: If "episodes", "record" or "regret_tolerance" is not possible.
    """
    episodes, record = settings["episodes"], settings["record"]
    try:
        check_regret_tolerance(settings.get("regret_tolerance", REGRET_TOLERANCE))
    except (TypeError, ValueError) as error:
        raise ValueError("its settings have a tolerance of regret that is not possible") from error
    if not _is_whole(episodes) or not 1 <= episodes <= _MOST_EPISODES:
        raise ValueError("its settings have no number of episodes")
    lengths = _possible_lengths(settings["law"])
    if record == "episodes" and episodes <= _MOST_RECORDED:
        return Layout(_KINDS, "", episodes, episodes, lengths=lengths)
    if (
        not isinstance(record, Mapping)
        or not record
        or not record.keys() <= {"checkpoints", "regret_episodes"}
    ):
        raise ValueError("its settings do not say what was recorded")
    n_valued = record.get("regret_episodes")
    if n_valued is not None and (not _is_whole(n_valued) or not 2 <= n_valued < episodes):
        raise ValueError("its settings do not say how many episodes were valued")
    if "checkpoints" not in record and episodes <= _MOST_RECORDED:
        return Layout(_KINDS | _OF_VALUED, "", episodes, episodes, n_valued, lengths)
    most: Any = record.get("checkpoints")
    if not _is_whole(most) or not min(2, episodes) <= most <= min(_MOST_CHECKPOINTS, episodes):
        raise ValueError("its settings do not say how many checkpoints were recorded")
    kinds = _SUM_KINDS if n_valued is None else _SUM_KINDS | _OF_ESTIMATES
    return Layout(kinds, "sum_", most, episodes, n_valued, lengths)


def check_sizes(layout: Layout, sizes: Mapping[str, int]) -> None:
    """Check the names of a trial's arrays and their declared sizes in bytes, before they are unpacked.

    Raises:
        ValueError: If there is an unknown array, or one is larger than the settings allow.
    """
    most = _MOST_HEADER_BYTES + 8 * layout.most
    for name, size in sizes.items():
        if name not in layout.kinds or size > most:
            raise ValueError(f"it has an array {name[:60]!r} that its settings do not allow")


@np.errstate(over="ignore", invalid="ignore")
def check_arrays(layout: Layout, arrays: Mapping[str, Any]) -> None:
    """Check the names, types, shapes and values of the arrays of a trial.

    Raises:
        ValueError: If a rule is broken; one clause says which.
    """
    kinds, prefix, most, episodes, n_valued, (shortest, longest) = layout
    n_optional = 0
    for name in kinds:
        if name in arrays:
            continue
        if name.removeprefix(prefix) not in _OPTIONAL:
            raise ValueError(f"it has no {name}")
        n_optional += 1
    if len(arrays) + n_optional != len(kinds):
        raise ValueError(f"it has an unknown array {min(set(arrays) - set(kinds))[:60]!r}")
    if len({prefix + name in arrays for name in _REGRET}) > 1:
        raise ValueError("it has a regret without its width, or a width without a regret")
    if n_valued is not None:
        _check_estimate(arrays, prefix, episodes, n_valued)
    n = most
    if prefix:
        n = _check_checkpoints(arrays["checkpoints"], most, episodes)
    for name, array in arrays.items():
        kind, least = array.dtype.kind, _LEAST.get(name.removeprefix(prefix))
        if array.dtype != _TYPES[kinds[name]]:
            raise ValueError(f"its {name} are of another type")
        if array.shape != (n_valued if n_valued is not None and name in _PER_VALUED else n,):
            raise ValueError(f"its {name} have another shape than its settings say")
        if kind == "f" and not _has_small_norm(array):
            raise ValueError(f"its {name} are not all finite, or too large to be added up")
        # `min` of a boolean array takes 2 µs, and is never below 0.
        if least is not None and kind != "b" and array.min() < least:
            raise ValueError(f"its {name} include a number that is too small")
    if prefix:
        _check_sums(arrays, shortest, longest)
    elif arrays["lengths"].max() > min(_LARGEST_INTEGER // n, longest or _LARGEST_INTEGER):
        raise ValueError("its lengths are larger than its law allows, or too large to be added up")
    elif shortest > 1 and ((arrays["lengths"] < shortest) & arrays["observed"]).any():
        raise ValueError("its lengths are smaller than its law allows")


def _check_sums(arrays: Mapping[str, Any], shortest: int, longest: int | None) -> None:
    """Check that sums up to checkpoints rise by what the episodes between them can add."""
    n_episodes = np.diff(arrays["checkpoints"], prepend=0)
    lengths = np.diff(arrays["sum_lengths"], prepend=0)
    observed = np.diff(arrays["sum_observed"], prepend=0)
    if (observed < 0).any() or (observed > n_episodes).any():
        raise ValueError("its sum_observed do not rise as counts of episodes do")
    # In floating point: products of whole numbers could overflow. A censored length may be as small as 1.
    most = np.inf if longest is None else float(longest)
    least = n_episodes + (shortest - 1.0) * observed
    if (lengths < least).any() or (lengths > most * n_episodes).any():
        raise ValueError("its sum_lengths do not rise as its law says")


def _check_estimate(arrays: Mapping[str, Any], prefix: str, episodes: int, n_valued: int) -> None:
    """Check that an estimated regret comes with its error, or with the episodes that were valued."""
    beside = "regret_error" if prefix else "valued"
    if (prefix + "regret" in arrays) != (beside in arrays):
        raise ValueError(f"it has a regret without its {beside}, or the other way round")
    if not prefix and beside in arrays:
        valued = arrays[beside]
        is_sound = valued.dtype.kind == "i" and valued.shape == (n_valued,)
        if not is_sound or not fits_strata(valued, episodes):
            raise ValueError("its valued episodes are not those of a possible draw")


def _has_small_norm(array: Any) -> bool:
    """Whether an array is finite and its sums stay finite; false if it has a NaN.

    NumPy's warnings must be off: switching them off here, once per array, would take longer than the work.
    """
    return bool(np.dot(array, array) < _LARGEST_NORM**2)


def _check_checkpoints(checkpoints: Any, most: int, episodes: int) -> int:
    """Return the number of checkpoints after checking that they are those that a run records."""
    if checkpoints.dtype.kind != "i" or not np.array_equal(checkpoints, _checkpoints(episodes, most)):
        raise ValueError("its checkpoints are not those that its settings say")
    return int(checkpoints.size)


@functools.lru_cache(maxsize=64)
def _possible_lengths(law: str) -> tuple[int, int | None]:
    """Return the smallest and the largest length under a law; 1 and None if the law is the user's own."""
    found = read_stored_law(law)
    return _shortest(found), found.longest


_AT_LEAST = (Fixed, Uniform, Polynomial, Tabulated, Empirical, KaplanMeier)
"""Families whose lengths may have a lower limit above 1; mixtures, which may take long, are not checked."""


def _shortest(law: LengthLaw) -> int:
    """Return the largest h with P(H ≥ h) = 1; 1 for laws that are not checked."""
    if not isinstance(law, _AT_LEAST):
        return 1
    powers = 2 ** np.arange(54)  # laws have no longer steps
    low = int(powers[law.survival(powers) >= 1.0].max(initial=1))
    high = min(2 * low, 2**53)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if law.survival(middle) >= 1.0 else (low, middle)
    return low


@functools.lru_cache(maxsize=16)
def _checkpoints(episodes: int, most: int) -> IntArray:
    return spread_by_ratios(episodes, most)


def check_header(header: Mapping[str, Any]) -> None:
    """Check the types of the header of a trial file.

    Raises:
        ValueError: If a rule is broken; one clause says which.
        KeyError, TypeError: If it is not the header of a trial at all.
    """
    settings, seed = header["settings"], header["seed"]
    if not _is_whole(seed) or not 0 <= seed <= LARGEST_SEED or not _is_whole(header["results"]):
        raise ValueError("its seed is not a possible one")
    texts = (header["problem"], settings["problem"], settings["law"], settings["learner"]["type"])
    if not all(isinstance(text, str) and is_utf8(text) for text in texts):
        raise ValueError("its problem, law or agent is not a text")
    layout_of(settings)
    read_stored_law(settings["law"])


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
