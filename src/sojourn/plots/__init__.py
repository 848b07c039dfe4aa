"""Figures: one a file, each a function that computes its data and one that draws them on given axes."""

from __future__ import annotations

from sojourn.plots._law import LawCurves, draw_law, law_curves, law_figure
from sojourn.plots._style import COLOURS, new_figure, tidy

__all__ = ["COLOURS", "LawCurves", "draw_law", "law_curves", "law_figure", "new_figure", "tidy"]
