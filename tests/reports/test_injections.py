"""Names given by users are escaped in every report and in every figure of a report."""

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
    ClaimVerdict,
    ReportTable,
    reproduction_report,
    results_report,
    session_report,
)
from sojourn.sessions import SessionLog, analyze, compare_groups


class Structure(HTMLParser):
    """Collects the elements of a page with the names of their attributes, its text and its images."""

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


def report_on_reproduction(name):
    table = ReportTable(name, (name, name), [(name, name)])
    chapter = Chapter(name, name, name, (), (table,), (Claim(name, name, ClaimVerdict.HOLDS, name),))
    return reproduction_report([chapter], chapter.claims, quick=False, command=name)


def report_on_results(name):
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
        folder, gaps = Path("store") / name.replace("/", "∕"), (name,)

        def comparable(self):
            return self

        def select(self, experiment):
            return SimpleNamespace(comparisons=lambda: [comparison])

    trial = SimpleNamespace(experiment=name, purpose="evaluation", key="")
    return results_report(Stored([trial]), command=name)


def report_on_log(name):
    """Return a report without figures; another test checks that figures have no text of the log."""
    log = SessionLog.from_columns([1, 2, 2, 5, 9] * 20, group=[name, "other"] * 50, name=name)
    analysis = replace(LOG, log=log, groups=compare_groups(log))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sojourn.reports._sessions._figures", lambda curves: [])
        patch.setattr("sojourn.reports._sessions.session_legend", lambda curves: [])
        return session_report(analysis)


LOG = analyze(SessionLog.from_columns([1, 2, 2, 5, 9] * 20))


def test_figures_of_a_log_contain_none_of_its_text():
    log = replace(LOG.log, name="<script>")
    pages = [session_report(LOG), session_report(replace(LOG, log=log))]
    first, second = (Structure(page).images for page in pages)
    assert first == second
    assert len(first) > 3


@pytest.mark.parametrize("report", [report_on_reproduction, report_on_results, report_on_log])
def test_no_name_becomes_markup(report):
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
    """Assert that an image has no scripts and refers only to its own parts."""
    root = ET.fromstring(unquote(address.partition(",")[2]))
    for element in root.iter():
        assert element.tag.rpartition("}")[2] not in {"script", "foreignObject", "a", "image"}
        for name, value in element.attrib.items():
            assert not re.match(r"(\{.*\})?on", name)
            assert not name.endswith("href") or value.startswith("#")
