"""Figure: a length law beside the geometric law with the same mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from sojourn._typing import FloatArray
from sojourn.laws import MAX_STEP, LengthLaw, is_heavy, label, quantile, same_mean
from sojourn.plots._style import COLORS, add_legend, add_note, new_figure, root_figure, set_labels, tidy

__all__ = [
    "LawCurves",
    "axis_limits",
    "draw_law",
    "law_curves",
    "law_figure",
    "set_remaining_axis",
    "set_step_axis",
]

_LAST_SURVIVAL, _LAST_SURVIVAL_HEAVY = 1e-3, 1e-4
"""Steps are drawn until the survival of the law falls below this; the second is for heavy tails."""

_LAST_SURVIVAL_GEOMETRIC = 0.02
"""Steps are also drawn until the survival of the geometric law falls below this."""

_MAX_POINTS = 400
_FEW_STEPS = 60
"""Up to this many steps, each step gets a marker."""

_MANY_TIMES = 30.0
"""If the largest number of remaining steps is more than this times the least, its axis is logarithmic."""

_LONG = 500.0
"""With more steps than this, the axis of steps is logarithmic."""


@dataclass(frozen=True)
class LawCurves:
    """Data of the figure of a law: row 0 is the law, row 1 the geometric law with the same mean.

    If the law is itself that geometric law, there is one row.

    Attributes:
        names: Names of the laws.
        mean: Mean length of both laws.
        heavy: Whether the law has a heavy tail; survival is then drawn on logarithmic axes.
        h: Steps, `(n,)`.
        survival: γ(h), `(2, n)`.
        hazard: P(H = h | H ≥ h), `(2, n)`; NaN past a longest length.
        remaining: Γ(h)/γ(h), the mean number of steps from h on, `(2, n)`; NaN past a longest length.
    """

    names: tuple[str, ...]
    mean: float
    heavy: bool
    h: FloatArray
    survival: FloatArray
    hazard: FloatArray
    remaining: FloatArray


def law_curves(law: LengthLaw, *, last: int | None = None) -> LawCurves:
    """Compute the curves of a law and of the geometric law with the same mean.

    Args:
        law: Any length law.
        last: Last step; by default where the law's survival has fallen below 1/1000, or 1/10,000 for a
            heavy tail, and the geometric law's below 1/50.

    Example:
        >>> from sojourn.laws import Fixed
        >>> curves = law_curves(Fixed(2), last=3)
        >>> curves.survival
        array([[1.  , 1.  , 0.  ],
               [1.  , 0.5 , 0.25]])
    """
    reference, heavy = same_mean(law), is_heavy(law)
    shown = [law] if reference is None else [law, reference]
    ends = [quantile(law, _LAST_SURVIVAL_HEAVY if heavy else _LAST_SURVIVAL)]
    ends += [quantile(one, _LAST_SURVIVAL_GEOMETRIC) for one in shown[1:]]
    end = last or min(max(ends) + 1, MAX_STEP)
    h = np.unique(np.geomspace(1, end, _MAX_POINTS).round()) if end > _MAX_POINTS else np.arange(1.0, end + 1)
    alive = np.array([np.ones_like(h) if one.longest is None else h <= one.longest for one in shown]) > 0
    return LawCurves(
        names=(label(law), f"geometric, same mean {law.mean:.4g}")[: len(shown)],
        mean=law.mean,
        heavy=heavy,
        h=h,
        survival=np.array([one.survival(h) for one in shown]),
        hazard=np.where(alive, [one.hazard(h) for one in shown], np.nan),
        remaining=np.where(alive, [one.remaining(h) for one in shown], np.nan),
    )


def draw_law(curves: LawCurves, axes: Sequence[Axes]) -> None:
    """Draw survival, hazard and expected remaining steps, in this order, one per given axes."""
    panels = (
        ("Survival", "chance to reach step h, γ(h)", curves.survival),
        ("Hazard", "chance that step h is the last", curves.hazard),
        ("Expected remaining steps", "mean number of steps from h on", curves.remaining),
    )
    for panel, (title, text, values) in zip(axes, panels, strict=False):
        is_survival = values is curves.survival
        tidy(panel)
        _draw_reference(panel, curves.h, values[1:], is_survival=is_survival)
        _draw(panel, curves.h, values[0], is_survival=is_survival)
        set_labels(panel, title=title, x="step h", y=text)
        set_step_axis(panel, float(curves.h[-1]), heavy=curves.heavy)
        if values is curves.remaining:
            set_remaining_axis(panel, values)
        elif is_survival and curves.heavy:
            panel.set_yscale("log")
            panel.set_ylim(0.6 * _LAST_SURVIVAL_HEAVY, 1.7)
        else:
            panel.set_ylim(*axis_limits(values, whole=is_survival))


def set_remaining_axis(panel: Axes, values: FloatArray) -> None:
    """Start the axis of remaining steps at 0, or make it logarithmic if they grow a lot."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if high > _MANY_TIMES * low:
        panel.set_yscale("log")
        panel.set_ylim(low / 1.5, high * 1.5)
    else:
        panel.set_ylim(0.0, 1.08 * high)
    if high < 1e5:
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.5g}"))


def _draw(panel: Axes, h: FloatArray, values: FloatArray, *, is_survival: bool) -> None:
    """Draw a function of the step: survival as a step function, all others as points."""
    few = h.size <= _FEW_STEPS
    style: dict[str, Any] = {"color": COLORS[0], "zorder": 3, "markeredgewidth": 0.0}
    if is_survival:
        mark = {"marker": "o", "markersize": 3.6, "linewidth": 1.1} if few else {"linewidth": 1.8}
        panel.plot(h, values, drawstyle="steps-pre", **mark, **style)
    else:
        panel.plot(h, values, linestyle="", marker="o", markersize=4.2 if few else 3.0, **style)


def _draw_reference(panel: Axes, h: FloatArray, rows: FloatArray, *, is_survival: bool) -> None:
    # A dashed line with many small stairs is hard to read, and a smooth curve looks the same there.
    drawstyle = "steps-pre" if is_survival and h.size <= _FEW_STEPS else "default"
    for values in rows:
        panel.plot(
            h, values, color=COLORS[1], linewidth=1.4, linestyle=(0, (4, 2)), zorder=2, drawstyle=drawstyle
        )


def set_step_axis(panel: Axes, end: float, *, heavy: bool) -> None:
    """Set the horizontal axis to steps 1 … `end`, logarithmic for heavy tails and long axes."""
    if heavy or end > _LONG:
        panel.set_xscale("log")
        panel.set_xlim(0.9, end * 1.1)
        if end < 1e5:
            panel.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        return
    round_steps = MaxNLocator(nbins=6, integer=True).tick_values(1.0, end)
    panel.set_xticks([1.0, *(step for step in round_steps if 1.0 < step <= end)])
    margin = max(0.03 * end, 0.2)
    panel.set_xlim(1.0 - margin, end + margin)


def axis_limits(values: FloatArray, *, whole: bool) -> tuple[float, float]:
    """Return axis limits for values in [0, 1]: all of it, or the range of the values, with a margin."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if whole or high - low > 0.5 or high == low:
        return -0.03, 1.04
    low = 0.0 if low < 0.5 * high else low
    margin = 0.08 * (high - low)
    return low - margin, high + margin


def law_figure(law: LengthLaw, *, ax: Axes | None = None, last: int | None = None) -> Figure:
    """Draw a law's survival, hazard and expected remaining steps beside the geometric law of the same mean.

    Args:
        law: Any length law.
        ax: Axes on which only the survival is drawn; a new figure with three panels by default.
        last: Last step to draw; by default where the law's survival has fallen below 1/1000, or 1/10,000
            for a heavy tail (which is drawn on logarithmic axes), and the geometric law's below 1/50.

    Returns:
        The figure. It has no window: write it with `figure.savefig("law.pdf")`, or make it the last line of a
        notebook cell.

    Example:
        >>> import pathlib, tempfile
        >>> from sojourn.laws import Polynomial
        >>> figure = law_figure(Polynomial(1.4, offset=20))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     figure.savefig(pathlib.Path(folder) / "law.pdf")
    """
    curves = law_curves(law, last=last)
    if ax is not None:
        draw_law(curves, [ax])
        _add_curve_legend(ax, curves, inside=True)
        return root_figure(ax)
    figure, panels = new_figure(3)
    draw_law(curves, panels)
    _add_curve_legend(panels[0], curves, inside=False)
    add_note(panels[-1], "exact")
    return figure


def _add_curve_legend(panel: Axes, curves: LawCurves, *, inside: bool) -> None:
    lines = panel.get_lines()[::-1][: len(curves.names)]
    corner = "lower left" if curves.heavy else "upper right"
    place = {"loc": corner} if inside else {"loc": "outside lower center", "ncols": 2}
    owner = panel if inside else panel.figure
    add_legend(owner, lines, curves.names, **place)
