"""Figure: a session log and the laws that were fitted to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sojourn._typing import FloatArray
from sojourn.laws import Fit, LengthLaw, is_heavy, quantile
from sojourn.plots._law import axis_limits, set_remaining_axis, set_step_axis
from sojourn.plots._style import (
    COLORS,
    SOFT,
    PlainFigure,
    add_legend,
    new_figure,
    set_labels,
    tidy,
    wrap_text,
)
from sojourn.plots._svg import svg_image
from sojourn.sessions import Analysis, hazard_bins, law_words

__all__ = ["SessionCurves", "draw_sessions", "session_curves", "session_figure", "session_legend"]

_LAST_SURVIVAL, _LAST_SURVIVAL_HEAVY = 1e-3, 1e-5
"""Steps are drawn until the survival of the best law falls below this; the second is for heavy tails."""

_MAX_POINTS = 400

_FEW_STEPS = 60
"""Up to this many steps, survival is drawn as a step function."""

_DATA_COLOR = SOFT
_PANELS = ("Survival", "Hazard", "Expected remaining steps")


@dataclass(frozen=True)
class SessionCurves:
    """Data of the figure of a session log.

    Attributes:
        names: Names of the fitted laws: the best, the second best, the geometric law; none if the log is too
            small or constant.
        styles: "best", "next" or "geometric", one per law.
        heavy: Whether the best law has a heavy tail; axes are then logarithmic.
        first: First step with data; survival is conditional on reaching it.
        h: Steps from `first` on, `(n,)`.
        survival: γ(h)/γ(first) of the laws, `(k, n)`.
        hazard: P(H = h | H ≥ h) of the laws, `(k, n)`.
        remaining: Mean number of steps from h on by the laws, `(k, n)`, NaN past a longest length; None if
            the log does not determine it.
        estimate: Kaplan–Meier estimate of γ(h), `(n,)`; NaN past the data.
        lower: Lower end of the confidence band of the estimate, `(n,)`.
        upper: Upper end of that band, `(n,)`.
        confidence: Confidence level of the band.
        dots: Middle steps of the bins of the data, `(m,)`.
        dot_hazard: Empirical hazard in each bin, `(m,)`.
        dot_error: Twice the standard error of that hazard, `(m,)`.
    """

    names: tuple[str, ...]
    styles: tuple[str, ...]
    heavy: bool
    first: int
    h: FloatArray
    survival: FloatArray
    hazard: FloatArray
    remaining: FloatArray | None
    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    confidence: float
    dots: FloatArray
    dot_hazard: FloatArray
    dot_error: FloatArray

    @property
    def n_panels(self) -> int:
        """Number of panels: the last one only if the log determines the remaining steps."""
        return len(_PANELS) - (self.remaining is None)


def session_curves(analysis: Analysis) -> SessionCurves:
    """Compute the curves of a session log's analysis."""
    chosen = _select_fits(analysis)
    heavy, longest = is_heavy(analysis.law), analysis.log.longest
    last = max(
        min(quantile(analysis.law, _LAST_SURVIVAL_HEAVY if heavy else _LAST_SURVIVAL) + 1, longest),
        analysis.first + 1,
    )
    if last - analysis.first >= _MAX_POINTS:
        spread = np.geomspace if heavy or last > 500 else np.linspace
        h = np.unique(spread(analysis.first, last, _MAX_POINTS).round())
    else:
        h = np.arange(float(analysis.first), last + 1.0)
    band = analysis.band
    lower, upper = band.at(h)
    dots, shares, errors = hazard_bins(analysis.log.sample, last)
    fitted = [fit.law for _, fit in chosen]
    has_remaining = analysis.shows_a_family and analysis.determines_remaining
    return SessionCurves(
        names=tuple(f"{law_words(fit)}{_NOTES[style]}" for style, fit in chosen),
        styles=tuple(style for style, _ in chosen),
        heavy=heavy,
        first=analysis.first,
        h=h,
        survival=np.reshape([band.of_law(law, h) for law in fitted], (-1, h.size)),
        hazard=np.reshape([law.hazard(h) for law in fitted], (-1, h.size)),
        remaining=np.array([_remaining(law, h) for law in fitted]) if has_remaining else None,
        estimate=np.where(h <= band.steps[-1], band.of(h), np.nan),
        lower=lower,
        upper=upper,
        confidence=band.confidence,
        dots=dots,
        dot_hazard=shares,
        dot_error=errors,
    )


def _remaining(law: LengthLaw, h: FloatArray) -> FloatArray:
    return np.where(h <= (np.inf if law.longest is None else law.longest), law.remaining(h), np.nan)


_NOTES = {"best": ", best by BIC", "next": ", second best", "geometric": ""}


def _select_fits(analysis: Analysis) -> list[tuple[str, Fit]]:
    """Return the best fit, the second best that is not geometric, and the geometric fit."""
    if not analysis.shows_a_family:
        return []
    chosen = [("best", analysis.best.fit)]
    others = [one for one in analysis.fits[1:] if one.fit.family != "geometric"]
    chosen += [("next", one.fit) for one in others[:1]]
    if analysis.best.fit.family != "geometric":
        chosen.append(("geometric", analysis.ranked("geometric").fit))
    return chosen


def draw_sessions(curves: SessionCurves, axes: Sequence[Axes], *, first: int = 0) -> None:
    """Draw survival, hazard and expected remaining steps, one per given axes, starting with number `first`.

    The last panel has no data, only what the fitted laws say; there is none if the log does not determine it.
    """
    draw = (_draw_survival, _draw_hazard, _draw_remaining)[first : curves.n_panels]
    for panel, draw_one in zip(axes, draw, strict=False):
        tidy(panel)
        draw_one(panel, curves)
        set_step_axis(panel, float(curves.h[-1]), heavy=curves.heavy)


def _draw_survival(panel: Axes, curves: SessionCurves) -> None:
    few = curves.h.size <= _FEW_STEPS
    steps: Any = {"drawstyle": "steps-pre" if few else "default"}
    band: Any = {"color": _DATA_COLOR, "linewidth": 0.0, "alpha": 0.22, "step": "pre" if few else None}
    name = f"{100.0 * curves.confidence:g}% band of the data"
    panel.fill_between(curves.h, curves.lower, curves.upper, label=name, zorder=1, **band)
    panel.plot(curves.h, curves.estimate, color=_DATA_COLOR, linewidth=1.3, label="data", zorder=2, **steps)
    for name, style, values in zip(curves.names, curves.styles, curves.survival, strict=True):
        panel.plot(curves.h, values, label=name, **_LINE_STYLES[style], **steps)
    given = f", given step {curves.first:,}" if curves.first > 1 else ", γ(h)"
    set_labels(panel, title=_PANELS[0], x="step h", y=f"chance to reach step h{given}")
    if curves.heavy:
        panel.set_yscale("log")
        least = max(float(curves.survival[:1].min(initial=1.0)), 1e-6)
        panel.set_ylim(0.5 * min(least, float(curves.estimate[curves.estimate > 0.0].min())), 1.7)
    else:
        panel.set_ylim(-0.03, 1.04)


def _draw_hazard(panel: Axes, curves: SessionCurves) -> None:
    panel.errorbar(
        curves.dots,
        curves.dot_hazard,
        curves.dot_error,
        fmt="o",
        markersize=3.0,
        color=_DATA_COLOR,
        ecolor=_DATA_COLOR,
        elinewidth=0.8,
        alpha=0.8,
        zorder=2,
    )
    for style, values in zip(curves.styles, curves.hazard, strict=True):
        panel.plot(curves.h, values, **_LINE_STYLES[style])
    set_labels(panel, title=_PANELS[1], x="step h", y="chance that step h is the last")
    ends = curves.dot_hazard + np.outer((-1.0, 1.0), curves.dot_error)
    shown = np.concatenate((curves.hazard.ravel(), ends.clip(0.0, 1.0).ravel(), [0.0]))
    panel.set_ylim(*axis_limits(shown, whole=False))


def _draw_remaining(panel: Axes, curves: SessionCurves) -> None:
    assert curves.remaining is not None
    for style, values in zip(curves.styles, curves.remaining, strict=True):
        panel.plot(curves.h, values, **_LINE_STYLES[style])
    set_labels(panel, title=_PANELS[2], x="step h", y="mean number of steps from h on")
    set_remaining_axis(panel, curves.remaining)


_LINE_STYLES: dict[str, dict[str, Any]] = {
    "best": {"color": COLORS[0], "linewidth": 1.8, "zorder": 4},
    "next": {"color": COLORS[2], "linewidth": 1.3, "linestyle": (0, (1, 1.2)), "zorder": 3},
    "geometric": {"color": COLORS[1], "linewidth": 1.4, "linestyle": (0, (4, 2)), "zorder": 3},
}


def session_figure(analysis: Analysis) -> Figure:
    """Draw a session log's survival with its band, its hazard, the fitted laws and the steps they expect.

    Returns:
        The figure. It has no window: write it with `figure.savefig("sessions.pdf")`.
    """
    curves = session_curves(analysis)
    figure, panels = new_figure(curves.n_panels, height=3.4)
    draw_sessions(curves, panels)
    handles, names = panels[0].get_legend_handles_labels()
    add_legend(figure, handles, [wrap_text(name, 60) for name in names], loc="outside lower center", ncols=3)
    return figure


def session_legend(curves: SessionCurves) -> list[tuple[str, str]]:
    """Return the legend as pairs of a name and a small image of the line; see `svg_image`."""
    _, panels = new_figure(1)
    _draw_survival(panels[0], curves)
    found = []
    for handle, name in zip(*panels[0].get_legend_handles_labels(), strict=True):
        picture = PlainFigure(figsize=(0.5, 0.18))
        FigureCanvasAgg(picture)
        sample = picture.add_axes((0.0, 0.0, 1.0, 1.0))
        sample.set_axis_off()
        sample.set_xlim(0.0, 1.0)
        sample.set_ylim(0.0, 1.0)
        if isinstance(handle, Line2D):
            style: Any = {"color": handle.get_color(), "linewidth": 1.3 * handle.get_linewidth()}
            sample.plot([0.0, 1.0], [0.5, 0.5], linestyle=handle.get_linestyle(), **style)
        else:
            sample.fill_between([0.0, 1.0], 0.0, 1.0, color=_DATA_COLOR, alpha=0.3, linewidth=0.0)
        found.append((name, svg_image(picture)))
    return found
