"""A quick reproduction: chapters, claims, figures and the report."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from reference.markdown import table_cells

from sojourn.experiments import Processes, Store
from sojourn.reports import Claim, ClaimVerdict, reproduction_report
from sojourn.reproduction import EXPERIMENTS, PARTS, read_shipped_experiment, reproduce
from sojourn.reproduction._runner import ExperimentRunner
from sojourn.reproduction.claims import PLACES

LIGHT = ("price", "shape", "unknown")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduction")
    return reproduce(LIGHT, folder=folder, quick=True, executor=Processes(workers=2))


def test_the_requested_parts_are_chapters_in_the_order_of_the_report(made):
    assert [chapter.name for chapter in made.chapters] == [name for name in PARTS if name in LIGHT]
    for chapter in made.chapters:
        assert chapter.pictures
        assert chapter.tables
        assert chapter.claims


def test_lemmas_one_and_two_and_the_equivalence(made):
    verdicts = {claim.source: claim for claim in made.claims}
    assert verdicts["Lemma 1"].verdict is ClaimVerdict.FAILS
    assert "earns 5.0 on average and the best single policy 4.5" in verdicts["Lemma 1"].measured
    assert verdicts["Lemma 2"].verdict is ClaimVerdict.HOLDS
    assert verdicts["Section 2.1"].verdict is ClaimVerdict.HOLDS


def test_the_published_claims_are_worded_as_in_the_code(made):
    path = Path(__file__).parents[2] / "docs" / "claims.json"
    published = {(claim["source"], claim["claim"]) for claim in json.loads(path.read_text("utf-8"))["claims"]}
    assert len(made.claims) == 18
    assert {(claim.source, claim.text) for claim in made.claims} <= published


def test_claims_are_sorted_by_their_place_in_the_paper(made):
    places = [PLACES.index(claim.source) for claim in made.claims]
    assert places == sorted(places)


def test_the_page_of_claims_shows_all_claims(made):
    rows = table_cells(made.page.read_text(encoding="utf-8"))[1:]
    assert rows == [[c.source, c.text, c.verdict.value, c.measured] for c in made.claims]


def test_the_page_loads_nothing_and_is_small(made):
    page = made.report.read_text(encoding="utf-8")
    assert len(page) < 3_000_000
    assert "<script" not in page
    assert not re.search(r"""(?:src|href|srcset)=["'](?!data:|#)""", page)
    assert "quick run" in page


def test_a_second_run_computes_nothing_and_gives_the_same_bytes(made, monkeypatch):
    for name in ("_price.plan", "_shape.plan", "_unknown.censoring_errors"):
        monkeypatch.setattr(f"sojourn.reproduction.{name}", None)
    folder = made.report.parent
    before = {path: path.read_bytes() for path in (made.report, made.page, *made.figures)}
    again = reproduce(LIGHT, folder=folder, quick=True, executor=Processes(workers=1))
    assert {path: path.read_bytes() for path in (again.report, again.page, *again.figures)} == before


def test_results_that_are_not_trials_are_remembered(tmp_path):
    calls = []

    def halves(*, n, words):
        calls.append(n)
        return (0.1 * n, [n // 2, words, None])

    runner, like = ExperimentRunner(Store(tmp_path / "results")), (0.0, [0, "", None])
    for n in (3, 3, 4):
        assert runner.remember(halves, like=like, n=n, words="a") == [0.1 * n, [n // 2, "a", None]]
    assert calls == [3, 4]
    tables = sorted((tmp_path / "tables").iterdir())
    assert len(tables) == 2
    sound = tables[0].read_bytes()
    flipped = sound.replace(b'"a"', b'"b"'), sound.replace(b" 0.", b" 1."), sound.replace(b"null", b"true")
    assert sound not in flipped
    broken = (b"", b"{", b"[]", b'{"call": 1}', b"[" * 100_000, b"\xff", b" " * 2_000_000)
    for content in (*broken, *flipped):
        tables[0].write_bytes(content)
        for n in (3, 4):
            assert runner.remember(halves, like=like, n=n, words="a")[0] == 0.1 * n
    assert len(calls) == 2 + 7 + 3


@pytest.mark.parametrize(
    "forged",
    [[], None, "x", {"a": 1}, [1.0], [1.0, 2.0, 3.0], [[1.0], [2.0]], [1.0, "2"], [1.0, True]]
    + [[1.0, float(text)] for text in ("nan", "inf", "1e101")],
)
def test_a_remembered_result_of_another_form_is_computed_again(tmp_path, forged):
    def pair():
        return forged_or_sound

    runner, forged_or_sound = ExperimentRunner(Store(tmp_path / "results")), forged
    runner.remember(pair, like=(0.0, 0.0))  # writes the forged result with its right hash
    forged_or_sound = (1.0, 2)
    assert runner.remember(pair, like=(0.0, 0.0)) == [1.0, 2]
    forged_or_sound = None
    assert runner.remember(pair, like=(0.0, 0.0)) == [1.0, 2]


def test_an_unknown_part_is_named():
    with pytest.raises(ValueError, match=r"Unknown part 'figur1'. Did you mean 'figure1'\?"):
        reproduce(["figur1"])


@pytest.mark.parametrize("quick", [True, False])
def test_all_shipped_experiments_can_be_read(quick):
    sizes = {name: read_shipped_experiment(name, quick=quick).n_trials for name in EXPERIMENTS}
    assert all(sizes.values())
    if not quick:
        assert sizes["figure1"] == 9 * 8 * 10


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7*7 }}"])
def test_text_in_the_report_is_escaped(made, text):
    chapter = made.chapters[0]
    claim = Claim(text, text, ClaimVerdict.HOLDS, text)
    page = reproduction_report(
        [type(chapter)(text, text, text, chapter.pictures, chapter.tables, (claim,))],
        [claim],
        quick=False,
        command=text,
    )
    assert "<script" not in page
    assert "onerror=alert(1)>" not in page
    assert "49" not in page.replace("data:", "").split("<main>")[1].split("<figure>")[0]


def test_quick_and_partial_runs_do_not_overwrite_the_full_report(made):
    assert made.report.name == "report-unknown-price-shape-quick.html"
    assert made.page.name == "paper-claims-unknown-price-shape-quick.md"
    assert {path.parent.name for path in made.figures} == {"figures-quick"}


def test_specs_are_in_the_report(made):
    page = made.report.read_text(encoding="utf-8")
    for name in ("unknown", "shape"):
        assert f"<h3>{name}.toml</h3>" in page
    assert "estimator = &#34;empirical&#34;" in page


def test_files_that_a_reproduction_did_not_write_are_not_replaced(tmp_path):
    mine = tmp_path / "report-price-quick.html"
    mine.write_text("my own")
    with pytest.raises(ValueError, match="is no page of 'sojourn reproduce'"):
        reproduce(["price"], folder=tmp_path, quick=True)
    assert mine.read_text() == "my own"
    mine.unlink()
    (tmp_path / "elsewhere").mkdir()
    for name in ("figures-quick", "tables", "results"):
        (tmp_path / name).symlink_to(tmp_path / "elsewhere")
        with pytest.raises(ValueError, match=f"{name} must not be a link"):
            reproduce(["price"], folder=tmp_path, quick=True)
        (tmp_path / name).unlink()
    assert not any((tmp_path / "elsewhere").iterdir())
