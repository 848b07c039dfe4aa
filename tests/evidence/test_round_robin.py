"""The round robin: its page is up to date, and its statistics are those that it describes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import sojourn as sj

EVIDENCE = Path(__file__).parents[2] / "evidence"


@pytest.fixture(scope="module")
def robin():
    sys.path.insert(0, str(EVIDENCE))
    try:
        import round_robin
    finally:
        sys.path.pop(0)
    return round_robin


@pytest.fixture(scope="module")
def written():
    sys.path.insert(0, str(EVIDENCE))
    try:
        import round_robin_page
    finally:
        sys.path.pop(0)
    return round_robin_page


def test_the_page_shows_the_stored_results(written):
    assert written.PAGE.read_text(encoding="utf-8") == written.page(), (
        "run python evidence/round_robin_page.py"
    )


def test_settings_are_chosen_on_other_seeds_and_all_horizons_from_the_same_choice(robin):
    assert not set(robin.SEEDS) & set(robin.TUNING)
    assert len(robin.SEEDS) >= 20
    choices = {entrant.grid.get("means", robin.MEANS) for entrant in robin.ENTRANTS.values()}
    assert choices == {robin.MEANS}


def test_one_setting_is_the_best_for_all_cells_and_others_are_best_in_their_cell(robin):
    standings = robin.Standings(robin.Results())
    found = standings.tuning["UCB-VI"]
    middle = [np.sort(row)[len(row) // 4 : len(row) - len(row) // 4].mean() for row in found]
    assert standings.one_setting["UCB-VI"] == middle.index(min(middle))
    for column, number in zip(found.T, standings.best_settings["UCB-VI"], strict=True):
        assert column[number] == min(column)


def test_players_that_never_learn_have_their_exact_regret(robin):
    # One state, three steps, rewards 1 and 0: random play loses half of 3, the myopic player nothing.
    mdp = sj.TabularMDP(np.ones((1, 2, 1)), [[1.0, 0.0]])
    found = robin.never_learning(mdp, sj.Fixed(3))
    assert found["chance"] == pytest.approx(1.5 * robin.EPISODES)
    assert found["myopic"] == pytest.approx(0.0, abs=1e-9)


def test_problems_are_drawn_with_all_of_their_laws(written):
    # Two problems with two laws each. A sample has problem 0 twice, both, or problem 1 twice.
    relative = np.array([1.0, 3.0, 10.0, 30.0])[np.newaxis, :, np.newaxis] * np.ones(8)
    found = written.resample(relative, 2, resamples=2_000)[:, 0]
    values, counts = np.unique(found, return_counts=True)
    # Of 32 sorted values the middle 16 count: half 1 and half 3; 3 and 10; half 10 and half 30.
    np.testing.assert_allclose(values, [2.0, 6.5, 20.0])
    np.testing.assert_allclose(counts / 2_000, [0.25, 0.5, 0.25], atol=0.04)


def test_seeds_are_drawn_in_every_cell(written):
    rng = np.random.default_rng(1)
    relative = rng.normal(size=(1, 1, 40))
    found = written.resample(relative, 1, resamples=2_000)[:, 0]
    drawn = rng.integers(40, size=(2_000, 40))
    expected = np.sort(relative[0, 0][drawn], axis=1)[:, 10:30].mean(axis=1)
    assert found.std() == pytest.approx(expected.std(), rel=0.1)


def test_simultaneous_intervals_hold_together(written):
    # For one normal difference the factor is 1.96, for ten independent ones 2.80.
    again = np.random.default_rng(0).normal(size=(40_000, 10))
    for n, factor in ((1, 1.96), (10, 2.80)):
        found = written.simultaneous_interval(np.zeros(n), again[:, :n], 1_000_000)
        np.testing.assert_allclose(found.high, factor, rtol=0.03)
        np.testing.assert_allclose(found.low, -found.high)
