"""Figures of estimated laws and of selected horizons."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn import plots
from sojourn.agents._unknown_law import LawEstimate


def estimate(episode, lengths, observed):
    lengths, observed = np.array(lengths), np.array(observed)
    return LawEstimate(episode, sj.KaplanMeier(lengths, observed), lengths, observed)


FEW = estimate(4, [1, 2, 2, 3], [True, True, False, True])
MANY = estimate(8, [1, 2, 2, 3, 5, 1, 1, 4], [True] * 8)


def test_curves_show_the_estimates_and_the_band_of_the_last():
    curves = plots.estimate_curves([FEW, MANY], sj.Geometric(0.5))
    np.testing.assert_array_equal(curves.episodes, [4, 8])
    for row, law in zip(curves.survival, (FEW.law, MANY.law), strict=True):
        np.testing.assert_array_equal(row, law.survival(curves.h))
    np.testing.assert_array_equal(curves.truth, 0.5 ** (curves.h - 1.0))
    # Complete data: √(ln(2/0.05)/(2·8)) around the estimate, within [0, 1].
    half = np.sqrt(np.log(40.0) / 16.0)
    assert curves.kind == "dkw"
    seen = curves.h <= 5  # up to the largest length; past it the band is constant
    np.testing.assert_allclose(curves.upper[seen], np.minimum(curves.survival[1] + half, 1.0)[seen])


def test_censored_data_get_a_hall_wellner_band():
    assert plots.estimate_curves([FEW]).kind == "hall-wellner"


def test_plotting_without_estimates_is_an_error():
    learner = sj.learn(sj.UnknownLaw(4), sj.mdps.river_swim(3), sj.Geometric(0.5), episodes=3).learner
    with pytest.raises(ValueError, match="no block has ended yet"):
        learner.plot()


def test_estimates_are_drawn_with_the_true_law():
    run = sj.learn(sj.UnknownLaw(6), sj.mdps.river_swim(3), sj.Geometric(0.5), episodes=60)
    figure = run.learner.plot(sj.Geometric(0.5))
    (axes,) = figure.axes
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["95% band of the data", "after 16 episodes", "after 48 episodes", "true law"]
    assert axes.get_legend().get_title().get_text() == "1 seed"
    assert {line.get_drawstyle() for line in axes.get_lines()} == {"steps-pre"}  # like the band
    first, *_, last, _ = axes.get_lines()
    assert first.get_alpha() < last.get_alpha() == 1.0


def test_shares_count_the_played_candidates():
    choices = [0] * 50 + [1] * 30 + [2] * 20
    curves = plots.choice_curves(choices, (2, 4, 8))
    np.testing.assert_allclose(curves.totals, [0.5, 0.3, 0.2])
    np.testing.assert_allclose(curves.shares.sum(axis=0), 1.0)
    np.testing.assert_allclose((curves.shares * np.diff(curves.edges)).sum(axis=1), [50, 30, 20])
    assert curves.shares[0, 0] == 1.0
    assert curves.shares[2, -1] == 1.0


def test_choices_are_drawn_one_row_per_candidate():
    agent = sj.HorizonSelection(sj.UnknownLaw(4), candidates=(2, 4), rule=sj.D3RB())
    figure = sj.learn(agent, sj.mdps.river_swim(3), sj.Geometric(0.5), episodes=40).learner.plot()
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["2  (50%)", "4  (50%)"]
    assert axes.get_legend().get_title().get_text().startswith("1 seed\n")


def test_bars_of_choices_have_the_shades_of_the_legend():
    choices = [0] * 50 + [1] * 30 + [2] * 20
    figure = plots.choices_figure(choices, (2, 4, 8))
    (axes,) = figure.axes
    shares = np.zeros(3)
    for bars in axes.collections:
        for path, color in zip(bars.get_paths(), bars.get_facecolors(), strict=True):
            box = path.get_extents()
            shares[round((box.y0 + box.y1) / 2)] += box.width * color[3]
    np.testing.assert_allclose(shares, [50, 30, 20])
    assert [len(bars.get_paths()) for bars in axes.collections] == [1, 1, 1]  # equal shares are one bar
    key = axes.get_legend()
    named = [float(text.get_text().rstrip("%")) / 100 for text in key.get_texts()]
    assert [patch.get_facecolor()[3] for patch in key.get_patches()] == named
    assert len(named) == 5


def test_choices_must_not_be_empty():
    with pytest.raises(ValueError, match="no episode was played yet"):
        plots.choice_curves([], (2, 4))
