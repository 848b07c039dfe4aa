"""Measures the overhead of running an experiment.

    python benchmarks/experiments.py executor   200 jobs of 50 ms on two workers, compared with the ideal
    python benchmarks/experiments.py run        the same as a whole command, including its start
    python benchmarks/experiments.py finished   a run whose 10,000 trials are all finished

The best of three measurements counts; run it on an otherwise idle machine. The exit code is 1 if a limit is
exceeded.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sojourn._threads import usable_cores
from sojourn.experiments import Job, Processes, Store, ThisProcess, read_experiment, run_experiment
from sojourn.experiments.trials._play import play_trial

JOBS, NAP, WORKERS = 200, 0.05, 2
TIMES = 3
IDEAL = JOBS * NAP / WORKERS
MOST_OVER = 0.15
"""Limit of a whole run with its start, as a share of the ideal."""

SPEC = """
problem = "river_swim(2)"
law = "fixed(1)"
episodes = 1
seeds = {seeds}
[agents.nap]
type = "{learner}"
"""


def nap(text: str) -> bytes:
    time.sleep(NAP)
    return text.encode()


class Napper:
    """An agent that sleeps before each trial."""

    def start(self, **_: object) -> Napper:
        time.sleep(NAP)
        return self

    def act(self, state: int, h: int) -> int:
        return 0

    def observe(self, *_: object) -> None:
        pass

    def end_episode(self, *_: object) -> None:
        pass


def executor() -> bool:
    begun = time.perf_counter()
    outcomes = Processes(WORKERS).run("experiments:nap", [Job(str(i), str(i)) for i in range(JOBS)])
    next(outcomes)
    first = time.perf_counter()
    assert sum(1 for _ in outcomes) == JOBS - 1
    rest, total = time.perf_counter() - first, time.perf_counter() - begun
    ideal = (JOBS - 1) * NAP / WORKERS
    print(f"executor: {total:.2f} s in all, {rest:.2f} s from the first outcome on, ideally {ideal:.2f} s")
    print(f"    {100 * (rest / ideal - 1):.1f}% more than ideal once workers run")
    return rest < 1.2 * ideal


def run() -> bool:
    total, start, busy = min(whole_run() for _ in range(TIMES))
    rest, ideal = total - start, (JOBS - 1) * NAP / WORKERS
    over, over_all = rest / ideal - 1.0, total / IDEAL - 1.0
    print(
        f"run: {total:.2f} s in all. Start: {start:.2f} s until the first trial is finished. After that "
        f"{rest:.2f} s, ideally {ideal:.2f} s: {100 * over:.1f}% more; with the start "
        f"{100 * over_all:.0f}% more (limit {100 * MOST_OVER:.0f}%: "
        f"{'kept' if over_all <= MOST_OVER else 'not kept'}). Processor time without naps: {busy:.2f} s"
    )
    return over < 0.2 and over_all <= MOST_OVER


def whole_run() -> tuple[float, float, float]:
    """Return the seconds of a whole command, the seconds before its first trial, and the processor time."""
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "naps.toml"
        spec.write_text(SPEC.format(seeds=JOBS, learner="experiments:Napper"))
        (Path(folder) / "experiments.py").write_text(Path(__file__).read_text())
        command = [sys.executable, "-m", "sojourn", "run", str(spec), "--workers", str(WORKERS)]
        begun, before = time.perf_counter(), os.times()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not any(Path(folder).glob("naps.results/trials/*.npz")):
            time.sleep(0.005)
        start = time.perf_counter() - begun
        assert process.wait() == 0
        return time.perf_counter() - begun, start, computing(before)


def computing(before: os.times_result) -> float:
    """Return the processor time of child processes that have ended since `before`."""
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def finished() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "many.toml"
        spec.write_text(SPEC.format(seeds=10_000, learner="random"))
        experiment, store = read_experiment(spec), Store(Path(folder) / "many.results")
        with store.writing():
            for cell in experiment.cells:
                for trial in cell.trials:
                    store.add_trial(trial.key, play_trial(trial.text), 0.0)
        run_experiment(experiment, store, executor=ThisProcess())
        found = [time_finished_run(spec) for _ in range(TIMES)]
    total, busy = min(found)
    print(f"finished: {total:.2f} s to check 10,000 finished trials, {busy:.2f} s of processor time")
    return total < 2.0


def time_finished_run(spec: Path) -> tuple[float, float]:
    """Return the duration and the processor time of a command that has nothing to do."""
    begun, before = time.perf_counter(), os.times()
    command = [sys.executable, "-m", "sojourn", "run", str(spec)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    total = time.perf_counter() - begun
    assert done.stdout.startswith("Nothing to do: all 10,000 trials are done.")
    return total, computing(before)


def main() -> None:
    load = os.getloadavg()[0]
    if load > 0.5 * usable_cores():
        print(f"busy machine, load {load:.1f} on {usable_cores()} processors: the results will be too slow")
    parts = {"executor": executor, "run": run, "finished": finished}
    chosen = sys.argv[1:] or list(parts)
    kept = [parts[name]() for name in chosen]
    sys.exit(0 if all(kept) else 1)


if __name__ == "__main__":
    main()
