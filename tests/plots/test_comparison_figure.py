import itertools
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.colors import to_hex
from reference.comparisons import a_comparison

import sojourn as sj
from sojourn.plots import (
    COLORS,
    bound_curves,
    comparison_curves,
    comparison_figure,
    draw_comparison,
    new_figure,
)

T_2 = 4.302652729749464  # the 97.5% quantile of Student's law with 2 degrees of freedom


TWO = a_comparison([[[1, 2], [2, 4], [3, 6]], [[5, 5], [5, 5], [5, 5]]])


def test_curves_are_means_over_seeds_with_students_intervals():
    # Over the seeds 1, 2, 3: mean 2, s = 1; over 2, 4, 6: mean 4, s = 2.
    curves = comparison_curves(TWO)
    assert curves.k.tolist() == [1, 2]
    assert curves.n_seeds == 3
    assert curves.mean.tolist() == [[2.0, 4.0], [5.0, 5.0]]
    half = T_2 / np.sqrt(3.0) * np.array([[1.0, 2.0], [0.0, 0.0]])
    np.testing.assert_allclose(curves.low, curves.mean - half)
    np.testing.assert_allclose(curves.high, curves.mean + half)
    assert TWO.plot().axes[0].get_title(loc="left") == "a $problem$\nlengths from Fixed(2)"


def test_only_some_of_very_many_checkpoints_are_drawn():
    k = np.arange(1, 5_001)
    curves = comparison_curves(a_comparison(np.stack([k, 2 * k])[None] / 1.0))
    assert curves.k.size <= 600
    assert (curves.k[0], curves.k[-1]) == (1, 5_000)
    np.testing.assert_allclose(curves.mean[0], 1.5 * curves.k)


def test_few_checkpoints_are_all_drawn():
    kept = np.array([1, 10, 5_000])
    curves = comparison_curves(a_comparison([[[1, 2, 3], [1, 2, 3]]], checkpoints=kept))
    assert curves.k.tolist() == [1, 10, 5_000]
    assert curves.mean.tolist() == [[1.0, 2.0, 3.0]]


def test_fewer_than_five_seeds_are_drawn_one_by_one():
    figure = TWO.plot()
    (panel,) = figure.axes
    thin = [lines.get_segments() for lines in panel.collections]
    assert [[line.tolist() for line in lines] for lines in thin] == [
        [[[1, 1], [2, 2]], [[1, 2], [2, 4]], [[1, 3], [2, 6]]],
        [[[1, 5], [2, 5]]] * 3,
    ]
    assert figure.legends[0].get_title().get_text() == "3 seeds, thin lines: single seeds"


def test_every_learner_has_a_line_and_a_band_in_its_own_color():
    figure = a_comparison([[[1, 2], [2, 4], [3, 6], [1, 2], [3, 6]], [[5, 5]] * 5]).plot()
    (panel,) = figure.axes
    assert [line.get_ydata().tolist() for line in panel.get_lines()] == [[2.0, 4.0], [5.0, 5.0]]
    assert [line.get_color() for line in panel.get_lines()] == list(COLORS[:2])
    assert [to_hex(band.get_facecolor()[0]).upper() for band in panel.collections] == list(COLORS[:2])
    assert [text.get_text() for text in panel.texts] == ["learner 0", "learner 1"]
    assert not figure.legends[0].get_texts()  # the names stand at the ends of the lines
    assert figure.legends[0].get_title().get_text() == "5 seeds, bands: 95% intervals of the mean"


def test_more_learners_than_colors_differ_by_dashes():
    (panel,) = a_comparison(np.ones((9, 2, 2))).plot().axes
    looks = [(line.get_color(), line._dash_pattern[1] is None) for line in panel.get_lines()]
    assert len(set(looks)) == 9


def test_the_random_player_is_gray_and_on_top_and_uses_up_no_color():
    agents = (
        sj.UCBVI(sj.Fixed(2)),
        sj.RandomPlayer(),
        sj.RandomPlayer(),
    )  # only the first is gray
    figure = a_comparison(np.ones((3, 2, 2)), agents=agents).plot()
    learner, chance, other = figure.axes[0].get_lines()
    assert [line.get_color() for line in (learner, chance, other)] == [COLORS[0], "#888888", COLORS[1]]
    assert chance.get_zorder() > learner.get_zorder() > other.get_zorder()
    assert chance.is_dashed()
    assert [text.get_color() for text in figure.axes[0].texts] == [COLORS[0], "#888888", COLORS[1]]


@pytest.mark.parametrize(("largest", "text"), [(900.0, "800"), (4_000.0, "4,000"), (15_000.0, "14,000")])
def test_thousands_separators_are_used_from_1000_on(largest, text):
    (panel,) = a_comparison([[[1.0, largest]] * 2]).plot().axes
    ticks = panel.yaxis.get_major_formatter().format_ticks(panel.get_yticks())
    assert text in ticks


def test_one_seed_has_no_band():
    figure = a_comparison([[[1, 2]]]).plot()
    assert not figure.axes[0].collections
    assert figure.legends[0].get_title().get_text() == "1 seed"


def test_a_learner_without_regret_is_named_but_not_drawn():
    figure = a_comparison([[[np.nan, np.nan]] * 2, [[1, 2]] * 2]).plot()
    (line,) = figure.axes[0].get_lines()
    assert line.get_color() == COLORS[1]
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["learner 0: no exact regret"]
    a_comparison(np.full((1, 2, 2), np.nan)).plot()._repr_png_()


def test_logarithmic_axes_leave_out_negligible_regret():
    figure = a_comparison([[[1, 10], [1, 30]], [[1e-12, -1e-12]] * 2]).plot(log=True)
    (panel,) = figure.axes
    assert (panel.get_xscale(), panel.get_yscale()) == ("log", "log")
    assert len(panel.get_lines()) == 1
    assert 0.5 < panel.get_ylim()[0] < 1.0
    assert figure.legends[0].get_texts()[0].get_text() == "learner 1: too little regret to show"
    figure._repr_png_()
    with pytest.raises(ValueError, match=r"^log must be False where no regret is positive; got True\.$"):
        a_comparison(np.zeros((1, 2, 2))).plot(log=True)


@pytest.mark.parametrize("regret", [np.zeros((1, 2, 1)), np.ones((2, 1, 1)), -np.ones((1, 2, 3))], ids=str)
def test_extreme_comparisons_can_be_drawn(regret):
    assert a_comparison(regret).plot()._repr_png_().startswith(b"\x89PNG")


def test_text_of_users_is_neither_parsed_as_math_nor_hidden():
    figure = a_comparison([[[1, 2]] * 2, [[2, 3]] * 2], names=("_hidden(1)", "$\\bad{")).plot()
    texts = [*figure.legends[0].get_texts(), *figure.axes[0].texts]
    assert [text.get_text() for text in texts] == ["_hidden(1)", "_hidden", "$\\bad{"]
    assert not any(text.get_parse_math() for text in texts)
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_long_names_are_broken_into_lines():
    name = "word " * 30
    figure = a_comparison([[[1, 2]] * 2], names=(name,)).plot()
    assert figure.legends[0].get_texts()[0].get_text().count("\n") == 1
    assert figure.get_size_inches()[1] > a_comparison([[[1, 2]] * 2]).plot().get_size_inches()[1]


def test_plot_draws_only_on_the_given_axes():
    figure, (panel, other) = new_figure(2)
    assert TWO.plot(panel) is comparison_figure(TWO, ax=panel) is figure
    assert len(panel.get_legend().get_texts()) == 2
    assert not figure.legends
    draw_comparison(comparison_curves(TWO), other)
    assert len(other.get_lines()) == 2


def test_the_figure_of_a_law_does_not_load_numba():
    code = "import sys, sojourn; sojourn.Fixed(3).plot(); assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_stand_at_the_ends_of_lines_and_do_not_overlap():
    ends = [100.0, 99.0, 98.0, 1.0]
    found = a_comparison([[[1.0, end]] * 5 for end in ends], names=("a(1)", "b", "c (x)", "d"))
    figure = comparison_figure(found)
    panel = figure.axes[0]
    labels = [(text.get_text(), *text.get_position()) for text in panel.texts]
    assert [name for name, *_ in labels] == ["a", "b", "c", "d"]
    heights = [y for *_, y in labels]
    assert all(above - below >= 0.06 - 1e-12 for above, below in itertools.pairwise(heights))
    low, high = panel.get_ylim()
    assert heights[3] == pytest.approx((1.0 - low) / (high - low))  # it has room, so it is not moved
    assert [text.get_color() for text in panel.texts] == list(COLORS[:4])
    # The legend has the names that the ends of the lines have not in full.
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a(1)", "c (x)"]
    assert [line.get_color() for line in figure.legends[0].get_lines()] == [COLORS[0], COLORS[2]]


def test_bounds_are_drawn_where_they_are_proven():
    # Regret k against the bounds 10·√k and, from episode 3 on, ½·k; the third proves nothing.
    kept = np.arange(1, 101)
    found = a_comparison(np.tile(kept / 1.0, (1, 2, 1)), checkpoints=kept)
    bounds = {
        "above": lambda k: 10.0 * k**0.5,
        "below": lambda k: 0.5 * k if k > 2 else 0.0,
        "none": lambda k: np.nan,
    }
    above, below, none = bound_curves(bounds, kept)
    np.testing.assert_array_equal(above.value, 10.0 * np.sqrt(above.k))
    np.testing.assert_array_equal(below.value[below.k > 2], 0.5 * below.k[below.k > 2])
    assert np.isnan(below.value[:2]).all()
    assert np.isnan(none.value).all()
    assert (above.k[0], above.k[-1]) == (1, 100)
    for log in (False, True):
        figure = found.plot(log=log, bounds=bounds)
        (panel,) = figure.axes
        assert panel.get_ylim()[1] >= 100.0
        assert len(panel.get_lines()) == 4
        assert [text.get_text() for text in panel.texts][-2:] == ["above", "below"]
        legend = [text.get_text() for text in figure.legends[0].get_texts()]
        assert legend == ["none: nothing proven here"]


def test_very_many_checkpoints_have_few_evaluations_of_a_bound():
    asked = []
    bound_curves({"bound": lambda k: asked.append(k) or 1.0}, np.arange(1, 10_001))
    assert (asked[0], asked[-1], len(asked) <= 60, type(asked[0])) == (1, 10_000, True, int)
