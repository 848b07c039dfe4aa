"""The example finds a policy from a log that is nearly optimal for the true problem."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "06_log_to_policy.py"


def test_the_policy_from_the_log_is_nearly_optimal():
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLE)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert "Lengths: LogLogistic(1.383, 1.229)" in done.stdout
    assert "The log shows no difference between the states' rates of leaving at the 5% level" in done.stdout
    # A cold customer gets an offer at first, and advice once the visit has lasted.
    cold = re.search(r"^  cold +(.*) …$", done.stdout, re.MULTILINE)[1].split()
    assert cold[0] == "offer"
    assert cold[-1] == "advise"
    pattern = r"True values: ([\d.]+) of at most ([\d.]+); with the single γ ([\d.]+)\."
    own, best, constant = map(float, re.search(pattern, done.stdout).groups())
    assert own >= 0.98 * best
    assert constant <= 0.8 * best
