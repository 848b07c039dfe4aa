"""Whatever users call things, it stays words: in every report, and in every figure that a report holds."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import numpy as np
import pytest
from reference.injections import INJECTIONS

import sojourn as sj
from sojourn.learning import Comparison
from sojourn.reports import (
    Chapter,
    Claim,
    Table,
    Verdict,
    reproduction_report,
    results_report,
    session_report,
)
from sojourn.sessions import SessionLog, analyze, compare_groups


class Structure(HTMLParser):
    """The elements of a page with the names of their attributes, its text, and its images."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.words, self.images = [], "", []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.images += [value for name, value in attrs if name == "src"]

    def handle_endtag(self, tag):
        self.elements.append((f"/{tag}",))

    def handle_data(self, data):
        self.words += data


def of_a_reproduction(name):
    table = Table(name, (name, name), [(name, name)])
    chapter = Chapter(name, name, name, (), (table,), (Claim(name, name, Verdict.HOLDS, name),))
    return reproduction_report([chapter], quick=False, command=name)


def of_results(name):
    comparison = Comparison(
        names=(name, f"{name} again"),
        agents=(sj.RandomPlayer(),) * 2,
        problem=name,
        law=sj.Fixed(2),
        seeds=(0, 1),
        checkpoints=np.array([1, 2]),
        cumulative_regret=np.array([[[1.0, 2.0], [1.0, 3.0]], [[1.0, 2.0], [2.0, 3.0]]]),
        regret_width=np.zeros((2, 2)),
        rewards=np.zeros((2, 2)),
    )

    class Stored(list):
        folder = Path("store") / name.replace("/", "∕")

        def select(self, experiment):
            return SimpleNamespace(comparisons=lambda: [comparison])

    return results_report(Stored([SimpleNamespace(experiment=name)]), command=name)


def of_a_log(name):
    """A report whose figures are left out: they hold no words of the log's, which another test sees to."""
    log = SessionLog.from_columns([1, 2, 2, 5, 9] * 20, group=[name, "other"] * 50, name=name)
    analysis = replace(LOG, log=log, groups=compare_groups(log))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sojourn.reports._sessions._figures", lambda curves: [])
        patch.setattr("sojourn.reports._sessions.session_key", lambda curves: [])
        return session_report(analysis)


LOG = analyze(SessionLog.from_columns([1, 2, 2, 5, 9] * 20))


def test_figures_of_a_log_hold_none_of_its_words():
    log = replace(LOG.log, name="<script>")
    pages = [session_report(LOG), session_report(replace(LOG, log=log))]
    first, second = (Structure(page).images for page in pages)
    assert first == second
    assert len(first) > 3


@pytest.mark.parametrize("report", [of_a_reproduction, of_results, of_a_log])
def test_no_word_becomes_part_of_a_page(report):
    harmless = Structure(report("harmless"))
    for name in INJECTIONS:
        page = report(name)
        read = Structure(page)
        assert read.elements == harmless.elements, name
        assert " ".join(name.split()) in " ".join(read.words.split())
        for image in set(read.images):
            assert image.startswith("data:image/svg+xml")
            check_image(image)


def check_image(address):
    """An image that runs nothing and refers to nothing but its own parts."""
    root = ET.fromstring(unquote(address.partition(",")[2]))
    for element in root.iter():
        assert element.tag.rpartition("}")[2] not in {"script", "foreignObject", "a", "image"}
        for name, value in element.attrib.items():
            assert not re.match(r"(\{.*\})?on", name)
            assert not name.endswith("href") or value.startswith("#")
