"""Measures what experiments survive: kills, damage, full disks, hostile files, Ctrl-C, many trials.

    python evidence/durability.py kills        25 SIGKILLs at random points of a run of 200 trials
    python evidence/durability.py sameness     1, 2 and 4 workers, another order, another hash seed, Ray
    python evidence/durability.py corruptions  200 random corruptions of trials, manifests and the marker
    python evidence/durability.py disk         a full disk: a small tmpfs
    python evidence/durability.py hostile      hostile specs
    python evidence/durability.py names        names and links that would lead out of the store
    python evidence/durability.py forgeries    forged stores with right hashes, which must run nothing
    python evidence/durability.py permissions  three umasks, and a complete store on a read-only disk
    python evidence/durability.py interrupts   Ctrl-C at random moments of seven commands
    python evidence/durability.py compilation  Ctrl-C while kernels compile, in programs that go on
    python evidence/durability.py streams      stdout and stderr closed, full, or a broken pipe
    python evidence/durability.py ray_head     the head of a Ray cluster is killed
    python evidence/durability.py benchmarks   overhead, and 10,000 finished trials: benchmarks/experiments.py

Without an argument, all of them run: about ten minutes on two cores. Each check prints one line with its
measurements, or that this machine cannot run it. The exit code is 1 if a check fails.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import math
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sojourn.experiments import (
    Job,
    Store,
    ThisProcess,
    export_csv,
    load_results,
    read_experiment,
    run_experiment,
    verify_store,
)

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from experiments.forge import ARRAY_LIES, HEADER_LIES, attacks, forge_store, write_module  # noqa: E402
from experiments.harm import WAYS, alive, damage, descendants  # noqa: E402
from experiments.hostile import FILES  # noqa: E402

SOJOURN = [sys.executable, "-m", "sojourn"]
RUN = [*SOJOURN, "run"]
KILLS, TRIALS, WORKERS, CORRUPTIONS, INTERRUPTS = 25, 200, 2, 200, 10

SPEC = """\
problem = "river_swim(3)"
law = "fixed(4)"
episodes = 20
seeds = {seeds}

[agents.general]
type = "ucbvi"
law = "true"

[agents.slow]
type = "slow_learner:Slow"
nap = {nap}
"""

FORGED = """\
problem = "river_swim(3)"
law = "fixed(4)"
episodes = 5
seeds = 2

[agents.forged]
type = "random"
"""

LEARNER = """\
import os, time
from pathlib import Path
class Slow:
    def __init__(self, nap): self.nap = nap
    def start(self, *, rng, **_):
        (Path(__file__).parent / f"begun-{rng.integers(2**62)}-{time.time_ns()}-{os.getpid()}").touch()
        time.sleep(self.nap)
        return self
    def act(self, state, h): return 0
    def observe(self, *_): pass
    def end_episode(self, *_): pass
"""


def write_spec(folder: Path, *, trials: int = TRIALS, nap: float = 0.0) -> Path:
    """Write a spec with a number of trials, half of which sleep for `nap` seconds and log that they began."""
    (folder / "slow_learner.py").write_text(LEARNER)
    spec = folder / "trials.toml"
    spec.write_text(SPEC.format(seeds=trials // 2, nap=nap))
    return spec


def files_of(store: Path) -> dict[str, bytes]:
    """Return the bytes of all finished trials by file name."""
    return {path.name: path.read_bytes() for path in (store / "trials").glob("*.npz")}


def kills(folder: Path) -> tuple[bool, str]:
    """Kill a run again and again; then let it finish, and compare it with an undisturbed run."""
    spec, rng = write_spec(folder, nap=0.6), random.Random(0)
    store, lost, before, n_kills = spec.with_suffix(".results"), 0, {}, 0
    for _ in range(KILLS):
        have = len(before)
        process = subprocess.Popen(
            [*RUN, str(spec), "--workers", str(WORKERS)],
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # Half of the kills come at a random time, often during the start; half after some more trials.
        moment = time.monotonic() + rng.uniform(0.0, 2.5)
        more = rng.randrange(1, 9) if rng.random() < 0.5 else 0
        while time.monotonic() < moment or len(names_of(store)) < have + more:
            time.sleep(0.005)
            if process.poll() is not None:
                break
        if process.poll() is None:
            n_kills += 1
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        now = files_of(store) if store.exists() else {}
        lost += sum(now.get(name) != content for name, content in before.items())
        before = now
    in_time = _ends_soon(folder)
    done = len(before)
    finished = subprocess.run([*RUN, str(spec), "--workers", "2"], check=False, capture_output=True)
    begun = len(list(folder.glob("begun-*")))
    calm = folder / "calm"
    subprocess.run([*RUN, str(spec), "--workers", "4", "--store", str(calm)], check=True, capture_output=True)
    same = files_of(store) == files_of(calm)
    left = len(Store(store).temporary_files())
    repeated, most = begun - TRIALS // 2, n_kills * WORKERS
    kept = finished.returncode == lost == left == 0 and same and repeated <= most and in_time
    kept = kept and n_kills == KILLS
    kept = kept and verify_store(store).findings == () and len(files_of(store)) == TRIALS
    return kept, (
        f"{n_kills} kills, {done} of {TRIALS} trials kept by then; lost {lost}; played again {repeated} of "
        f"the slow half (in flight at most {most}); bytes {'the same' if same else 'differ'}; "
        f"temporary files left {left}; processes left {'none' if in_time else 'some'}"
    )


def names_of(store: Path) -> list[str]:
    """Return the file names of finished trials."""
    return [path.name for path in (store / "trials").glob("*.npz")]


def _ends_soon(folder: Path) -> bool:
    deadline = time.monotonic() + 5.0
    while alive(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(folder)


class Shuffled(ThisProcess):
    """Runs jobs in this process, in another order."""

    def run(self, function: str, jobs: object) -> object:
        """Run the jobs."""
        mixed: list[Job] = list(jobs)  # type: ignore[call-overload]
        random.Random(1).shuffle(mixed)
        return super().run(function, mixed)


def sameness(folder: Path) -> tuple[bool, str]:
    """Play the same experiment with every executor and compare the bytes."""
    spec = write_spec(folder, trials=40)
    ways: dict[str, tuple[list[str], dict[str, str]]] = {
        "1 worker": (["--workers", "1"], {}),
        "2 workers": (["--workers", "2"], {}),
        "4 workers": (["--workers", "4"], {"PYTHONHASHSEED": "0"}),
        "another hash seed": (["--on", "here"], {"PYTHONHASHSEED": "12345"}),
        "Ray": (["--on", "ray", "--workers", "2"], {}),
    }
    found = {}
    for i, (way, (options, environment)) in enumerate(ways.items()):
        store = folder / str(i)
        command = [*RUN, str(spec), "--store", str(store), *options]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env={**os.environ, **environment}
        )
        if "Ray is not installed" in done.stderr:
            print("skip sameness: Ray is not installed")
            continue
        found[way] = files_of(store)
    run_experiment(read_experiment(spec), folder / "mixed", executor=Shuffled())
    found["another order"] = files_of(folder / "mixed")
    first = found["1 worker"]
    same = [way for way, files in found.items() if files == first and len(files) == 40]
    return len(same) == len(found), f"the same bytes: {', '.join(same)} ({len(same)} of {len(found)} ways)"


def corruptions(folder: Path) -> tuple[bool, str]:
    """Damage files of a store one by one; `verify_store` must find and the next run must repair each."""
    spec, rng = write_spec(folder, trials=10), random.Random(2)
    experiment, store = read_experiment(spec), folder / "store"
    run_experiment(experiment, store, executor=ThisProcess())
    sound = files_of(store)
    found = repaired = tried = 0
    while tried < CORRUPTIONS:
        kinds = [list((store / "trials").iterdir()), list((store / "experiments").iterdir())]
        kinds += [[store / "sojourn-store.json"]]
        path = rng.choice(sorted(kinds[tried % len(kinds)]))
        if not damage(path, rng.choice(WAYS), rng):
            continue
        tried += 1
        found += bool(verify_store(store).findings)
        report = run_experiment(experiment, store, executor=ThisProcess())
        repaired += bool(report.notes) and files_of(store) == sound and verify_store(store).findings == ()
    kept = found == repaired == CORRUPTIONS
    return kept, f"{CORRUPTIONS} corruptions of 3 kinds of files: {found} found, {repaired} repaired"


def disk(folder: Path) -> tuple[bool, str] | None:
    """Fill a small disk in a separate mount namespace; then enlarge it and resume."""
    spec, place = write_spec(folder), folder / "disk"
    place.mkdir()
    inside = (
        f"mount -t tmpfs -o size=300k tmpfs {place} && exec {sys.executable} {__file__} _fill {spec} {place}"
    )
    try:
        command = ["unshare", "--map-root-user", "--mount", "sh", "-c", inside]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        result = json.loads(done.stdout)
    except (OSError, ValueError):
        return None
    error = result["error"].removeprefix(f"Error: {place}/store: ")
    kept = result["lines"] == 1 and result["code"] == 1 and "No space left" in error
    kept = kept and result["findings"] == 0 and 0 < result["kept"] < TRIALS and result["then"] == TRIALS
    return kept, (
        f"one line ({error.strip()!r}), exit code {result['code']}; {result['kept']} trials kept, "
        f"{result['findings']} findings; {result['then']} of {TRIALS} after enlarging the disk"
    )


def fill(spec: str, place: str) -> None:
    """Run an experiment on the small disk, and print the result as JSON."""
    store = f"{place}/store"
    command = [*RUN, spec, "--on", "here", "--store", store]
    full = subprocess.run(command, check=False, capture_output=True, text=True)
    errors = [line for line in full.stderr.splitlines() if line.startswith(("Error", "Traceback"))]
    verdict = verify_store(store)
    subprocess.run(["mount", "-o", "remount,size=50m", place], check=True)
    subprocess.run(command, check=True, capture_output=True)
    result = {
        "error": "\n".join(errors),
        "lines": len(errors),
        "code": full.returncode,
        "kept": verdict.trials,
        "findings": len(verdict.findings),
        "then": verify_store(store).trials,
    }
    print(json.dumps(result))


def hostile(folder: Path) -> tuple[bool, str]:
    """Read hostile specs."""
    slowest, refused = 0.0, 0
    for text in FILES.values():
        path = folder / "hostile.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        begun = time.perf_counter()
        try:
            read_experiment(path)
        except ValueError as error:
            refused += "\n" not in str(error)
        slowest = max(slowest, time.perf_counter() - begun)
    kept = refused == len(FILES) >= 40 and slowest < 0.2
    return (
        kept,
        f"{refused} of {len(FILES)} refused in one line, the slowest in {slowest:.3f} s (promised: 0.2 s)",
    )


def names(folder: Path) -> tuple[bool, str]:
    """Use names and links that would lead out of the store; nothing may be written or read there."""
    tricks = ["../x", "/tmp/x", "a/b", "nul\\u0000", "..", "x" * 90]
    inside = folder / "inside"
    inside.mkdir()
    text = SPEC.partition("[agents.slow]")[0].format(seeds=1)
    for i, trick in enumerate(tricks):
        spec, learner = folder / "named.toml", "general" if "\\u" in trick else f"{trick[:20]}{i}"
        spec.write_text(f'name = "{trick}"\n' + text.replace("agents.general", f'agents."{learner}"'))
        run_experiment(read_experiment(spec), inside / "store", executor=ThisProcess())
    outside = sorted(path.name for path in folder.iterdir() if path.name not in ("inside", "named.toml"))
    written = sorted(path.name for path in inside.iterdir())
    path = min((inside / "store" / "trials").iterdir())
    path.rename(folder / "elsewhere.npz")
    path.symlink_to(folder / "elsewhere.npz")
    try:
        load_results(inside / "store")
        followed = 1
    except ValueError:
        followed = 0
    kept = not outside and written == ["store"] and not followed
    return kept, f"{len(tricks)} names: {len(outside)} files outside the store; links followed: {followed}"


def forgeries(folder: Path) -> tuple[bool, str]:
    """Read forged stores in every way; nothing may be run, and every lie must be found by all alike."""
    trace, ran = folder / "trace", 0
    write_module(folder, trace)
    sys.path.insert(0, str(folder))
    known = attacks(trace)
    for i, settings in enumerate(known.values()):
        store = forge_store(folder / f"attack-{i}", **settings)
        verify_store(store)
        results = load_results(store)
        repr((results, results.comparisons()))
        export_csv(results, folder / "table.csv")
        command = [*SOJOURN, "report", str(store), "--to", str(folder / "x.html")]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
        ran += trace.exists() or "forged_module" in sys.modules
        trace.unlink(missing_ok=True)
    spec = folder / "forged.toml"
    spec.write_text(FORGED)
    found = refused = repaired = 0
    for i, lie in enumerate((*ARRAY_LIES.values(), *HEADER_LIES.values())):
        store = forge_store(folder / f"lie-{i}", lie)
        found += bool(verify_store(store).findings)
        try:
            load_results(store).comparisons()
        except ValueError as error:
            refused += "\n" not in str(error)
        run_experiment(read_experiment(spec), store, executor=ThisProcess())
        repaired += len(load_results(store)) == 2 and len(load_results(store).comparisons()) == 1
    n_lies = len(ARRAY_LIES) + len(HEADER_LIES)
    kept = ran == 0 and found == refused == repaired == n_lies
    return kept, (
        f"{len(known)} forged stores read in 5 ways: {ran} ran something; {n_lies} well-formed lies: {found} "
        f"found by verify, {refused} refused by readers in one line, {repaired} repaired by the next run"
    )


def permissions(folder: Path) -> tuple[bool, str] | None:
    """Write stores under several umasks; then run again on a disk that may only be read."""
    spec, modes = write_spec(folder, trials=4), {}
    for umask in (0o022, 0o002, 0o077):
        command = [*RUN, str(spec), "--on", "here", "--store", str(folder / f"{umask:o}")]
        subprocess.run(command, check=True, capture_output=True, umask=umask)
        files = [path for path in (folder / f"{umask:o}").rglob("*") if path.is_file()]
        modes[umask] = {path.stat().st_mode & 0o777 for path in files}
    follows = all(found == {0o666 & ~umask} for umask, found in modes.items())
    place = folder / "22"
    again = " ".join([*RUN, str(spec), "--on", "here", "--store", str(place)])
    inside = f"mount --bind {place} {place} && mount -o remount,bind,ro {place} && exec {again}"
    try:
        command = ["unshare", "--map-root-user", "--mount", "sh", "-c", inside]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    except OSError:
        return None
    if "mount:" in done.stderr or "unshare:" in done.stderr:
        return None
    kept = follows and done.returncode == 0 and done.stdout.startswith("Nothing to do")
    said = (done.stdout + done.stderr).splitlines()[0]
    return kept, f"files follow {len(modes)} umasks; read-only disk: {said!r}, exit code {done.returncode}"


def seconds_of(command: list[str], *, most: float) -> float:
    """Return how long a command takes, or `most` if that is more."""
    begun = time.monotonic()
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(command, check=False, capture_output=True, timeout=most)
    return min(time.monotonic() - begun, most)


def interrupts(folder: Path) -> tuple[bool, str]:
    """Send SIGINT to commands at random moments; each must stop soon, with one line and exit code 130."""
    spec, rng = write_spec(folder), random.Random(3)
    store, endless = spec.with_suffix(".results"), folder / "endless.toml"
    subprocess.run([*RUN, str(spec), "--on", "here"], check=True, capture_output=True)
    text = SPEC.partition("[agents.slow]")[0].format(seeds=4)
    endless.write_text(text.replace("episodes = 20", "episodes = 50_000_000"))
    commands = (
        ["plan", "--problem", "garnet(2000, 5, 50)", "--law", "geometric(0.99999)"],
        ["fit", "sample:support", "--report", str(folder / "fit.html")],
        ["run", str(endless), "--on", "here"],
        ["run", str(endless), "--workers", "2"],
        ["report", str(store), "--to", str(folder / "report.html")],
        ["verify", str(store)],
        ["export", str(store), "--csv", "--to", str(folder / "table.csv")],
    )
    lasts = [seconds_of([*SOJOURN, *command], most=3.0) for command in commands]
    stopped, early, slowest, wrong = 0, 0, 0.0, []
    for command, most in zip(commands * INTERRUPTS, lasts * INTERRUPTS, strict=True):
        process = subprocess.Popen(
            [*SOJOURN, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        time.sleep(rng.uniform(0.25, max(most, 0.3)))  # Ctrl-C before Python has started is Python's affair
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
        slowest = max(slowest, time.monotonic() - begun)
        # Python ends itself by the signal if it arrived in code that `exec` runs; a shell shows 130 too.
        is_quiet = not any(word in errors for word in ("Error", "Traceback", "ignored"))
        if is_quiet and process.returncode in (130, -signal.SIGINT) and errors.endswith("Stopped.\n"):
            stopped += 1
        elif is_quiet and process.returncode in (0, -signal.SIGINT):
            early += 1
        else:
            wrong.append(f"{command[0]}: {process.returncode}, {errors.splitlines()[-4:]}")
    begun_store = Store(endless.with_suffix(".results"))
    findings = len(verify_store(begun_store.folder).findings) if begun_store.exists else 0
    kept = not wrong and findings == 0 and slowest < 15.0 and stopped > 0
    return kept, (
        f"{len(commands) * INTERRUPTS} interrupts of {len(commands)} commands: {stopped} stopped with one "
        f"line and 130, {early} had ended before, {len(wrong)} wrong {wrong[:3] or ''}; the slowest in "
        f"{slowest:.1f} s; findings in the store {findings}"
    )


COMPILING = """\
import gc, sojourn as sj

def plan():
    return sj.plan(sj.mdps.river_swim(6), sj.Polynomial(1.4)).value[0]

print("compiling", flush=True)
try:
    plan()
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
gc.collect()
print(plan())
"""


def compilation(folder: Path) -> tuple[bool, str]:
    """Send SIGINT while kernels compile; a program that catches it must go on, with the same numbers."""
    rng = random.Random(4)
    _, seconds, expected = compile_and_interrupt(folder / "calm", math.inf)
    n = 2 * INTERRUPTS
    found = [compile_and_interrupt(folder / str(i), rng.uniform(0.0, 0.7 * seconds)) for i in range(n)]
    caught = [one for one in found if one[0] == "interrupted"]
    same = sum(value == expected for _, _, value in found)
    slowest = max(seconds for _, seconds, _ in caught)
    return same == n and len(caught) > INTERRUPTS and slowest < 15.0, (
        f"{n} interrupts of a program whose kernels compile: {len(caught)} caught, the slowest after "
        f"{slowest:.1f} s, and {n - len(caught)} too late; {same} went on with the same numbers"
    )


def compile_and_interrupt(cache: Path, after: float) -> tuple[str, float, str]:
    """Run `COMPILING` with an empty cache, and send SIGINT after some seconds unless they are infinite.

    Returns:
        What became of the compilation, how long it took from the signal on, and the last line of output.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", COMPILING],
        env=os.environ | {"SOJOURN_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    if after < math.inf:
        time.sleep(after)
        process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    state = process.stdout.readline().strip()
    seconds = time.monotonic() - begun
    return state, seconds, process.communicate()[0].strip()


def streams(folder: Path) -> tuple[bool, str] | None:
    """Run an experiment with unusable streams; all trials must be played, and lost output be an error."""
    if not Path("/dev/full").exists():
        return None
    spec, same, codes = write_spec(folder, trials=20), 0, {}
    expected = {">&-": 1, ">/dev/full": 1, "2>&-": 0, "2>/dev/full": 0, "2>&1 | true": 0, ">&- 2>&- <&-": 1}
    run_experiment(read_experiment(spec), folder / "calm", executor=ThisProcess())
    for i, redirect in enumerate(expected):
        line = shlex.join([*RUN, str(spec), "--workers", "2", "--store", str(folder / str(i))])
        command = ["sh", "-c", f"{line} {redirect}"]
        codes[redirect] = subprocess.run(command, check=False, capture_output=True).returncode
        same += files_of(folder / str(i)) == files_of(folder / "calm")
    kept = codes == expected and same == len(expected)
    return kept, (
        f"{len(expected)} ways to lose stdout or stderr: {same} runs complete with the same bytes; "
        f"exit codes {codes}"
    )


def ray_head(folder: Path) -> tuple[bool, str] | None:
    """Kill the head of the cluster that a run started; the run must end with one line and resume."""
    if importlib.util.find_spec("ray") is None:
        return None
    spec = write_spec(folder, nap=0.3)
    store = spec.with_suffix(".results")
    process = subprocess.Popen(
        [*RUN, str(spec), "--on", "ray", "--workers", "2"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not names_of(store) and process.poll() is None:
        time.sleep(0.05)
    heads = [pid for pid, line in descendants(process.pid) if line.split()[0].endswith("/gcs_server")]
    for head in heads:
        os.kill(head, signal.SIGKILL)
    begun = time.monotonic()
    _, errors = process.communicate()
    seconds, done = time.monotonic() - begun, files_of(store)
    sound = verify_store(store).findings == ()
    report = run_experiment(read_experiment(spec), store)
    resumed = report.reused == len(done) and files_of(store).items() >= done.items()
    last = errors.splitlines()[-1]
    kept = len(heads) == 1 and process.returncode == 1 and seconds < 15.0 and sound and resumed
    kept = kept and "the same command resumes the run" in last and len(files_of(store)) == TRIALS
    return kept, (
        f"{len(heads)} head killed: exit code {process.returncode} after {seconds:.1f} s (promised: 15 s), "
        f"{last!r}; {len(done)} trials kept, {len(files_of(store))} of {TRIALS} after the next run"
    )


def benchmarks(_: Path) -> tuple[bool, str]:
    """Measure the overhead of a run."""
    command = [sys.executable, str(ROOT / "benchmarks" / "experiments.py")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT / "benchmarks")
    return done.returncode == 0, "; ".join(" ".join(line.split()) for line in done.stdout.splitlines())


CHECKS: dict[str, Callable[[Path], tuple[bool, str] | None]] = {
    check.__name__: check
    for check in (
        kills,
        sameness,
        corruptions,
        disk,
        hostile,
        names,
        forgeries,
        permissions,
        interrupts,
        compilation,
        streams,
        ray_head,
        benchmarks,
    )
}


def main() -> None:
    """Run the named checks, or all."""
    if sys.argv[1:2] == ["_fill"]:
        fill(*sys.argv[2:])
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells make background jobs ignore it
    unknown = [name for name in sys.argv[1:] if name not in CHECKS]
    if unknown:
        sys.exit(f"Unknown check {unknown[0]!r}; there are {', '.join(CHECKS)}.")
    broken = 0
    for name in sys.argv[1:] or CHECKS:
        sys.modules.pop("slow_learner", None)  # every check writes this module again
        with tempfile.TemporaryDirectory() as folder:
            found = CHECKS[name](Path(folder))
        state = "skip" if found is None else "ok  " if found[0] else "FAIL"
        broken += state == "FAIL"
        print(f"{state} {name}: {'not possible on this machine' if found is None else found[1]}", flush=True)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
