"""Logs of every step, from which a problem and a law can be estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sojourn._text import one_line
from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.sessions._log import Account, OpenRule, SessionLog
from sojourn.sessions._row_counts import RowCounts
from sojourn.sessions.analysis._groups import MAX_GROUPS, GroupTest, log_rank

if TYPE_CHECKING:
    from sojourn.mdps import TabularMDP

__all__ = ["StepLog"]

_SECOND_LEVEL = 0.01
"""Level of the test of leaving by action, which comes after the one by state."""


@dataclass(frozen=True, eq=False)
class StepLog:
    """A log of the steps of episodes; steps that are equal in all columns may be one row with a count.

    Attributes:
        step: Number of the step within its episode, from 1, `(n,)`.
        state: The state before the action, as an index into `states`, `(n,)`.
        action: The action, as an index into `actions`, `(n,)`.
        reward: The reward, `(n,)`.
        next_state: The state of the episode's next step; 0 where there is none, `(n,)`.
        is_last: Whether the step is the last of its episode in the log, `(n,)`.
        ended: Whether the episode was seen to end there by its law of lengths, `(n,)`.
        terminated: Whether a terminal state of the problem ended it there, `(n,)`.
        counts: Number of steps that the row stands for, `(n,)`.
        states: Names of the states, sorted; empty if the log has no states.
        actions: Names of the actions, sorted; empty if the log has no actions and rewards.
        account: How many rows of the file were used and rejected.
        name: Name of the source of the log.
    """

    COLUMNS: ClassVar = ("step", "state", "action", "reward", "next_state", "is_last", "ended", "terminated")
    """Names of the columns, without the counts."""

    step: IntArray
    state: IntArray
    action: IntArray
    reward: FloatArray
    next_state: IntArray
    is_last: BoolArray
    ended: BoolArray
    terminated: BoolArray
    counts: IntArray
    states: tuple[str, ...]
    actions: tuple[str, ...]
    account: Account
    name: str

    def sessions(self) -> SessionLog:
        """Return the lengths of the episodes; those that are open or that the problem ended are censored."""
        rows, last = RowCounts(), self.is_last
        if not last.any():
            raise ValueError(f"{self.name} must have the last step of an episode (without a next state).")
        rows.add(self.step[last], self.ended[last], counts=self.counts[last])
        return SessionLog.from_counts(rows, [], self.account, self.name, OpenRule.EVENTS)

    def problem(self, *, unvisited: str = "refuse") -> TabularMDP:
        """Return the maximum-likelihood problem, with its start distribution; see `from_transitions`.

        The last step of an episode that the problem did not end has no observed next state and is left out.

        Raises:
            ValueError: If no problem can be estimated from the log; one line says why.
        """
        from sojourn.mdps import TabularMDP  # noqa: PLC0415 - loads scipy.sparse

        if not self.actions:
            raise ValueError(
                f"{self.name} must have the columns 'state', 'action' and 'reward' for a problem."
            )
        known = ~self.is_last | self.terminated
        if not known.any():
            raise ValueError(f"{self.name} must have an episode of two steps for a problem; it has none.")
        if unvisited == "refuse":
            self._check_pairs(known)
        begins = np.bincount(self.state, self.counts * (self.step == 1), minlength=len(self.states))
        if not begins.any():
            raise ValueError(f"{self.name} must have the first step of an episode for a problem.")
        # Equal rows are merged, so that a log gives the same problem, to the last bit, as its counts.
        keys = (self.reward, self.next_state, self.terminated, self.action, self.state)
        order, starts = _sorted_runs([key[known] for key in keys])
        rows = np.flatnonzero(known)[order[starts]]
        counts = np.add.reduceat(self.counts[known][order], starts)
        try:
            return TabularMDP.from_transitions(
                {
                    "state": self.state[rows],
                    "action": self.action[rows],
                    "reward": self.reward[rows],
                    "next_state": self.next_state[rows],
                    "terminated": self.terminated[rows],
                    "count": counts,
                },
                n_states=len(self.states),
                n_actions=len(self.actions),
                start=begins / begins.sum(),
                unvisited=unvisited,
                state_names=self.states,
                action_names=self.actions,
            )
        except ValueError as error:
            raise ValueError(self._with_names(str(error))) from error

    def rewards_left_out(self) -> tuple[float, float] | None:
        """Return what the steps that `problem` leaves out pay on average, and what it takes them to pay.

        The second number comes from the other steps with the same states and actions. None unless the two
        differ, at the 1% level and by 2%: then people leave at steps that pay more, or less, than others.
        """
        if not self.actions:
            return None
        out = self.is_last & ~self.terminated
        pair = self.state * len(self.actions) + self.action
        n_pairs = len(self.states) * len(self.actions)

        def total(weights: NDArray[Any]) -> FloatArray:
            return np.asarray(np.bincount(pair, weights, minlength=n_pairs), dtype=np.float64)

        n_out, n_in = total(self.counts * out), total(self.counts * ~out)
        used = (n_out > 0.0) & (n_in > 0.0)
        if not used.any():
            return None
        paid, usual = (total(self.counts * self.reward * rows)[used] for rows in (out, ~out))
        n_out, n_in, n = n_out[used], n_in[used], n_out[used].sum()
        mean = (total(self.counts * self.reward) / np.maximum(total(self.counts), 1))[pair]
        spread = total(self.counts * (self.reward - mean) ** 2)[used] / (n_out + n_in)
        seen, expected = float(paid.sum() / n), float((n_out * usual / n_in).sum() / n)
        error = float(np.sqrt((spread * n_out * (1.0 + n_out / n_in)).sum()) / n)
        gap = abs(seen - expected)
        return (seen, expected) if gap > max(2.576 * error, 0.02 * max(abs(seen), abs(expected))) else None

    def _check_pairs(self, known: BoolArray) -> None:
        """Raise `ValueError` if some action was never taken in some state, before the last step."""
        n_actions = len(self.actions)
        tried = np.unique(self.state[known] * n_actions + self.action[known])
        n_missing = len(self.states) * n_actions - tried.size
        if n_missing:
            gaps = np.flatnonzero(tried != np.arange(tried.size))
            missing = int(gaps[0]) if gaps.size else tried.size
            state, action = self.states[missing // n_actions], self.actions[missing % n_actions]
            more = f", nor {n_missing - 1:,} other pairs" if n_missing > 1 else ""
            who = "the rows that can be used never have" if self.account.n_rejected else "it never has"
            raise ValueError(
                f"{self.name} must try every action in every state before the last step; {who} action "
                f"{one_line(action, 40)!r} in state {one_line(state, 40)!r}{more} (in Python, "
                "problem(unvisited='stay') lets them stay)."
            )

    def _with_names(self, message: str) -> str:
        return message.replace("log must", f"{self.name} must", 1)

    def halves(self, rng: np.random.Generator) -> tuple[StepLog, StepLog]:
        """Split the log at random into two logs: each step goes to one of them."""
        first = rng.binomial(self.counts, 0.5)
        return self._with_counts(first), self._with_counts(self.counts - first)

    def resampled(self, rng: np.random.Generator) -> StepLog:
        """Return a log of as many steps, drawn from this one with replacement."""
        total = int(self.counts.sum())
        return self._with_counts(rng.multinomial(total, self.counts / total))

    def merged(self) -> StepLog:
        """Return the log with one row for all steps that are equal in every column, sorted."""
        keys = (
            self.reward,
            self.next_state,
            self.terminated,
            self.ended,
            self.is_last,
            self.action,
            self.state,
            self.step,
        )
        order, starts = _sorted_runs(keys)
        return self._select(order[starts], np.add.reduceat(self.counts[order], starts))

    def _with_counts(self, counts: IntArray) -> StepLog:
        kept = np.flatnonzero(counts)
        return self._select(kept, counts[kept])

    def _select(self, rows: IntArray, counts: IntArray) -> StepLog:
        found: dict[str, Any] = {name: getattr(self, name)[rows] for name in self.COLUMNS}
        return replace(self, counts=counts, **found)

    def leaving_by_state(self) -> GroupTest | None:
        """Test whether the end depends on the state; if it does, no law of lengths is a discount function.

        If there are too many states, the rarest are pooled. Steps at which no episode ended carry no
        information and are left out. None if the log has no states.
        """
        return self._leaving_by(self.state, len(self.states), "state")

    def leaving_by_action(self) -> GroupTest | None:
        """Test in the same way whether the end depends on the action; None if the log has no actions."""
        return self._leaving_by(self.action, len(self.actions), "action")

    def leaving_test(self) -> GroupTest | None:
        """Return the clearer one of the tests by state and by action; if both are positive, it has the other.

        The one by action counts only if it is significant at the 1% level, because it is a second test.
        """
        by_state, by_action = self.leaving_by_state(), self.leaving_by_action()
        if by_action is None or by_action.p_value >= _SECOND_LEVEL:
            return by_state
        if by_state is None or not by_state.depends:
            return by_action
        tests = (by_state, by_action)
        first, second = tests if by_state.p_value <= by_action.p_value else tests[::-1]
        return replace(first, other=second)

    def _leaving_by(self, codes: IntArray, n_codes: int, what: str) -> GroupTest | None:
        if n_codes < 2:
            return None
        n_visits = np.bincount(codes, self.counts, minlength=n_codes)
        kept = n_visits.size if n_visits.size <= MAX_GROUPS else MAX_GROUPS - 1
        frequent = np.sort(np.argsort(-n_visits, kind="stable")[:kept])
        index = np.full(n_visits.size, kept)
        index[frequent] = np.arange(kept)
        group, steps = index[codes], np.unique(self.step[self.ended])
        at_risk = ~(self.is_last & ~self.ended)  # an open episode is not at risk at its last step
        sizes = np.bincount(group[at_risk], self.counts[at_risk], minlength=min(n_visits.size, kept + 1))
        at_risk &= np.isin(self.step, steps)
        shape = (sizes.size, steps.size)
        risk, gone = np.zeros(shape), np.zeros(shape)
        for table, rows in ((risk, at_risk), (gone, self.ended)):
            np.add.at(table, (group[rows], np.searchsorted(steps, self.step[rows])), self.counts[rows])
        whole = [int(size) for size in sizes]
        n_ends, pooled = int(gone.sum()), n_visits.size - kept
        found = log_rank([(risk, gone)], sizes=whole, pooled=pooled, what=what, n_ends=n_ends)
        return found and replace(found, numbers=tuple((frequent + 1).tolist()))


def _sorted_runs(keys: Sequence[NDArray[Any]]) -> tuple[IntArray, IntArray]:
    """Return the order that sorts rows, and where in it rows begin that differ from the one before."""
    order = np.lexsort(keys)
    differs = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    return order, np.flatnonzero(np.append(True, differs))
