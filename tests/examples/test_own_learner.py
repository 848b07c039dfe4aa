"""Examples run, and say what they show."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "04_own_learner.py"


def test_the_learner_of_ones_own_is_checked_and_played():
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLE)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    first, *rest = done.stdout.splitlines()
    assert first == "BestMean keeps the protocol."
    pattern = r"(\w+) +regret an episode: ([\d.]+) at first, ([\d.]+) at last"
    lines = [re.fullmatch(pattern, line) for line in rest]
    assert [line[1] for line in lines] == ["RandomPlayer", "BestMean", "UCBVI"]
    chance, mean, optimist = (float(line[3]) for line in lines)
    # Both learn; that the optimist ends lower is what its bonus is for.
    assert optimist < mean < chance
