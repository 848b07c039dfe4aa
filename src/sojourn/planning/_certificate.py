"""Proven bounds on the value of any number of further steps.

Let g be a gain and b a bias for each state. If r + Pb − b − g ≤ ε and Pg ≤ g for every action, then the best
n-step value is at most n·(g(s) + ε) + b(s) − min b for every n (by induction over n). If in every state some
action has Pg ≥ g and r + Pb − b − g ≥ −ε, then the stationary policy that plays it earns at least
n·(g(s) − ε) + b(s) − max b. A law averages these bounds over n, so the value of the steps after layer N is
bracketed by remaining(N+1)·g + b, however heavy the tail.

The bounds are valid for any g and b that satisfy the conditions. Value iteration supplies good candidates,
and the conditions are then checked, so a certificate never depends on convergence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sojourn._kernels import gain_slope, lower_gain, preserving_residual, raise_gain, residuals
from sojourn._typing import ArrayLike, FloatArray, IntArray
from sojourn.laws import LengthLaw
from sojourn.planning._sparse_problem import SparseProblem

__all__ = ["Certificate", "certificates", "first_bounds"]

_DAMPING = 0.75  # below 1, so that value iteration converges for periodic problems too
_ENVELOPE_SWEEPS = 2_000
_ENVELOPE_SLACK = 2e-12  # relative error of probabilities that the gain envelopes tolerate
_GRID = 2.0**-44  # finest grid spacing of the gains, relative to the largest gain


@dataclass(frozen=True, eq=False)
class Certificate:
    """Bounds n·gain + bias on the best n-step value, for every n at once.

    n·lower_gain + lower_bias ≤ V^π_n ≤ V*_n ≤ n·upper_gain + upper_bias, where π always plays `actions`.
    """

    lower_gain: FloatArray
    lower_bias: FloatArray
    upper_gain: FloatArray
    upper_bias: FloatArray
    actions: IntArray

    @cached_property
    def gain_gap(self) -> float:
        """Width of the bracket per step."""
        return float((self.upper_gain - self.lower_gain).max())

    @cached_property
    def bias_gap(self) -> float:
        """Width of the bracket that does not grow with the number of steps."""
        return float((self.upper_bias - self.lower_bias).max())

    def bounds(self, remaining: float) -> tuple[FloatArray, FloatArray]:
        """Return bounds on the value of a random number of steps with mean `remaining`, whatever its law."""
        return remaining * self.lower_gain + self.lower_bias, remaining * self.upper_gain + self.upper_bias

    def width_after(self, law: LengthLaw, n_layers: ArrayLike) -> FloatArray:
        """Return the width of the value's bracket if these bounds follow `n_layers` exact layers."""
        next_step = np.asarray(n_layers) + 1
        return law.tail(next_step) * self.gain_gap + law.survival(next_step) * self.bias_gap

    def layers_needed(self, law: LengthLaw, width: float, max_layers: int) -> int:
        """Return the least number of exact layers with a bracket of at most `width`, or `max_layers`."""
        if law.longest is not None:
            max_layers = min(max_layers, law.longest)
        # Search among powers of two, then among 32 points between two neighbors, and so on, because the
        # law is cheaper to evaluate at many steps at once than one by one.
        tried = np.unique(np.append(2 ** np.arange(max_layers.bit_length()) - 1, max_layers))
        while True:
            suffices = np.flatnonzero(self.width_after(law, tried) <= width)
            last = int(suffices[0]) if suffices.size else tried.size - 1
            first = max(last - 1, 0)
            if tried[last] - tried[first] <= 1:
                return int(tried[last])
            tried = np.unique(np.linspace(tried[first], tried[last], 33).astype(np.int64))


def first_bounds(problem: SparseProblem) -> Certificate:
    """Return the simplest bounds: the best action earns at least min_s max_a r per step, at most max r."""
    table = problem.rewards.reshape(problem.n_states, problem.n_actions)
    best = table.max(axis=1)
    zeros = np.zeros(problem.n_states)
    return Certificate(
        lower_gain=np.full_like(zeros, best.min()),
        lower_bias=zeros,
        upper_gain=np.full_like(zeros, best.max()),
        upper_bias=zeros,
        actions=table.argmax(axis=1),
    )


def certificates(problem: SparseProblem) -> Iterator[tuple[int, Certificate]]:
    """Yield increasingly good certificates, each with the number of value-iteration sweeps so far."""
    value, last_change = np.zeros(problem.n_states), np.inf
    n_sweeps, chunk = 0, 64
    drift = np.zeros(problem.n_states)
    while True:
        value, image, actions = problem.iterate(value, chunk, damping=_DAMPING)
        n_sweeps += chunk
        last_change = float(np.abs(image - value - drift).max())
        drift = image - value
        yield (
            n_sweeps,
            _certify(problem, value, drift, actions, elapsed=_DAMPING * n_sweeps, spread=last_change),
        )
        chunk = n_sweeps


def _certify(
    problem: SparseProblem,
    value: FloatArray,
    drift: FloatArray,
    actions: IntArray,
    *,
    elapsed: float,
    spread: float,
) -> Certificate:
    """Turn an iterate of value iteration into a certificate.

    Args:
        problem: The problem.
        value: The iterate V, `(S,)`.
        drift: TV − V, which is close to the gain, `(S,)`.
        actions: Actions that are greedy in V, `(S,)`.
        elapsed: Number of steps that V has accumulated.
        spread: Change of the drift since the previous certificate; a finer grid of gains would not help.
    """
    largest = max(float(np.abs(drift).max()), problem.largest_reward, np.finfo(float).tiny)
    step = 2.0 ** np.ceil(np.log2(max(spread / 4.0, largest * _GRID)))
    policy_rows = np.arange(problem.n_states) * problem.n_actions + actions

    # Gains that differ between states need nearly exact probabilities; one gain for all states does not.
    is_exact = problem.inexact <= _ENVELOPE_SLACK
    above = np.ceil(drift / step).astype(np.int64)
    if not (is_exact and raise_gain(problem.rows, above, _ENVELOPE_SWEEPS)):
        above[:] = above.max()
    below = np.floor(drift / step).astype(np.int64)
    if not (is_exact and lower_gain(problem.rows, policy_rows, below, _ENVELOPE_SWEEPS)):
        below[:] = below.min()
    upper_gain, lower_gain_ = above * step, below * step

    # With one gain for all states, V itself is the bias; otherwise subtract the gains accumulated in V.
    one_gain = above.min() == above.max() and below.min() == below.max()
    bias = value - value.mean() if one_gain else value - elapsed * drift

    lower_rest = residuals(problem.rows, problem.rewards, bias, lower_gain_)[policy_rows].min()
    upper_bias = bias
    rest = residuals(problem.rows, problem.rewards, bias, upper_gain)
    if not one_gain:
        # Actions that lose gain may look good under b; adding a multiple of g to b penalizes them.
        pairs = (problem.rows, rest, upper_gain, np.ptp(upper_gain) * 2.0**-20)
        slope = gain_slope(*pairs, preserving_residual(*pairs))
        upper_bias = bias + slope * upper_gain
        rest = residuals(problem.rows, problem.rewards, upper_bias, upper_gain)

    rounding = 4.0 * problem.unit * (largest + np.ptp(upper_bias) + np.ptp(bias))
    return Certificate(
        lower_gain=lower_gain_ + (lower_rest - rounding),
        lower_bias=bias - bias.max(),
        upper_gain=upper_gain + (rest.max() + rounding),
        upper_bias=upper_bias - upper_bias.min(),
        actions=actions,
    )
