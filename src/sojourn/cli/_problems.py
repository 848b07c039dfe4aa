"""Helpers for problems on the command line."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.mdps import TabularMDP

__all__ = ["complete_problem", "gymnasium_problems", "read_problem_option", "search_current_folder"]


def complete_problem(incomplete: str) -> list[str]:
    """Return the builders and Gymnasium ids that start with a prefix, for shell completion."""
    from sojourn.mdps import BUILDERS, GYMNASIUM_IDS  # noqa: PLC0415

    return [name for name in (*BUILDERS, *GYMNASIUM_IDS) if name.startswith(incomplete)]


def read_problem_option(text: str) -> TabularMDP:
    """Return the problem named by `--problem`; see `sojourn.mdps.parse_problem`.

    A module of your own may be in the current folder, as for `python -m`.
    """
    from sojourn._imports import is_import_path  # noqa: PLC0415
    from sojourn.mdps import read_problem  # noqa: PLC0415

    if is_import_path(text.partition("(")[0]):
        search_current_folder()
    return read_problem(text, "--problem").build()


def search_current_folder() -> None:
    """Let imports find modules in the current folder, after all others."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)


def gymnasium_problems() -> list[TabularMDP]:
    """Return the problems of `GYMNASIUM_IDS` that the installed Gymnasium has, in their newest versions."""
    from sojourn.mdps import GYMNASIUM_IDS, TabularMDP  # noqa: PLC0415

    problems = []
    for name in GYMNASIUM_IDS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                problems.append(TabularMDP.from_env(name))
            except ValueError:  # this version of Gymnasium does not have it
                continue
    return problems
