"""The claims' numbers are those that the code found, and the code is the one that found them."""

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
    """`evidence/readme.py`."""
    sys.path.insert(0, str(ROOT / "evidence"))
    try:
        import readme
    finally:
        sys.path.pop(0)
    return readme


@pytest.fixture(scope="module")
def told(writer):
    return json.loads(writer.CLAIMS.read_text(encoding="utf-8"))


def test_claims_were_found_by_the_code_that_is_here(writer, told):
    assert told["digest"] == writer.digest(), "the reproduction changed: run evidence/readme.py"


@pytest.mark.parametrize("page", ["README.md", "docs/paper-claims.md"])
def test_pages_show_them(writer, told, page):
    assert ROOT / page in writer.PAGES
    text = (ROOT / page).read_text(encoding="utf-8")
    shown = text.partition("<!-- claims: begin -->")[2].partition("<!-- claims: end -->")[0].strip()
    assert shown == writer.claims_table(told["claims"])


def measured(told, source, pattern):
    """Return the numbers that a claim's sentence holds at the groups of a pattern."""
    for claim in told["claims"]:
        found = re.search(pattern, claim["measured"])
        if claim["source"] == source and found:
            return [float(number.replace(",", "")) for number in found.groups()]
    raise AssertionError(f"no claim of {source} says {pattern}")


def test_what_can_be_computed_at_once_is_what_they_say(told):
    law, mdp = sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)]), sj.mdps.two_paths()
    knows, guesses = measured(told, "Lemma 1", r"earns ([\d.]+), the best blind policy ([\d.]+)")
    assert knows == pytest.approx(mdp.start @ sj.clairvoyant_value(mdp, law))
    assert guesses == pytest.approx(mdp.start @ sj.plan(mdp, law).value)

    (block,) = measured(told, "Algorithm 2", r"the first block is (\d+) episodes")
    assert block == theory.block_length(100, delta=0.1)

    found = {(claim["source"], claim["measured"]) for claim in told["claims"]}
    assert {(claim.source, claim.measured) for claim in errata()} <= found
