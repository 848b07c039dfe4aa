"""Deep agents: the page shows the stored trials, and no policy earns more than the best."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import sojourn as sj

EVIDENCE = Path(__file__).parents[2] / "evidence"


@pytest.fixture(scope="module")
def deep():
    sys.path.insert(0, str(EVIDENCE))
    try:
        import deep
    finally:
        sys.path.pop(0)
    return deep


def test_the_page_shows_the_stored_trials(deep):
    page = deep.PAGE.read_text(encoding="utf-8")
    for name, text in deep.tables().items():
        assert text in page, f"run python evidence/deep.py tables ({name})"


def test_no_stored_value_exceeds_the_best(deep):
    for name, ways in deep.load().items():
        setting = deep.SETTINGS[name]
        assert set(ways) <= set(setting.ways)
        for curves in ways.values():
            assert all(len(curve) == deep.CHECKPOINTS for curve in curves)
            if setting.table is not None:
                assert max(max(curve) for curve in curves) <= setting.best + 2e-6


def test_a_single_discount_loses_on_the_grid_with_two_goals(deep):
    mdp = deep.two_goals()
    assert mdp.n_states == 24
    best = mdp.start @ sj.plan(mdp, deep.HEAVY).value
    always_right = [[1] * 24]  # to the large goal
    assert mdp.start @ sj.evaluate(mdp, deep.HEAVY, always_right).value < 0.9 * best
