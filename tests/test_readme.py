"""README and docs show the claims of docs/claims.json, which come from the shipped experiments."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from sojourn.reproduction._errata import errata

import sojourn as sj
from sojourn import theory

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def writer():
    """Return the module evidence/readme.py."""
    sys.path.insert(0, str(ROOT / "evidence"))
    try:
        import readme
    finally:
        sys.path.pop(0)
    return readme


@pytest.fixture(scope="module")
def published(writer):
    return json.loads(writer.CLAIMS.read_text(encoding="utf-8"))


def test_claims_come_from_the_shipped_experiments(writer, published):
    assert published["fingerprint"] == writer.fingerprint(), "the experiments changed: run evidence/readme.py"


@pytest.mark.parametrize("page", ["README.md", "docs/paper-claims.md"])
def test_pages_show_the_claims(writer, published, page):
    assert ROOT / page in writer.PAGES
    text = (ROOT / page).read_text(encoding="utf-8")
    shown = text.partition("<!-- claims: begin -->")[2].partition("<!-- claims: end -->")[0].strip()
    assert shown == writer.claims_table(published["claims"])


def measured(published, source, pattern):
    """Return the numbers in a claim's sentence that match the groups of a pattern."""
    for claim in published["claims"]:
        found = re.search(pattern, claim["measured"])
        if claim["source"] == source and found:
            return [float(number.replace(",", "")) for number in found.groups()]
    raise AssertionError(f"no claim of {source} says {pattern}")


def test_claims_that_need_no_trials_are_up_to_date(published):
    law, mdp = sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)]), sj.mdps.two_paths()
    clairvoyant, blind = measured(published, "Lemma 1", r"earns ([\d.]+), the best blind policy ([\d.]+)")
    assert clairvoyant == pytest.approx(mdp.start @ sj.clairvoyant_value(mdp, law))
    assert blind == pytest.approx(mdp.start @ sj.plan(mdp, law).value)

    (block,) = measured(published, "Algorithm 2", r"the first block is (\d+) episodes")
    assert block == theory.block_length(100, delta=0.1)

    shown = {(claim["source"], claim["claim"], claim["measured"]) for claim in published["claims"]}
    assert {(claim.source, claim.text, claim.measured) for claim in errata()} <= shown
