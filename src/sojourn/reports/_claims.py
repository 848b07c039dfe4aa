"""Claims of the paper as Markdown tables and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sojourn.reports._chapter import VERDICT_MEANINGS, Claim, ClaimVerdict

__all__ = ["claims_as_json", "claims_page", "claims_table", "count_verdicts", "used_verdicts"]

_INTRODUCTION = """\
# Which of the paper's claims hold

*For readers of the paper, and for its authors.*

This page lists what "Online Reinforcement Learning with Uncertain Episode Lengths" (Mandal, Radanović, Gan,
Singla, Majumdar; AAAI 2023) says, in its words or close to them, and what we found about each statement.
Theorems, corollaries and equations have the numbers that are printed in the paper. `sojourn reproduce`
computes everything in the last column and writes this page. Where a statement is about all problems or all
large T, runs cannot prove it; a proof, or the reason why there is none, is in [theory](theory.md) and in
the [notes on the paper](notes-on-the-paper.md)."""

_PAGES = ("theory.md", "theory-proofs.md", "evidence.md")
"""Pages that claims refer to, as docs/NAME."""


def claims_as_json(claims: Sequence[Claim]) -> list[dict[str, str]]:
    """Return the claims as plain dictionaries."""
    return [
        {"source": c.source, "claim": c.text, "verdict": c.verdict.value, "measured": c.measured}
        for c in claims
    ]


def claims_table(claims: Sequence[Mapping[str, Any]], *, found: bool = True) -> str:
    """Return a Markdown table of claims, which are dictionaries as in `claims_as_json`.

    Args:
        claims: The claims.
        found: Whether to show what was found, or only the verdict.

    Raises:
        ValueError: If a text has a character that would end its cell or start a new line.

    Example:
        >>> print(claims_table([{"source": "Lemma 1", "claim": "A ≤ B", "verdict": "fails"}], found=False))
        | Place | The paper says | Verdict |
        |---|---|---|
        | Lemma 1 | A ≤ B | **fails** |
    """
    columns = {
        "Place": "source",
        "The paper says": "claim",
        "Verdict": "verdict",
        "What we found": "measured",
    }
    if not found:
        del columns["What we found"]
    rows = [list(columns)]
    for claim in claims:
        place, says, verdict, *rest = (_cell(claim[key]) for key in columns.values())
        rows.append([place, says, f"**{verdict}**", *rest])
    header, *lines = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([header, "|" + "---|" * len(columns), *lines])


def _cell(text: str) -> str:
    """Return the text of a cell with Markdown's special characters escaped."""
    if "|" in text or "\n" in text:
        raise ValueError(f"a claim must be one line without vertical bars; got {text!r}.")
    for character in ("\\", "*", "_", "`", "<", "[", "]", "~"):
        text = text.replace(character, f"\\{character}")
    return text


def count_verdicts(claims: Sequence[Claim]) -> str:
    """Return a sentence with the number of claims by verdict, such as "3 claims: 2 “holds”, 1 “fails”."."""
    counts = {verdict: sum(claim.verdict is verdict for claim in claims) for verdict in ClaimVerdict}
    parts = [f"{n} “{verdict.value}”" for verdict, n in counts.items() if n]
    return f"{len(claims)} claims: {', '.join(parts)}."


def used_verdicts(claims: Sequence[Claim]) -> dict[ClaimVerdict, str]:
    """Return the definitions of the verdicts that occur in `claims`."""
    used = {claim.verdict for claim in claims}
    return {verdict: meaning for verdict, meaning in VERDICT_MEANINGS.items() if verdict in used}


def claims_page(claims: Sequence[Claim], *, quick: bool = False) -> str:
    """Return the page of claims in Markdown.

    Args:
        claims: The claims, in the order of the table.
        quick: Whether they come from a quick run; the page then says so.
    """
    meanings = [f"- **{verdict.value}**: {meaning}." for verdict, meaning in used_verdicts(claims).items()]
    table = claims_table(claims_as_json(claims))
    for name in _PAGES:
        table = table.replace(f"docs/{name}", f"[docs/{name}]({name})")
    note = ["This is a quick run of small experiments: its numbers decide nothing."] if quick else []
    parts = [_INTRODUCTION, *note, f"{count_verdicts(claims)} The words mean:", "\n".join(meanings), table]
    return "\n\n".join(parts) + "\n"
