"""Figures. Each has one function that computes its data and one that draws the data on given axes."""

from __future__ import annotations

from sojourn.plots import _matplotlib  # noqa: F401 - before all modules that import matplotlib
from sojourn.plots._choice_fit import (
    ChoiceFitCurves,
    choice_fit_curves,
    choice_fit_figure,
    draw_choice_fit,
)
from sojourn.plots._choices import ChoiceCurves, choice_curves, choices_figure, draw_choices
from sojourn.plots._comparison import (
    BoundCurve,
    ComparisonCurves,
    bound_curves,
    comparison_curves,
    comparison_figure,
    draw_comparison,
)
from sojourn.plots._dots import Dots, dots_figure, draw_dots, make_dots
from sojourn.plots._estimates import EstimateCurves, draw_estimates, estimate_curves, estimates_figure
from sojourn.plots._law import LawCurves, draw_law, law_curves, law_figure
from sojourn.plots._panels import PanelCurves, draw_panels, panel_curves, panels_figure
from sojourn.plots._run import RunCurves, draw_run, run_curves, run_figure
from sojourn.plots._sensitivity import ScaleCurves, draw_scales, scale_curves, scales_figure
from sojourn.plots._sessions import (
    SessionCurves,
    draw_sessions,
    session_curves,
    session_figure,
    session_legend,
)
from sojourn.plots._slopes import SlopeCurves, draw_slopes, slope_curves, slopes_figure
from sojourn.plots._style import COLORS, PlainFigure, new_figure, tidy
from sojourn.plots._svg import draw_svg, save_figure, svg_image
from sojourn.plots._value_of_the_law import LossBars, draw_losses, loss_bars, value_of_the_law_figure
from sojourn.plots.policies._behavior import BehaviorCells, behavior_cells, behavior_figure, draw_behavior
from sojourn.plots.policies._plan import draw_earnings, draw_strips, plan_figure
from sojourn.plots.policies._taxi import TaxiMap, draw_taxi, taxi_figure, taxi_map

COLOURS = COLORS
"""The name of `COLORS` in version 0.1.0."""

__all__ = [
    "COLORS",
    "COLOURS",
    "BehaviorCells",
    "BoundCurve",
    "ChoiceCurves",
    "ChoiceFitCurves",
    "ComparisonCurves",
    "Dots",
    "EstimateCurves",
    "LawCurves",
    "LossBars",
    "PanelCurves",
    "PlainFigure",
    "RunCurves",
    "ScaleCurves",
    "SessionCurves",
    "SlopeCurves",
    "TaxiMap",
    "behavior_cells",
    "behavior_figure",
    "bound_curves",
    "choice_curves",
    "choice_fit_curves",
    "choice_fit_figure",
    "choices_figure",
    "comparison_curves",
    "comparison_figure",
    "dots_figure",
    "draw_behavior",
    "draw_choice_fit",
    "draw_choices",
    "draw_comparison",
    "draw_dots",
    "draw_earnings",
    "draw_estimates",
    "draw_law",
    "draw_losses",
    "draw_panels",
    "draw_run",
    "draw_scales",
    "draw_sessions",
    "draw_slopes",
    "draw_strips",
    "draw_svg",
    "draw_taxi",
    "estimate_curves",
    "estimates_figure",
    "law_curves",
    "law_figure",
    "loss_bars",
    "make_dots",
    "new_figure",
    "panel_curves",
    "panels_figure",
    "plan_figure",
    "run_curves",
    "run_figure",
    "save_figure",
    "scale_curves",
    "scales_figure",
    "session_curves",
    "session_figure",
    "session_legend",
    "slope_curves",
    "slopes_figure",
    "svg_image",
    "taxi_figure",
    "taxi_map",
    "tidy",
    "value_of_the_law_figure",
]
