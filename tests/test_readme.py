"""Tests that the pages show the stored claims, and that the code which computed them has not changed."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import sojourn as sj
from sojourn import theory
from sojourn.reproduction._errata import errata

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def writer():
    """The module `evidence/readme.py`."""
    sys.path.insert(0, str(ROOT / "evidence"))
    try:
        import readme
    finally:
        sys.path.pop(0)
    return readme


@pytest.fixture(scope="module")
def stored(writer):
    return json.loads(writer.CLAIMS.read_text(encoding="utf-8"))


def test_stored_claims_come_from_the_current_code(writer, stored):
    assert stored["digest"] == writer.digest(), "the code of the reproduction changed: run evidence/readme.py"


@pytest.mark.parametrize("page", ["README.md", "docs/paper-claims.md"])
def test_pages_show_the_stored_claims(writer, stored, page):
    assert ROOT / page in writer.PAGES
    text = (ROOT / page).read_text(encoding="utf-8")
    shown = text.partition("<!-- claims: begin -->")[2].partition("<!-- claims: end -->")[0].strip()
    assert shown == writer.claims_table(stored["claims"])


def measured(stored, source, pattern):
    """Return the numbers that the groups of a pattern match in a claim of the given source."""
    for claim in stored["claims"]:
        found = re.search(pattern, claim["measured"])
        if claim["source"] == source and found:
            return [float(number.replace(",", "")) for number in found.groups()]
    raise AssertionError(f"no claim of {source} says {pattern}")


def test_claims_that_are_quick_to_compute_are_correct(stored):
    law, mdp = sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)]), sj.mdps.two_paths()
    clairvoyant, blind = measured(stored, "Lemma 1", r"earns ([\d.]+), the best blind policy ([\d.]+)")
    assert clairvoyant == pytest.approx(mdp.start @ sj.clairvoyant_value(mdp, law))
    assert blind == pytest.approx(mdp.start @ sj.plan(mdp, law).value)

    (block,) = measured(stored, "Algorithm 2", r"the first block is (\d+) episodes")
    assert block == theory.block_length(100, delta=0.1)

    found = {(claim["source"], claim["measured"]) for claim in stored["claims"]}
    assert {(claim.source, claim.measured) for claim in errata()} <= found
