"""All stationary equilibria of a small table."""

from __future__ import annotations

from sojourn.behavior._agents import Task
from sojourn.behavior._decisions import Decisions
from sojourn.behavior._selves import Choices
from sojourn.behavior._settle import respond_to_cycle
from sojourn.behavior._stationary import count_policies, find_equilibria
from sojourn.laws import LengthLaw
from sojourn.mdps import TabularMDP

__all__ = ["all_equilibria"]


def all_equilibria(
    mdp: TabularMDP, law: LengthLaw, *, tolerance: float | None = None, max_policies: int = 10_000
) -> tuple[Decisions, ...]:
    """Return every stationary equilibrium of sophisticated selves without a deadline, best first.

    A policy is an equilibrium if no self gains by another action, given that all later selves follow the
    policy. There may be none, in which case backward induction cycles, or several. All deterministic policies
    are checked; actions that are copies of a lower one are left out. Best means the value from the start
    states, in the committed view.

    Args:
        mdp: The problem, a small one.
        law: The discount function.
        tolerance: Largest gain from another action that counts as none; by default 1e-6,
            or 1e-6 times the largest reward if that is smaller than 1.
        max_policies: Largest number of policies that are checked.

    Raises:
        ValueError: If there are more policies than `max_policies`.

    Example:
        >>> from sojourn import behavior
        >>> import sojourn as sj
        >>> found = behavior.all_equilibria(sj.mdps.cash_or_invest(2), sj.QuasiHyperbolic(0.6, 0.9))
        >>> [one.policy[0].tolist() for one in found]
        [[1, 0, 0]]
    """
    task = Task.of(mdp, law, None, tolerance=tolerance)
    n_policies = count_policies(task.table)
    if n_policies > max_policies:
        raise ValueError(
            f"max_policies must be at least {n_policies:,} for {mdp.label}; got {max_policies:,}."
        )
    found = find_equilibria(task.table, law, task.tolerance)
    solved = []
    for policy, gain in found:
        is_tie = respond_to_cycle(task.table, law, policy, task.tolerance).choices.is_tie
        solved.append(
            task.decisions(
                "sophisticated",
                Choices(policy, None, is_tie),
                "stationary",
                gain=gain,
                n_equilibria=len(found),
            )
        )
    return tuple(sorted(solved, key=lambda one: -float(mdp.start @ one.value)))
