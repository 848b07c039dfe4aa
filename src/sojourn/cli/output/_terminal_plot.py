"""Draws decreasing curves in a terminal with braille dots, or with letters if the encoding lacks them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.text import Text

__all__ = ["Curve", "Frame", "draw"]

_MARGIN = 7
"""Columns left of the picture, for labels such as " 1e-3 ┤"."""

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""Bits of a braille character by column and row of its dots."""


@dataclass(frozen=True)
class Curve:
    """A curve with values in [0, 1], and its appearance.

    Args:
        heights: Function from a list of steps to the values there.
        label: Name in the legend.
        style: Color.
        letter: Character to draw with if there are no braille dots.
        dashed: Whether it is drawn with gaps.
    """

    heights: Callable[[Sequence[int]], Sequence[float]]
    label: str
    style: str
    letter: str
    dashed: bool = False


@dataclass(frozen=True)
class Frame:
    """The part of the plane that is shown.

    Args:
        last: The last step, at least 2; the first is 1.
        decades: If 0, both axes are linear and heights go from 1 to 0. Otherwise both axes are logarithmic
            and heights go from 1 down to 10^−decades.
    """

    last: int
    decades: int = 0

    def step(self, across: float) -> int:
        """Return the step at a fraction of the width."""
        return round(self.last**across if self.decades else 1.0 + (self.last - 1.0) * across)

    def across(self, step: int) -> float:
        """Return the fraction of the width at a step."""
        return math.log(step, self.last) if self.decades else (step - 1.0) / (self.last - 1.0)

    def down(self, height: float) -> float:
        """Return the fraction of the way from top to bottom; values above 1 are not visible."""
        if not self.decades:
            return 1.0 - height
        return -math.log10(height) / self.decades if height > 0.0 else math.inf

    def step_ticks(self) -> list[int]:
        """Return round steps for ticks: powers of ten, or a few with even spacing."""
        if self.decades:
            return [10**power for power in range(int(math.log10(self.last)) + 1)]
        sizes = (unit * 10**power for power in range(17) for unit in (1, 2, 5))
        spacing = next(size for size in sizes if 6 * size >= self.last)
        return sorted({1, *range(spacing, self.last + 1, spacing)})

    def height_ticks(self) -> dict[float, str]:
        """Return the labels of the heights by their fraction of the way down."""
        if not self.decades:
            return {0.0: "1", 0.5: "0.5", 1.0: "0"}
        return {power / self.decades: _power(power) for power in range(self.decades + 1)}


def draw(curves: Sequence[Curve], frame: Frame, *, width: int, height: int = 9, braille: bool = True) -> Text:
    """Draw curves, the first on top, with axes and a legend, in lines of at most `width` columns.

    Args:
        curves: The curves.
        frame: The part of the plane to show.
        width: Number of columns to fill.
        height: Number of lines, without axis and legend.
        braille: Whether the output can show braille and box-drawing characters.
    """
    columns = max(width - _MARGIN - 1, 16)
    across, down = (2, 4) if braille else (1, 1)
    steps = [frame.step(place / (columns * across - 1)) for place in range(columns * across)]
    traces = [_rows_passed(curve, frame, steps, height * down) for curve in curves]
    cell = _braille_cell if braille else _letter_cell
    labels = {round(share * (height - 1)): label for share, label in frame.height_ticks().items()}
    picture = Text()
    for line in range(height):
        side = ("┤" if line in labels else "│") if braille else "|"
        picture.append(f"{labels.get(line, ''):>{_MARGIN - 2}} {side}", "dim")
        for column in range(columns):
            picture.append(*cell(curves, traces, column, line))
        picture.append("\n")
    _append_step_axis(picture, frame, columns, ("└", "─", "┬") if braille else ("+", "-", "+"))
    names = []
    for curve in curves:
        sample = ("⠒⠀⠒" if curve.dashed else "⠒⠒⠒") if braille else curve.letter
        names.append(Text.assemble((sample, curve.style), f" {curve.label}"))
    in_one_line = _MARGIN + sum(len(name) + 3 for name in names) - 3 <= width
    margin = " " * _MARGIN
    return picture.append(margin).append(Text("   " if in_one_line else f"\n{margin}").join(names))


def _rows_passed(curve: Curve, frame: Frame, steps: Sequence[int], n_rows: int) -> list[range]:
    """Return for each position the rows that the curve passes on its way from the previous one."""
    downs = [min(frame.down(height) * (n_rows - 1), float(n_rows)) for height in curve.heights(steps)]
    rows = [round(down) for down in downs]
    passed = []
    for place, row in enumerate(rows):
        before = rows[max(place - 1, 0)]
        is_gap = curve.dashed and place % 6 >= 3 and row - before <= 1
        passed.append(range(0) if is_gap else range(min(before + 1, row), row + 1))
    return passed


def _braille_cell(
    curves: Sequence[Curve], traces: Sequence[list[range]], column: int, line: int
) -> tuple[str, str]:
    """Return the character of a cell and its style, that of the first curve that passes it."""
    bits, style = 0, ""
    for curve, passed in zip(curves, traces, strict=True):
        mine = sum(
            dot
            for side, dots in enumerate(_DOTS)
            for row, dot in enumerate(dots, start=4 * line)
            if row in passed[2 * column + side]
        )
        style = style or (curve.style if mine else "")
        bits |= mine
    return (chr(0x2800 + bits) if bits else " "), style


def _letter_cell(
    curves: Sequence[Curve], traces: Sequence[list[range]], column: int, line: int
) -> tuple[str, str]:
    """Return the letter and style of the first curve that passes a cell."""
    for curve, passed in zip(curves, traces, strict=True):
        if line in passed[column]:
            return curve.letter, curve.style
    return " ", ""


def _append_step_axis(picture: Text, frame: Frame, columns: int, marks: tuple[str, str, str]) -> None:
    """Add the axis of steps and its numbers, which do not overlap.

    Args:
        picture: The drawing.
        frame: The part of the plane.
        columns: Number of columns of the picture.
        marks: Characters for the corner, the axis and a tick.
    """
    corner, bar, tick = marks
    line, numbers = [bar] * columns, [" "] * (columns + _MARGIN + 1)
    next_free = 0
    for step in frame.step_ticks():
        place, text = round(frame.across(step) * (columns - 1)), _short_number(step)
        start = place + _MARGIN - len(text) // 2
        if start < next_free or start + len(text) > len(numbers):
            continue
        line[place] = tick
        numbers[start : start + len(text)] = text
        next_free = start + len(text) + 1
    picture.append(f"{' ' * (_MARGIN - 1)}{corner}{''.join(line)}\n{''.join(numbers)}\n", "dim")


def _power(power: int) -> str:
    """Return the label of 10^−power."""
    return f"{10.0**-power:g}" if power < 3 else f"1e-{power}"


def _short_number(step: int) -> str:
    """Return a step with a unit prefix, such as "5k"."""
    for unit, letter in ((10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k")):
        if step >= unit and step % unit == 0:
            return f"{step // unit}{letter}"
    return str(step)
