"""Figures in dark mode: every color has a dark counterpart, and these are as easy to tell apart."""

from __future__ import annotations

import itertools
import re
from importlib import resources
from urllib.parse import unquote

import numpy as np
import pytest
from reference.comparisons import a_comparison

import sojourn as sj
from sojourn import plots
from sojourn.plots._style import GRAY
from sojourn.plots._svg import _DARK
from sojourn.sessions import SessionLog, analyze

SRGB = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def linear(color):
    parts = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(color):
    """Return the CIE L*a*b* coordinates of an sRGB color, by the formulas of IEC 61966-2-1 and CIE 15."""
    ratio = SRGB @ linear(color) / WHITE
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one, other):
    """Return the contrast ratio of the Web Content Accessibility Guidelines, 1 … 21."""
    light, dark = sorted((SRGB[1] @ linear(one), SRGB[1] @ linear(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_lab_coordinates_and_contrast_of_known_colors():
    # White is (100, 0, 0) and black the origin; pure red is (53.24, 80.09, 67.20).
    np.testing.assert_allclose(lab("#ffffff"), [100, 0, 0], atol=0.01)
    np.testing.assert_allclose(lab("#000000"), 0, atol=0.01)
    np.testing.assert_allclose(lab("#ff0000"), [53.24, 80.09, 67.20], atol=0.01)
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)


def test_line_colors_differ_and_have_contrast_in_dark_mode():
    lines = [_DARK[color.lower()] for color in (*plots.COLORS, GRAY)]
    for one, other in itertools.combinations(lines, 2):
        assert np.linalg.norm(lab(one) - lab(other)) > 20, (one, other)
    for line in lines:
        assert contrast(line, _DARK["#ffffff"]) > 4.5, line


def test_figures_and_pages_have_the_same_background():
    style = resources.files("sojourn.reports").joinpath("templates/page.css").read_text(encoding="utf-8")
    assert re.findall(r"--paper: (#\w+);", style) == ["#ffffff", _DARK["#ffffff"]]


def figures():
    nine = a_comparison(np.ones((9, 2, 3)), [1, 10, 100])
    yield "panels", plots.panels_figure([nine])
    yield "comparison", nine.plot()
    yield "law", sj.Polynomial(1.4).plot()
    yield "dots", plots.dots_figure(plots.make_dots(["a"], list("bcdefghi"), [range(8)]), title="t", x="x")
    yield "taxi", plots.taxi_figure(np.tile(np.arange(501) % 6, (1, 1)), steps=(1, 2), title="t")
    yield "slopes", plots.slopes_figure([plots.slope_curves(nine, 0.5)])
    yield "scales", plots.scales_figure(plots.scale_curves({"a": {1.0: [1.0, 2.0]}}), title="t")
    learner = sj.learn(sj.UnknownLaw(6), sj.mdps.river_swim(3), sj.Geometric(0.5), episodes=60).learner
    yield "estimates", learner.plot(sj.Geometric(0.5))
    yield "choices", plots.choices_figure([0, 0, 1, 2] * 40, (2, 4, 8))
    yield "run", sj.learn(sj.RandomPlayer(), sj.mdps.river_swim(3), sj.Fixed(2), episodes=20).plot()
    yield "sessions", plots.session_figure(analyze(SessionLog.from_columns([1, 2, 2, 5, 9] * 20)))


@pytest.mark.filterwarnings("error")
def test_every_color_of_every_figure_has_a_dark_counterpart():
    for name, figure in figures():
        image = unquote(plots.svg_image(figure)).replace("<style>", "").partition("</style>")[2]
        used = set(re.findall(r"(?:fill|stroke): ?(#[0-9a-fA-F]{6})", image))
        assert len(used) > 3, name
        assert used <= set(_DARK), (name, used - set(_DARK))
        assert "<image" not in image, name  # bitmaps would not change color
