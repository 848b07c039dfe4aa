"""Compares planning with other implementations, in one run and on the same problems.

    python benchmarks/planning.py            everything
    python benchmarks/planning.py taxi       Taxi, 200 layers: Sojourn, dense NumPy/BLAS, quantecon (sparse)
    python benchmarks/planning.py garnet     10⁶ states, 100 layers, against a bare gather-and-sum

Machines are noisy: read the ratios, not the times. Exits with 1 if results differ, or if a
requirement fails.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

import sojourn as sj

LAYERS_TAXI = 200
GARNET = {"n_states": 1_000_000, "n_actions": 4, "n_successors": 3}
LAYERS_GARNET = 100
LIMITS = {"dense": 20.0, "quantecon": 3.0, "bare": 1.5, "GiB": 2.0}


def best_of(n: int, call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the shortest of n timings and the last result, after one call to warm up."""
    result = call()
    times = []
    for _ in range(n):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return min(times), result


def report(name: str, seconds: float, ours: float) -> None:
    print(f"  {name:<34}{seconds * 1e3:>10.2f} ms   {seconds / ours:>8.1f} x")


def check(what: str, holds: bool) -> bool:
    """Print whether a requirement holds, and return it."""
    print(f"  {'ok' if holds else 'FAILED'}: {what}")
    return holds


def dense_induction(
    transitions: np.ndarray, rewards: np.ndarray, n_layers: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return V_1 and the policy `(N, S)` by one BLAS product per layer: the obvious implementation."""
    n_states, n_actions = rewards.shape
    rows = transitions.reshape(n_states * n_actions, n_states)
    value = np.zeros(n_states)
    policy = np.empty((n_layers, n_states), dtype=np.int64)
    for h in reversed(range(n_layers)):
        q = rewards + (rows @ value).reshape(n_states, n_actions)
        policy[h] = q.argmax(axis=1)
        value = q.max(axis=1)
    return value, policy


def taxi() -> bool:
    """Plan Taxi with a fixed length: undiscounted finite-horizon planning, which all three can do."""
    from quantecon.markov import DiscreteDP, backward_induction  # noqa: PLC0415 - not part of the garnet's memory

    mdp, law = sj.TabularMDP.from_env("Taxi-v4").normalized(), sj.Fixed(LAYERS_TAXI)
    n_states, n_actions = mdp.n_states, mdp.n_actions
    dense = mdp.transitions.toarray().reshape(n_states, n_actions, n_states)
    states, actions = np.divmod(np.arange(n_states * n_actions), n_actions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # quantecon warns that β = 1 has no infinite-horizon solution
        rival = DiscreteDP(mdp.rewards.reshape(-1), mdp.transitions, 1.0, states, actions)

    ours, plan = best_of(20, lambda: sj.plan(mdp, law))
    by_blas, (value, _) = best_of(3, lambda: dense_induction(dense, mdp.rewards, LAYERS_TAXI))
    by_quantecon, (values, _) = best_of(5, lambda: backward_induction(rival, LAYERS_TAXI))

    print(f"Taxi, {n_states} states, {n_actions} actions, {LAYERS_TAXI} layers")
    report("sojourn.plan", ours, ours)
    report("dense NumPy/BLAS", by_blas, ours)
    report("quantecon backward_induction", by_quantecon, ours)
    worst = max(float(np.abs(plan.value - other).max()) for other in (value, values[0]))
    return all(
        [
            check(f"the three agree to 1e-9 (largest difference {worst:.1e})", worst <= 1e-9),
            check(f"at least {LIMITS['dense']:g} x dense NumPy", by_blas / ours >= LIMITS["dense"]),
            check(
                f"at least {LIMITS['quantecon']:g} x quantecon",
                by_quantecon / ours >= LIMITS["quantecon"],
            ),
        ]
    )


@numba.njit
def gather_and_sum(indptr, indices, data, value, out):  # type: ignore[no-untyped-def]
    """Do what every planner must do per layer: fetch the value of each successor, weight it and add."""
    for row in range(indptr.size - 1):
        total = 0.0
        for i in range(indptr[row], indptr[row + 1]):
            total += data[i] * value[indices[i]]
        out[row] = total


def garnet() -> bool:
    """Plan a large sparse problem in bounded memory; nearly all of the time goes to fetching successors."""
    start = time.perf_counter()
    mdp = sj.mdps.garnet(**GARNET, seed=0)
    built = time.perf_counter() - start
    rows, out = mdp.transitions, np.empty(mdp.n_states * mdp.n_actions)
    sj.plan(sj.mdps.garnet(10, 4, 3, seed=0), sj.Fixed(3))  # compiles
    start = time.perf_counter()
    plan = sj.plan(mdp, sj.Fixed(LAYERS_GARNET))
    ours = (time.perf_counter() - start) / LAYERS_GARNET
    # Two rounds of the bare loop around another round of ours: the machine may have changed its pace.
    bare, _ = best_of(10, lambda: gather_and_sum(rows.indptr, rows.indices, rows.data, plan.value, out))
    start = time.perf_counter()
    sj.plan(mdp, sj.Fixed(LAYERS_GARNET))
    ours = min(ours, (time.perf_counter() - start) / LAYERS_GARNET)
    again, _ = best_of(10, lambda: gather_and_sum(rows.indptr, rows.indices, rows.data, plan.value, out))
    bare = min(bare, again)
    gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20

    print(f"Garnet, {GARNET['n_states']:,} states, 4 actions, 3 successors, {LAYERS_GARNET} layers")
    print(f"  built in {built:.1f} s; planned twice; peak memory of the process {gib:.2f} GiB")
    report("sojourn.plan, per layer", ours, ours)
    report("bare gather-and-sum, per layer", bare, ours)
    return all(
        [
            check(
                f"within {LIMITS['bare']:g} x of the bare loop: {ours / bare:.2f} x",
                ours <= LIMITS["bare"] * bare,
            ),
            check(f"at most {LIMITS['GiB']:g} GiB", gib <= LIMITS["GiB"]),
        ]
    )


def main() -> int:
    if len(sys.argv) > 1:
        return 0 if {"taxi": taxi, "garnet": garnet}[sys.argv[1]]() else 1
    # Each part runs in its own process, so that the peak memory is that of the garnet alone.
    return max(
        subprocess.run([sys.executable, __file__, part], check=False).returncode
        for part in ("taxi", "garnet")
    )


if __name__ == "__main__":
    sys.exit(main())
