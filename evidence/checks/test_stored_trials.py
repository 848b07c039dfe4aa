"""Stored trials of the evidence, played again."""

from pathlib import Path

import pytest


def test_a_stored_trial_can_be_repeated(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent.parent)
    import counterexample as evidence

    wanted = ("PSRL", "1e-2", 1, 0)
    stored = next(trial for trial in evidence.load() if evidence.identity(trial) == wanted)
    again = evidence.play({key: stored[key] for key in ("agent", "beta", "better", "seed")})
    assert again["regret"] == pytest.approx(stored["regret"], abs=1e-3)
