"""What is promised of session logs and Gymnasium wrappers, shown again in one run.

    python evidence/logs.py recovery   every family found again from 10⁵ sessions, 40% of them open, 20 times
    python evidence/logs.py survival   Kaplan–Meier and the log-rank test beside lifelines
    python evidence/logs.py hostile    logs that want to break the reader: accounts, rows named, memory
    python evidence/logs.py privacy    what a log calls its rows, groups and states stays out of reports
    python evidence/logs.py checkers   check_env on every wrapper, and stable-baselines3's where installed
    python evidence/logs.py lengths    the same seed gives the same lengths to every agent
    python evidence/logs.py large      10⁷ rows, alike and unlike, within 30 s and 1 GB
    python evidence/logs.py install    from pip install to a fitted law and its figure where nothing else is

Without a name, all of them: some minutes. A line each; exits 1 if a promise is not kept. `install` needs a
package index.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent

TESTS = {
    "survival": (
        "tests/laws/test_estimates.py",
        "tests/laws/test_bands.py",
        "tests/sessions/test_analysis.py",
    ),
    "hostile": ("tests/sessions/test_hostile.py", "tests/sessions/test_steps.py", "tests/cli/test_fit.py"),
    "privacy": ("tests/reports/test_session_report.py", "tests/sessions/test_hostile.py"),
    "checkers": ("tests/envs/test_check_env.py", "tests/envs/test_sb3_checker.py"),
    "lengths": ("tests/envs/test_random_length.py", "tests/envs/test_vector.py"),
}
ONLY = {
    "survival": "lifelines or definition",
    "privacy": "calls_its_groups or hostile_words or may_be_somebodys or told_as_names",
    "lengths": "same_seed or same_lengths or lengths",
}
BENCHMARKS = {"recovery": "found", "large": "large"}


def run(*command: str, folder: Path = ROOT) -> tuple[bool, str]:
    """Run a command; return whether it went well, and the last line that it printed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return done.returncode == 0, lines[-1].strip("= ") if lines else ""


def install() -> tuple[bool, str]:
    """Build the wheel, install it where there is nothing else, and fit a sample log."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built, told = run(
            sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", name, str(ROOT)
        )
        if not built:
            return False, told
        venv.create(folder / "env", with_pip=True)
        wheel = next(folder.glob("*.whl"))
        programs = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin")
        installed, told = run(str(programs / "pip"), "install", "--quiet", str(wheel), folder=folder)
        if not installed:
            return False, told
        fitted, told = run(
            str(programs / "sojourn"), "fit", "sample:streaming", "--figure", "x.png", folder=folder
        )
        drawn = folder / "x.png"
        return fitted and drawn.is_file() and drawn.stat().st_size > 10_000, told


def show(name: str) -> tuple[bool, str]:
    """Show one promise."""
    if name == "install":
        return install()
    if name in BENCHMARKS:
        return run(sys.executable, "benchmarks/sessions.py", BENCHMARKS[name])
    chosen = ("-k", ONLY[name]) if name in ONLY else ()
    return run(
        sys.executable, "-m", "pytest", "-o", "addopts=", "--import-mode=importlib", *TESTS[name], *chosen
    )


def main() -> int:
    """Show all promises, or those that are named."""
    known = ["recovery", "survival", "hostile", "privacy", "checkers", "lengths", "large", "install"]
    wanted = sys.argv[1:] or known
    unknown = [name for name in wanted if name not in known]
    if unknown:
        print(f"Unknown promise {unknown[0]!r}. There are {', '.join(known)}.", file=sys.stderr)
        return 2
    good = True
    for name in wanted:
        begun = time.perf_counter()
        is_kept, told = show(name)
        good &= is_kept
        print(
            f"{name:9} {'kept' if is_kept else 'NOT KEPT'} in {time.perf_counter() - begun:.0f} s: {told}",
            flush=True,
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
