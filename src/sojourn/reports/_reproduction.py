"""Report of a reproduction: verdicts on the paper's claims, figures, tables and settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sojourn.reports._chapter import VERDICT_TONES, Chapter, Claim, chapter_context
from sojourn.reports._claims import count_verdicts, used_verdicts
from sojourn.reports._page import is_page_of_kind, render

__all__ = ["is_reproduction_report", "reproduction_report"]

_KIND = "Reproduction"


def is_reproduction_report(path: Path) -> bool:
    """Whether a file is a page of `reproduction_report`: then nothing is lost if it is replaced."""
    return is_page_of_kind(path, _KIND)


def reproduction_report(
    chapters: Sequence[Chapter], claims: Sequence[Claim], *, quick: bool, command: str
) -> str:
    """Return the report of a reproduction as one self-contained HTML page.

    Args:
        chapters: Chapters of the parts that were run.
        claims: Their claims, in the order of the table.
        quick: Whether this was a quick run; the page then says so.
        command: Command that repeats the run.
    """
    if quick:
        summary = (
            f"A quick run of small experiments, about {len(claims)} claims of the paper: it shows that "
            "everything works, and decides none of them."
        )
        rows = [(claim, "quick run", "soft") for claim in claims]
    else:
        summary = count_verdicts(claims)
        rows = [(claim, claim.verdict.value, VERDICT_TONES[claim.verdict]) for claim in claims]
    return render(
        "reproduction.html",
        kind=_KIND,
        title="Online Reinforcement Learning with Uncertain Episode Lengths",
        summary=summary,
        claims=rows,
        meanings=[]
        if quick
        else [(word.value, meaning, VERDICT_TONES[word]) for word, meaning in used_verdicts(claims).items()],
        **chapter_context(chapters, command=command),
    )
