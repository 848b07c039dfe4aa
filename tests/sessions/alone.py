"""Reads a log in a separate process, to measure its memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import sys
from pathlib import Path
from sojourn.sessions import read_log

def peak():  # of this process only; ru_maxrss would start from that of its parent
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) // 1024

before = peak()
log = read_log(sys.argv[1])
print(peak(), peak() - before)
"""

needs_peak = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the system does not report peak memory"
)


def read_alone(path, figures):
    """Return the peak memory in MB, the part of it due to reading, and figures of the log.

    Args:
        path: The log.
        figures: Expressions in `log`, separated by commas.
    """
    done = subprocess.run(
        [sys.executable, "-c", f"{CODE}print({figures})\n", str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    )
    peaks, printed = done.stdout.splitlines()
    return (*(int(peak) for peak in peaks.split()), *printed.split())
