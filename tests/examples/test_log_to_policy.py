"""The example leads from a log to a policy that is right in truth."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "06_log_to_policy.py"


def test_the_policy_from_the_log_is_almost_the_best_there_is():
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLE)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert "Lengths: BetaGeometric" in done.stdout
    assert "Leaving is not seen to depend on the state" in done.stdout
    # Who is cold is offered something at first, and advised once the visit has lasted.
    cold = re.search(r"^  cold +(.*) …$", done.stdout, re.MULTILINE)[1].split()
    assert cold[0] == "offer"
    assert cold[-1] == "advise"
    pattern = r"In truth: ([\d.]+) of the ([\d.]+) that are possible, against ([\d.]+)\."
    own, most, rival = map(float, re.search(pattern, done.stdout).groups())
    assert own >= 0.98 * most
    assert rival <= 0.8 * most
