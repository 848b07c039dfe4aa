"""Figures: one a file, each a function that computes its data and one that draws them on given axes."""

from __future__ import annotations

from sojourn.plots._choices import ChoiceCurves, choice_curves, choices_figure, draw_choices
from sojourn.plots._comparison import (
    ComparisonCurves,
    comparison_curves,
    comparison_figure,
    draw_comparison,
)
from sojourn.plots._estimates import EstimateCurves, draw_estimates, estimate_curves, estimates_figure
from sojourn.plots._law import LawCurves, draw_law, law_curves, law_figure
from sojourn.plots._run import RunCurves, draw_run, run_curves, run_figure
from sojourn.plots._sessions import (
    SessionCurves,
    draw_sessions,
    session_curves,
    session_figure,
    session_key,
)
from sojourn.plots._style import COLOURS, new_figure, tidy
from sojourn.plots._svg import svg_pair

__all__ = [
    "COLOURS",
    "ChoiceCurves",
    "ComparisonCurves",
    "EstimateCurves",
    "LawCurves",
    "RunCurves",
    "SessionCurves",
    "choice_curves",
    "choices_figure",
    "comparison_curves",
    "comparison_figure",
    "draw_choices",
    "draw_comparison",
    "draw_estimates",
    "draw_law",
    "draw_run",
    "draw_sessions",
    "estimate_curves",
    "estimates_figure",
    "law_curves",
    "law_figure",
    "new_figure",
    "run_curves",
    "run_figure",
    "session_curves",
    "session_figure",
    "session_key",
    "svg_pair",
    "tidy",
]
