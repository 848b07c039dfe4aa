"""Compares learning with a dense implementation, in one run and on the same trajectories.

    python benchmarks/learning.py taxi     5,000 episodes at several bonus scales, against dense NumPy/BLAS
    python benchmarks/learning.py river    RiverSwim at bonus scale 1, against a compiled dense sweep
    python benchmarks/learning.py growth   growth of time and memory with S, N and T

Machines are noisy: read the ratios, not the times. Exits with 1 if results differ, or if a
ratio is below its minimum.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numba
import numpy as np

import sojourn as sj
from sojourn._kernels import (
    ProblemArrays,
    ReferenceArrays,
    apply_update,
    count_step,
    initialize_q_row,
    number_state,
    sample_successor,
)
from sojourn.agents import EpisodeBatch
from sojourn.agents.tabular._table_memory import empty_episode_buffer
from sojourn.learning._learn import start_on
from sojourn.learning._reference import Reference, problem_arrays

EPISODES = 5_000
RIVAL_EPISODES = 200
MINIMUM_RATIOS = {
    1.0: (3_000.0, 1_000.0),
    1e-3: (150.0, 100.0),
    1e-4: (150.0, 100.0),
    0.0: (3_000.0, 1_000.0),
}
RIVER_MINIMUM = 2.5
VALUED = 5_000


def check(what: str, holds: bool) -> bool:
    """Print whether a requirement holds, and return it."""
    print(f"    {'ok' if holds else 'FAILED'}: {what}")
    return holds


def blas_threads() -> str:
    """Describe the threads that NumPy's BLAS uses."""
    try:
        from threadpoolctl import threadpool_info  # noqa: PLC0415 - not a dependency

        return ", ".join(f"{pool['internal_api']} {pool['num_threads']}" for pool in threadpool_info())
    except ImportError:
        return f"as many as BLAS takes of {len(__import__('os').sched_getaffinity(0))} cores"


class Dense:
    """Update-Q-values on dense tables, one BLAS product per layer: the obvious implementation."""

    def __init__(self, learner: sj.agents.UCBVILearner, mdp: sj.TabularMDP) -> None:
        self.assumed = learner._assumed
        self.rewards, self.terminal = mdp.rewards, mdp.terminal[0] if mdp.terminal else None
        self.terminal_value = mdp.terminal_reward * self.assumed.caps
        n_layers = self.assumed.ratios.size
        self.q = np.ones((n_layers, *mdp.rewards.shape)) * self.assumed.caps[:-1, np.newaxis, np.newaxis]

    def update(self, counts: np.ndarray) -> None:
        n_states, n_actions = self.rewards.shape
        visits = counts.sum(axis=2)
        seen = visits > 0
        model = (counts / np.maximum(visits, 1)[:, :, np.newaxis]).reshape(n_states * n_actions, n_states)
        root = 1.0 / np.sqrt(np.maximum(visits, 1))
        value = np.full(n_states, self.assumed.final_value)
        for h in reversed(range(self.assumed.ratios.size)):
            if self.terminal is not None:
                value[self.terminal] = self.terminal_value[h + 1]
            backup = self.rewards + self.assumed.ratios[h] * (model @ value).reshape(n_states, n_actions)
            backup += self.assumed.bonus[h] * root
            self.q[h] = np.where(seen, np.minimum(self.q[h], backup), self.q[h])
            value = self.q[h].max(axis=1)


def start(mdp: sj.TabularMDP, law: sj.LengthLaw, scale: float, episodes: int) -> sj.agents.UCBVILearner:
    learner: sj.agents.UCBVILearner = start_on(
        sj.UCBVI(law, sj.PaperBonus(scale)), mdp, episodes, np.random.default_rng(0)
    )
    return learner


def draw(mdp: sj.TabularMDP, law: sj.LengthLaw, episodes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return rng.choice(mdp.n_states, size=episodes, p=mdp.start), law.sample(rng, episodes)


def seconds_per_episode(
    learner: sj.agents.UCBVILearner,
    problem: ProblemArrays,
    reference: ReferenceArrays,
    starts: np.ndarray,
    drawn: np.ndarray,
) -> float:
    clock = time.perf_counter()
    learner.play(EpisodeBatch(problem, reference, np.random.default_rng(2), starts, drawn))
    return (time.perf_counter() - clock) / starts.size


def play_by_protocol(
    learner: sj.agents.UCBVILearner,
    problem: ProblemArrays,
    rng: np.random.Generator,
    starts: np.ndarray,
    drawn: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Play episodes by the protocol; return steps (state, action, successor or −1), and where each ends."""
    steps, ends = [], []
    for start_state, length in zip(starts, drawn, strict=True):
        state, h, ended = int(start_state), 0, False
        while h < length and not ended:
            h += 1
            action = learner.act(state, h)
            row = state * problem.n_actions + action
            following = int(sample_successor(problem, row, rng.random()))
            ended = bool(problem.is_terminal[following])
            learner.observe(state, action, float(problem.rewards[row]), following, ended)
            steps.append((state, action, -1 if ended else following))
            state = following
        learner.end_episode(h, not ended)
        ends.append(len(steps))
    return np.array(steps), np.array(ends)


@numba.njit
def count_and_update(tables, assumed, update, buffer, rewards, steps, ends, learns):  # type: ignore[no-untyped-def]
    """Count the steps of episodes and, if asked, replan after each."""
    first = 0
    for k in range(ends.size):
        n_played = 0
        for i in range(first, ends[k]):
            state, action, following = steps[i]
            here = number_state(tables, state)
            there = 0 if following < 0 else number_state(tables, following)
            pair = count_step(tables, here, action, there, True)
            if tables.visits[pair] == 1:
                initialize_q_row(tables, assumed, pair)
            tables.reward_total[pair] = rewards[state, action]
            if buffer.last_played[pair] != k:
                buffer.last_played[pair] = k
                buffer.played[n_played] = pair
                n_played += 1
        first = ends[k]
        if learns:
            apply_update(update, tables, assumed, buffer, n_played, 0)


def replanning_alone(twins: list[sj.agents.UCBVILearner], steps: np.ndarray, ends: np.ndarray) -> float:
    """Return the seconds per episode of replanning: the same steps are counted with and without it."""
    seconds = []
    for learns, learner in zip((True, False), twins, strict=True):
        learner._make_room(4_096)
        buffer = empty_episode_buffer(learner._tables.visits.size, 0)
        parts = (learner._tables, learner._assumed, learner.update, buffer, learner._rewards)
        count_and_update(*parts, steps[:0], ends[:0], learns)
        clock = time.perf_counter()
        count_and_update(*parts, steps, ends, learns)
        seconds.append((time.perf_counter() - clock) / ends.size)
    return seconds[0] - seconds[1]


def taxi() -> bool:
    mdp, law = sj.TabularMDP.from_env("Taxi-v4"), sj.Geometric(0.95)
    normalized, problem, reference = mdp.normalized(), problem_arrays(mdp), Reference(mdp, law)
    unvalued = reference.unvalued_arrays
    print(f"Taxi, geometric 0.95, {EPISODES:,} episodes; BLAS threads: {blas_threads()}")
    is_fine = True
    for scale, (minimum, whole_minimum) in MINIMUM_RATIOS.items():
        starts, drawn = draw(mdp, law, EPISODES)
        seconds_per_episode(
            start(mdp, law, scale, EPISODES), problem, reference.arrays, starts[:5], drawn[:5]
        )
        learner = start(mdp, law, scale, EPISODES)
        whole = seconds_per_episode(learner, problem, reference.arrays, starts, drawn)
        played = seconds_per_episode(start(mdp, law, scale, EPISODES), problem, unvalued, starts, drawn)
        walker, twins = start(mdp, law, scale, EPISODES), [start(mdp, law, scale, EPISODES) for _ in range(2)]
        alone = replanning_alone(
            twins, *play_by_protocol(walker, problem, np.random.default_rng(2), starts, drawn)
        )
        live = np.arange(mdp.n_states - 1)
        is_same = np.array_equal(twins[0].q_values(live), learner.q_values(live))

        # The dense implementation follows the same trajectory for fewer episodes, because it is slow.
        twin = start(mdp, law, scale, EPISODES)
        dense, rng, seconds, worst = Dense(twin, normalized), np.random.default_rng(2), [], 0.0
        counts = np.zeros((mdp.n_states, mdp.n_actions, mdp.n_states))
        for k in range(RIVAL_EPISODES):
            twin.play(EpisodeBatch(problem, reference.arrays, rng, starts[k : k + 1], drawn[k : k + 1]))
            counts[:] = 0.0
            for s, a, y, n in twin.transition_counts:
                counts[s, a, y if y >= 0 else mdp.terminal[0]] = n
            clock = time.perf_counter()
            dense.update(counts)
            seconds.append(time.perf_counter() - clock)
            if k % 10 == 9:
                worst = max(worst, float(np.abs(twin.q_values(live) - dense.q[:, live]).max()))
        rival = min(np.median(seconds), float(np.mean(seconds)))
        print(
            f"  scale {scale:g}: dense {rival * 1e3:.1f} ms, "
            f"replanning {alone * 1e6:.1f} µs ({rival / alone:,.0f} x), "
            f"with play {played * 1e6:.1f} µs ({rival / played:,.0f} x), "
            f"whole episode {whole * 1e6:.1f} µs ({rival / whole:,.0f} x)"
        )
        is_fine &= check(f"Q values agree to 1e-10 ({worst:.1e})", worst <= 1e-10)
        is_fine &= check("replanned alone, it ends at the same bits", is_same)
        is_fine &= check(f"replanning at least {minimum:,.0f} x", rival / alone >= minimum)
        is_fine &= check(f"the whole episode at least {whole_minimum:,.0f} x", rival / whole >= whole_minimum)
        n_pairs, held = int(learner._tables.sizes[1]), sum(table.nbytes for table in learner._tables)
        share = held / (n_pairs * learner.n_layers)
        print(f"    {share:.1f} bytes per visited pair and layer, including spare capacity")
    return is_fine


@numba.njit
def dense_sweep(counts, visits, rewards, ratios, bonus, q, value):  # type: ignore[no-untyped-def]
    n_states, n_actions = rewards.shape
    for h in range(ratios.size - 1, -1, -1):
        for s in range(n_states):
            best = -np.inf
            for a in range(n_actions):
                n = visits[s, a]
                if n > 0:
                    total = 0.0
                    for y in range(n_states):
                        total += counts[s, a, y] * value[h + 1, y]
                    new = rewards[s, a] + ratios[h] * (total / n) + bonus[h] / np.sqrt(n)
                    q[h, s, a] = min(q[h, s, a], new)
                best = max(best, q[h, s, a])
            value[h, s] = best


def river() -> bool:
    mdp, law, episodes = sj.mdps.river_swim(6), sj.Geometric(0.9), 10**7
    problem, reference = problem_arrays(mdp), Reference(mdp, law)
    learner = start(mdp, law, 1.0, episodes)
    starts, drawn = draw(mdp, law, 1_000_000)
    print(f"RiverSwim(6), geometric 0.9, scale 1, {learner.n_layers} layers, replanning every episode")
    empty = reference.unvalued_arrays
    rng = np.random.default_rng(0)
    learner.play(EpisodeBatch(problem, empty, rng, starts[:10], drawn[:10]))
    is_fine = True
    for stop in (10_000, 1_000_000):
        n = stop - learner.episode - VALUED
        clock = time.perf_counter()
        learner.play(EpisodeBatch(problem, empty, rng, starts[:n], drawn[:n]))
        played = (time.perf_counter() - clock) / n
        clock = time.perf_counter()
        learner.play(EpisodeBatch(problem, reference.arrays, rng, starts[:VALUED], drawn[:VALUED]))
        whole = (time.perf_counter() - clock) / VALUED
        counts, visits = np.zeros((6, 2, 6)), np.zeros((6, 2))
        for s, a, y, k in learner.transition_counts:
            counts[s, a, y] = k
        visits = counts.sum(axis=2)
        q = np.ones((learner.n_layers, 6, 2)) * learner._assumed.caps[:-1, np.newaxis, np.newaxis]
        value = np.full((learner.n_layers + 1, 6), learner._assumed.final_value)
        table = (
            counts,
            visits,
            np.array(mdp.rewards),
            learner._assumed.ratios,
            learner._assumed.bonus,
            q,
            value,
        )
        dense_sweep(*table)
        clock = time.perf_counter()
        for _ in range(2_000):
            dense_sweep(*table)
        rival = (time.perf_counter() - clock) / 2_000
        with tempfile.TemporaryDirectory() as folder:
            path = learner.save(Path(folder) / "learner.npz")
            walker, *twins = (sj.load_learner(path) for _ in range(3))
        alone = replanning_alone(
            twins, *play_by_protocol(walker, problem, rng, starts[:VALUED], drawn[:VALUED])
        )
        print(
            f"  up to episode {stop:,}: play and replan {played * 1e6:.2f} µs, "
            f"at its end with exact regret {whole * 1e6:.2f} µs, replanning alone {alone * 1e6:.2f} µs, "
            f"dense sweep {rival * 1e6:.2f} µs ({rival / alone:.1f} x; with play {rival / played:.1f} x)"
        )
        is_fine &= check(f"at least {RIVER_MINIMUM} x", rival / alone >= RIVER_MINIMUM)
    return is_fine


def growth() -> bool:
    print("Growth: microseconds per episode (play, replan, value) on garnets with 3 actions and 3 successors")
    print(f"  {'S':>8}{'N':>8}{'T':>8}{'µs':>10}{'MiB':>8}")
    law = sj.Geometric(0.95)
    for n_states, horizon, episodes in [
        (100, 50, 500),
        (1_000, 50, 500),
        (4_000, 50, 500),
        (1_000, 100, 500),
        (1_000, 200, 500),
        (1_000, 50, 2_000),
    ]:
        mdp = sj.mdps.garnet(n_states, 3, 3, seed=0)
        problem, reference = problem_arrays(mdp), Reference(mdp, law)
        agent = sj.UCBVI(law, sj.PaperBonus(0.001), horizon=horizon)
        learner = start_on(agent, mdp, episodes, np.random.default_rng(0))
        starts, drawn = draw(mdp, law, episodes)
        clock = time.perf_counter()
        learner.play(EpisodeBatch(problem, reference.arrays, np.random.default_rng(2), starts, drawn))
        seconds = time.perf_counter() - clock
        size = sum(array.nbytes for array in learner._tables) / 2**20
        print(f"  {n_states:>8,}{horizon:>8}{episodes:>8,}{seconds / episodes * 1e6:>10.1f}{size:>8.1f}")
    return True


def main() -> int:
    parts = {"taxi": taxi, "river": river, "growth": growth}
    if len(sys.argv) > 1:
        return 0 if parts[sys.argv[1]]() else 1
    return max(subprocess.run([sys.executable, __file__, part], check=False).returncode for part in parts)


if __name__ == "__main__":
    sys.exit(main())
