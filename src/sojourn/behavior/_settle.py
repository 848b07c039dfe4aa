"""Selves without a deadline: backward induction until the choices repeat, and their best responses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn._typing import FloatArray, PolicyArray
from sojourn.behavior._discounting import FromSecondStep
from sojourn.behavior._selves import Choices, Table, find_heads
from sojourn.laws import LengthLaw
from sojourn.planning import evaluate

__all__ = ["Response", "Settled", "respond_to_cycle", "settle"]

_BLOCK = 64
"""Layers per round, and the longest period that is looked for."""

_SEARCH_ERROR = 1e-6
"""Error of the mixture with which choices are searched, in mean lengths; the law itself checks them."""

_SAME = 1e-9
_MOST_DELAYS = 20_000


@dataclass(frozen=True, eq=False)
class Settled:
    """Choices that repeat: one row if they are stationary, p rows of a cycle of period p.

    Attributes:
        choices: Row k is played at steps k + 1, k + 1 + p, ….
        has_settled: Whether the backward induction has come to repeat itself.
    """

    choices: Choices
    has_settled: bool


def settle(table: Table, law: LengthLaw, max_layers: int) -> Settled:
    """Solve backward from a deadline that moves away, until the choices repeat."""
    heads = find_heads(law, law, None, error=_SEARCH_ERROR * law.mean)
    if heads is None and float(law.tail(_MOST_DELAYS)) > _SEARCH_ERROR * law.mean:
        raise ValueError(
            f"deadline must be given for {law!r}: no finite mixture of geometric laws of the needed accuracy "
            "was found, and its tail is too heavy to be cut."
        )
    selves = table.start_selves(law, law, None, heads=heads)
    before: tuple[Choices, FloatArray] | None = None
    while True:
        block = selves.play(_BLOCK, keep_continuation=True)
        if before is not None:
            period = _find_period(before, block)
            if period is not None:
                return Settled(_last_rows(block[0], period), has_settled=True)
        if selves.n_layers >= max_layers:
            return Settled(_last_rows(block[0], 1), has_settled=False)
        before = block


def _find_period(before: tuple[Choices, FloatArray], block: tuple[Choices, FloatArray]) -> int | None:
    """Return the smallest period with which the rows of two blocks repeat, or None."""
    rows = np.concatenate([before[0].policy, block[0].policy])
    seen = np.concatenate([before[1], block[1]])
    scale = max(float(np.abs(seen[-1]).max()), 1e-300)
    for period in range(1, _BLOCK + 1):
        if np.abs(seen[-1] - seen[-1 - period]).max() > _SAME * scale:
            continue
        if np.abs(rows[period:][-_BLOCK:] - rows[:-period][-_BLOCK:]).max() <= _SAME:
            return period
    return None


def _last_rows(choices: Choices, period: int) -> Choices:
    """Return the last rows that were computed, in the order of steps."""
    chances = None if choices.chances is None else choices.chances[-period:]
    return Choices(choices.actions[-period:], chances, choices.is_tie[-period:]).reversed()


@dataclass(frozen=True, eq=False)
class Response:
    """What selves do who expect their later selves to follow a repeated policy.

    Attributes:
        choices: One row per row of the policy.
        gains: `(p, S)` the most that a self would gain by its best action instead of the policy's own.
        value: `(S,)` what the first self expects to get.
    """

    choices: Choices
    gains: FloatArray
    value: FloatArray


def respond_to_cycle(table: Table, law: LengthLaw, policy: PolicyArray, tolerance: float) -> Response:
    """Return the choices of selves who expect their later selves to follow a repeated policy."""
    n, every_action = len(policy), np.eye(table.mdp.n_actions)
    rows, gains, values = [], [], []
    for k in range(n):
        utility = table.utility(law, _next_value(table, law, np.roll(policy, -k - 1, axis=0), tolerance))
        rows.append(table.respond(law, utility))
        own, new = (one if one.ndim == 2 else every_action[one] for one in (policy[k], rows[-1].policy[0]))
        gains.append(utility.max(axis=1) - (own * utility).sum(axis=1))
        values.append((new * utility).sum(axis=1))
    choices = Choices(
        np.concatenate([one.actions for one in rows]),
        None if table.sensitivity is None else np.concatenate([one.policy for one in rows]),
        np.concatenate([one.is_tie for one in rows]),
    )
    return Response(choices, np.array(gains), values[0])


def _next_value(table: Table, law: LengthLaw, policy: PolicyArray, tolerance: float) -> FloatArray:
    """Return the value of the next states under a repeated policy that begins there, `(S,)`."""
    if law.longest == 1:
        return np.zeros(table.mdp.n_states)
    return evaluate(table.mdp, FromSecondStep(law), policy, after="restart", tolerance=tolerance).value
