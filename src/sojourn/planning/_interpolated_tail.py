"""Bounds on the value of a long tail from a few of its layers, for laws whose ρ(h) changes slowly.

Far from the start, the value of layer h is a number K(h) plus a vector that changes slowly with ρ(h). So only
the vectors b of some layers, the nodes, are computed, by sweeps at their own ρ. Between two nodes the vector
is interpolated: b_t = (1 − t)·b_0 + t·b_1, where t is such that ρ(h) = (1 − t)·ρ_0 + t·ρ_1. A maximum over
actions is convex, so the backup of b_t exceeds b_t by at most the interpolated excess at the nodes, plus
terms of second order in the distance of the nodes:

    max_a r + ρ P(b_t + τ d) − b_t ≤ (1 − t)·L + t·R + t(1 − t)·|ρ_1 − ρ_0|·max|x_1 − x_0|

with d = b_1 − b_0, the increment τ of t, x_0 = b_0 + τ_L d, x_1 = b_1 + τ_R d, the excesses
L = max T_0 x_0 − b_0 and R = max T_1 x_1 − b_1 at the two nodes, and further terms if τ or ρ are not linear
in t. K(h) is the sum of these excesses, weighted by the law, and K(h) + b_t is an upper bound on the value.
For a chain without choices the same holds with minima and the opposite sign. No layer needs to have
converged: a vector that has not makes the bounds wider.
"""

from __future__ import annotations

import numpy as np

from sojourn._typing import FloatArray
from sojourn.laws import LengthLaw
from sojourn.planning._certificate import Certificate
from sojourn.planning._sparse_problem import SparseProblem
from sojourn.planning._tail_bounds import Tail

__all__ = ["interpolate_tail"]

_NODE_RATIO = 1.15  # of the positions of two neighboring nodes
_FIRST_NODE = 32
_MOST_STEPS = 1 << 22  # largest number of steps whose ρ(h) is looked at one by one
_MOST_SWEEPS = 64  # per node
_NODE_SHARE = 0.02  # of the width, for the spread of the excess at a node
_CLOSING_SHARE = 0.125  # of the width, for the bounds after the last node


def interpolate_tail(
    problem: SparseProblem, law: LengthLaw, certificate: Certificate, width: float, n_layers: int
) -> Tail | None:
    """Return bounds that need fewer exact layers than `n_layers`, or None if there are none.

    Args:
        problem: The problem.
        law: A law without a longest length.
        certificate: Bounds that are good enough after `n_layers` layers.
        width: Largest width of the bracket of the value from step 1.
        n_layers: Number of exact layers that the certificate needs.
    """
    last = certificate.layers_needed(law, _CLOSING_SHARE * width, _MOST_STEPS - 1) + 1
    if float(certificate.width_after(law, last - 1)) > 2.0 * _CLOSING_SHARE * width:
        return None
    n_nodes = int(np.log(last / _FIRST_NODE) / np.log(_NODE_RATIO)) + 2
    nodes = np.unique(np.geomspace(_FIRST_NODE, last, n_nodes).astype(int))
    steps = np.arange(1, last + 2)
    ratios, weights = law.continuation(steps), law.survival(steps)
    chain = problem.chain(certificate.actions)
    remaining = float(law.remaining(last))
    above = _Interpolation(problem, 1.0, certificate.upper_bias, remaining * certificate.upper_gain)
    below = _Interpolation(chain, -1.0, certificate.lower_bias, remaining * certificate.lower_gain)
    found = None
    for node in nodes[::-1].tolist():
        goal = _NODE_SHARE * width / float(law.tail(node))
        upper = above.advance(node, ratios, weights, goal)
        lower = below.advance(node, ratios, weights, goal)
        if float(weights[node - 1]) * float((upper - lower).max()) > width:
            break
        found = Tail(node - 1, lower, upper, certificate.actions)
    return found if found is not None and found.n_layers < n_layers // 2 else None


class _Interpolation:
    """Bounds of one side at one node after the other, from the last to the first.

    Args:
        problem: The problem, or a chain for lower bounds.
        sign: 1 for upper bounds, −1 for lower bounds.
        bias: First guess of the vector b at the last node.
        level: Value of the certificate at the last node minus its bias.
    """

    def __init__(self, problem: SparseProblem, sign: float, bias: FloatArray, level: FloatArray) -> None:
        self.problem, self.sign = problem, sign
        self._closing = level + bias
        self._guess = bias
        self._node = 0
        self._vectors: list[FloatArray] = []  # b at this node and the one before
        self._ratios: list[float] = []  # ρ at these
        self._total = 0.0  # γ(h)·K(h) at this node

    def advance(self, node: int, ratios: FloatArray, weights: FloatArray, goal: float) -> FloatArray:
        """Return the bounds at the next node, which is a smaller step than the last one.

        Args:
            node: The step h.
            ratios: ρ(1), ρ(2), …
            weights: γ(1), γ(2), …
            goal: Spread of the excess at which the sweeps of a node end.
        """
        ratio, weight = float(ratios[node - 1]), float(weights[node - 1])
        if not self._vectors:
            vector, _ = self._settle(self._guess, None, 0.0, ratio, goal)
            self._total = weight * self._extreme(self._closing - vector)
        else:
            vector = self._pass_block(node, ratios, weights, goal)
        self._vectors, self._ratios = [vector, *self._vectors[:1]], [ratio, *self._ratios[:1]]
        self._node = node
        return np.asarray(self._total / weight + vector)

    def _pass_block(self, node: int, ratios: FloatArray, weights: FloatArray, goal: float) -> FloatArray:
        """Return b at a node, and add the excesses of the steps from it to the node before."""
        later, ratio, next_ratio = self._vectors[0], float(ratios[node - 1]), self._ratios[0]
        inside = ratios[node - 1 : self._node]  # of the steps of the block, and of the later node
        change = next_ratio - ratio
        t = np.clip((inside - ratio) / change, 0.0, 1.0) if change != 0.0 else np.zeros(inside.size)
        t[-1] = 1.0
        tau = np.diff(t)
        guess = later
        if len(self._vectors) == 2 and self._ratios[1] != next_ratio:
            further = (ratio - next_ratio) / (next_ratio - self._ratios[1])
            guess = later + (later - self._vectors[1]) * further
        vector, first = self._settle(guess, later, float(tau[0]), ratio, goal)
        d = later - vector
        last = self._excess(later, later + float(tau[-1]) * d, next_ratio)
        t, inside = t[:-1], inside[:-1]
        size = float(np.abs(d).max())
        bend = np.abs(tau - ((1.0 - t) * tau[0] + t * tau[-1])) * size
        twist = t * (1.0 - t) * abs(change) * (1.0 + abs(float(tau[-1] - tau[0]))) * size
        largest = float(max(np.abs(vector).max(), np.abs(later).max())) + size
        off = np.abs(inside - ((1.0 - t) * ratio + t * next_ratio)) * largest
        rounding = 8.0 * self.problem.unit * (self.problem.largest_reward + largest)
        excess = (1.0 - t) * first + t * last + self.sign * (bend + twist + off + rounding)
        parts = weights[node - 1 : self._node - 1] * excess
        self._total += float(parts.sum())
        self._total += self.sign * self.problem.unit * (abs(self._total) + float(np.abs(parts).sum()))
        return vector

    def _settle(
        self, guess: FloatArray, later: FloatArray | None, tau: float, ratio: float, goal: float
    ) -> tuple[FloatArray, float]:
        """Return a vector b with nearly the same excess in all states, and its largest (least) excess."""
        vector = guess
        for _ in range(_MOST_SWEEPS):
            ahead = vector if later is None else vector + tau * (later - vector)
            _, image, _ = self.problem.iterate(ahead, 0, ratio=ratio)
            excess = image - vector
            if np.ptp(excess) <= goal:
                break
            vector = image - (excess.max() + excess.min()) / 2.0
        if later is not None:  # a constant is free: half-way between the extremes of d
            d = later - vector
            vector = vector + (d.max() + d.min()) / 2.0
        ahead = vector if later is None else vector + tau * (later - vector)
        return vector, self._excess(vector, ahead, ratio)

    def _excess(self, vector: FloatArray, ahead: FloatArray, ratio: float) -> float:
        """Return the largest (least) value of T(ahead) − vector."""
        _, image, _ = self.problem.iterate(ahead, 0, ratio=ratio)
        return self._extreme(image - vector)

    def _extreme(self, values: FloatArray) -> float:
        return float(values.max() if self.sign > 0.0 else values.min())
