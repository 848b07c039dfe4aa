"""README and docs show the claims of docs/claims.json, which come from the shipped experiments."""

from __future__ import annotations

import html
import importlib
import json
import re
import sys
from pathlib import Path

import pytest
from reference.markdown import table_cells

import sojourn as sj
from sojourn.reports import ClaimVerdict, claims_page, count_verdicts, reproduction_report
from sojourn.reproduction import claims

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def writer():
    """Return the module evidence/readme.py."""
    sys.path.insert(0, str(ROOT / "evidence"))
    yield importlib.import_module("readme")
    sys.path.pop(0)


@pytest.fixture(scope="module")
def published(writer):
    return writer.read_claims()


def test_claims_come_from_the_shipped_experiments(writer):
    stored = json.loads(writer.CLAIMS.read_text(encoding="utf-8"))
    assert stored["fingerprint"] == writer.fingerprint(), "the experiments changed: run evidence/readme.py"


def test_the_page_and_the_readme_show_the_published_claims(writer, published):
    assert writer.PAGE.read_text(encoding="utf-8") == claims_page(published)
    text = writer.README.read_text(encoding="utf-8")
    shown = text.partition("<!-- claims: begin -->")[2].partition("<!-- claims: end -->")[0].strip()
    assert shown == writer.readme_part(published)


def test_the_report_shows_the_published_claims(published):
    def plain(text):  # without the marks of superscripts and subscripts, which the report typesets
        return re.sub(r"</?su[bp]>|[\^_{}()]", "", text)

    page = html.unescape(reproduction_report([], published, quick=False, command=""))
    assert count_verdicts(published) in page
    assert "T<sup>" in page
    page = plain(page)
    for claim in published:
        row = f"<td>{claim.source}</td><td>{claim.text}</td>"
        assert plain(row) in page
        assert plain(f">{claim.verdict.value}</span></td><td>{claim.measured}</td>") in page


def test_every_cell_of_the_pages_survives_markdown(writer, published):
    expected = [[c.source, c.text, c.verdict.value, c.measured] for c in published]
    assert table_cells(writer.PAGE.read_text(encoding="utf-8"))[1:] == expected
    readme = writer.README.read_text(encoding="utf-8")
    part = readme.partition("<!-- claims: begin -->")[2].partition("<!-- claims: end -->")[0]
    telling = [next(row[:3] for row in expected if row[0] == place) for place in writer.TELLING]
    assert table_cells(part)[1:] == telling


def test_no_text_shows_an_unformatted_field(published):
    for claim in published:
        assert not re.search(r"\{[a-z_]{2,}[}.\[(:]", claim.text + claim.measured)


def test_claims_are_in_the_order_of_the_paper_and_all_its_parts_have_one(published):
    places = [claim.source for claim in published]
    assert [places.index(place) for place in places] == sorted(places.index(place) for place in places)
    assert set(places) == set(claims.PLACES)
    verdicts = {claim.verdict for claim in published}
    assert {ClaimVerdict.HOLDS, ClaimVerdict.FAILS, ClaimVerdict.UNPROVEN} <= verdicts


def test_claims_that_need_no_trials_are_up_to_date(published):
    shown = {(c.source, c.text, c.verdict, c.measured) for c in published}
    for claim in (
        claims.same_minimizers(),
        claims.theorem_1(),
        claims.error_growth_claim(),
        claims.minimax_remark(),
        claims.announced_exponent(),
        claims.theorem_4(),
        claims.dkw(),
        claims.lemma_5(),
        claims.lemma_6(),
        claims.lemma_7(),
        claims.corollary_5(),
        claims.corollary_6(),
        claims.factor_between_rates(),
    ):
        assert (claim.source, claim.text, claim.verdict, claim.measured) in shown
    law, mdp = sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)]), sj.mdps.two_paths()
    (lemma,) = (claim for claim in published if claim.source == "Lemma 1")
    earned = f"earns {mdp.start @ sj.clairvoyant_value(mdp, law):.1f} on average and the best single policy"
    assert f"{earned} {mdp.start @ sj.plan(mdp, law).value:.1f}" in lemma.measured


def test_evidence_tables_show_the_stored_trials(writer):
    page = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
    for name in ("growth", "costs", "variants", "monotone", "intervals", "value_of_the_law"):
        module = importlib.import_module(name)
        written = module.tables()
        for part, text in written.items():
            shown = page.partition(f"<!-- {part}: begin -->")[2].partition(f"<!-- {part}: end -->")[0].strip()
            assert shown == text, f"run python evidence/{name}.py table"


def test_numbers_on_the_page_of_agents_are_those_of_the_evidence():
    agents, evidence, round_robin = (
        (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        for name in ("learners", "evidence", "round-robin")
    )
    agents = " ".join(agents.split())
    quoted = re.findall(r"\d[\d,.]* \([\d,.]+ … [\d,.]+\)|\d[\d,.]* ± [\d,.]+\d", agents)
    relative = re.findall(r"\d[\d.]* \[[\d.]+, [\d.]+\]", agents)
    assert len(quoted) >= 8
    assert len(relative) >= 4
    assert [text for text in quoted if text not in evidence] == []
    assert [text for text in relative if text not in round_robin] == []
