"""A length law beside the geometric law of the same mean."""

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
from sojourn.plots._style import COLOURS, add_legend, add_note, figure_of, new_figure, tidy, write

__all__ = ["LawCurves", "draw_law", "law_curves", "law_figure", "limits", "set_steps"]

_SHOWN, _SHOWN_HEAVY = 1e-3, 1e-4
"""Steps are shown until the survival of the law is below this, the second for heavy tails."""

_SHOWN_REFERENCE = 0.02
"""And until the survival of the geometric law is below this."""

_MOST_POINTS = 400
_FEW = 60
"""Up to so many steps, each is marked."""

_LONG = 500.0
"""From this many steps on, steps are shown on a logarithmic axis."""


@dataclass(frozen=True)
class LawCurves:
    """What the figure of a law shows: row 0 is the law, row 1 the geometric law of the same mean.

    A law that is that geometric law itself has one row.

    Attributes:
        names: What they are called.
        mean: Their mean length.
        heavy: Whether the law's tail is heavy: survival is then drawn on logarithmic axes.
        h: Steps, `(n,)`.
        survival: γ(h), `(2, n)`.
        hazard: P(H = h | H ≥ h), `(2, n)`; NaN past a longest length.
        discount: ρ(h) = γ(h+1)/γ(h), `(2, n)`; NaN past a longest length.
    """

    names: tuple[str, ...]
    mean: float
    heavy: bool
    h: FloatArray
    survival: FloatArray
    hazard: FloatArray
    discount: FloatArray


def law_curves(law: LengthLaw, *, last: int | None = None) -> LawCurves:
    """Compute the curves of a law and of the geometric law of the same mean.

    Args:
        law: Any length law.
        last: The last step; by default where the law's survival has fallen below 1/1000, or 1/10,000 for a
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
    ends = [quantile(law, _SHOWN_HEAVY if heavy else _SHOWN)]
    ends += [quantile(one, _SHOWN_REFERENCE) for one in shown[1:]]
    end = last or min(max(ends) + 1, MAX_STEP)
    h = (
        np.unique(np.geomspace(1, end, _MOST_POINTS).round())
        if end > _MOST_POINTS
        else np.arange(1.0, end + 1)
    )
    alive = np.array([np.ones_like(h) if one.longest is None else h <= one.longest for one in shown]) > 0
    return LawCurves(
        names=(label(law), f"geometric, the same mean {law.mean:.4g}")[: len(shown)],
        mean=law.mean,
        heavy=heavy,
        h=h,
        survival=np.array([one.survival(h) for one in shown]),
        hazard=np.where(alive, [one.hazard(h) for one in shown], np.nan),
        discount=np.where(alive, [one.continuation(h) for one in shown], np.nan),
    )


def draw_law(curves: LawCurves, axes: Sequence[Axes]) -> None:
    """Draw survival, hazard and implied discount, on as many of these as there are axes."""
    panels = (
        ("Survival", "γ(h) = P(H ≥ h)", curves.survival),
        ("Hazard", "P(H = h | H ≥ h)", curves.hazard),
        ("Implied discount", "ρ(h) = γ(h+1)/γ(h)", curves.discount),
    )
    for panel, (title, text, values) in zip(axes, panels, strict=False):
        is_survival = values is curves.survival
        tidy(panel)
        _draw_reference(panel, curves.h, values[1:], is_survival=is_survival)
        _draw(panel, curves.h, values[0], is_survival=is_survival)
        write(panel, title=title, x="step h", y=text)
        set_steps(panel, float(curves.h[-1]), heavy=curves.heavy)
        if is_survival and curves.heavy:
            panel.set_yscale("log")
            panel.set_ylim(0.6 * _SHOWN_HEAVY, 1.7)
        else:
            panel.set_ylim(*limits(values, whole=is_survival))


def _draw(panel: Axes, h: FloatArray, values: FloatArray, *, is_survival: bool) -> None:
    """Draw a function of whole steps: P(H ≥ t) is a staircase, what belongs to a single step a point."""
    few = h.size <= _FEW
    look: dict[str, Any] = {"color": COLOURS[0], "zorder": 3, "markeredgewidth": 0.0}
    if is_survival:
        mark = {"marker": "o", "markersize": 3.6, "linewidth": 1.1} if few else {"linewidth": 1.8}
        panel.plot(h, values, drawstyle="steps-pre", **mark, **look)
    else:
        panel.plot(h, values, linestyle="", marker="o", markersize=4.2 if few else 3.0, **look)


def _draw_reference(panel: Axes, h: FloatArray, rows: FloatArray, *, is_survival: bool) -> None:
    # Dashes along many small stairs would be hard to look at; there, stairs and a curve are the same.
    drawstyle = "steps-pre" if is_survival and h.size <= _FEW else "default"
    for values in rows:
        panel.plot(
            h, values, color=COLOURS[1], linewidth=1.4, linestyle=(0, (4, 2)), zorder=2, drawstyle=drawstyle
        )


def set_steps(panel: Axes, end: float, *, heavy: bool) -> None:
    """Show steps 1 … `end` on the horizontal axis, logarithmic for heavy tails and long axes."""
    if heavy or end > _LONG:
        panel.set_xscale("log")
        panel.set_xlim(0.9, end * 1.1)
        if end < 1e5:
            panel.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        return
    round_steps = MaxNLocator(nbins=6, integer=True).tick_values(1.0, end)
    panel.set_xticks([1.0, *(step for step in round_steps if 1.0 < step <= end)])
    air = max(0.03 * end, 0.2)
    panel.set_xlim(1.0 - air, end + air)


def limits(values: FloatArray, *, whole: bool) -> tuple[float, float]:
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
        last: The last step shown; by default where the law's survival has fallen below 1/1000, or 1/10,000
            for a heavy tail (which is drawn on logarithmic axes), and the geometric law's below 1/50.

    Returns:
        The figure, in no window: `figure.savefig("law.pdf")` writes it, and a notebook shows it where it is
        the last line of a cell.

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
        _name_curves(ax, curves, inside=True)
        return figure_of(ax)
    figure, panels = new_figure(3)
    draw_law(curves, panels)
    _name_curves(panels[0], curves, inside=False)
    add_note(panels[-1], "exact")
    return figure


def _name_curves(panel: Axes, curves: LawCurves, *, inside: bool) -> None:
    lines = panel.get_lines()[::-1][: len(curves.names)]
    corner = "lower left" if curves.heavy else "upper right"
    place = {"loc": corner} if inside else {"loc": "outside lower center", "ncols": 2}
    owner = panel if inside else panel.figure
    add_legend(owner, lines, curves.names, **place)
