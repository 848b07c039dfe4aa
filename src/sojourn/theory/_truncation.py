"""The number of layers with which the proven bounds have the smallest power of T."""

from __future__ import annotations

import math
from typing import Literal

from sojourn._validation import check_choice, check_whole
from sojourn.laws import LengthLaw, Polynomial
from sojourn.theory._checks import check_episodes, check_law
from sojourn.theory._choices import printed_truncation

__all__ = ["PROVEN_BONUSES", "BonusKind", "check_sizes", "proven_horizon", "proven_truncation"]

BonusKind = Literal["paper", "hoeffding", "monotone_bernstein"]
PROVEN_BONUSES: tuple[BonusKind, ...] = ("paper", "hoeffding", "monotone_bernstein")
"""Kinds of exploration bonuses for which there is a proven bound."""

_MAX_LAYERS = 2**53


def proven_horizon(
    law: LengthLaw,
    episodes: int,
    *,
    bonus: BonusKind = "paper",
    n_states: int | None = None,
    n_actions: int | None = None,
    n_successors: int | None = None,
) -> int:
    """Return the number of layers N for which the power of T in the proven bound is smallest.

    Polynomial laws: ⌈T^(1/(p+1))⌉ layers with the paper's or Hoeffding's bonus, ⌈T^(1/p)⌉ with the monotone
    Bernstein bonus, plus the offset of the law. Geometric and quasi-hyperbolic laws: N(Δ) with the Δ of the
    paper's Corollary 3. All others: N(Δ) with Δ = Γ(1)/T. The paper's own choice is `printed_truncation`.

    Given the size of the problem, polynomial laws get ⌈(T/(SA))^(1/(p+1))⌉ and ⌈(T/(κSA))^(1/p)⌉ layers
    instead. That has the same power of T and a better constant.

    Args:
        law: The law of episode lengths.
        episodes: Number of episodes T.
        bonus: Kind of exploration bonus.
        n_states: Number of states S; together with `n_actions`.
        n_actions: Number of actions A; together with `n_states`.
        n_successors: Largest number κ of successors of a state and an action; S by default.

    Raises:
        ValueError: If N would be above 2**53.

    Example:
        >>> from sojourn.laws import Geometric, Polynomial
        >>> [proven_horizon(Polynomial(1.4), 10**6, bonus=bonus) for bonus in ("paper", "monotone_bernstein")]
        [317, 19307]
        >>> sizes = {"n_states": 6, "n_actions": 2, "n_successors": 3}
        >>> proven_horizon(Polynomial(1.4), 10**7, bonus="monotone_bernstein", **sizes)
        7734
        >>> proven_horizon(Geometric(0.9), 10**6)
        133
    """
    law, n_episodes = check_law(law), check_episodes(episodes)
    check_choice("bonus", bonus, PROVEN_BONUSES)
    size = _size(bonus, n_states, n_actions, n_successors)
    if not isinstance(law, Polynomial):
        return printed_truncation(law, int(n_episodes)).horizon
    power = 1.0 / law.p if bonus == "monotone_bernstein" else 1.0 / (law.p + 1.0)
    # A power that is a whole number may come out slightly above it.
    layers = math.exp(power * (math.log(n_episodes) - math.log(size))) * (1.0 - 1e-12)
    if not layers < _MAX_LAYERS - law.offset:
        raise ValueError(
            f"{law!r} has too heavy a tail for {episodes} episodes: N is above 2**53; give a horizon."
        )
    return max(1, math.ceil(layers)) + law.offset


def proven_truncation(law: LengthLaw, episodes: int, *, bonus: BonusKind = "paper") -> tuple[int, float]:
    """Return the number of layers N of `proven_horizon`, and the Δ with which a learner values later steps.

    This is the default of all agents that plan with layers. Polynomial laws, for which N is chosen directly:
    Δ = Γ(N+1). All others, for which N is N(Δ): that Δ, or 0 if no steps follow layer N.

    Args:
        law: The law of episode lengths.
        episodes: Number of episodes T.
        bonus: Kind of exploration bonus.

    Raises:
        ValueError: If N would be above 2**53.

    Example:
        >>> from sojourn.laws import Fixed, Geometric, Polynomial
        >>> proven_truncation(Geometric(0.75), 1_000)
        (26, 0.004)
        >>> proven_truncation(Fixed(20), 1_000)
        (20, 0.0)
        >>> law = Polynomial(2.0)
        >>> proven_truncation(law, 1_000) == (10, law.tail(11))
        True
    """
    if isinstance(law, Polynomial):
        n_layers = proven_horizon(law, episodes, bonus=bonus)
        return n_layers, float(law.tail(n_layers + 1))
    check_choice("bonus", bonus, PROVEN_BONUSES)
    choice = printed_truncation(law, episodes)
    is_last = law.longest is not None and choice.horizon >= law.longest
    return choice.horizon, 0.0 if is_last else choice.truncation


def _size(bonus: BonusKind, n_states: int | None, n_actions: int | None, n_successors: int | None) -> float:
    """Return SA or κSA; 1 if the size of the problem is not given."""
    if (n_states is None) != (n_actions is None):
        raise ValueError(
            f"n_states and n_actions must be given together; got {n_states!r} and {n_actions!r}."
        )
    if n_states is None or n_actions is None:
        if n_successors is not None:
            raise ValueError(f"n_successors must come with n_states and n_actions; got {n_successors!r}.")
        return 1.0
    n_states, n_successors = check_sizes(n_states, n_successors)
    pairs = n_states * check_whole("n_actions", n_actions, least=1)
    return float(pairs * n_successors if bonus == "monotone_bernstein" else pairs)


def check_sizes(n_states: int, n_successors: int | None) -> tuple[int, int]:
    """Return S and κ, where κ is S if it is not given and at most S."""
    n_states = check_whole("n_states", n_states, least=1)
    if n_successors is None:
        return n_states, n_states
    n_successors = check_whole("n_successors", n_successors, least=1)
    if n_successors > n_states:
        raise ValueError(f"n_successors must be at most n_states = {n_states}; got {n_successors!r}.")
    return n_states, n_successors
