"""The reproduction in small: every part, its claims, its figures and its report."""

from __future__ import annotations

import re

import pytest

from sojourn.experiments import Processes, Store
from sojourn.reports import Claim, Verdict, reproduction_report
from sojourn.reproduction import PARTS, Workbench, reproduce

LIGHT = ("price", "shape", "unknown")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduction")
    return reproduce(LIGHT, folder=folder, quick=True, executor=Processes(workers=2))


def test_every_part_asked_for_is_a_chapter_in_the_reports_order(made):
    assert [chapter.name for chapter in made.chapters] == [name for name in PARTS if name in LIGHT]
    for chapter in made.chapters:
        assert chapter.pictures
        assert chapter.tables
        assert chapter.claims


def test_lemma_one_fails_on_two_paths(made):
    (claim,) = next(chapter for chapter in made.chapters if chapter.name == "price").claims
    assert claim.verdict is Verdict.FAILS
    assert "earns 5.0, the best blind policy 4.5" in claim.measured


def test_the_page_loads_nothing_and_is_small(made):
    page = made.report.read_text(encoding="utf-8")
    assert len(page) < 3_000_000
    assert "<script" not in page
    assert not re.search(r"""(?:src|href|srcset)=["'](?!data:)""", page)
    assert "quick run" in page


def test_a_second_run_gives_the_same_bytes(made, tmp_path):
    folder = made.report.parent
    before = {path: path.read_bytes() for path in (made.report, *made.figures)}
    again = reproduce(LIGHT, folder=folder, quick=True, executor=Processes(workers=1))
    assert {path: path.read_bytes() for path in (again.report, *again.figures)} == before


def test_an_unknown_part_is_named():
    with pytest.raises(ValueError, match=r"Unknown part 'figur1'. Did you mean 'figure1'\?"):
        reproduce(["figur1"])


@pytest.mark.parametrize("quick", [True, False])
def test_all_shipped_experiments_can_be_read(tmp_path, quick):
    bench = Workbench(Store(tmp_path / "store"), quick)
    sizes = {
        name: bench.read(name).n_trials
        for name in (
            "figure1",
            "tuned-100",
            "tuned-5000",
            "theory-geometric",
            "theory-polynomial",
            "unknown",
            "horizon",
            "shape",
        )
    }
    assert all(sizes.values())
    if not quick:
        assert sizes["figure1"] == 9 * 8 * 10


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7*7 }}"])
def test_whatever_a_name_holds_is_escaped(made, text):
    chapter = made.chapters[0]
    claim = Claim(text, text, Verdict.HOLDS, text)
    page = reproduction_report(
        [type(chapter)(text, text, text, chapter.pictures, chapter.tables, (claim,))],
        quick=False,
        command=text,
    )
    assert "<script" not in page
    assert "onerror=alert(1)>" not in page
    assert "49" not in page.replace("data:", "").split("<main>")[1].split("<figure>")[0]


def test_runs_of_parts_and_quick_ones_leave_the_whole_report_alone(made):
    assert made.report.name == "report-unknown-price-shape-quick.html"
    assert {path.parent.name for path in made.figures} == {"figures-quick"}


def test_what_was_run_is_in_the_report(made):
    page = made.report.read_text(encoding="utf-8")
    for name in ("unknown", "horizon", "shape"):
        assert f"<h3>{name}.toml</h3>" in page
    assert "candidates = [2, 4, 8, 16, 32, 64, 128]" in page
