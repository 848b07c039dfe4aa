"""Solves a table backward for selves with any discount function: through its heads, or directly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sojourn._kernels import (
    ALWAYS_BEST,
    ChoiceRule,
    SelfRows,
    TransitionRows,
    choose_actions,
    play_delays,
    play_heads,
    play_restarting_clock,
    play_running_clock,
)
from sojourn._memory import check_fits
from sojourn._typing import BoolArray, FloatArray, IntArray, PolicyArray
from sojourn.laws import LengthLaw, Mixture
from sojourn.mdps import TabularMDP

__all__ = ["Choices", "Heads", "Selves", "Table", "find_heads"]

TIE = 1e-11
"""Utilities that differ by at most this times the largest utility are equal."""

_HEAD_ERROR = 1e-12
_CUT = 1e-6
"""Without a deadline, the direct way leaves out this share of the weight of all later steps."""

_WORK_PER_CALL = 3e8
"""Multiplications per call of a kernel, so that Ctrl-C is noticed."""

_SHORT = 256
"""Up to this many steps the direct way is used, unless the law is an exact mixture: it costs less."""


@dataclass(frozen=True, eq=False)
class Choices:
    """Choices by step.

    Attributes:
        actions: `(n, S)` best actions.
        chances: `(n, S, A)` chances of all actions, or None if the best one is always chosen.
        is_tie: `(n, S)` whether another action is as good.
    """

    actions: IntArray
    chances: FloatArray | None
    is_tie: BoolArray

    @property
    def policy(self) -> PolicyArray:
        """The policy: actions, or chances if there are any."""
        return self.actions if self.chances is None else self.chances

    def reversed(self) -> Choices:
        """Return the choices in the opposite order of steps."""
        chances = None if self.chances is None else self.chances[::-1].copy()
        return Choices(self.actions[::-1].copy(), chances, self.is_tie[::-1].copy())


@dataclass(frozen=True, eq=False)
class Heads:
    """Weights of two laws on common geometric heads: Σ_k weight_k factor_k^j.

    Attributes:
        factors: `(K,)`.
        own: `(K,)` weights of the law of the self that chooses.
        other: `(K,)` weights of the law that it expects of its later selves.
    """

    factors: FloatArray
    own: FloatArray
    other: FloatArray


def find_heads(
    law: LengthLaw, perceived: LengthLaw, n_steps: int | None, *, error: float = _HEAD_ERROR
) -> Heads | None:
    """Return two laws as mixtures of geometric laws where that is exact or cheaper than the direct way.

    Args:
        law: The law of the self that chooses.
        perceived: The law that it expects of its later selves.
        n_steps: Number of steps, or None if there is no last step.
        error: Largest error Σ|γ − γ'| of a mixture that is not exact.
    """
    mixtures = [_find_mixture(one, n_steps, error) for one in (law, perceived)]
    parts: list[dict[float, float]] = []
    for mixture in mixtures:
        if mixture is None:
            return None
        parts.append(
            {float(head.continuation(1)): w for w, head in zip(mixture.weights, mixture.laws, strict=True)}
        )
    factors = sorted(set(parts[0]) | set(parts[1]))
    own, other = ([one.get(factor, 0.0) for factor in factors] for one in parts)
    return Heads(np.array(factors), np.array(own), np.array(other))


def _find_mixture(law: LengthLaw, n_steps: int | None, error: float) -> Mixture | None:
    for tolerance in (0.0, error):
        if tolerance > 0.0 and n_steps is not None and n_steps <= _SHORT:
            break
        try:
            return law.as_mixture(tolerance, last=n_steps)
        except ValueError:
            continue
    return None


@dataclass(frozen=True, eq=False)
class Table:
    """A problem and a choice rule, in the form that the kernels take.

    Attributes:
        mdp: The problem.
        sensitivity: Factor μ of chances ∝ exp(μ utility), or None if the best action is always chosen.
    """

    mdp: TabularMDP
    sensitivity: float | None = None

    @cached_property
    def rows(self) -> TransitionRows:
        """The transitions; kernels are compiled once for these types."""
        table = self.mdp.transitions
        kinds = table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data
        return TransitionRows(*kinds, self.mdp.n_actions)

    @cached_property
    def rewards(self) -> FloatArray:
        """The rewards, `(S·A,)`."""
        return self.mdp.rewards.reshape(-1)

    @cached_property
    def is_distinct(self) -> BoolArray:
        """Whether each action differs from all lower ones of its state, `(S, A)`."""
        return np.asarray(self.lowest_copies == np.arange(self.mdp.n_actions))

    @cached_property
    def lowest_copies(self) -> IntArray:
        """The lowest action with the same reward and transitions as each action, `(S, A)`."""
        n_states, n_actions = self.mdp.n_states, self.mdp.n_actions
        found = np.empty((n_states, n_actions), dtype=np.int64)
        table = self.mdp.transitions
        for s in range(n_states):
            seen: dict[tuple[float, bytes, bytes], int] = {}
            for a in range(n_actions):
                entries = slice(table.indptr[s * n_actions + a], table.indptr[s * n_actions + a + 1])
                key = (
                    float(self.mdp.rewards[s, a]),
                    table.indices[entries].tobytes(),
                    table.data[entries].tobytes(),
                )
                found[s, a] = seen.setdefault(key, a)
        return found

    def rule(self, law: LengthLaw, n_steps: int | None) -> ChoiceRule:
        """Return the choice rule; ties are relative to the largest utility that is possible."""
        weight = law.mean if n_steps is None else min(law.mean, float(n_steps))
        slack = TIE * weight * float(np.abs(self.rewards).max())
        sensitivity = ALWAYS_BEST if self.sensitivity is None else self.sensitivity
        return ChoiceRule(sensitivity, slack, self.is_distinct)

    def empty_rows(self, n: int) -> SelfRows:
        """Allocate the choices of n layers."""
        size, n_actions = self.mdp.n_states, self.mdp.n_actions
        n_chances = 0 if self.sensitivity is None else n
        check_fits(
            n * size * 9 + n_chances * size * n_actions * 8,
            f"A policy of {n:,} steps for {size:,} states",
            "choose an earlier deadline",
        )
        return SelfRows(
            np.empty((n, size), dtype=np.int64),
            np.empty((n_chances, size, n_actions)),
            np.empty((n, size), dtype=bool),
        )

    def as_choices(self, played: SelfRows) -> Choices:
        """Return what a kernel has filled."""
        chances = None if self.sensitivity is None else played.chances
        return Choices(played.actions, chances, played.is_tie)

    def start_selves(
        self, law: LengthLaw, perceived: LengthLaw, n_steps: int | None, *, heads: Heads | None
    ) -> Selves:
        """Return the state of the backward induction before its first layer."""
        if heads is not None:
            return Selves(
                self, self.rule(law, n_steps), heads, np.zeros((heads.factors.size, self.mdp.n_states))
            )
        last = _last_delay(law, perceived, n_steps)
        check_fits(
            last * self.mdp.n_states * 8, f"Rewards of {last:,} later steps", "choose an earlier deadline"
        )
        return Selves(
            self, self.rule(law, n_steps), None, np.zeros((last, self.mdp.n_states)), law, perceived
        )

    def play_selves(
        self, law: LengthLaw, perceived: LengthLaw, n_steps: int, *, direct: bool = False
    ) -> Choices:
        """Return the choices by step of selves who expect later selves to have the perceived law."""
        heads = None if direct else find_heads(law, perceived, n_steps)
        return self.start_selves(law, perceived, n_steps, heads=heads).play(n_steps)[0].reversed()

    def play_restarting(self, law: LengthLaw, n_steps: int) -> Choices:
        """Return the choices by step of naive selves."""
        start = law.memoryless_from
        is_memoryless = start is not None and start < n_steps
        ratios = law.continuation(
            np.arange(1, (start if is_memoryless and start is not None else n_steps) + 1)
        )
        played = self.empty_rows(n_steps)
        play_restarting_clock(self.rows, self.rewards, ratios, is_memoryless, self.rule(law, n_steps), played)
        return self.as_choices(played).reversed()

    def play_running(self, law: LengthLaw, n_steps: int) -> Choices:
        """Return the choices by step of the committed plan."""
        played = self.empty_rows(n_steps)
        ratios = law.continuation(np.arange(1, n_steps + 1))
        play_running_clock(self.rows, self.rewards, ratios, self.rule(law, n_steps), played)
        return self.as_choices(played).reversed()

    def utility(self, law: LengthLaw, following: FloatArray) -> FloatArray:
        """Return the utilities `(S, A)`, given the value of the next states as seen from the next step."""
        later = np.asarray(self.mdp.transitions @ following).reshape(self.mdp.rewards.shape)
        return np.asarray(self.mdp.rewards + float(law.survival(2)) * later)

    def respond(self, law: LengthLaw, utility: FloatArray) -> Choices:
        """Return the choices of one step, given its utilities."""
        played, chances = self.empty_rows(1), np.empty(utility.shape)
        choose_actions(utility, self.rule(law, None), chances, played.actions[0], played.is_tie[0])
        return Choices(
            played.actions, None if self.sensitivity is None else chances[np.newaxis], played.is_tie
        )


@dataclass
class Selves:
    """A backward induction under way: the values of the later selves, layer by layer."""

    table: Table
    rule: ChoiceRule
    heads: Heads | None
    values: FloatArray  # (K, S) by head, or (W, S) by delay
    law: LengthLaw | None = None
    perceived: LengthLaw | None = None
    n_layers: int = 0

    def play(self, n: int, *, keep_continuation: bool = False) -> tuple[Choices, FloatArray]:
        """Return the choices of n more layers, the last step first, and the weight of later rewards."""
        played = self.table.empty_rows(n)
        continuation = np.empty((n if keep_continuation else 0, self.table.mdp.n_states))
        work = self.values.shape[0] * max(self.table.rows.data.size, 1)
        at_once = max(1, int(_WORK_PER_CALL / work))
        for first in range(0, n, at_once):
            part = slice(first, min(first + at_once, n))
            rows = SelfRows(played.actions[part], played.chances[part], played.is_tie[part])
            self._play(part.stop - first, rows, continuation[part])
        return self.table.as_choices(played), continuation

    def _play(self, n: int, played: SelfRows, continuation: FloatArray) -> None:
        """Fill the choices of n more layers, and the weights of later rewards unless their array is empty."""
        table = self.table
        if self.heads is not None:
            heads = self.heads
            play_heads(
                table.rows,
                table.rewards,
                heads.factors,
                heads.own,
                heads.other,
                self.rule,
                self.values,
                played,
                continuation,
            )
        elif self.law is not None and self.perceived is not None:
            delays = np.arange(2, self.values.shape[0] + 2)
            play_delays(
                table.rows,
                table.rewards,
                self.law.survival(delays),
                self.perceived.survival(delays),
                self.rule,
                self.values,
                min(self.n_layers, self.values.shape[0]),
                played,
                continuation,
            )
        self.n_layers += n


def _last_delay(law: LengthLaw, perceived: LengthLaw, n_steps: int | None) -> int:
    """Return the number of delays that count in the direct way."""
    if n_steps is None:
        ends = [one.longest or one.effective_horizon(_CUT * one.mean) for one in (law, perceived)]
    else:
        ends = [min(one.longest or n_steps, n_steps) for one in (law, perceived)]
    return max(ends) - 1
