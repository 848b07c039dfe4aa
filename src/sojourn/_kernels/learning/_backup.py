"""The optimistic backup, which all updates of Q share.

    Q_h(s, a) ← min(Q_h(s, a), r + ρ(h) Σ_y P̂(y|s, a) V_{h+1}(y) + bonus)

`backup` is the second argument of the minimum, `expect` and `expect_all_layers` are the sum. Callers take the
minimum; Q-learning averages instead. Sums run over successors in the order of first sight, and floating-point
operations are always in the order written here, so that all ways of replanning end at the same bits.
"""

from __future__ import annotations

from sojourn._kernels._jit import inlined
from sojourn._typing import FloatArray, PolicyArray

__all__ = ["backup", "expect", "expect_all_layers"]


@inlined
def backup(reward: float, ratio: float, expected: float, bonus: float) -> float:
    """Return r + ρ E[V] + bonus."""
    return (reward + ratio * expected) + bonus


@inlined
def expect(
    first_arc: PolicyArray,
    arc_next: PolicyArray,
    arc_to: PolicyArray,
    arc_weight: FloatArray,
    value: FloatArray,
    pair: int,
    h: int,
) -> float:
    """Return Σ_y P̂(y|s, a) V_{h+1}(y) of a pair at layer h, counted from 0."""
    arc = first_arc[pair]
    expected = arc_weight[arc] * value[arc_to[arc], h + 1]
    arc = arc_next[arc]
    while arc >= 0:
        expected += arc_weight[arc] * value[arc_to[arc], h + 1]
        arc = arc_next[arc]
    return expected  # type: ignore[no-any-return]


@inlined
def expect_all_layers(
    first_arc: PolicyArray,
    arc_next: PolicyArray,
    arc_to: PolicyArray,
    arc_weight: FloatArray,
    value: FloatArray,
    pair: int,
    expected: FloatArray,
) -> None:
    """Fill `expected[h]` with the sum of `expect` for all layers h < `expected.size` at once."""
    arc = first_arc[pair]
    weight, following = arc_weight[arc], value[arc_to[arc], 1:]
    for h in range(expected.size):
        expected[h] = weight * following[h]
    arc = arc_next[arc]
    while arc >= 0:
        weight, following = arc_weight[arc], value[arc_to[arc], 1:]
        for h in range(expected.size):
            expected[h] += weight * following[h]
        arc = arc_next[arc]
