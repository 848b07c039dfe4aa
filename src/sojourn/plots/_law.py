"""A length law beside the geometric law of the same mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from sojourn._typing import FloatArray
from sojourn.laws import Geometric, LengthLaw
from sojourn.plots._style import COLOURS, INK, new_figure, tidy, write

__all__ = ["LawCurves", "draw_law", "law_curves", "law_figure"]

_SHOWN = 1e-3
"""Steps are shown until the survival of the law and its reference is below this."""

_MOST_POINTS = 400
_NAME = 70
_LONG = 500.0
"""From this many steps on, steps are shown on a logarithmic axis."""


@dataclass(frozen=True)
class LawCurves:
    """What the figure of a law shows; row 0 is the law, row 1 the geometric law of the same mean.

    Attributes:
        names: What the two are called.
        mean: Their mean length.
        h: Steps, `(n,)`.
        survival: γ(h), `(2, n)`.
        hazard: P(H = h | H ≥ h), `(2, n)`; NaN past a longest length.
        discount: ρ(h) = γ(h+1)/γ(h), `(2, n)`; NaN past a longest length.
    """

    names: tuple[str, str]
    mean: float
    h: FloatArray
    survival: FloatArray
    hazard: FloatArray
    discount: FloatArray


def law_curves(law: LengthLaw, *, last: int | None = None) -> LawCurves:
    """Compute the curves of a law and of the geometric law of the same mean.

    Args:
        law: Any length law.
        last: The last step; by default where both survivals have fallen below 1/1000.

    Example:
        >>> from sojourn.laws import Fixed
        >>> curves = law_curves(Fixed(2), last=3)
        >>> curves.survival
        array([[1.  , 1.  , 0.  ],
               [1.  , 0.5 , 0.25]])
    """
    reference = Geometric(1.0 - 1.0 / max(law.mean, 1.0))
    end = last or max(_end(law), _end(reference))
    h = (
        np.unique(np.geomspace(1, end, _MOST_POINTS).round())
        if end > _MOST_POINTS
        else np.arange(1.0, end + 1)
    )
    both = (law, reference)
    alive = np.array([np.ones_like(h) if one.longest is None else h <= one.longest for one in both]) > 0
    return LawCurves(
        names=(repr(law), f"geometric, the same mean {law.mean:.4g}"),
        mean=law.mean,
        h=h,
        survival=np.array([one.survival(h) for one in both]),
        hazard=np.where(alive, [one.hazard(h) for one in both], np.nan),
        discount=np.where(alive, [one.continuation(h) for one in both], np.nan),
    )


def _end(law: LengthLaw) -> int:
    powers = 2.0 ** np.arange(31)
    first = float(powers[int(np.argmax(np.append(law.survival(powers) < _SHOWN, True)[:31]))])
    end = 2.0**30 if law.survival(first) >= _SHOWN else first
    inside = np.unique(np.linspace(end / 2, end, 65).round().clip(1))
    end = float(inside[np.append(law.survival(inside) < _SHOWN, True)[: inside.size].argmax()])
    return int(max(end, 2.0))


def draw_law(curves: LawCurves, axes: Sequence[Axes]) -> None:
    """Draw survival, hazard and implied discount, on as many of these as there are axes."""
    panels = (
        ("Survival", "γ(h) = P(H ≥ h)", curves.survival),
        ("Hazard", "P(H = h | H ≥ h)", curves.hazard),
        ("Implied discount", "ρ(h) = γ(h+1)/γ(h)", curves.discount),
    )
    for panel, (title, label, values) in zip(axes, panels, strict=False):
        tidy(panel)
        _draw_pair(panel, curves.h, values)
        write(panel, title=title, x="step h", y=label)
        _set_steps(panel, float(curves.h[-1]))
        panel.set_ylim(*_limits(values, whole=panel is axes[0]))


def _draw_pair(panel: Axes, h: FloatArray, values: FloatArray) -> None:
    few = h.size <= 60
    panel.plot(h, values[1], color=COLOURS[1], linewidth=1.4, linestyle=(0, (4, 2)), zorder=2)
    panel.plot(
        h, values[0], color=COLOURS[0], linewidth=2.0, zorder=3, marker="o" if few else "", markersize=3.2
    )


def _set_steps(panel: Axes, end: float) -> None:
    if end > _LONG:
        panel.set_xscale("log")
        panel.set_xlim(0.9, end * 1.1)
        return
    panel.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    panel.set_xlim(1.0 - 0.03 * end, end * 1.03)


def _limits(values: FloatArray, *, whole: bool) -> tuple[float, float]:
    """Return the whole of [0, 1], or the part of it in which everything happens, with a little air."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if whole or high - low > 0.5 or high == low:
        return -0.03, 1.04
    low = 0.0 if low < 0.5 * high else low
    air = 0.08 * (high - low)
    return low - air, high + air


def law_figure(law: LengthLaw, *, ax: Axes | None = None, last: int | None = None) -> Figure:
    """Show a law's survival, hazard and implied discount beside the geometric law of the same mean.

    Args:
        law: Any length law.
        ax: Axes to draw the survival alone on; three new panels by default.
        last: The last step shown; by default where both survivals have fallen below 1/1000.

    Returns:
        The figure, in no window: `figure.savefig(path)` writes it.
    """
    curves = law_curves(law, last=last)
    if ax is not None:
        draw_law(curves, [ax])
        _name_curves(ax, curves, inside=True)
        figure = ax.figure
        while isinstance(figure, SubFigure):
            figure = figure.figure
        return figure
    figure, panels = new_figure(3)
    draw_law(curves, panels)
    _name_curves(panels[0], curves, inside=False)
    return figure


def _name_curves(panel: Axes, curves: LawCurves, *, inside: bool) -> None:
    names = [name if len(name) <= _NAME else f"{name[: _NAME - 1]}…" for name in curves.names]
    lines = panel.get_lines()[::-1][:2]
    place = {"loc": "upper right"} if inside else {"loc": "outside lower center", "ncols": 2}
    owner = panel if inside else panel.figure
    legend = owner.legend(lines, names, frameon=False, fontsize=9, labelcolor=INK, **place)
    for text in legend.get_texts():
        text.set_parse_math(False)
