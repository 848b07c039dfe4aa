from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from urllib.parse import unquote

import numpy as np
import pytest

import sojourn as sj
from sojourn.reports import session_report, write_page
from sojourn.sessions import SessionLog, analyze, read_sessions, read_steps

VOID = {"meta", "img", "source", "br", "hr", "link", "input"}


class Reader(HTMLParser):
    """Collects tags and attributes, and checks that every element is closed where it was opened."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_facts_show_only_what_the_findings_say_is_determined():
    still_open = SessionLog.from_columns(np.repeat([2, 9, 10], 1_000), np.repeat([True, True, False], 1_000))
    facts = " ".join(Reader(session_report(analyze(still_open))).text.split("Findings")[0].split())
    assert "mean lengthnot determined median length9" in facts
    assert "best single γnot determined" in facts
    no_family_fits = analyze(SessionLog.from_columns([2] * 500 + [9] * 500))
    facts = " ".join(Reader(session_report(no_family_fits)).text.split("Findings")[0].split())
    assert "mean length5.5 median length2" in facts


@pytest.fixture(scope="module")
def page():
    rng = np.random.default_rng(0)
    lengths, cuts = sj.BetaGeometric(2.2, 4.0).sample(rng, 2_000), sj.Geometric(0.9).sample(rng, 2_000)
    groups = rng.choice(["alice@example.com", "bob-17"], 2_000).tolist()
    log = SessionLog.from_columns(np.minimum(lengths, cuts), lengths < cuts, group=groups, name="visits.csv")
    return session_report(analyze(log, problem=sj.mdps.cash_or_invest(5)))


def test_the_answer_and_the_pictures_come_before_the_reasons(page):
    text = Reader(page).text
    places = [
        text.index(words) for words in ("Use a discount that changes", "The data and the laws", "Findings")
    ]
    assert places == sorted(places)
    assert "The data contradict this law" not in text
    poor = session_report(analyze(SessionLog.from_columns([2] * 500 + [9] * 500)))
    assert "The data contradict this law; the findings say what to use instead." in Reader(poor).text


def test_the_page_loads_nothing(page):
    read = Reader(page)
    assert not {"script", "link", "iframe", "object", "embed", "form", "a"} & set(read.tags)
    for _, name, value in read.attributes:
        assert not name.startswith("on")
        assert name != "style"
        if name in ("src", "srcset"):
            assert value.startswith("data:image/svg+xml,")
    # Namespaces of SVG, and references to an image's own parts, load nothing.
    outside = re.findall(r"https?:[^\s\"'>]*|url\(.|@import", unquote(page))
    assert all(found.startswith("http://www.w3.org/") or found == "url(#" for found in outside)


def test_the_policy_allows_only_the_pages_own_style(page):
    policy = next(v for t, n, v in Reader(page).attributes if t == "meta" and n == "content" and "src" in v)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def test_names_of_groups_are_not_in_the_page(page):
    assert "alice" not in page
    assert "bob" not in page
    assert "Groups are numbered by size" in page
    for address in re.findall(r"data:image/svg\+xml,([^\"]+)", page):
        assert "alice" not in unquote(address)


def test_the_page_shows_the_results_of_the_analysis(page):
    text = " ".join(Reader(page).text.split())
    assert "2,000 rows were read, 2,000 used and 0 rejected." in text
    assert "BetaGeometric(a=" in text
    law = re.search(r"<pre>(\w+\(.*?\))</pre>", page)[1]
    assert sj.parse_law(law).mean > 1.0
    assert page.count("<img ") == 3 + 1 + 5  # three panels; the plan; band, data and three laws


def test_pages_are_deterministic():
    log = SessionLog.from_columns([1, 2, 2, 5, 9] * 20)
    assert session_report(analyze(log)) == session_report(analyze(log))


def test_hostile_text_is_escaped(tmp_path):
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    evil = "</style><script>alert(1)</script>"
    rows = "".join(f"{i % 5 + 1},{evil},secret-{i}\n" for i in range(200))
    path.write_text(f"length,group,<script>\n{rows}x,{evil},secret-x\n", encoding="utf-8")
    page = session_report(analyze(read_sessions(path)))
    read = Reader(page)
    assert "script" not in read.tags
    assert read.tags.count("style") == 1
    assert [value for tag, name, value in read.attributes if name == "src" and value == "x"] == []
    assert "secret" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;.csv" in page
    assert "201 rows were read, 200 used and 1 rejected." in page
    assert "length must be a whole number ≥ 1" in page


@pytest.mark.parametrize("lengths", [[1], [7] * 30, [1, 10**6]])
def test_tiny_logs_have_a_page(lengths):
    Reader(session_report(analyze(SessionLog.from_columns(lengths))))


def test_a_page_is_written_atomically(tmp_path):
    assert write_page("<p>", tmp_path / "page.html").read_text() == "<p>"
    with pytest.raises(OSError, match="folder"):
        write_page("<p>", tmp_path / "no folder" / "page.html")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_the_page_shows_what_to_do_and_keeps_the_names_of_states_of_a_log():
    rows = [("e1", 1, "Ms Secret", "call", 0.0), ("e1", 2, "Mr Hidden", "mail", 1.0)] * 30
    table = {
        "episode": [f"{name}-{i // 2}" for i, (name, *_) in enumerate(rows)],
        "step": [row[1] for row in rows],
        "state": [row[2] for row in rows],
        "action": [row[3] for row in rows],
        "reward": [row[4] for row in rows],
        "ended": [row[1] == 2 for row in rows],
    }
    steps = read_steps(table)
    page = session_report(analyze(steps.sessions(), problem=steps.problem(unvisited="stay")))
    assert "What to do at which step" in page
    assert "Secret" not in page
    assert "Hidden" not in page
    assert "What to do at which step" not in session_report(analyze(steps.sessions()))
