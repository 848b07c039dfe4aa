"""Names under which the chapters show the learners of the shipped experiments."""

from __future__ import annotations

from typing import Any

from sojourn.agents import UCBVI, Bernstein, Hoeffding, RandomPlayer
from sojourn.laws import Fixed, LengthLaw
from sojourn.learning import Comparison

__all__ = ["N_PAPER_AGENTS", "paper_agents", "paper_names", "random_row", "rows_by_name", "spec_name"]

_SHARES = {0.5: "½ mean", 1.0: "mean", 1.5: "1½ mean"}
"""Fixed horizons of the paper's UCB-VI variants, as multiples of the mean length."""

_GENERAL = "general, the law itself"
_BONUSES = (Hoeffding, Bernstein)

N_PAPER_AGENTS = 1 + len(_BONUSES) * len(_SHARES)
"""Number of agents in the paper's Figure 1; they come first in comparisons, before the random player."""


def paper_agents(law: LengthLaw, **settings: Any) -> list[UCBVI]:
    """Return the seven agents of the paper's Figure 1 for a law: the general one first, then its rivals."""
    horizons = [Fixed(round(share * law.mean)) for share in _SHARES]
    rivals = [UCBVI(horizon, bonus(), **settings) for bonus in _BONUSES for horizon in horizons]
    return [UCBVI(law, truncation="paper", **settings), *rivals]


def paper_names(comparison: Comparison) -> list[str]:
    """Return display names for the agents of a comparison like the paper's Figure 1."""
    return [_paper_name(agent, comparison.law) for agent in comparison.agents]


def _paper_name(agent: Any, law: LengthLaw) -> str:
    if isinstance(agent, RandomPlayer):
        return "chance"
    if not isinstance(agent.law, Fixed):
        return _GENERAL
    length = agent.law.length
    share = min(_SHARES, key=lambda multiple: abs(multiple * law.mean - length))
    return f"UCB-VI {type(agent.bonus).__name__}, H = {_SHARES[share]}"


def spec_name(name: str, law: str) -> str:
    """Return the display name of an agent from its name and its assumed law in a spec.

    Example:
        >>> spec_name("hoeffding", "fixed 0.5 mean"), spec_name("general", "")
        ('UCB-VI Hoeffding, H = ½ mean', 'general, the law itself')
    """
    if not law:
        return _GENERAL
    multiple = law.removeprefix("fixed").removesuffix("mean").strip()
    return f"UCB-VI {name.capitalize()}, H = {_SHARES[float(multiple or 1.0)]}"


def random_row(comparison: Comparison) -> int:
    """Return the row of the random player in a comparison."""
    return next(i for i, agent in enumerate(comparison.agents) if isinstance(agent, RandomPlayer))


def rows_by_name(comparison: Comparison) -> dict[str, int]:
    """Return the row of each learner by its name in the spec, which `name (settings)` starts with."""
    return {name.partition(" (")[0]: i for i, name in enumerate(comparison.names)}
