"""Check the promises about session logs and Gymnasium wrappers.

    python evidence/logs.py recovery   each family is recovered from 10⁵ sessions, 40% of them open, 20 times
    python evidence/logs.py survival   Kaplan–Meier and the log-rank test agree with lifelines
    python evidence/logs.py hostile    malformed logs: rejected rows are counted and named, memory is bounded
    python evidence/logs.py privacy    names of rows, groups and states are not in reports
    python evidence/logs.py checkers   check_env accepts every wrapper, and stable-baselines3's checker too
    python evidence/logs.py lengths    the same seed gives the same lengths to every agent
    python evidence/logs.py large      10⁷ rows, equal or distinct, take at most 30 s and 1 GB
    python evidence/logs.py data       public data agree with lifelines and surpyval, in any form
    python evidence/logs.py install    in an empty environment, pip install leads to a fitted law and a figure

Without a name, all are checked, which takes some minutes. One line is printed per promise; the exit status is
1 if one is not kept. `data` and `install` need a package index.
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
"""Test files that check a promise."""

BENCHMARKS = {"recovery": "recovery", "large": "large"}
"""Parts of benchmarks/sessions.py that check a promise."""


def run(*command: str, folder: Path = ROOT) -> tuple[bool, str]:
    """Run a command; return whether it succeeded, and the last line of its output."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return done.returncode == 0, lines[-1].strip("= ") if lines else ""


def install() -> tuple[bool, str]:
    """Build the wheel, install it in an empty environment, and fit a sample log."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built, output = run(
            sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", name, str(ROOT)
        )
        if not built:
            return False, output
        venv.create(folder / "env", with_pip=True)
        wheel = next(folder.glob("*.whl"))
        programs = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin")
        installed, output = run(str(programs / "pip"), "install", "--quiet", str(wheel), folder=folder)
        if not installed:
            return False, output
        fitted, output = run(
            str(programs / "sojourn"), "fit", "sample:streaming", "--figure", "x.png", folder=folder
        )
        drawn = folder / "x.png"
        return fitted and drawn.is_file() and drawn.stat().st_size > 10_000, output


def data() -> tuple[bool, str]:
    """Compare public data sets with other libraries, in an environment of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        packages = ("lifelines", "surpyval", "duckdb", "pyarrow", str(ROOT))
        installed, output = run(str(python), "-m", "pip", "install", "--quiet", *packages, folder=folder)
        return run(str(python), "evidence/log_data.py") if installed else (False, output)


def check(name: str) -> tuple[bool, str]:
    """Check one promise; return whether it is kept, and a line of output."""
    if name in ("data", "install"):
        return data() if name == "data" else install()
    if name in BENCHMARKS:
        return run(sys.executable, "benchmarks/sessions.py", BENCHMARKS[name])
    return run(sys.executable, "-m", "pytest", "-o", "addopts=", "--import-mode=importlib", *TESTS[name])


def main() -> int:
    """Check all promises, or those named on the command line."""
    known = ["recovery", "survival", "hostile", "privacy", "checkers", "lengths", "large", "data", "install"]
    wanted = sys.argv[1:] or known
    unknown = [name for name in wanted if name not in known]
    if unknown:
        print(f"Unknown promise {unknown[0]!r}. There are {', '.join(known)}.", file=sys.stderr)
        return 2
    all_kept = True
    for name in wanted:
        begun = time.perf_counter()
        is_kept, output = check(name)
        all_kept &= is_kept
        print(
            f"{name:9} {'kept' if is_kept else 'NOT KEPT'} in {time.perf_counter() - begun:.0f} s: {output}",
            flush=True,
        )
    return 0 if all_kept else 1


if __name__ == "__main__":
    sys.exit(main())
