"""The best policy of someone who does not know how long the episode will last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from sojourn.planning._tail import Tail, find_tail, rounding_allowance

__all__ = ["Plan", "plan"]

_CHUNK_BYTES = 1 << 24
_OWN_VALUE = 1e-2  # of the tolerance: how well the policy's own value is to be known
_TIE = 4.0  # rounding units within which two actions count as equally good


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
    """

    policy: PolicyArray
    value: FloatArray
    lower: FloatArray
    upper: FloatArray
    law: LengthLaw
    problem: str

    @property
    def after(self) -> str:
        """What `evaluate` is to be told of the steps past the last row."""
        return "hold"

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
            f"Plan({self.problem!r}, {_law_text(self.law)}, policy {self.policy.shape}, "
            f"value {self.value.min():.6g} … {self.value.max():.6g}, width {self.width:.1e})"
        )

    def _repr_html_(self) -> str:
        n_layers, n_states = self.policy.shape
        layers = f"{n_layers:,}" if n_layers == self.law.longest else f"{n_layers:,}, the last one held"
        rows = [
            ("problem", self.problem),
            ("law", _law_text(self.law)),
            ("states", f"{n_states:,}"),
            ("layers", layers),
            ("value", f"{self.value.min():.6g} … {self.value.max():.6g}"),
            ("certified to", f"{self.width:.1e}"),
        ]
        return _html.table("Plan", rows)


def plan(
    mdp: TabularMDP,
    law: LengthLaw,
    *,
    tolerance: float = 1e-6,
    max_layers: int = MAX_LAYERS,
    progress: Callable[[float], object] | None = None,
) -> Plan:
    """Return the best policy under hidden lengths drawn from `law`, with a certified bracket of its value.

    The policy maximises E Σ_h γ(h) r, in the rewards' own units. It conditions on having survived, so it is
    time-consistent: what it plays at a step is best for those who get there. Backward induction is exact up
    to a layer N, and what comes after is bracketed; N is the smallest found that keeps the bracket within the
    tolerance, so heavy tails are solved too. For a law that does not age (`Geometric`) there is one row.

    Args:
        mdp: The problem.
        law: The law of episode lengths. Its figures are taken as exact.
        tolerance: Width that the bracket `upper − lower` should not exceed, in units of value.
        max_layers: Layers computed one by one at most. If they do not suffice, the bracket is wider than the
            tolerance, and a `WideBracketWarning` says so.
        progress: Called now and then with the share of the layers that is done.

    Raises:
        MemoryLimitError: The policy would not fit in memory; said before anything large is computed.

    Example:
        >>> import sojourn as sj
        >>> best = sj.plan(sj.mdps.two_paths(), sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)]))
        >>> round(float(best.value[0]), 6)
        4.5
    """
    problem = Problem.of(mdp)
    tolerance, max_layers = check_request(problem, law, tolerance, max_layers)
    tail, held_layer = find_tail(problem, law, TRUNCATION_SHARE * tolerance, max_layers)
    kind = np.min_scalar_type(mdp.n_actions - 1)
    check_fits(
        (tail.n_layers + 1) * mdp.n_states * kind.itemsize,
        f"A policy of {tail.n_layers:,} layers for {mdp.n_states:,} states",
        f"raise the tolerance (now {tolerance:g}) or lower max_layers",
    )
    value, policy = _Induction(problem, law, tail, kind, progress).run(held_layer)
    width = tail.width(law)
    slack = rounding_allowance(problem, law, tail.n_layers, tail.lower)
    lower, upper = value - slack, value + width + slack
    best = upper
    is_assumed = held_layer is None or held_layer == law.longest
    if not is_assumed or width > _OWN_VALUE * tolerance:
        # The policy's own value: where the induction assumed something else past the held layer, and to more
        # digits than the optimum's, since nothing is left to choose.
        own = policy_bounds(
            problem, law, policy, "hold", tolerance=_OWN_VALUE * tolerance, max_layers=max_layers
        )
        lower = np.maximum(lower, own[0]) if is_assumed else own[0]
        best = np.minimum(upper, own[1])
    found = Plan(
        policy=policy,
        value=(lower + best) / 2.0,
        lower=lower,
        upper=upper,
        law=law,
        problem=mdp.label,
    )
    for array in (found.policy, found.value, found.lower, found.upper):
        array.flags.writeable = False
    warn_if_wide("plan", found.width, tolerance, max_layers, rounding=2.0 * slack)
    return found


def _law_text(law: LengthLaw) -> str:
    """Return the law's text, or only its name where that would fill the screen."""
    text = repr(law)
    return text if len(text) <= 80 else f"{type(law).__name__}(…)"


@dataclass
class _Induction:
    """Backward induction in pieces, from a tail to step 1."""

    problem: Problem
    law: LengthLaw
    tail: Tail
    kind: np.dtype[Any]
    progress: Callable[[float], object] | None

    def run(self, held_layer: int | None) -> tuple[FloatArray, PolicyArray]:
        """Return V_1 and the policy, without the rows at the end that only repeat the held one.

        The held row is the tail's, or that of a layer. Layers are computed from the end, in chunks that are
        thrown away while they only repeat it; the first that differs tells how many rows are needed.
        """
        value, stop = self.tail.lower, self.tail.n_layers
        n_states = value.size
        chunk = max(1, min(stop, _CHUNK_BYTES // (n_states * self.kind.itemsize)))
        if self.progress is not None:
            chunk = min(chunk, 1 + stop // 100)
        rows = np.empty((chunk, n_states), dtype=self.kind)
        held = self.tail.actions.astype(self.kind)
        # Near ties are settled in favour of the held row, unless nothing comes after the last layer.
        slack = -1.0 if held_layer is not None else _TIE * self.problem.unit
        while held_layer is not None and stop >= held_layer:
            first = max(stop - chunk, min(stop, held_layer) - 1)
            value = self._back_up(first, stop, value, rows, held=held, slack=slack)
            if first == held_layer - 1:
                held = rows[0].copy()
                slack = -1.0 if held_layer == self.law.longest else _TIE * self.problem.unit
            stop = first
        while stop > 0:
            first = max(0, stop - chunk)
            value = self._back_up(first, stop, value, rows, held=held, slack=slack)
            differs = np.flatnonzero((rows[: stop - first] != held).any(axis=1))
            stop = first
            if differs.size:
                needed = first + int(differs[-1]) + 1
                policy = np.empty((needed + 1, n_states), dtype=self.kind)
                policy[needed] = held
                policy[first:needed] = rows[: needed - first]
                del rows
                while stop > 0:
                    first = max(0, stop - chunk)
                    value = self._back_up(first, stop, value, policy[first:stop], held=held, slack=slack)
                    stop = first
                return value, policy
        return value, held[np.newaxis, :].copy()

    def _back_up(
        self, first: int, stop: int, value: FloatArray, rows: PolicyArray, *, held: PolicyArray, slack: float
    ) -> FloatArray:
        """Return the value before layer `first` + 1 from that after layer `stop`; fill the rows between."""
        ratios = self.law.continuation(np.arange(first + 1, stop + 1))
        value = induce(self.problem.rows, self.problem.packed, ratios, value, rows, held, slack)
        if self.progress is not None:
            self.progress(1.0 - first / self.tail.n_layers)
        return value
