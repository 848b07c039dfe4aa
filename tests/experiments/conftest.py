from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sojourn.experiments import ThisProcess, read_experiment, run_experiment

TINY = """\
problem = "river_swim(3)"
law = "fixed(4)"
episodes = 20
seeds = 3

[agents.general]
type = "ucbvi"
law = "true"
bonus.scale = { grid = [0.1, 0.01] }

[agents.chance]
type = "random"
"""


@pytest.fixture(autouse=True)
def _forget_own_modules():
    """Forget modules that a test wrote: the next test may write others of the same name."""
    yield
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


@pytest.fixture
def write(tmp_path):
    """Write an experiment, by default a tiny one with some lines replaced, and return its path."""

    def write(*changes: tuple[str, str], text: str = TINY, name: str = "tiny.toml") -> Path:
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def store(write, tmp_path):
    """A store with the tiny experiment in it."""
    folder = tmp_path / "store"
    report = run_experiment(read_experiment(write()), folder, executor=ThisProcess())
    assert (report.played, report.failures) == (9, ())
    return folder


def contents(store: Path) -> dict[str, bytes]:
    """The bytes of every trial's file, by its name."""
    return {path.name: path.read_bytes() for path in (store / "trials").iterdir()}
