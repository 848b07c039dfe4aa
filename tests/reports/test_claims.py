"""Tables of claims survive Markdown."""

from __future__ import annotations

import pytest
from reference.markdown import table_cells as cells

from sojourn.reports import Claim, ClaimVerdict, claims_as_json, claims_page, claims_table, count_verdicts

AWKWARD = "H* and V*_h, a_b_c, `code`, [HZG21](x), ~~no~~, <b>, 3 < p < 4, \\ and “quotes”, γ̂_j(h)"


def test_a_page_shows_every_cell_as_it_is():
    claims = [Claim("Lemma 1", AWKWARD, ClaimVerdict.NOT_REPRODUCED, AWKWARD + " docs/theory.md")]
    (header, row) = cells(claims_page(claims))
    assert header == ["Place", "The paper says", "Verdict", "What we found"]
    assert row == ["Lemma 1", AWKWARD, "not reproduced", AWKWARD + " docs/theory.md"]
    assert "[docs/theory.md](theory.md)" in claims_page(claims)


@pytest.mark.parametrize("text", ["|Γ̂ − Γ| ≤ ε", "two\nlines"])
def test_text_that_would_break_a_table_is_refused(text):
    with pytest.raises(ValueError, match="must be one line without vertical bars"):
        claims_table([{"source": "Lemma 5", "claim": text, "verdict": "fails", "measured": ""}])


def test_the_short_table_has_no_findings():
    claims = claims_as_json([Claim("Lemma 1", "a", ClaimVerdict.HOLDS, "b")])
    assert cells(claims_table(claims, found=False))[1] == ["Lemma 1", "a", "holds"]


def test_verdicts_are_counted():
    claims = [
        Claim("a", "", verdict, "") for verdict in (ClaimVerdict.OPEN, ClaimVerdict.HOLDS) for _ in "ab"
    ]
    assert count_verdicts(claims) == "4 claims: 2 “holds”, 2 “open”."
