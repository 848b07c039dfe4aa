"""Rules for verdicts, with made-up numbers on both sides of every threshold."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn.learning import Comparison
from sojourn.reports import ClaimVerdict
from sojourn.reproduction._errata import errata
from sojourn.reproduction._verdicts import (
    half_decades,
    judge_panels,
    judge_ratio,
    judge_slopes,
    paired_ratio,
    won_and_lost,
)


def a_comparison(totals, checkpoints=(1,)):
    """Return a comparison with these cumulative regrets, `(agents, seeds, n)`."""
    regret = np.asarray(totals, dtype=float)
    return Comparison(
        names=tuple(f"learner {i}" for i in range(len(regret))),
        agents=(sj.RandomPlayer(),) * len(regret),
        problem="a problem",
        law=sj.Fixed(2),
        seeds=tuple(range(regret.shape[1])),
        checkpoints=np.asarray(checkpoints),
        cumulative_regret=regret,
        regret_width=np.zeros(regret.shape[:2]),
        rewards=np.zeros(regret.shape[:2]),
    )


def panel(*means):
    """Return a panel with five seeds, in which paired differences of these means vary by ± 0.3."""
    return a_comparison(
        [
            [[mean + 10 * s + (0.3 * (-1) ** s if i else 0.0)] for s in range(5)]
            for i, mean in enumerate(means)
        ]
    )


def test_a_panel_is_won_against_all_others_and_lost_to_any_other():
    won, lost, tied = panel(100, 110, 120), panel(100, 90, 120), panel(100, 100, 120)
    assert won_and_lost([won, won, tied], 3) == (2, 0)
    assert won_and_lost([won, lost, tied], 3) == (1, 1)
    assert won_and_lost([lost], 1) == (1, 0)  # no other learner
    # A learner beyond the first n, such as chance, does not count.
    assert won_and_lost([panel(100, 110, 50)], 2) == (1, 0)


@pytest.mark.parametrize(
    ("won", "lost", "verdict"),
    [
        (5, 0, ClaimVerdict.HOLDS),
        (4, 0, ClaimVerdict.DEPENDS),
        (8, 1, ClaimVerdict.FAILS),
        (0, 0, ClaimVerdict.DEPENDS),
    ],
)
def test_the_claim_requires_most_panels_won_and_none_lost(won, lost, verdict):
    assert judge_panels(won, lost, 9) is verdict


def test_ratios_are_judged_by_their_whole_interval():
    # Ratios 2, 3, 4: mean 3, standard error 1/√3, Student's quantile 4.303.
    ratio = paired_ratio([2.0, 6.0, 12.0], [1.0, 2.0, 3.0])
    assert float(ratio.mean) == pytest.approx(3.0)
    assert float(ratio.high) == pytest.approx(3.0 + 4.302652729749464 / np.sqrt(3.0))
    assert judge_ratio(ratio, 5.5) is ClaimVerdict.HOLDS
    assert judge_ratio(ratio, 3.0) is ClaimVerdict.DEPENDS
    assert judge_ratio(ratio, 0.5) is ClaimVerdict.FAILS


@pytest.mark.parametrize(
    ("slopes", "verdict"),
    [
        ([1.0, 1.0, 0.96], ClaimVerdict.OPEN),
        ([1.0, 0.9, 0.8], ClaimVerdict.DEPENDS),
        ([1.0, 0.9, 0.54], ClaimVerdict.HOLDS),
        ([1.0, 0.2, 0.56], ClaimVerdict.DEPENDS),
    ],
)
def test_growth_is_open_while_it_is_linear(slopes, verdict):
    assert judge_slopes(slopes, 0.5) is verdict


def test_slopes_over_half_decades_are_the_exponents_of_powers():
    k = np.unique(np.round(np.logspace(0, 5, 201)).astype(int))
    regret = np.where(k <= 1_000, k, 1_000 * (k / 1_000) ** 0.5)
    slopes = half_decades(a_comparison([[regret]], k))
    assert [round(slope, 2) for _, _, slope in slopes] == [1.0, 1.0, 0.5, 0.5, 0.5, 0.5]
    assert slopes[-1][1] == 100_000


def test_errata_are_decided_by_arithmetic():
    claims = errata()
    assert [claim.verdict for claim in claims] == [*[ClaimVerdict.FAILS] * 4, ClaimVerdict.DEPENDS]
    assert "exceeded from h = 11 on" in claims[3].measured  # Π(1 + 0.05/j^1.5) > e^0.05, by hand in the notes
    assert "earns 1.73" in claims[4].measured
    assert "-20.00 if not" in claims[4].measured
