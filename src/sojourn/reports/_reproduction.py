"""Report of a reproduction: verdicts on the paper's claims, figures, tables and settings."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.reports._chapter import Chapter, Claim, chapter_context
from sojourn.reports._claims import count_verdicts, used_verdicts
from sojourn.reports._page import render

__all__ = ["reproduction_report"]


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
    summary = count_verdicts(claims)
    if quick:
        summary += (
            " This is a quick run of small experiments: it shows that everything works, and its numbers "
            "decide nothing."
        )
    return render(
        "reproduction.html",
        kind="Reproduction",
        title="Online Reinforcement Learning with Uncertain Episode Lengths",
        summary=summary,
        claims=claims,
        meanings=used_verdicts(claims),
        **chapter_context(chapters, command=command),
    )
