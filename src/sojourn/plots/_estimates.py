"""Laws that were estimated while learning, beside the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn._typing import BoolArray, FloatArray, IntArray
from sojourn.laws import LengthLaw, quantile, survival_band
from sojourn.plots._style import COLOURS, INK, add_legend, count_seeds, figure_of, new_figure, write

__all__ = ["EstimateCurves", "draw_estimates", "estimate_curves", "estimates_figure"]

_SHOWN = 1e-3
_MOST_POINTS = 400
_FIRST_SHADE = 0.25


class Estimated(Protocol):
    """A law that was estimated, and what from."""

    @property
    def episode(self) -> int:
        """Episodes that had been played."""

    @property
    def law(self) -> LengthLaw:
        """The estimate."""

    @property
    def lengths(self) -> IntArray:
        """The lengths that it was made of."""

    @property
    def observed(self) -> BoolArray:
        """Whether each was seen to its end."""


@dataclass(frozen=True)
class EstimateCurves:
    """What the figure of estimated laws shows.

    Attributes:
        episodes: Episodes that had been played when each was made, `(k,)`.
        h: Steps, `(n,)`.
        survival: γ̂(h) of each, `(k, n)`.
        lower: Lower end of the band of the last one's data, `(n,)`.
        upper: Upper end of the band of the last one's data, `(n,)`.
        kind: "dkw" or "hall-wellner".
        confidence: Of the band.
        truth: The true γ(h), `(n,)`, or None.
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
    """Compute the curves of estimates, oldest first, with a band that holds all of γ at once for the last."""
    if not estimates:
        raise ValueError("estimates must not be empty: no block has ended yet; play more episodes.")
    last = estimates[-1]
    end = max(quantile(law, _SHOWN) for law in (last.law, truth) if law is not None)
    h = np.unique(np.linspace(1, max(end, 2), _MOST_POINTS).round()).astype(np.int64)
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
    """Draw estimates on given axes: pale when few lengths were seen, the last in full with its band.

    All are staircases: P(H ≥ t) is γ(h) for t in (h − 1, h].
    """
    band = f"{curves.confidence:.0%} band of the data"
    wash: Any = {"color": COLOURS[0], "alpha": 0.15, "linewidth": 0.0}
    axes.fill_between(curves.h, curves.lower, curves.upper, step="pre", label=band, **wash)
    n = len(curves.episodes)
    stairs: Any = {"drawstyle": "steps-pre"}
    for i, survival in enumerate(curves.survival):
        is_last = i == n - 1
        shade = 1.0 if is_last else _FIRST_SHADE + (0.9 - _FIRST_SHADE) * i / max(n - 1, 1)
        name = f"after {curves.episodes[i]:,} episodes" if is_last or i == 0 else None
        look: Any = {"color": COLOURS[0], "alpha": shade, "linewidth": 1.8 if is_last else 1.0}
        axes.plot(curves.h, survival, label=name, **look, **stairs)
    if curves.truth is not None:
        axes.plot(curves.h, curves.truth, color=INK, lw=0.9, label="the truth", **stairs)
    axes.set_ylim(0.0, 1.02)
    write(axes, title="Estimates of the law", x="step h", y="P(H ≥ h)")
    add_legend(axes, *axes.get_legend_handles_labels(), title=count_seeds(1))


def estimates_figure(
    estimates: Sequence[Estimated], truth: LengthLaw | None = None, *, ax: Axes | None = None
) -> Figure:
    """Draw the laws that a learner estimated, with a simultaneous 95% band of the data of the last.

    Args:
        estimates: `learner.estimates` of a learner of `UnknownLaw`.
        truth: The law that lengths were drawn from, to draw beside them.
        ax: Where to draw; a new figure by default.
    """
    curves = estimate_curves(estimates, truth)
    if ax is None:
        _, (ax,) = new_figure(1, width=4.8, height=3.3)
    draw_estimates(ax, curves)
    return figure_of(ax)
