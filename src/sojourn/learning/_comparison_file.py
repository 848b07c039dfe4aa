"""Comparisons on disk: one `.npz` file with the arrays and a line of JSON, without pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sojourn._files import read_archive, write_archive
from sojourn._text import UniqueNames, one_line
from sojourn._typing import FloatArray
from sojourn._validation import check_whole
from sojourn.laws import LengthLaw, MissingLaw, law_to_text, read_stored_law
from sojourn.learning._comparison import Comparison

__all__ = ["load_comparison", "save_comparison"]

_FORMAT = "sojourn comparison 1"
_LARGEST = 1e100
"""Larger numbers count as infinite, because their squares and sums are."""

_MOST_LETTERS = 200
"""Longer names are cut: a table has room for the longest one in every row."""

_ARRAYS = ("checkpoints", "cumulative_regret", "regret_width", "rewards")


def save_comparison(comparison: Comparison, path: str | Path) -> Path:
    """Write a comparison to `path` atomically; `.npz` is added if the path has no suffix."""
    _check_size("comparison", len(comparison.names), len(comparison.seeds))
    about = {
        "format": _FORMAT,
        "names": list(comparison.names),
        "problem": comparison.problem,
        "law": _law_text(comparison.law),
        "seeds": list(comparison.seeds),
        "regret_episodes": comparison.regret_episodes,
    }
    arrays = {name: getattr(comparison, name) for name in _ARRAYS}
    if comparison.regret_error is not None:
        arrays["regret_error"] = comparison.regret_error
    return write_archive(path, about, arrays)


def _law_text(law: LengthLaw) -> str:
    if isinstance(law, MissingLaw):
        return law.text
    return law_to_text(law, remedy="Store comparison.cumulative_regret yourself.")


_MOST_AGENTS, _MOST_TRIALS = 1_000, 100_000
"""Larger comparisons are refused: tables of the largest take 8 to 24 s."""


def _check_size(subject: object, n_agents: int, n_seeds: int) -> None:
    if n_agents > _MOST_AGENTS or n_agents * n_seeds > _MOST_TRIALS:
        raise ValueError(
            f"{subject} must have at most {_MOST_AGENTS:,} agents and {_MOST_TRIALS:,} trials; got "
            f"{n_agents:,} agents with {n_seeds:,} seeds."
        )


def load_comparison(path: str | Path) -> Comparison:
    """Return the comparison that `Comparison.save` wrote to `path`; its `agents` are empty.

    Example:
        >>> import pathlib, tempfile
        >>> import sojourn as sj
        >>> law = sj.Fixed(3)
        >>> found = sj.compare([sj.PSRL(law)], sj.mdps.two_paths(), law, episodes=5, seeds=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = sj.load_comparison(found.save(pathlib.Path(folder) / "paths.npz"))
        >>> again.table() == found.table()
        True
    """
    about, found = read_archive(path, form=_FORMAT, writer="Comparison.save")
    try:
        arrays: dict[str, Any] = {name: found[name] for name in _ARRAYS}
        error, drawn = found.get("regret_error"), about["regret_episodes"]
        unique = UniqueNames()
        texts = [str(name) for name in about["names"]]
        names = tuple(unique.name(one_line(text, _MOST_LETTERS), text) for text in texts)
        seeds = tuple(check_whole("seeds", seed, least=0) for seed in about["seeds"])
        law, problem = read_stored_law(about["law"]), one_line(str(about["problem"]), _MOST_LETTERS)
        drawn = None if drawn is None else check_whole("regret_episodes", drawn, least=1)
    except (KeyError, OverflowError, TypeError, ValueError) as wrong:
        raise ValueError(f"{path} is not a file that Comparison.save wrote, or it is damaged.") from wrong
    shape = (len(names), len(seeds), arrays["checkpoints"].size)
    fits = (
        arrays["checkpoints"].ndim == 1
        and min(shape) > 0
        and arrays["cumulative_regret"].shape == shape
        and arrays["regret_width"].shape == arrays["rewards"].shape == shape[:2]
        and (drawn is None if error is None else error.shape == shape)
    )
    numbers = [*arrays.values(), *([] if error is None else [error])]
    are_floats = all(array.dtype == np.float64 for array in numbers[1:])
    are_different = len(set(names)) == len(names) and len(set(seeds)) == len(seeds)
    _check_size(path, *shape[:2])
    if not (fits and are_floats and are_different and arrays["checkpoints"].dtype.kind == "i"):
        raise ValueError(f"{path} is a damaged comparison: its arrays do not fit each other.")
    wrong_number = _describe_wrong_number(error=error, **arrays)
    if wrong_number:
        raise ValueError(f"{path} is a damaged comparison: {wrong_number}.")
    checkpoints = arrays["checkpoints"]
    if (checkpoints[1:] <= checkpoints[:-1]).any() or checkpoints[0] < 1:
        raise ValueError(f"{path} is a damaged comparison: its checkpoints do not rise.")
    return Comparison(
        names=names,
        agents=(),
        problem=problem,
        law=law,
        seeds=seeds,
        regret_error=error,
        regret_episodes=drawn,
        **arrays,
    )


def _describe_wrong_number(
    cumulative_regret: FloatArray,
    regret_width: FloatArray,
    rewards: FloatArray,
    error: FloatArray | None,
    **_: object,
) -> str:
    """Return what is wrong with the numbers of a comparison, or an empty text."""
    if not (np.abs(rewards) <= _LARGEST).all():
        return "its rewards are not finite"
    has_regret = ~np.isnan(cumulative_regret).all(axis=(1, 2))  # not all learners show their policy
    for array in (cumulative_regret, regret_width, *([] if error is None else [error])):
        if not (np.abs(array[has_regret]) <= _LARGEST).all() or not np.isnan(array[~has_regret]).all():
            return "its regret is not finite, or known only in part"
    if (regret_width < 0.0).any() or (error is not None and (error < 0.0).any()):
        return "an error of its regret is below 0"
    return ""
