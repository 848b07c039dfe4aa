"""Figure: laws that a learner estimated over time, beside the true law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.laws import LengthLaw, quantile, survival_band
from sojourn.plots._style import (
    COLORS,
    INK,
    add_legend,
    format_seed_count,
    new_figure,
    root_figure,
    set_labels,
)

__all__ = ["EstimateCurves", "draw_estimates", "estimate_curves", "estimates_figure"]

_LAST_SURVIVAL = 1e-3
"""Steps are drawn until survival falls below this."""

_MAX_POINTS = 400
_FIRST_SHADE = 0.25
"""Opacity of the earliest estimate."""


class Estimated(Protocol):
    """An estimated law and the data behind it."""

    @property
    def episode(self) -> int:
        """Number of episodes before the estimate."""

    @property
    def law(self) -> LengthLaw:
        """The estimated law."""

    @property
    def lengths(self) -> IntArray:
        """Lengths that the law was estimated from."""

    @property
    def observed(self) -> BoolArray:
        """Whether each length was observed to its end; False if it is censored."""


@dataclass(frozen=True)
class EstimateCurves:
    """Data of the figure of estimated laws.

    Attributes:
        episodes: Number of episodes before each estimate, `(k,)`.
        h: Steps, `(n,)`.
        survival: γ̂(h) of each estimate, `(k, n)`.
        lower: Lower end of the confidence band of the last estimate, `(n,)`.
        upper: Upper end of that band, `(n,)`.
        kind: Kind of the band: "dkw" or "hall-wellner".
        confidence: Confidence level of the band.
        truth: γ(h) of the true law, `(n,)`, or None.
    """

    episodes: IntArray
    h: IntArray
    survival: FloatArray
    lower: FloatArray
    upper: FloatArray
    kind: str
    confidence: float
    truth: FloatArray | None


def estimate_curves(
    estimates: Sequence[Estimated], truth: LengthLaw | None = None, *, confidence: float = 0.95
) -> EstimateCurves:
    """Compute the curves of the estimates, oldest first, with a simultaneous band around the last."""
    if not estimates:
        raise ValueError("estimates must not be empty: no block has ended yet; play more episodes.")
    last = estimates[-1]
    end = max(quantile(law, _LAST_SURVIVAL) for law in (last.law, truth) if law is not None)
    h = np.unique(np.linspace(1, max(end, 2), _MAX_POINTS).round()).astype(np.int64)
    band = survival_band(last.lengths, last.observed, confidence=confidence)
    lower, upper = band.at(h)
    return EstimateCurves(
        episodes=np.array([estimate.episode for estimate in estimates]),
        h=h,
        survival=np.array([estimate.law.survival(h) for estimate in estimates]),
        lower=lower,
        upper=upper,
        kind=band.kind,
        confidence=confidence,
        truth=None if truth is None else truth.survival(h),
    )


def draw_estimates(axes: Axes, curves: EstimateCurves) -> None:
    """Draw the estimates on given axes: early ones pale, the last in full color with its band.

    All curves are step functions: P(H ≥ t) is γ(h) for t in (h − 1, h].
    """
    band = f"{curves.confidence:.0%} band of the data"
    band_style: Any = {"color": COLORS[0], "alpha": 0.15, "linewidth": 0.0}
    axes.fill_between(curves.h, curves.lower, curves.upper, step="pre", label=band, **band_style)
    n = len(curves.episodes)
    steps: Any = {"drawstyle": "steps-pre"}
    for i, survival in enumerate(curves.survival):
        is_last = i == n - 1
        shade = 1.0 if is_last else _FIRST_SHADE + (0.9 - _FIRST_SHADE) * i / max(n - 1, 1)
        name = f"after {curves.episodes[i]:,} episodes" if is_last or i == 0 else None
        style: Any = {"color": COLORS[0], "alpha": shade, "linewidth": 1.8 if is_last else 1.0}
        axes.plot(curves.h, survival, label=name, **style, **steps)
    if curves.truth is not None:
        axes.plot(curves.h, curves.truth, color=INK, lw=0.9, label="true law", **steps)
    axes.set_ylim(0.0, 1.02)
    set_labels(axes, title="Estimates of the law", x="step h", y="P(H ≥ h)")
    add_legend(axes, *axes.get_legend_handles_labels(), title=format_seed_count(1))


def estimates_figure(
    estimates: Sequence[Estimated], truth: LengthLaw | None = None, *, ax: Axes | None = None
) -> Figure:
    """Draw the laws that a learner estimated, with a simultaneous 95% band around the last.

    Args:
        estimates: `learner.estimates` of a learner started by `UnknownLaw`.
        truth: True law of the lengths, drawn too if given.
        ax: Axes to draw on; a new figure by default.
    """
    curves = estimate_curves(estimates, truth)
    if ax is None:
        _, (ax,) = new_figure(1, width=4.8, height=3.3)
    draw_estimates(ax, curves)
    return root_figure(ax)
