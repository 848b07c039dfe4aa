"""Comparisons on disk: one `.npz` file with the arrays and a line of JSON, without pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sojourn._files import read_archive, write_archive
from sojourn._text import UniqueNames, one_line
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


_MOST_AGENTS, _MOST_SEEDS = 1_000, 100_000
"""Larger comparisons are refused: their tables take minutes."""


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
    if shape[0] > _MOST_AGENTS or shape[1] > _MOST_SEEDS:
        raise ValueError(
            f"{path} must have at most {_MOST_AGENTS:,} agents and {_MOST_SEEDS:,} seeds; got {shape[0]:,} "
            f"and {shape[1]:,}."
        )
    if not (fits and are_floats and are_different and arrays["checkpoints"].dtype.kind == "i"):
        raise ValueError(f"{path} is a damaged comparison: its arrays do not fit each other.")
    if any((np.abs(array) > _LARGEST).any() for array in numbers[1:]) or (
        error is not None and (error < 0.0).any()
    ):
        raise ValueError(f"{path} is a damaged comparison: it holds infinity, or an error below 0.")
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
