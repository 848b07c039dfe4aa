"""Statistics of the round-robin page."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import sojourn as sj

FILE = Path(__file__).parents[2] / "evidence" / "round_robin_parts" / "statistics.py"


@pytest.fixture(scope="module")
def statistics():
    spec = importlib.util.spec_from_file_location("round_robin_statistics", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def comparison():
    law = sj.Geometric(0.8)
    bold = sj.UCBVI(law, sj.PaperBonus(0.01))
    agents = {"careful": sj.UCBVI(law), "bold": bold, "again": sj.UCBVI(law), "random": sj.RandomPlayer()}
    return sj.compare(agents, sj.mdps.river_swim(4), law, episodes=100, seeds=6)


def test_holm_calculated_by_hand(statistics):
    # 0.01·3, then the larger of that and 0.03·2, then the larger of that and 0.04·1.
    np.testing.assert_allclose(statistics.holm(np.array([[0.01, 0.04, 0.03]])), [[0.03, 0.06, 0.06]])
    np.testing.assert_allclose(statistics.holm(np.array([0.9, 0.6])), [1.0, 1.0])


def test_means_within_the_width_share_their_rank(statistics):
    assert statistics.rank_with_ties([3.0, 1.0, 1.0 + 1e-12, 2.0], 1e-9).tolist() == [4.0, 1.5, 1.5, 3.0]
    assert statistics.rank_with_ties([3.0, 1.0, 1.0 + 1e-12, 2.0], 0.0).tolist() == [4.0, 1.0, 2.0, 3.0]


def test_the_best_on_every_seed_leads_in_every_bootstrap_sample(statistics, comparison):
    assert statistics.share_of_leads([comparison]).tolist() == [0.0, 1.0, 0.0, 0.0]
    assert statistics.share_of_leads([comparison, comparison]).sum() == pytest.approx(1.0)


def test_paired_tests_are_students(statistics, comparison):
    means, p_values = statistics.paired_test(comparison)
    total = statistics.totals(comparison)
    for i in (1, 3):
        assert means[i - 1] == pytest.approx((total[i] - total[0]).mean())
        assert p_values[i - 1] == pytest.approx(stats.ttest_rel(total[i], total[0]).pvalue)
    assert means[0] < 0
    assert (means[1], p_values[1]) == (0.0, 1.0)  # the same learner: no difference


def test_the_best_is_bold_and_equal_seeds_have_no_interval(statistics, comparison):
    texts = statistics.bold_texts(comparison)
    assert [text.startswith("**") for text in texts] == [False, True, False, False]
    # The random player has the same regret in every episode.
    assert ["±" in text for text in texts] == [True, True, True, False]
