"""The best policy when the length of the episode is hidden, with a certified bracket of its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn import _html
from sojourn._kernels import NO_PREFERENCE
from sojourn._memory import check_fits
from sojourn._typing import FloatArray, PolicyArray
from sojourn._validation import check_whole
from sojourn.laws import LengthLaw, label
from sojourn.mdps import TabularMDP
from sojourn.planning._evaluate import policy_bounds
from sojourn.planning._sparse_problem import SparseProblem
from sojourn.planning._tail import find_tail, rounding_allowance
from sojourn.planning._tail_bounds import Tail
from sojourn.planning._threads import open_sweeps
from sojourn.planning._tolerance import (
    MAX_LAYERS,
    OWN_VALUE_SHARE,
    TRUNCATION_SHARE,
    check_planning_arguments,
    warn_if_wide,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Plan", "plan"]

_CHUNK_BYTES = 1 << 24
_TIE = 4.0  # two actions within this many rounding units count as equally good


@dataclass(frozen=True, eq=False)
class Plan:
    """The best blind policy and its value.

    Attributes:
        policy: `(N, S)` actions in the smallest integer type. Step h plays row min(h, N) − 1: the last row
            applies to all later steps, and trailing rows that would repeat it are not stored.
        value: `(S,)` best estimate of the policy's value from each start state, inside the bracket.
        lower: `(S,)` certified lower bound on the value of the policy.
        upper: `(S,)` certified upper bound on the value of any policy.
        law: The law planned for.
        problem: The name of the problem.
        mdp: The problem itself; None if the plan was loaded without it. `plot` needs it for names and values.
    """

    policy: PolicyArray
    value: FloatArray
    lower: FloatArray
    upper: FloatArray
    law: LengthLaw
    problem: str
    mdp: TabularMDP | None = None

    @property
    def after(self) -> str:
        """The argument `after` that `evaluate` needs for this policy: its last row is held."""
        return "hold"

    @property
    def width(self) -> float:
        """Largest width of the bracket over all states."""
        return float((self.upper - self.lower).max())

    def action(self, state: int, h: int) -> int:
        """Return the action in `state` at step `h`, counted from 1."""
        state = check_whole("state", state, least=0)
        if state >= self.value.size:
            raise ValueError(f"state must be < {self.value.size}; got {state}.")
        return int(self.policy[min(check_whole("h", h, least=1), len(self.policy)) - 1, state])

    def plot(
        self,
        policies: Mapping[str, object] | None = None,
        *,
        single_gamma: bool | None = None,
        states: int = 12,
    ) -> Figure:
        """Draw what to do at which step, beside the best single γ; see `sojourn.plots.plan_figure`."""
        from sojourn.plots import plan_figure  # noqa: PLC0415 - loads matplotlib

        return plan_figure(self, policies, single_gamma=single_gamma, states=states)

    def describe(
        self, policies: Mapping[str, object] | None = None, *, single_gamma: bool | None = None
    ) -> str:
        """Return what to do at which step in words, beside the best single γ; arguments as in `plot`.

        Example:
            >>> import sojourn as sj
            >>> print(sj.plan(sj.mdps.cash_or_invest(5), sj.Polynomial(1.4)).describe())
            CashOrInvest(5), lengths from Polynomial(1.4)
            In state “choice”: steps 1–6 cash, from 7 invest.
            In 5 other states the action is the same at every step.
            The plan earns 0.3638 per episode; the best single γ = 0.678 earns 0.3106, 15% less.
        """
        from sojourn.planning.policy_view import view_plan  # noqa: PLC0415 - it knows this class

        return view_plan(self, policies, single_gamma=single_gamma).text()

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
        from sojourn.planning.policy_view import view_plan  # noqa: PLC0415 - it knows this class

        view = view_plan(self, single_gamma=False, states=6)
        strips = [
            (
                name,
                [
                    (part.first, view.last if part.last is None else part.last, part.action)
                    for part in view.stretches(view.policies[0], i)
                ],
            )
            for i, name in enumerate(view.state_names)
        ]
        n_layers, n_states = self.policy.shape
        layers = f"{n_layers:,}" if n_layers == self.law.longest else f"{n_layers:,}, the last one held"
        facts = [
            ("value", f"{self.value.min():.6g} … {self.value.max():.6g}"),
            ("certified to", f"{self.width:.1e}"),
            ("states", f"{n_states:,}"),
            ("layers", layers),
        ]
        title = f"Plan for {self.problem}, lengths from {label(self.law)}"
        words = [(name, view.words(view.policies[0], i)) for i, name in enumerate(view.state_names)]
        table = _html.table("What to do at which step", words)
        note = f"<div style='opacity:0.7'>{f'{view.summary()} {view.drawn()}'.strip()}</div>"
        return _html.card(
            title, facts, _html.strip_picture(strips, view.action_names, view.last) + note, table
        )


def plan(
    mdp: TabularMDP,
    law: LengthLaw,
    *,
    tolerance: float | None = None,
    max_layers: int = MAX_LAYERS,
    threads: int = 1,
    progress: Callable[[float], object] | None = None,
) -> Plan:
    """Return the best policy under hidden lengths drawn from `law`, with a certified bracket of its value.

    The policy maximizes E Σ_h γ(h) r, in the units of the rewards. It conditions on survival, so it is
    time-consistent: the action at a step is best for every episode that gets there. Backward induction is
    exact up to a layer N, and the value of later steps is bracketed. N is chosen as small as possible such
    that the bracket stays within the tolerance, so heavy tails are solved too. For a memoryless law
    (`Geometric`) the policy has one row.

    Args:
        mdp: The problem.
        law: The law of episode lengths. Its values are taken to be exact.
        tolerance: Width that the bracket `upper − lower` should not exceed, in units of value; by default
            1e-6, or 1e-6 times the largest reward if that is smaller than 1.
        max_layers: Largest number of layers that are computed one by one. If they are not enough for the
            tolerance, the bracket is wider and a `WideBracketWarning` says so.
        threads: Number of threads that share the states of a layer; the result does not depend on it. More
            than one helps with 40,000 states or more, and not if the law is memoryless from the start.
        progress: Called from time to time with the share of layers that is done.

    Raises:
        MemoryLimitError: If the policy would not fit in memory; raised before the computation starts.

    Example:
        >>> import sojourn as sj
        >>> best = sj.plan(sj.mdps.two_paths(), sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)]))
        >>> round(float(best.value[0]), 6)
        4.5
    """
    if check_whole("threads", threads, least=1) > 1:
        with open_sweeps(threads) as sweeps:
            problem = SparseProblem.of(mdp, sweeps)
            return _plan(mdp, problem, law, tolerance=tolerance, max_layers=max_layers, progress=progress)
    problem = SparseProblem.of(mdp)
    return _plan(mdp, problem, law, tolerance=tolerance, max_layers=max_layers, progress=progress)


def _plan(
    mdp: TabularMDP,
    problem: SparseProblem,
    law: LengthLaw,
    *,
    tolerance: float | None,
    max_layers: int,
    progress: Callable[[float], object] | None,
) -> Plan:
    """Return the plan of a problem whose arrays are prepared; see `plan`."""
    tolerance, max_layers = check_planning_arguments(problem, law, tolerance, max_layers)
    tail, held_layer = find_tail(problem, law, TRUNCATION_SHARE * tolerance, max_layers)
    kind = np.min_scalar_type(mdp.n_actions - 1)
    if tail.n_layers == 0:  # as with geometric laws: one policy for all steps
        value, policy = tail.lower, tail.actions.astype(kind)[np.newaxis]
    else:
        check_fits(
            (tail.n_layers + 1) * mdp.n_states * kind.itemsize,
            f"A policy of {tail.n_layers:,} layers for {mdp.n_states:,} states",
            f"raise the tolerance (now {tolerance:g}) or lower max_layers",
        )
        value, policy = _BackwardInduction(problem, law, tail, kind, progress).run(held_layer)
    width = tail.width(law)
    slack = rounding_allowance(problem, law, tail.n_layers, tail.lower)
    lower, upper = value - slack, value + width + slack
    best = upper
    assumes_held_actions = held_layer is None or held_layer == law.longest
    if not assumes_held_actions or width > OWN_VALUE_SHARE * tolerance:
        # Evaluate the policy itself: backward induction may have assumed other actions after the held layer,
        # and the value of a fixed policy can be bracketed more tightly than the optimum.
        own = policy_bounds(
            problem, law, policy, "hold", tolerance=OWN_VALUE_SHARE * tolerance, max_layers=max_layers
        )
        lower = np.maximum(lower, own[0]) if assumes_held_actions else own[0]
        best = np.minimum(upper, own[1])
    found = Plan(
        policy=policy,
        value=(lower + best) / 2.0,
        lower=lower,
        upper=upper,
        law=law,
        problem=mdp.label,
        mdp=mdp,
    )
    for array in (found.policy, found.value, found.lower, found.upper):
        array.flags.writeable = False
    warn_if_wide("plan", found.width, tolerance, max_layers, rounding=2.0 * slack, stacklevel=4)
    return found


def _law_text(law: LengthLaw) -> str:
    """Return the law's text, or only its class name if the text is long."""
    text = repr(law)
    return text if len(text) <= 80 else f"{type(law).__name__}(…)"


@dataclass
class _BackwardInduction:
    """Backward induction in chunks of layers, from the tail to step 1."""

    problem: SparseProblem
    law: LengthLaw
    tail: Tail
    kind: np.dtype[Any]
    progress: Callable[[float], object] | None

    def run(self, held_layer: int | None) -> tuple[FloatArray, PolicyArray]:
        """Return V_1 and the policy, without trailing rows that would repeat its last row.

        The last row (the held row) is the policy of the tail, or that of layer `held_layer`. Layers are
        computed from the end, in chunks that are discarded as long as they only repeat the held row. The
        first chunk that differs determines how many rows are stored.
        """
        value, stop = self.tail.lower, self.tail.n_layers
        n_states = value.size
        chunk = max(1, min(stop, _CHUNK_BYTES // (n_states * self.kind.itemsize)))
        if self.progress is not None:
            chunk = min(chunk, 1 + stop // 100)
        rows = np.empty((chunk, n_states), dtype=self.kind)
        held = self.tail.actions.astype(self.kind)
        # Near ties are broken in favor of the held row, unless nothing comes after the last layer.
        slack = NO_PREFERENCE if held_layer is not None else _TIE * self.problem.unit
        while held_layer is not None and stop >= held_layer:
            first = max(stop - chunk, min(stop, held_layer) - 1)
            value = self._run_chunk(first, stop, value, rows, held=held, slack=slack)
            if first == held_layer - 1:
                held = rows[0].copy()
                slack = NO_PREFERENCE if held_layer == self.law.longest else _TIE * self.problem.unit
            stop = first
        while stop > 0:
            first = max(0, stop - chunk)
            value = self._run_chunk(first, stop, value, rows, held=held, slack=slack)
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
                    value = self._run_chunk(first, stop, value, policy[first:stop], held=held, slack=slack)
                    stop = first
                return value, policy
        return value, held[np.newaxis, :].copy()

    def _run_chunk(
        self, first: int, stop: int, value: FloatArray, rows: PolicyArray, *, held: PolicyArray, slack: float
    ) -> FloatArray:
        """Return the value at layer `first` + 1 from that after layer `stop`, and fill the rows between."""
        ratios = self.law.continuation(np.arange(first + 1, stop + 1))
        problem = self.problem
        value = problem.sweeps.induct(
            problem.rows,
            problem.blocks,
            ratios=ratios,
            value=value,
            policy=rows,
            preferred=held,
            slack=slack,
        )
        if self.progress is not None:
            self.progress(1.0 - first / self.tail.n_layers)
        return value
