"""Figures of the reproduction: their data, calculated by hand, and what is drawn."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from urllib.parse import unquote

import numpy as np
import pytest
from reference.comparisons import a_comparison

import sojourn as sj
from sojourn.plots import (
    dots_figure,
    make_dots,
    new_figure,
    panel_curves,
    panels_figure,
    save_figure,
    scale_curves,
    scales_figure,
    slope_curves,
    slopes_figure,
    svg_image,
    taxi_figure,
    taxi_map,
)


def test_slopes_of_a_power_are_its_exponent():
    # 3·k^0.6: every log-log slope is 0.6; there is none in the first half decade.
    k = np.unique(np.round(np.logspace(0, 4, 81)).astype(int))
    curves = slope_curves(a_comparison([[3.0 * k**0.6, 6.0 * k**0.6]], k), 0.5)
    has = k >= np.sqrt(10.0)
    np.testing.assert_allclose(curves.slope[has], 0.6, rtol=1e-12)
    assert np.isnan(curves.slope[~has]).all()
    np.testing.assert_allclose(curves.regret, 4.5 * k**0.6)
    np.testing.assert_allclose(curves.high / curves.low, 2.0)
    figure = slopes_figure([curves])
    left, right = figure.axes
    assert left.get_legend().get_title().get_text() == "2 seeds, shaded: smallest to largest"
    for ax in (left, right):
        assert ax.get_xlim()[0] == 9.0  # from episode 10 on


def test_scales_are_in_ascending_order_and_means_are_over_seeds():
    curves = scale_curves({"a": {0.0: [4.0, 6.0], 1.0: [9.0, 11.0]}, "b": {1.0: [3.0, 5.0], 0.0: [8.0, 8.0]}})
    assert curves.scales.tolist() == [0.0, 1.0]
    assert curves.mean.tolist() == [[5.0, 10.0], [8.0, 4.0]]
    assert (curves.low.tolist(), curves.high.tolist()) == (
        [[4.0, 9.0], [8.0, 3.0]],
        [[6.0, 11.0], [8.0, 5.0]],
    )
    assert curves.n_seeds == 2
    figure = scales_figure(curves, title="$x$")
    (ax,) = figure.axes
    ranges = [segment.tolist() for lines in ax.collections for segment in lines.get_segments()]
    assert ranges[:2] == [[[0.0, 4.0], [0.0, 6.0]], [[1.0, 9.0], [1.0, 11.0]]]
    assert figure.legends[0].get_title().get_text() == "2 seeds, vertical lines: smallest to largest"
    best = [line.get_xydata().tolist() for line in ax.get_lines() if line.get_marker() == "o"]
    assert best == [[[0.0, 5.0]], [[1.0, 4.0]]]


@pytest.mark.parametrize("n_panels", [1, 2, 3, 5])
@pytest.mark.filterwarnings("error")
def test_panels_show_the_same_learners_and_texts_fit_on_the_figure(n_panels):
    law = sj.QuasiHyperbolic(beta=0.7, gamma=0.95)
    two = a_comparison([[[1, 2], [2, 4]], [[5, 5], [5, 5]]], [10_000, 20_000], law)
    figure = panels_figure(
        [two] * n_panels, names=["the first of these learners", "the second of these learners"]
    )
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert [len(ax.get_lines()) for ax in shown] == [2] * n_panels
    figure.draw_without_rendering()  # computes the layout; warnings are errors
    right = figure.bbox.x1
    for ax in shown:
        assert ax._left_title.get_window_extent().x1 <= right
    (legend,) = figure.legends
    assert legend.get_window_extent().x1 <= right
    assert legend.get_title().get_text() == "2 seeds, thin lines: single seeds"
    assert len({ax._left_title.get_fontsize() for ax in shown}) == 1
    with pytest.raises(ValueError, match="must have 2 learners each; got 1"):
        panel_curves([two, a_comparison([[[1, 2]]], [1, 2])])


def test_panels_state_the_range_of_seed_counts_and_have_titles_of_one_size():
    one, three = (a_comparison([[[1, 2]] * n], [1, 2]) for n in (1, 3))
    figure = panels_figure([three, one], titles=["short", "a title that is too long for the normal size"])
    assert figure.legends[0].get_title().get_text() == "1 to 3 seeds, thin lines: single seeds"
    sizes = [ax._left_title.get_fontsize() for ax in figure.axes]
    assert sizes[0] == sizes[1] < 9.5
    assert panels_figure([one]).legends[0].get_title().get_text() == "1 seed"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "values", [[0.0, 1.1e-3], [0.0, 9.9e-3], [0.0, 3e-9, 12.0], [0.0, 0.0], [0.0, 1e-8, 1e8]]
)
def test_labels_of_the_dots_axis_do_not_overlap(values):
    figure = dots_figure(make_dots(["row"], list("abc")[: len(values)], [values]), title="t", x="x")
    (ax,) = figure.axes
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels() if label.get_text()]
    assert ax.get_xticklabels()[0].get_text() == "0"
    assert all(left.x1 + 3.0 < right.x0 for left, right in itertools.pairwise(boxes))
    assert ax.get_xlim()[1] == 2.0 * (max(values) or 1.0)
    assert min([1.0, *ax.get_xticks(minor=True)]) > ax.get_xlim()[0]
    assert ax.get_title(loc="right") == "exact"


@pytest.mark.filterwarnings("error")
def test_dots_are_at_their_values_and_zeros_at_the_left_end():
    dots = make_dots(
        ["one", "a row with a much longer name, of a law for instance"],
        ["a", "$b$"],
        [[1.0, 0.1], [0.0, 2.0]],
    )
    figure = dots_figure(dots, title="t", x="x")
    (ax,) = figure.axes
    left = ax.get_xlim()[0]
    assert [line.get_xdata().tolist() for line in ax.get_lines()] == [[1.0, left], [0.1, 2.0]]
    assert left < 0.1
    figure.draw_without_rendering()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "$b$"]
    with pytest.raises(ValueError, match=r"values must have shape \(1, 2\); got \(2,\)"):
        make_dots(["one"], ["a", "b"], [1.0, 2.0])


def test_taxi_map_uses_the_state_numbers_of_gymnasium():
    # Gymnasium numbers Taxi's states ((row·5 + column)·5 + passenger)·4 + destination.
    policy = np.zeros((2, 501), dtype=int)
    policy[0, ((3 * 5 + 1) * 5 + 2) * 4 + 0] = 4
    policy[1] = 5
    chart = taxi_map(policy, passenger="Y", destination="R", step=1)
    assert chart.actions[3, 1] == 4
    assert chart.actions.sum() == 4
    assert (taxi_map(policy, passenger="taxi", destination="B", step=9).actions == 5).all()
    figure = taxi_figure(sj.plan(sj.TabularMDP.from_env("Taxi-v4"), sj.Geometric(0.9)).policy)
    assert "pick up" in [text.get_text() for text in figure.axes[0].texts]
    with pytest.raises(ValueError, match="step must be a whole number ≥ 1; got 0"):
        taxi_map(policy, step=0)
    with pytest.raises(ValueError, match="passenger must be one of R, G, Y, B, taxi; got 'Z'"):
        taxi_map(policy, passenger="Z")


def test_taxi_figure_shows_several_steps_with_titles():
    policy = np.repeat([[0], [1]], 501, axis=1)
    figure = taxi_figure(policy, steps=(1, 20), title="$a$ law")
    assert figure.get_suptitle() == "$a$ law"
    assert [ax.get_title(loc="left").partition(":")[0] for ax in figure.axes] == ["Step 1", "Step 20"]
    assert figure.axes[-1].get_xlabel() == "exact"
    changing = [ax.get_title(loc="left").partition(":")[0] for ax in taxi_figure(policy).axes]
    assert changing == ["Step 1", "Step 2"]
    never = [ax.get_title(loc="left") for ax in taxi_figure(policy[:1]).axes]
    assert never == ["Every step: passenger at Y, to R"]
    _, (ax,) = new_figure(1)
    taxi_figure(policy, title="a law", ax=ax)
    assert ax.get_title(loc="left") == "a law\nStep 1: passenger at Y, to R"
    for wrong in ({"steps": ()}, {"steps": (1,), "ax": ax}):
        with pytest.raises(
            ValueError, match=r"^steps must not be empty, and must be None if ax is given; got \("
        ):
            taxi_figure(policy, **wrong)


def test_figure_files_are_written_atomically(tmp_path, monkeypatch):
    figure = taxi_figure(np.zeros((1, 501), dtype=int))
    paths = save_figure(figure, tmp_path / "new" / "taxi")
    kept = [path.read_bytes() for path in paths]
    assert kept[0].startswith(b"<?xml")
    assert kept[1].startswith(b"\x89PNG")

    def fail(file, **_):
        file.write(b"half of it")
        raise OSError("no space left")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError, match="no space left"):
        save_figure(figure, tmp_path / "new" / "taxi")
    assert [path.read_bytes() for path in paths] == kept
    assert len(list((tmp_path / "new").iterdir())) == 2


def test_an_embedded_image_is_valid_svg_and_has_a_dark_mode():
    figure = dots_figure(make_dots(["<b>&\"'#%"], ["--><script>"], [[1.0]]), title="</svg>", x="x")
    head, _, address = svg_image(figure).partition(",")
    assert head == "data:image/svg+xml"
    assert not set(address) & set("\"'<>#&\n")
    root = ET.fromstring(unquote(address))
    assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
        *("svg", "style", "defs", "g", "path", "use", "clipPath", "rect"),
    }
    assert "prefers-color-scheme: dark" in root[0].text
    assert svg_image(figure) == svg_image(figure)


def test_coordinates_are_rounded_to_two_decimals(tmp_path):
    figure = panels_figure([a_comparison([[[1, 2.123456], [2, 4]]], [1, 2])])
    svg, _ = save_figure(figure, tmp_path / "panels")
    numbers = [part for line in svg.read_text().split(' d="')[1:] for part in line.split('"')[0].split()]
    assert max(len(number.partition(".")[2]) for number in numbers) == 2
