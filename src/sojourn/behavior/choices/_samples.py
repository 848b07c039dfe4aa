"""Sample choices, generated from the parameters named here; no real data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sojourn._validation import did_you_mean
from sojourn.behavior.choices._data import ChoiceData, read_choices

__all__ = ["CHOICE_SAMPLES", "sample_choices", "sample_choices_text"]

CHOICE_SAMPLES = {
    "money": "40 simulated people choose 54 times between less money now or soon and more money later "
    "(generated from beta-delta discounting).",
    "immediate": "40 simulated people whose sooner reward is always now (generated from Mazur's hyperbola).",
}
"""Sample data by name, with one sentence on each."""


def sample_choices(name: str) -> ChoiceData:
    """Return generated sample choices; `CHOICE_SAMPLES` has their names.

    Example:
        >>> sample_choices("money")
        ChoiceData('sample:money', 2,160 choices of 40 subjects)
    """
    header, *lines = sample_choices_text(name).splitlines()
    table = [line.split(",") for line in lines]
    columns = {column: [row[i] for row in table] for i, column in enumerate(header.split(","))}
    return replace(read_choices(columns), name=f"sample:{name}")


def sample_choices_text(name: str) -> str:
    """Return generated sample choices as the text of a CSV file with hBayesDM's columns."""
    if name not in CHOICE_SAMPLES:
        listed = ", ".join(CHOICE_SAMPLES)
        hint = did_you_mean(name, CHOICE_SAMPLES) or f" There are {listed}."
        raise ValueError(f"Unknown sample {name!r}.{hint}")
    has_front_end = name == "money"
    rng = np.random.default_rng(20 if has_front_end else 21)
    lines = ["subjID,delay_later,amount_later,delay_sooner,amount_sooner,choice"]
    for subject in range(1, 41):
        beta = float(np.exp(rng.normal(-0.25, 0.15)))
        k = float(np.exp(rng.normal(-4.6 if has_front_end else -4.2, 0.6)))
        sensitivity = float(np.exp(rng.normal(-1.3, 0.3)))
        for front in (0, 14, 28) if has_front_end else (0,):
            for wait in (7, 14, 30, 60, 90, 180):
                for share in (0.5, 0.75, 0.92) if has_front_end else (0.2, 0.35, 0.5, 0.65, 0.75, 0.85, 0.95):
                    later = float(rng.choice([20, 30, 40]))
                    sooner = round(share * later)
                    if has_front_end:
                        worth = [
                            amount * (1.0 if t == 0 else beta * np.exp(-k * t))
                            for amount, t in ((later, front + wait), (sooner, front))
                        ]
                    else:
                        worth = [later / (1.0 + k * wait), float(sooner)]
                    chance = 1.0 / (1.0 + np.exp(-sensitivity * (worth[0] - worth[1])))
                    choice = int(rng.random() < chance)
                    lines.append(f"{subject},{front + wait},{later:g},{front},{sooner},{choice}")
    return "\n".join(lines) + "\n"
