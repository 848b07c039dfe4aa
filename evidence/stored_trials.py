"""Trials kept in a JSON file in the repository, one line per trial."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sojourn._typing import FloatArray


class StoredTrials:
    """Trials by their settings; a trial that is stored is not played again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trials: list[dict[str, Any]] = (
            json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
        )

    def play(self, settings: dict[str, Any], regret: Callable[[], float]) -> None:
        """Store the regret of a trial, unless a trial with these settings is stored."""
        if any(settings.items() <= trial.items() for trial in self.trials):
            return
        self.trials.append(settings | {"regret": float(f"{regret():.8g}")})
        rows = ",\n".join(json.dumps(trial, ensure_ascii=False) for trial in self.trials)
        new = self.path.with_suffix(".new")  # so that an interruption does not destroy the file
        new.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
        new.replace(self.path)

    def select(self, **settings: Any) -> FloatArray:
        """Return the regrets of all trials with these settings, in the order of their seeds."""
        found = [trial for trial in self.trials if settings.items() <= trial.items()]
        return np.array([trial["regret"] for trial in sorted(found, key=lambda trial: trial["seed"])])
