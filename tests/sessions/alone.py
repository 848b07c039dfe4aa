"""Reading a log in a process of its own, to see how much memory it takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import sys
from pathlib import Path
from sojourn.sessions import is_step_log, read_sessions, read_steps

def peak():  # of this process alone; ru_maxrss would begin with that of its parent
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) // 1024

before = peak()
log = (read_steps if is_step_log(sys.argv[1]) else read_sessions)(sys.argv[1])
print(peak(), peak() - before)
"""

needs_peak = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the system does not tell the peak"
)


def read_alone(path, figures):
    """Return megabytes at the peak, those on top of what Python and NumPy take, and figures of the log.

    Args:
        path: The log.
        figures: What to know of `log`, as expressions between commas.
    """
    done = subprocess.run(
        [sys.executable, "-c", f"{CODE}print({figures})\n", str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    )
    peaks, told = done.stdout.splitlines()
    return (*(int(peak) for peak in peaks.split()), *told.split())
