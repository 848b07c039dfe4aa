"""Logs of every step, from which a problem and a law can be estimated."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.mdps import TabularMDP
from sojourn.sessions._groups import MAX_GROUPS, GroupTest, log_rank
from sojourn.sessions._log import Account, SessionLog

__all__ = ["StepLog"]


@dataclass(frozen=True, eq=False)
class StepLog:
    """A log of every step of episodes, in order.

    Attributes:
        episode: Number of the episode of each step, from 0, `(n,)`.
        step: Number of the step within its episode, from 1, `(n,)`.
        state: The state before the action, as an index into `states`, `(n,)`.
        action: The action, as an index into `actions`, `(n,)`.
        reward: The reward, `(n,)`.
        ended: Whether the episode was seen to end there by its law of lengths, `(n,)`.
        terminated: Whether a terminal state of the problem ended it there, `(n,)`.
        states: Names of the states, sorted.
        actions: Names of the actions, sorted.
        account: How many rows of the file were used and rejected.
        name: Name of the source of the log.
    """

    episode: IntArray
    step: IntArray
    state: IntArray
    action: IntArray
    reward: FloatArray
    ended: BoolArray
    terminated: BoolArray
    states: tuple[str, ...]
    actions: tuple[str, ...]
    account: Account
    name: str

    @property
    def _is_last(self) -> BoolArray:
        """Whether each step is the last of its episode, `(n,)`."""
        return np.append(np.diff(self.episode) != 0, True)

    def sessions(self) -> SessionLog:
        """Return the lengths of the episodes; those that are open or that the problem ended are censored."""
        last = self._is_last
        log = SessionLog.from_columns(self.step[last], self.ended[last], name=self.name)
        return replace(log, account=self.account)

    def problem(self, *, unvisited: str = "refuse") -> TabularMDP:
        """Return the maximum-likelihood problem, with its start distribution; see `from_transitions`.

        The last step of an episode that the problem did not end has no observed next state and is left out.
        """
        known = ~self._is_last | self.terminated
        follows = np.append(self.state[1:], 0)
        columns = {
            "state": self.state[known],
            "action": self.action[known],
            "reward": self.reward[known],
            "next_state": follows[known],
            "terminated": self.terminated[known],
        }
        begins = np.bincount(self.state[self.step == 1], minlength=len(self.states))
        return TabularMDP.from_transitions(
            columns,
            n_states=len(self.states),
            n_actions=len(self.actions),
            start=begins / begins.sum(),
            unvisited=unvisited,
        )

    def leaving_by_state(self) -> GroupTest | None:
        """Test whether the end depends on the state; if it does, no law of lengths is a discount function.

        If there are too many states, the rarest are pooled. Steps at which no episode ended carry no
        information and are left out.
        """
        n_visits = np.bincount(self.state, minlength=len(self.states))
        kept = n_visits.size if n_visits.size <= MAX_GROUPS else MAX_GROUPS - 1
        frequent = np.sort(np.argsort(-n_visits, kind="stable")[:kept])
        index = np.full(n_visits.size, kept)
        index[frequent] = np.arange(kept)
        state, steps = index[self.state], np.unique(self.step[self.ended])
        at_risk = ~(self._is_last & ~self.ended)  # an open episode is not at risk at its last step
        sizes = np.bincount(state[at_risk], minlength=min(n_visits.size, kept + 1))
        at_risk &= np.isin(self.step, steps)
        shape = (sizes.size, steps.size)
        risk, gone = np.zeros(shape), np.zeros(shape)
        np.add.at(risk, (state[at_risk], np.searchsorted(steps, self.step[at_risk])), 1)
        np.add.at(gone, (state[self.ended], np.searchsorted(steps, self.step[self.ended])), 1)
        return log_rank([(risk, gone)], sizes=sizes.tolist(), pooled=n_visits.size - kept, what="state")
