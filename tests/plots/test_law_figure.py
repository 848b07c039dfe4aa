import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import sojourn as sj
from sojourn.plots import draw_law, law_curves, law_figure, new_figure


def test_curves_hold_the_law_and_the_geometric_law_of_the_same_mean():
    curves = law_curves(sj.Uniform(1, 7), last=9)  # mean 4: gamma = 3/4
    assert curves.h.tolist() == list(range(1, 10))
    np.testing.assert_allclose(curves.survival[0], [1, 6 / 7, 5 / 7, 4 / 7, 3 / 7, 2 / 7, 1 / 7, 0, 0])
    np.testing.assert_allclose(curves.survival[1], 0.75 ** np.arange(9))
    np.testing.assert_allclose(curves.hazard[1], 0.25)
    assert curves.mean == 4.0


def test_hazard_and_discount_are_not_shown_past_the_longest_length():
    curves = law_curves(sj.Fixed(3), last=5)
    np.testing.assert_array_equal(curves.hazard[0], [0, 0, 1, np.nan, np.nan])
    np.testing.assert_array_equal(curves.discount[0], [1, 1, 0, np.nan, np.nan])


@pytest.mark.parametrize("law", [sj.Geometric(0.5), sj.Polynomial(1.4, offset=20), sj.Geometric(0.9999)])
def test_curves_run_until_little_is_left(law):
    curves = law_curves(law)
    assert np.all(curves.survival[:, -1] < 1e-3)
    assert curves.survival[:, curves.h.size // 2].max() > 1e-3
    assert curves.h.size <= 400
    assert np.all(curves.h == curves.h.round())


@pytest.mark.parametrize(
    "law",
    [sj.Fixed(1), sj.Geometric(0.0), sj.Polynomial(1.001), sj.Empirical([10**12]), sj.Geometric(1 - 1e-12)],
)
def test_extreme_laws_can_be_drawn(law, tmp_path):
    law.plot().savefig(tmp_path / "law.png")
    assert (tmp_path / "law.png").stat().st_size > 1000


def test_plot_gives_three_panels_with_two_curves_each():
    figure = sj.QuasiHyperbolic(0.7, 0.95).plot()
    assert isinstance(figure, Figure)
    assert [panel.get_title(loc="left") for panel in figure.axes] == [
        "Survival",
        "Hazard",
        "Implied discount",
    ]
    assert [len(panel.get_lines()) for panel in figure.axes] == [2, 2, 2]


def test_lines_show_the_data():
    curves = law_curves(sj.Geometric(0.5), last=4)
    _, (panel,) = new_figure(1)
    draw_law(curves, [panel])
    reference, law = panel.get_lines()
    np.testing.assert_array_equal(law.get_ydata(), curves.survival[0])
    np.testing.assert_array_equal(reference.get_ydata(), curves.survival[1])


def test_plot_on_given_axes_draws_the_survival_there():
    figure, (panel, other) = new_figure(2)
    assert sj.Geometric(0.9).plot(panel) is figure
    assert len(panel.get_lines()) == 2
    assert not other.get_lines()


def test_users_text_is_never_read_as_maths():
    figure = law_figure(sj.Fixed(3))
    texts = figure.legends[0].get_texts()
    assert texts[0].get_text() == "Fixed(length=3)"
    assert not any(text.get_parse_math() for text in texts)


def test_figures_show_themselves_in_notebooks():
    assert sj.Fixed(3).plot()._repr_png_().startswith(b"\x89PNG")


def test_figures_keep_out_of_pyplot():
    code = (
        "import sys, sojourn; sojourn.Fixed(3); assert 'matplotlib' not in sys.modules;"
        "sojourn.Fixed(3).plot(); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
