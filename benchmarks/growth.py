"""Measures how time and memory grow with the number of states, and writes the tables of docs/growth.md.

    python benchmarks/growth.py              all sizes, into docs/growth.md (minutes)
    python benchmarks/growth.py 100 1000     these sizes only, printed

Each size is measured in a process of its own, after its kernels were compiled on a small problem, on garnets
with 3 actions and 3 successors under Geometric(0.95). Times are processor time; only those of threads are
seconds of a clock, under Fixed(50). Memory is the largest resident size of the process, less what it had
before the problem was built.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import sojourn as sj
from sojourn.agents import EpisodeBatch
from sojourn.learning._learn import start_on
from sojourn.learning._reference import Reference, problem_arrays

SIZES = (100, 1_000, 10_000, 100_000)
PAGE = Path(__file__).parent.parent / "docs" / "growth.md"
BEGIN, END = "<!-- growth: begin -->", "<!-- growth: end -->"
LAW = sj.Geometric(0.95)
LAYERED = sj.Fixed(50)  # threads share layers, and a geometric law has none
AGENT = sj.UCBVI(LAW, sj.PaperBonus(0.001), horizon=50)
EPISODES = 200
EXACT_UPDATES = 1e8  # about how many updates of a state all exactly valued episodes of a size may take
ESTIMATED, VALUED = 1_000, 20
THREADS = (1, 2)


def measure(n_states: int) -> dict[str, float]:
    """Return the figures of one size."""
    run_all(20, episodes=VALUED, estimated=2 * VALUED)  # compiles
    before = peak()
    found = run_all(n_states, episodes=EPISODES, estimated=ESTIMATED)
    return found | {"MiB": (peak() - before) / 2**20}


def run_all(n_states: int, *, episodes: int, estimated: int) -> dict[str, float]:
    mdp = sj.mdps.garnet(n_states, 3, 3, seed=0)
    found = {"plan": seconds_of(lambda: sj.plan(mdp, LAW))}
    for n in THREADS:
        times = [
            seconds_of(lambda n=n: sj.plan(mdp, LAYERED, threads=n), time.perf_counter) for _ in range(3)
        ]
        found[f"threads {n}"] = min(times)  # the first one compiles: small problems do not use threads
    problem, reference = problem_arrays(mdp), Reference(mdp, LAW)
    n_exact = int(min(episodes, max(5, EXACT_UPDATES / (n_states * 50))))
    parts = (("play", reference.unvalued_arrays, episodes), ("exact", reference.arrays, n_exact))
    for name, arrays, n in parts:
        rng = np.random.default_rng(1)
        starts, lengths = rng.choice(mdp.n_states, size=n, p=mdp.start), LAW.sample(rng, n)
        learner = start_on(AGENT, mdp, n, np.random.default_rng(0))
        batch = EpisodeBatch(problem, arrays, np.random.default_rng(2), starts, lengths)
        found[name] = seconds_of(lambda learner=learner, batch=batch: learner.play(batch)) / n
    run = seconds_of(lambda: sj.learn(AGENT, mdp, LAW, episodes=estimated, regret_episodes=VALUED))
    return found | {"estimated": run / estimated}


def seconds_of(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    begun = clock()
    work()
    return clock() - begun


def peak() -> float:
    """Return the largest resident size of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def words(seconds: float) -> str:
    unit, name = next((one for one in ((1.0, "s"), (1e-3, "ms")) if seconds >= one[0]), (1e-6, "µs"))
    return f"{float(f'{seconds / unit:.2g}'):,g} {name}"


def tables(found: dict[int, dict[str, float]]) -> str:
    """Return both tables as Markdown."""
    lines = [
        "| states | `sj.plan` | play and replan | with exact regret "
        f"| {VALUED} of {ESTIMATED:,} valued | memory |",
        "|---|---|---|---|---|---|",
    ]
    for n, row in found.items():
        times = (words(row[name]) for name in ("plan", "play", "exact", "estimated"))
        lines.append(f"| {n:,} | {' | '.join(times)} | {max(row['MiB'], 0.0):,.0f} MiB |")
    lines += ["", "| states | `threads=1` | `threads=2` |", "|---|---|---|"]
    for n, row in found.items():
        lines.append(f"| {n:,} | {' | '.join(words(row[f'threads {k}']) for k in THREADS)} |")
    return "\n".join(lines)


def write(text: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def main() -> None:
    if sys.argv[1:2] == ["measure"]:
        print(json.dumps(measure(int(sys.argv[2]))))
        return
    chosen = tuple(map(int, sys.argv[1:]))
    found = {}
    for n in chosen or SIZES:
        command = [sys.executable, __file__, "measure", str(n)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found[n] = json.loads(done.stdout)
    print(tables(found))
    if not chosen:
        write(tables(found))


if __name__ == "__main__":
    main()
