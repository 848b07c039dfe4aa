"""Simulate how often intervals over seeds cover what they estimate: the table in docs/evidence.md.

    python evidence/intervals.py measure    simulate; takes about five minutes on one core
    python evidence/intervals.py table      write the tables

Results are kept in intervals.json beside this file and are not computed again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tuned import table, write_part

from sojourn.learning import estimate_mean, simultaneous_intervals

HERE = Path(__file__).parent
PAGE, STORED = HERE.parent / "docs" / "evidence.md", HERE / "intervals.json"
SAMPLES, SEEDS, AGENTS = 1_000, (5, 8, 10, 20), 8
COMPARISONS, RESAMPLES = 200, 1_000
Draw = Callable[[np.random.Generator, tuple[int, ...]], Any]


def one_in_ten_fails(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Draw regrets of about 1, one in ten of which is about 10 because the agent failed."""
    return np.where(rng.random(shape) < 0.1, rng.normal(10.0, 1.0, shape), rng.normal(1.0, 0.3, shape))


LAWS: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(10.0, 1.0, shape),
    "exponential": lambda rng, shape: rng.exponential(1.0, shape),
    "lognormal": lambda rng, shape: rng.lognormal(0.0, 1.0, shape),
    "one seed in ten fails": one_in_ten_fails,
}
"""Distributions of the total regret of a seed."""


def measure() -> None:
    """Simulate coverage of single intervals, and false alarms among the differences of equal agents."""
    found: dict[str, Any] = {"mean": {}, "IQM": {}, "alarms": {}, "adjusted alarms": {}}
    if STORED.exists():
        found = json.loads(STORED.read_text(encoding="utf-8"))
    for name, draw in LAWS.items():
        rng = np.random.default_rng(0)
        many = np.sort(draw(rng, (4_000_000,)))
        mean, middle = many.mean(), many[many.size // 4 : -many.size // 4].mean()
        for n in SEEDS:
            key, rng = f"{name}, {n}", np.random.default_rng(n)
            if key in found["adjusted alarms"]:
                continue
            values = draw(rng, (SAMPLES, n))
            student, interval = estimate_mean(values), simultaneous_intervals(values, resamples=RESAMPLES)
            found["mean"][key] = float(((student.low <= mean) & (mean <= student.high)).mean())
            found["IQM"][key] = float(((interval.low <= middle) & (middle <= interval.high)).mean())
            agents = draw(rng, (COMPARISONS, AGENTS, n))
            differences = agents[:, 1:] - agents[:, :1]
            single = estimate_mean(differences)
            found["alarms"][key] = float(((single.low > 0) | (single.high < 0)).any(axis=1).mean())
            together = simultaneous_intervals(differences, AGENTS - 1, resamples=RESAMPLES)
            is_alarm = (together.low > 0) | (together.high < 0)  # never if there is no interval
            found["adjusted alarms"][key] = float(is_alarm.any(axis=1).mean())
            print(key, {kind: values[key] for kind, values in found.items()}, file=sys.stderr, flush=True)
            STORED.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def tables() -> dict[str, str]:
    """Return coverage and false alarms in percent, by the names of their places in docs/evidence.md."""
    found = json.loads(STORED.read_text(encoding="utf-8"))

    def rows(*kinds: str) -> list[list[str]]:
        return [
            [law, *(" / ".join(f"{100 * found[kind][f'{law}, {n}']:.0f}%" for kind in kinds) for n in SEEDS)]
            for law in LAWS
        ]

    header = ["total regret of a seed", *(f"{n} seeds" for n in SEEDS)]
    return {
        "coverage": table(header, rows("mean", "IQM")),
        "alarms": table(header, rows("alarms", "adjusted alarms")),
    }


if __name__ == "__main__":
    if sys.argv[1:] != ["table"]:
        measure()
    for place, text in tables().items():
        write_part(PAGE, place, text)
