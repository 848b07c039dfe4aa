from __future__ import annotations

import pytest

from sojourn.cli.output._terminal_plot import Curve, Frame, draw


def half_line(steps):
    return [max(0.0, 1.0 - (step - 1) / 10) for step in steps]


def curve(heights, **settings):
    return Curve(heights, "this law", "cyan", "*", **settings)


@pytest.mark.parametrize("braille", [True, False])
@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize(
    "frame", [Frame(11), Frame(2), Frame(10**15), Frame(1000, decades=4), Frame(10, decades=4)]
)
def test_pictures_fit_their_width(frame, width, braille):
    lines = draw([curve(half_line)], frame, width=width, braille=braille).plain.splitlines()
    assert max(map(len, map(str.rstrip, lines))) <= width
    assert len(lines) == 12  # nine lines, two of the axis, the legend


def test_long_legends_use_several_lines():
    curves = [curve(half_line), Curve(half_line, "geometric, same mean", "yellow", ".", dashed=True)]
    lines = draw(curves, Frame(11), width=40).plain.splitlines()
    assert [line.strip() for line in lines[11:]] == ["⠒⠒⠒ this law", "⠒⠀⠒ geometric, same mean"]


def test_a_falling_line_goes_from_one_corner_to_the_other():
    lines = draw([curve(half_line)], Frame(11), width=40, braille=False).plain.splitlines()
    assert lines[0].startswith("    1 |*")
    assert lines[8].rstrip().endswith("*")
    columns = [line.find("*") for line in lines[:9]]
    assert columns == sorted(columns)


def test_a_sudden_drop_is_drawn_as_a_vertical_line():
    lines = draw(
        [curve(lambda steps: [float(step <= 5) for step in steps])], Frame(10), width=40
    ).plain.splitlines()
    at = max(i for i, character in enumerate(lines[0]) if 0x2800 < ord(character) < 0x2900)
    assert all(any(line[i : i + 1].strip() for i in (at, at + 1)) for line in lines[:9])


def test_heights_below_the_last_decade_are_not_drawn():
    frame = Frame(1000, decades=4)
    lines = draw(
        [curve(lambda steps: [10.0 ** -(step - 1) for step in steps])], frame, width=40
    ).plain.splitlines()
    assert lines[8][20:].strip() == ""
    assert frame.down(1e-4) == pytest.approx(1.0)
    assert frame.down(0.0) == float("inf")


def test_ticks_are_round_and_do_not_overlap():
    assert Frame(47).step_ticks() == [1, 10, 20, 30, 40]
    assert Frame(3).step_ticks() == [1, 2, 3]
    assert Frame(5000, decades=4).step_ticks() == [1, 10, 100, 1000]
    axis = draw([curve(half_line)], Frame(47), width=60, braille=False).plain.splitlines()[10]
    assert axis.split() == ["1", "10", "20", "30", "40"]


def test_the_first_curve_is_on_top():
    flat = curve(lambda steps: [1.0] * len(steps))
    under = Curve(flat.heights, "other", "yellow", ".", dashed=True)
    picture = draw([flat, under], Frame(10), width=40, braille=False).plain
    assert "." not in picture.splitlines()[0]
    assert "* this law   . other" in picture
