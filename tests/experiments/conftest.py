from __future__ import annotations

import shutil
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
    """Write a spec, by default a tiny one with some lines replaced, and return its path."""

    def write(*changes: tuple[str, str], text: str = TINY, name: str = "tiny.toml") -> Path:
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def tiny_store(tmp_path_factory):
    """A store of the tiny experiment that no test may change."""
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tiny.toml").write_text(TINY, encoding="utf-8")
    report = run_experiment(read_experiment(folder / "tiny.toml"), folder / "store", executor=ThisProcess())
    assert (report.played, report.failures) == (9, ())
    return folder / "store"


@pytest.fixture
def store(write, tiny_store, tmp_path):
    """A store of the tiny experiment, whose spec is beside it."""
    write()
    return Path(shutil.copytree(tiny_store, tmp_path / "store"))


def contents(store: Path) -> dict[str, bytes]:
    """Return the bytes of every trial file by its name."""
    return {path.name: path.read_bytes() for path in (store / "trials").iterdir()}
