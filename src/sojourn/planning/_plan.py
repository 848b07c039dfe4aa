"""The best policy of someone who does not know how long the episode will last."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sojourn import _html
from sojourn._kernels import induce
from sojourn._memory import check_fits
from sojourn._typing import FloatArray, PolicyArray
from sojourn._validation import check_whole
from sojourn.laws import LengthLaw
from sojourn.mdps import TabularMDP
from sojourn.planning._evaluate import policy_bounds
from sojourn.planning._problem import Problem
from sojourn.planning._request import MAX_LAYERS, TRUNCATION_SHARE, check_request, warn_if_wide
from sojourn.planning._tail import find_tail, rounding_allowance

__all__ = ["Plan", "plan"]

_CHUNK_BYTES = 1 << 24
_NARROW = 1e-2  # of the tolerance: a bracket this narrow need not be improved


@dataclass(frozen=True, eq=False)
class Plan:
    """The best blind policy and what it is worth.

    Attributes:
        policy: `(N, S)` actions in the smallest integer type. Step h plays row min(h, N) − 1: the last row is
            held for ever, and rows at the end that would only repeat it are not stored.
        value: `(S,)` value of the policy from each start state, the best estimate inside the bracket.
        lower: `(S,)` certified: the policy earns at least this.
        upper: `(S,)` certified: no policy earns more than this.
        law: The law planned for.
        problem: The name of the problem.
        after: What the policy does past its last row: always "hold".
    """

    policy: PolicyArray
    value: FloatArray
    lower: FloatArray
    upper: FloatArray
    law: LengthLaw
    problem: str
    after: str = "hold"

    @property
    def width(self) -> float:
        """Width of the bracket, its largest over the states."""
        return float((self.upper - self.lower).max())

    def action(self, state: int, h: int) -> int:
        """Return the action in `state` at step `h`, counted from 1."""
        state = check_whole("state", state, least=0)
        if state >= self.value.size:
            raise ValueError(f"state must be < {self.value.size}; got {state}.")
        return int(self.policy[min(check_whole("h", h, least=1), len(self.policy)) - 1, state])

    def save(self, path: str | Path) -> Path:
        """Write the plan to a compressed `.npz` file without pickle and return its path; see `load_plan`."""
        from sojourn.planning._storage import save_plan  # noqa: PLC0415 - the file format knows the class

        return save_plan(self, path)

    def __repr__(self) -> str:
        return (
            f"Plan({self.problem!r}, {self.law!r}, policy {self.policy.shape}, "
            f"value {self.value.min():.6g} … {self.value.max():.6g}, width {self.width:.1e})"
        )

    def _repr_html_(self) -> str:
        n_layers, n_states = self.policy.shape
        rows = [
            ("problem", self.problem),
            ("law", self.law),
            ("states", f"{n_states:,}"),
            ("layers", "1 (stationary)" if n_layers == 1 else f"{n_layers:,}, the last one held"),
            ("value", f"{self.value.min():.6g} … {self.value.max():.6g}"),
            ("certified to", f"{self.width:.1e}"),
        ]
        return _html.table("Plan", rows)


def plan(mdp: TabularMDP, law: LengthLaw, *, tolerance: float = 1e-6, max_layers: int = MAX_LAYERS) -> Plan:
    """Return the best policy under hidden lengths drawn from `law`, with a certified bracket of its value.

    The policy maximises E Σ_h γ(h) r, in the rewards' own units. It conditions on having survived, so it is
    time-consistent: following it is best at every step. Backward induction is exact up to a layer N, and what
    comes after is bracketed; N is the smallest found that keeps the bracket within the tolerance, so heavy
    tails are solved too. For a law that does not age (`Geometric`) the policy has one row.

    Args:
        mdp: The problem.
        law: The law of episode lengths.
        tolerance: Width that the bracket `upper − lower` should not exceed, in units of value.
        max_layers: Layers computed one by one at most. If they do not suffice, the bracket is wider than the
            tolerance, and a `WideBracketWarning` says so.

    Raises:
        MemoryLimitError: The policy would not fit in memory; said before anything is computed.

    Example:
        >>> import sojourn as sj
        >>> best = sj.plan(sj.mdps.two_paths(), sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)]))
        >>> round(float(best.value[0]), 6)
        4.5
    """
    problem = Problem.of(mdp)
    tolerance, max_layers = check_request(law, tolerance, max_layers)
    tail = find_tail(problem, law, TRUNCATION_SHARE * tolerance, max_layers)
    kind = np.min_scalar_type(mdp.n_actions - 1)
    check_fits(
        (tail.n_layers + 1) * mdp.n_states * kind.itemsize,
        f"A policy of {tail.n_layers:,} layers for {mdp.n_states:,} states",
        f"raise the tolerance (now {tolerance:g}) or lower max_layers",
    )
    ratios = law.continuation(np.arange(1, tail.n_layers + 1))
    value, policy = _induce(problem, ratios, tail.lower, tail.actions.astype(kind))
    width = tail.width(law)
    slack = rounding_allowance(problem, law, tail.n_layers, tail.lower)
    lower, upper = value - slack, value + width + slack
    value = value + width / 2.0
    if width > _NARROW * tolerance:
        # The policy's own value can be had to more digits than the optimum's: nothing is left to choose.
        bounds = policy_bounds(problem, law, policy, "hold", tolerance=tolerance, max_layers=max_layers)
        lower, value = np.maximum(lower, bounds[0]), (bounds[0] + bounds[1]) / 2.0
    found = Plan(
        policy=policy,
        value=value,
        lower=lower,
        upper=upper,
        law=law,
        problem=mdp.name or f"{mdp.n_states} states, {mdp.n_actions} actions",
    )
    for array in (found.policy, found.value, found.lower, found.upper):
        array.flags.writeable = False
    warn_if_wide("plan", found.width, tolerance, max_layers)
    return found


def _induce(
    problem: Problem, ratios: FloatArray, last: FloatArray, held: PolicyArray
) -> tuple[FloatArray, PolicyArray]:
    """Return V_1 and the policy, without the rows at the end that only repeat the held one.

    Layers are computed from the end, in chunks that are thrown away while they only repeat the held row; the
    first that differs tells how many rows are needed.
    """
    n_layers, n_states = ratios.size, problem.n_states
    chunk = max(1, min(n_layers, _CHUNK_BYTES // (n_states * held.itemsize)))
    value, rows = last, np.empty((chunk, n_states), dtype=held.dtype)
    stop = n_layers
    while stop > 0:
        first = max(0, stop - chunk)
        value = induce(problem.rows, problem.packed, ratios[first:stop], value, rows)
        differs = np.flatnonzero((rows[: stop - first] != held).any(axis=1))
        if differs.size:
            needed = first + int(differs[-1]) + 1
            policy = np.empty((needed + 1, n_states), dtype=held.dtype)
            policy[needed] = held
            policy[first:needed] = rows[: needed - first]
            del rows
            return induce(problem.rows, problem.packed, ratios[:first], value, policy), policy
        stop = first
    return value, held[np.newaxis, :].copy()
