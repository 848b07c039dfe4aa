"""Strips of actions: one bar per stretch of steps at which the same action is played."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

from sojourn.plots._style import COLORS, INK

__all__ = ["STRONGEST", "ActionColors", "StepAxis"]

_ACTION_COLORS = tuple(COLORS[i] for i in (0, 1, 2, 3, 5))
"""Colors that differ in pale shades too."""

_CHARACTERS_PER_INCH = 11.0
_HEIGHT, _GAP = 0.72, 0.48
_MOST_WORDS = 24  # in a legend
_MOST_LINEAR = 60
STRONGEST = 0.65


class ActionColors:
    """One color per action that occurs, the same in all strips of a figure."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self.names = dict(names)
        self._colors = {a: _ACTION_COLORS[i % len(_ACTION_COLORS)] for i, a in enumerate(self.names)}

    def __getitem__(self, action: int) -> str:
        return self._colors[action]

    def legend(self) -> tuple[list[Patch], list[str]]:
        """Return the patches and words of a legend."""
        colors, words = list(self._colors.values())[:_MOST_WORDS], list(self.names.values())
        patches = [Patch(color=color, alpha=STRONGEST, linewidth=0) for color in colors]
        if len(words) > _MOST_WORDS:
            words = [*words[: _MOST_WORDS - 1], f"{len(words) - _MOST_WORDS + 1:,} others"]
        return patches, words


class StepAxis:
    """A horizontal axis of steps 1 … `last`, logarithmic if there are many, on which strips are drawn."""

    def __init__(self, axes: Axes, last: int, *, width: float) -> None:
        self.axes, self.last, self._width = axes, last, width
        self._is_log = last > _MOST_LINEAR
        if self._is_log:
            axes.set_xscale("log")
        axes.set_xlim(0.52 if self._is_log else 0.4, last + 0.6)
        axes.grid(visible=False)

    def draw(
        self,
        row: float,
        steps: tuple[int, int],
        action: int,
        colors: ActionColors,
        *,
        strength: float = STRONGEST,
        height: float = _HEIGHT,
    ) -> None:
        """Draw an action from the first to the last of `steps` in a row, with its name if there is room."""
        first, last = steps
        left, right = (first - 0.5, last + 0.5) if self._is_log else (first - _GAP, last + _GAP)
        self.axes.add_patch(
            Rectangle(
                (left, row - height / 2),
                right - left,
                height,
                facecolor=colors[action],
                alpha=strength,
                linewidth=0,
            )
        )
        middle = math.sqrt(left * right) if self._is_log else (left + right) / 2.0
        name = colors.names[action]
        if height == _HEIGHT and len(name) <= self._inches(left, right) * _CHARACTERS_PER_INCH:
            self.axes.annotate(
                name, (middle, row), ha="center", va="center", fontsize=8.5, color=INK, parse_math=False
            )

    def mark_steps(self, steps: Iterable[int] = ()) -> None:
        """Set ticks at the given steps, where something changes, if there is room for them."""
        wanted = sorted({1, *steps})
        places = [self._inches(0.52, step) for step in wanted]
        near = any(b - a < 0.3 for a, b in pairwise(places))
        axis = self.axes.xaxis
        if len(wanted) > 1 and not near:
            axis.set_major_locator(FixedLocator([float(step) for step in wanted]))
            axis.set_major_formatter(FixedFormatter([f"{step:,}" for step in wanted]))
            axis.set_minor_locator(NullLocator())
        elif self._is_log:
            powers = [10**k for k in range(int(math.log10(self.last)) + 1)]
            axis.set_major_locator(FixedLocator([float(power) for power in powers]))
            axis.set_major_formatter(FixedFormatter([f"{power:,}" for power in powers]))
        else:
            axis.set_major_locator(MaxNLocator(nbins=12, integer=True))

    def _inches(self, left: float, right: float) -> float:
        if self._is_log:
            return self._width * math.log(right / left) / math.log(self.last / 0.52)
        return self._width * (right - left) / self.last
