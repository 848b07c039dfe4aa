"""The example of a user's own learner runs and shows learning."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "04_own_learner.py"


def test_the_example_checks_and_runs_its_learner():
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLE)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    first, *rest = done.stdout.splitlines()
    assert first == "BestMean follows the protocol."
    pattern = r"(\w+) +regret per episode: ([\d.]+) at first, ([\d.]+) in the end"
    lines = [re.fullmatch(pattern, line) for line in rest]
    assert [line[1] for line in lines] == ["RandomPlayer", "BestMean", "UCBVI"]
    chance, mean, ucbvi = (float(line[3]) for line in lines)
    # Both learn, and exploration by a bonus pays.
    assert ucbvi < mean < chance
