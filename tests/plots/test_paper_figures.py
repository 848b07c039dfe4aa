"""The figures of the reproduction: their data by hand, and what is drawn of it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from urllib.parse import unquote

import numpy as np
import pytest

import sojourn as sj
from sojourn.learning import Comparison
from sojourn.plots import (
    dots_figure,
    make_dots,
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

LAW = sj.Fixed(2)


def a_comparison(regret, checkpoints, law=LAW, names=("one", "two")):
    """A comparison with these cumulative regrets, `(agents, seeds, n)`."""
    regret = np.asarray(regret, dtype=float)
    n_agents, n_seeds, _ = regret.shape
    return Comparison(
        names=names[:n_agents],
        agents=(sj.RandomPlayer(),) * n_agents,
        problem="a $problem$",
        law=law,
        seeds=tuple(range(n_seeds)),
        checkpoints=np.asarray(checkpoints),
        cumulative_regret=regret,
        regret_width=np.zeros((n_agents, n_seeds)),
        rewards=np.zeros((n_agents, n_seeds)),
    )


def test_slopes_of_a_power_are_its_exponent():
    # 3·k^0.6: every log-log slope is 0.6; there is none before half a decade has gone by.
    k = np.unique(np.round(np.logspace(0, 4, 81)).astype(int))
    curves = slope_curves(a_comparison([[3.0 * k**0.6, 6.0 * k**0.6]], k), 0.5)
    has = k >= np.sqrt(10.0)
    np.testing.assert_allclose(curves.slope[has], 0.6, rtol=1e-12)
    assert np.isnan(curves.slope[~has]).all()
    np.testing.assert_allclose(curves.regret, 4.5 * k**0.6)
    np.testing.assert_allclose(curves.high / curves.low, 2.0)
    figure = slopes_figure([curves])
    assert "2 seeds" in " ".join(ax.get_title(loc="left") for ax in figure.axes)


def test_scales_are_falling_and_means_are_over_seeds():
    curves = scale_curves({"a": {0.0: [4.0, 6.0], 1.0: [9.0, 11.0]}, "b": {1.0: [3.0, 5.0], 0.0: [8.0, 8.0]}})
    assert curves.scales.tolist() == [1.0, 0.0]
    assert curves.mean.tolist() == [[10.0, 5.0], [4.0, 8.0]]
    assert curves.n_seeds == 2
    (ax,) = scales_figure(curves, title="$x$").axes
    best = [line.get_xydata().tolist() for line in ax.get_lines() if line.get_marker() == "o"]
    assert best == [[[1.0, 5.0]], [[0.0, 4.0]]]


@pytest.mark.parametrize("n_panels", [1, 2, 3, 5])
@pytest.mark.filterwarnings("error")
def test_panels_hold_the_same_learners_and_all_fits(n_panels):
    law = sj.QuasiHyperbolic(beta=0.7, gamma=0.95)
    two = a_comparison([[[1, 2], [2, 4]], [[5, 5], [5, 5]]], [10_000, 20_000], law)
    figure = panels_figure(
        [two] * n_panels, names=["the first of these learners", "the second of these learners"]
    )
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert [len(ax.get_lines()) for ax in shown] == [2] * n_panels
    figure.draw_without_rendering()  # lays it out: a warning would be an error
    right = figure.bbox.x1
    for ax in shown:
        assert ax._left_title.get_window_extent().x1 <= right
    (legend,) = figure.legends
    assert legend.get_window_extent().x1 <= right
    assert legend.get_title().get_text() == "2 seeds, bands: 95% intervals of the mean"
    with pytest.raises(ValueError, match="must have 2 learners each; got 1"):
        panel_curves([two, a_comparison([[[1, 2]]], [1, 2])])


@pytest.mark.filterwarnings("error")
def test_dots_stand_at_their_values_and_nothing_at_the_left_end():
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


def test_taxis_map_reads_the_states_of_gymnasium():
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
    with pytest.raises(ValueError, match="passenger must be one of R, G, Y, B, taxi; got 'Z'"):
        taxi_map(policy, passenger="Z")


def test_an_image_for_pages_is_sound_and_turns_dark():
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


def test_rounding_moves_no_point_that_could_be_seen(tmp_path):
    figure = panels_figure([a_comparison([[[1, 2.123456], [2, 4]]], [1, 2])])
    svg, _ = save_figure(figure, tmp_path / "panels")
    numbers = [part for line in svg.read_text().split(' d="')[1:] for part in line.split('"')[0].split()]
    assert max(len(number.partition(".")[2]) for number in numbers) == 2
