"""Problems as the commands take and list them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.mdps import TabularMDP

__all__ = ["complete_env", "gymnasium_problems", "parse_env"]


def complete_env(incomplete: str) -> list[str]:
    """Return the names of builders and Gymnasium ids that begin like this."""
    from sojourn.mdps import BUILDERS, GYMNASIUM_IDS  # noqa: PLC0415

    return [name for name in (*BUILDERS, *GYMNASIUM_IDS) if name.startswith(incomplete)]


def parse_env(text: str) -> TabularMDP:
    """Return the problem that `--env` names; see `sojourn.mdps.parse_problem`."""
    from sojourn.mdps import read_problem  # noqa: PLC0415

    return read_problem(text, "--env").build()


def gymnasium_problems() -> list[TabularMDP]:
    """Return the environments of `GYMNASIUM_IDS` as this Gymnasium has them, in their newest versions."""
    from sojourn.mdps import GYMNASIUM_IDS, TabularMDP  # noqa: PLC0415

    problems = []
    for name in GYMNASIUM_IDS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                problems.append(TabularMDP.from_env(name))
            except ValueError:  # gone from this Gymnasium, so not to be listed
                continue
    return problems
