"""Notebook cards: pictures are well-formed SVG, their geometry is right, and all text is escaped."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import sojourn as sj
from sojourn import _html
from sojourn.sessions import SessionLog, analyze

HOSTILE = "<script>&'\""
LAW = sj.Geometric(0.8)


def picture(card: str) -> ElementTree.Element:
    """Return the only picture of a card, parsed."""
    (text,) = re.findall(r"<svg.*?</svg>", card)
    return ElementTree.fromstring(text)


def points(line: ElementTree.Element) -> list[tuple[float, ...]]:
    return [tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()]


def test_a_curve_spans_its_axes():
    drawn = picture(_html.line_picture([("a", [1, 2, 3], [0.0, 1.0, 2.0])], ("x", "y")))
    (x0, y0), (x1, y1), (x2, y2) = points(drawn.find("polyline"))
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.11)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.11)
    logarithmic = _html.line_picture([("a", [1, 10, 100], [0.0, 1.0, 2.0])], ("x", "y"), logarithmic=True)
    assert [x for x, _ in points(picture(logarithmic).find("polyline"))] == [x0, x1, x2]


def test_stairs_turn_at_right_angles():
    drawn = picture(_html.line_picture([("a", [1, 2], [1.0, 0.0])], ("x", "y"), stairs=True))
    (x0, y0), (x1, y1), (x2, y2) = points(drawn.find("polyline"))
    assert (y0, x1) == (y1, x2)
    assert x1 > x0
    assert y2 > y1


def test_bars_are_proportional_and_unknown_values_have_none():
    rows = [("a", 10.0, 5.0, 15.0, "10"), ("b", 5.0, math.nan, math.nan, "5"), ("c", *[math.nan] * 3, "—")]
    drawn = picture(_html.bar_picture(rows, "regret"))
    widths = [float(bar.attrib["width"]) for bar in drawn.findall("rect")]
    assert widths[0] == pytest.approx(2.0 * widths[1], abs=0.2)
    assert len(widths) == 2
    (interval,) = drawn.findall("line")
    assert float(interval.attrib["x2"]) - float(interval.attrib["x1"]) == pytest.approx(widths[0], abs=0.2)


def test_columns_are_stacked_by_count():
    drawn = picture(_html.column_picture([(1, 1, 4, 2), (2, 2, 3, 0)], ("length", "sessions"), ("a", "b")))
    heights = [float(bar.attrib["height"]) for bar in drawn.findall("rect")]
    assert heights[:3] == pytest.approx([64.0, 32.0, 48.0])  # 96 points high for 6 sessions


def problem(n_states: int = 3) -> sj.TabularMDP:
    ring = np.roll(np.eye(n_states), 1, axis=1)
    rewards = np.arange(2.0 * n_states).reshape(n_states, 2)
    return sj.TabularMDP(np.stack([ring, np.eye(n_states)], axis=1), rewards, name=HOSTILE)


def log() -> SessionLog:
    lengths = sj.BetaGeometric(3.0, 6.0).sample(np.random.default_rng(0), 2_000)
    return SessionLog.from_columns(lengths, lengths < 20, name=HOSTILE)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sj.Polynomial(1.4),
        lambda: sj.Fixed(1),
        lambda: sj.Polynomial(1.05),
        lambda: sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(1_000_000)]),
        lambda: sj.fit([1, 2, 2, 5], family="geometric"),
        problem,
        lambda: problem(50),
        lambda: sj.learn(sj.RandomPlayer(), problem(), LAW, episodes=5),
        lambda: sj.compare([sj.RandomPlayer()] * 2, problem(), LAW, episodes=5, seeds=2),
        lambda: sj.compare([sj.RandomPlayer()] * 2, problem(), LAW, episodes=5, seeds=5),
        log,
        lambda: analyze(log()),
        lambda: SessionLog.from_columns([7]),
        lambda: SessionLog.from_columns([1, 2, 100_000]),
    ],
)
def test_cards_have_four_facts_a_picture_and_escaped_text(make):
    shown = make()
    card = shown._repr_html_()
    assert picture(card).tag == "svg"
    assert card.count("font-size:80%") == 4
    assert "<script" not in card
    assert "nan" not in re.findall(r"<svg.*?</svg>", card)[0]


def test_logs_and_analyses_print_in_a_few_lines():
    sessions = SessionLog.from_columns([3, 1, 3, 8], [True, True, True, False], group=list("aabb"), name="l")
    assert repr(sessions) == "SessionLog('l': 4 sessions of 1 … 8 steps, 25% still open, 2 groups)"
    lines = repr(analyze(log())).splitlines()
    assert len(lines) == 5
    assert "2,000 sessions" in lines[0]
    assert lines[1].startswith("best law       BetaGeometric(")
    assert max(map(len, lines)) < 100
