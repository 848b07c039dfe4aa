import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import sojourn as sj
from sojourn.plots import draw_law, law_curves, law_figure, new_figure


def test_curves_show_the_law_and_the_geometric_law_with_the_same_mean():
    curves = law_curves(sj.Uniform(1, 7), last=9)  # mean 4: gamma = 3/4
    assert curves.h.tolist() == list(range(1, 10))
    np.testing.assert_allclose(curves.survival[0], [1, 6 / 7, 5 / 7, 4 / 7, 3 / 7, 2 / 7, 1 / 7, 0, 0])
    np.testing.assert_allclose(curves.survival[1], 0.75 ** np.arange(9))
    np.testing.assert_allclose(curves.hazard[1], 0.25)
    assert curves.mean == 4.0


def test_hazard_and_remaining_steps_are_not_shown_past_the_longest_length():
    curves = law_curves(sj.Fixed(3), last=5)
    np.testing.assert_array_equal(curves.hazard[0], [0, 0, 1, np.nan, np.nan])
    np.testing.assert_array_equal(curves.remaining[0], [3, 2, 1, np.nan, np.nan])
    np.testing.assert_allclose(curves.remaining[1], 3.0)  # the geometric law of mean 3 forgets


@pytest.mark.parametrize(
    "law", [sj.Geometric(0.5), sj.Polynomial(1.4, offset=20), sj.Geometric(0.9999), sj.Geometric(1 - 1e-12)]
)
def test_curves_end_where_survival_is_small(law):
    curves = law_curves(law)
    assert curves.survival[0, -1] <= (1e-4 if curves.heavy else 1e-3)
    assert np.all(curves.survival[1:, -1] <= 0.02)
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
        "Expected remaining steps",
    ]
    assert [len(panel.get_lines()) for panel in figure.axes] == [2, 2, 2]


def test_lines_show_the_data():
    curves = law_curves(sj.Fixed(2), last=4)
    _, (panel,) = new_figure(1)
    draw_law(curves, [panel])
    reference, law = panel.get_lines()
    np.testing.assert_array_equal(law.get_ydata(), curves.survival[0])
    np.testing.assert_array_equal(reference.get_ydata(), curves.survival[1])


@pytest.mark.parametrize(
    "law", [sj.Fixed(1), sj.Fixed(20), sj.Geometric(0.95), sj.Polynomial(1.4, offset=20)]
)
def test_survival_is_a_step_function_and_hazard_and_remaining_steps_are_points(law):
    survival, hazard, remaining = (panel.get_lines()[-1] for panel in law.plot().axes)
    assert survival.get_drawstyle() == "steps-pre"  # P(H ≥ t) is γ(h) for t in (h − 1, h]
    for line in (hazard, remaining):
        assert (line.get_linestyle(), line.get_marker()) == ("None", "o")


def test_heavy_tails_are_drawn_on_logarithmic_axes():
    survival, hazard, remaining = sj.Polynomial(1.4, offset=20).plot().axes
    assert (remaining.get_xscale(), remaining.get_yscale()) == ("log", "log")  # from 30 to thousands
    assert sj.NegativeBinomial(5, 0.9).plot().axes[2].get_ylim()[0] == 0.0
    assert (survival.get_xscale(), survival.get_yscale()) == ("log", "log")
    assert (hazard.get_xscale(), hazard.get_yscale()) == ("log", "linear")
    low, high = survival.get_ylim()
    assert 0.0 < low <= 1e-4
    assert high >= 1.0
    light = sj.NegativeBinomial(5, 0.9).plot().axes[0]
    assert (light.get_xscale(), light.get_yscale()) == ("linear", "linear")
    assert min(light.get_xticks()) == 1.0


@pytest.mark.parametrize("law", [sj.Geometric(0.9), sj.Fixed(1), sj.NegativeBinomial(1, 0.9)])
def test_a_law_is_not_compared_with_itself(law):
    figure = law.plot()
    assert [len(panel.get_lines()) for panel in figure.axes] == [1, 1, 1]
    assert len(figure.legends[0].get_texts()) == 1
    assert law_curves(law).survival.shape[0] == 1


def test_legend_names_long_laws_without_cutting_numbers():
    law = sj.Mixture([1 / 3, 2 / 3], [sj.Fixed(1), sj.NegativeBinomial(5, 0.9)])
    assert [text.get_text() for text in law.plot().legends[0].get_texts()] == [
        "Mixture of 2 laws",
        "geometric, same mean 31",  # ⅓ · 1 + ⅔ · (1 + 5 · 9)
    ]


def test_files_have_print_resolution(tmp_path):
    from matplotlib.image import imread

    figure = sj.Fixed(3).plot()
    figure.savefig(tmp_path / "law.png")
    figure.savefig(tmp_path / "small.png", dpi=50)
    inches = figure.get_size_inches()
    assert imread(tmp_path / "law.png").shape[:2] == (round(inches[1] * 300), round(inches[0] * 300))
    assert imread(tmp_path / "small.png").shape[1] == round(inches[0] * 50)


def test_show_says_how_to_display_the_figure():
    with pytest.raises(RuntimeError, match=r"^This figure has no window\. .*figure\.savefig\('law\.pdf'\)"):
        sj.Fixed(3).plot().show()


def test_plot_on_given_axes_draws_the_survival_there():
    figure, (panel, other) = new_figure(2)
    assert sj.Fixed(3).plot(panel) is figure
    assert len(panel.get_lines()) == 2
    assert not other.get_lines()


def test_text_of_users_is_not_parsed_as_math():
    figure = law_figure(sj.Fixed(3))
    texts = figure.legends[0].get_texts()
    assert texts[0].get_text() == "Fixed(3)"
    assert not any(text.get_parse_math() for text in texts)


def test_notebooks_display_figures():
    assert sj.Fixed(3).plot()._repr_png_().startswith(b"\x89PNG")


def test_figures_do_not_import_pyplot():
    code = (
        "import sys, sojourn; sojourn.Fixed(3); assert 'matplotlib' not in sys.modules;"
        "sojourn.Fixed(3).plot(); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
