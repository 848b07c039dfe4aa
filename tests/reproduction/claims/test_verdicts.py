"""Rules for verdicts, with made-up numbers on both sides of every threshold."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn.learning import Comparison
from sojourn.reports import ClaimVerdict
from sojourn.reproduction import Interval, bootstrap_ratio, bootstrap_slope, describe_growth
from sojourn.reproduction.claims import judge_improvement, won_and_lost


def a_comparison(totals):
    """Return a comparison with these total regrets, `(agents, seeds)`."""
    regret = np.asarray(totals, dtype=float)[:, :, None]
    return Comparison(
        names=tuple(f"learner {i}" for i in range(len(regret))),
        agents=(sj.RandomPlayer(),) * len(regret),
        problem="a problem",
        law=sj.Fixed(2),
        seeds=tuple(range(regret.shape[1])),
        checkpoints=np.array([1]),
        cumulative_regret=regret,
        regret_width=np.zeros(regret.shape[:2]),
        rewards=np.zeros(regret.shape[:2]),
    )


def panel(*means, spread=0.3):
    """Return a panel with five seeds, in which paired differences of these means vary by ± `spread`."""
    return a_comparison(
        [
            [mean + 10 * s + (spread * (-1) ** s if i else 0.0) for s in range(5)]
            for i, mean in enumerate(means)
        ]
    )


def test_a_panel_is_won_against_all_others_and_lost_to_any_other():
    assert won_and_lost(panel(100, 110, 120), 3) == (True, False)
    assert won_and_lost(panel(100, 90, 120), 3) == (False, True)
    assert won_and_lost(panel(100, 100, 120), 3) == (False, False)
    # A learner beyond the first n, such as chance, does not count.
    assert won_and_lost(panel(100, 110, 50), 2) == (True, False)


def test_losing_to_one_of_many_is_adjusted_for_their_number():
    # The differences are −1 ± 0.8 around a mean of −0.84; s = 0.876, s/√5 = 0.392. Student's quantile with 4
    # degrees of freedom is 2.776 for one rival and 4.851 for six (level 0.05/6): −0.84 + 1.088 > 0.
    alone, among_six = panel(100, 98.5, spread=0.8), panel(100, *[98.5] * 6, spread=0.8)
    assert won_and_lost(alone, 2) == (False, True)
    assert won_and_lost(among_six, 7) == (False, False)


@pytest.mark.parametrize(
    ("won", "lost", "verdict"),
    [
        ([True, True, False], [False] * 3, ClaimVerdict.CONSISTENT),
        ([True, False, True], [False] * 3, ClaimVerdict.NOT_REPRODUCED),
        ([True, True, False], [False, False, True], ClaimVerdict.NOT_REPRODUCED),
    ],
)
def test_an_improvement_must_be_won_where_it_is_reported_and_lost_nowhere(won, lost, verdict):
    assert judge_improvement(won, lost, [True, True, False]) is verdict


def test_the_ratio_is_that_of_the_means_and_not_the_mean_of_ratios():
    ratio = bootstrap_ratio([2.0, 6.0, 12.0], [1.0, 2.0, 3.0])  # the mean of the ratios would be 3
    assert ratio.value == pytest.approx(20 / 6)
    assert ratio.low == pytest.approx(2.0)  # all three draws from the first pair, probability 1/27 > 2.5%
    assert ratio.high == pytest.approx(4.0)


def test_intervals_of_ratios_cover_the_true_ratio():
    rng, covered = np.random.default_rng(1), 0
    for _ in range(200):
        shared = rng.gamma(4.0, size=20)
        interval = bootstrap_ratio(3.0 * shared + rng.gamma(4.0, size=20), shared + 1.0)
        covered += interval.low <= 16.0 / 5.0 <= interval.high
    assert 0.85 <= covered / 200 <= 0.99


def test_the_slope_is_the_exponent_of_a_power():
    rng, episodes = np.random.default_rng(0), [1_000, 3_000, 10_000]
    exact = bootstrap_slope(episodes, [np.full(10, 5.0 * n**0.7) for n in episodes])
    assert exact == Interval(0.7, 0.7, 0.7)
    noisy = bootstrap_slope(episodes, [5.0 * n**0.7 * rng.uniform(0.8, 1.2, 10) for n in episodes])
    assert noisy.low < 0.7 < noisy.high
    assert 0.02 < noisy.high - noisy.low < 0.2


@pytest.mark.parametrize(
    ("slope", "finding"),
    [
        (Interval(0.50, 0.45, 0.55), "consistent"),
        (Interval(0.55, 0.50, 0.60), "consistent"),
        (Interval(0.56, 0.50, 0.61), "not decided"),
        (Interval(0.97, 0.95, 0.99), "linear"),
        (Interval(0.97, 0.94, 0.99), "not decided"),
    ],
)
def test_growth_is_compared_with_the_printed_bound(slope, finding):
    assert describe_growth(slope, 0.60) == finding
