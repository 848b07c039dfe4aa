from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn.plots import draw_sessions, new_figure, session_curves, session_figure
from sojourn.sessions import SessionLog, analyze


def found(law, n=3_000, seed=0):
    rng = np.random.default_rng(seed)
    lengths = law.sample(rng, n)
    cuts = sj.Geometric(1.0 - 0.4 / law.mean).sample(rng, n)
    return analyze(SessionLog.from_columns(np.minimum(lengths, cuts), lengths < cuts))


def test_curves_show_the_fits_and_the_kaplan_meier_estimate():
    analysis = found(sj.NegativeBinomial(3.0, 0.8))
    curves = session_curves(analysis)
    assert curves.styles == ("best", "next", "geometric")
    np.testing.assert_array_equal(curves.survival[0], analysis.law.survival(curves.h))
    np.testing.assert_array_equal(curves.hazard[2], analysis.ranked("geometric").fit.law.hazard(curves.h))
    np.testing.assert_allclose(curves.estimate, analysis.kaplan_meier.survival(curves.h), rtol=1e-12)
    assert np.all((curves.lower <= curves.estimate) & (curves.estimate <= curves.upper))
    assert "best by BIC" in curves.names[0]


def test_dots_are_empirical_hazards():
    lengths = np.repeat([1, 2, 3, 4], [400, 300, 200, 100])
    curves = session_curves(analyze(SessionLog.from_columns(lengths)))
    # 400 of 1000, 300 of 600, 200 of 300, 100 of 100.
    np.testing.assert_allclose(curves.dots, [1, 2, 3, 4])
    np.testing.assert_allclose(curves.dot_hazard, [0.4, 0.5, 2 / 3, 1.0])
    np.testing.assert_allclose(curves.dot_error[0], 2 * np.sqrt(0.4 * 0.6 / 1000))


def test_steps_before_the_first_ended_session_are_not_in_the_first_dot():
    curves = session_curves(found(sj.Polynomial(1.6, offset=20)))
    assert curves.dots[0] >= 21
    assert curves.dot_hazard[0] == pytest.approx(float(sj.Polynomial(1.6).hazard(1)), abs=0.1)


@pytest.mark.parametrize(
    ("law", "n_panels"),
    [
        (sj.Geometric(0.9), 3),
        (sj.Polynomial(1.4, offset=3), 3),
        (sj.Geometric(0.9995), 3),
        (sj.Fixed(1), 2),  # four in ten sessions are still open after the last step: their rest is unknown
    ],
    ids=repr,
)
def test_figures_are_drawn_for_short_long_and_heavy_laws(law, n_panels, tmp_path):
    figure = session_figure(found(law))
    figure.savefig(tmp_path / "sessions.png", dpi=40)
    panels = ["Survival", "Hazard", "Expected remaining steps"]
    assert [panel.get_title(loc="left") for panel in figure.axes] == panels[:n_panels]
    assert (tmp_path / "sessions.png").stat().st_size > 1_000


def test_remaining_steps_are_the_laws_own():
    analysis = found(sj.Geometric(0.9))
    curves = session_curves(analysis)
    direct = [analysis.law.survival(np.arange(h, h + 2_000)).sum() / analysis.law.survival(h) for h in (1, 7)]
    np.testing.assert_allclose(curves.remaining[0, [0, 6]], direct, rtol=1e-9)


def test_remaining_steps_that_the_log_does_not_determine_are_not_drawn():
    lengths = sj.Geometric(0.99).sample(np.random.default_rng(0), 2_000)
    analysis = analyze(SessionLog.from_columns(np.minimum(lengths, 10), lengths < 10))
    assert not analysis.determines_remaining
    assert [panel.get_title(loc="left") for panel in session_figure(analysis).axes] == ["Survival", "Hazard"]


def test_one_panel_can_be_drawn_alone():
    _, panels = new_figure(1)
    draw_sessions(session_curves(found(sj.Geometric(0.9))), panels, first=1)
    assert panels[0].get_title(loc="left") == "Hazard"


def test_curves_start_at_the_first_step_with_data():
    lengths = sj.Geometric(0.9).sample(np.random.default_rng(1), 5_000)
    lengths = lengths[lengths >= 3]
    curves = session_curves(analyze(SessionLog.from_columns(lengths, entry=np.full(lengths.size, 3))))
    assert curves.h[0] == curves.first == 3
    assert curves.survival[:, 0].tolist() == [1.0] * len(curves.names)
    assert (curves.survival[0] <= curves.upper + 1e-12).all()
    assert (curves.survival[0] >= curves.lower - 1e-12).all()
