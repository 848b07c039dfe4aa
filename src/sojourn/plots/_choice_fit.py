"""Figure: discount functions fitted to choices, and how well they predict the choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn._typing import FloatArray
from sojourn.plots._style import COLORS, GRAY, SOFT, add_legend, add_note, new_figure, set_labels

if TYPE_CHECKING:
    from sojourn.behavior import ChoiceFit

__all__ = ["ChoiceFitCurves", "choice_fit_curves", "choice_fit_figure", "draw_choice_fit"]

_MAX_SUBJECTS = 60
_BINS = 10


@dataclass(frozen=True)
class ChoiceFitCurves:
    """Data of the figure of a fit to choices.

    Attributes:
        family: Name and formula of the family.
        delays: Delays in the units of the data, `(m,)`.
        subjects: D(t) of each subject whose choices determine or bound it, `(n, m)`; at most 60.
        median: Median of these functions at each delay, `(m,)`.
        pooled: D(t) of the pooled fit, `(m,)`.
        predicted: Predicted share of later choices in groups of choices, `(g,)`.
        observed: Observed share, `(g,)`.
        error: Twice the standard error of the observed share under the prediction, `(g,)`.
        n_subjects: Number of subjects.
    """

    family: str
    delays: FloatArray
    subjects: FloatArray
    median: FloatArray
    pooled: FloatArray
    predicted: FloatArray
    observed: FloatArray
    error: FloatArray
    n_subjects: int


def choice_fit_curves(fit: ChoiceFit) -> ChoiceFitCurves:
    """Compute the discount functions of a fit and its calibration."""
    from sojourn.behavior import FAMILIES  # noqa: PLC0415 - loads numba

    delays = np.append(0.0, np.linspace(0.002, 1.0, 240) * float(fit.data.delay_later.max()))
    determined = [one for one in fit.subjects if one.has_curve]
    curves = np.array([one.discount(delays) for one in determined]).reshape(-1, delays.size)
    pooled = fit.pooled.discount(delays)
    chances = fit.predictions()
    groups = np.array_split(np.argsort(chances, kind="stable"), min(_BINS, max(chances.size // 5, 1)))
    spread = [float(np.sqrt((chances[g] * (1.0 - chances[g])).sum()) / g.size) for g in groups]
    return ChoiceFitCurves(
        family=f"{fit.family.replace('_', '-')}: D(t) = {FAMILIES[fit.family].formula}",
        delays=delays,
        subjects=curves[:_MAX_SUBJECTS],
        median=np.median(curves, axis=0) if len(curves) else pooled,
        pooled=pooled,
        predicted=np.array([chances[g].mean() for g in groups]),
        observed=np.array([fit.data.chose_later[g].mean() for g in groups]),
        error=2.0 * np.array(spread),
        n_subjects=fit.data.n_subjects,
    )


def draw_choice_fit(curves: ChoiceFitCurves, axes: Sequence[Axes], *, unit: str = "") -> None:
    """Draw the discount functions on the first axes and the calibration on the second."""
    worth, calibration = axes
    for i, one in enumerate(curves.subjects):
        name = "each subject" if i == 0 else None
        worth.plot(curves.delays, one, color=GRAY, linewidth=0.6, alpha=0.5, zorder=2, label=name)
    worth.plot(curves.delays, curves.median, color=COLORS[0], linewidth=2.0, zorder=4, label="median subject")
    dashes = (0, (4, 2))
    worth.plot(
        curves.delays,
        curves.pooled,
        color=COLORS[1],
        linewidth=1.5,
        linestyle=dashes,
        zorder=3,
        label="pooled",
    )
    worth.set_ylim(0.0, 1.04)
    worth.set_xlim(0.0, float(curves.delays[-1]))
    set_labels(
        worth,
        title="Worth of a later reward",
        x=f"delay, in {unit or 'the unit of the data'}",
        y="worth of 1",
    )
    plural = "s" * (curves.n_subjects != 1)
    n_drawn = len(curves.subjects)
    drawn = f"{n_drawn:,} of " if n_drawn < curves.n_subjects else ""
    add_note(worth, f"{drawn}{curves.n_subjects:,} subject{plural}")
    calibration.plot([0.0, 1.0], [0.0, 1.0], color=SOFT, linewidth=1.0, linestyle=dashes, zorder=1)
    calibration.errorbar(
        curves.predicted,
        curves.observed,
        curves.error,
        fmt="o",
        markersize=4.0,
        color=COLORS[0],
        elinewidth=0.9,
        zorder=3,
    )
    calibration.set_xlim(-0.03, 1.03)
    calibration.set_ylim(-0.03, 1.03)
    set_labels(
        calibration,
        title="Does it predict the choices?",
        x="predicted share of later choices",
        y="observed share",
    )
    add_note(calibration, "± 2 standard errors")


def choice_fit_figure(fit: ChoiceFit, *, unit: str = "") -> Figure:
    """Draw the fitted discount functions, and predicted against observed choices.

    Args:
        fit: The fit.
        unit: Unit of the delays in words, such as "days".

    Returns:
        The figure. It has no window: write it with `figure.savefig("choices.pdf")`.
    """
    curves = choice_fit_curves(fit)
    figure, panels = new_figure(2, width=4.2, height=3.5)
    draw_choice_fit(curves, panels, unit=unit)
    handles, names = panels[0].get_legend_handles_labels()
    add_legend(figure, handles, names, loc="outside lower left", ncols=3, title=curves.family)
    return figure
