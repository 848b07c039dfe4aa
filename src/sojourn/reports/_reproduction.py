"""Report of a reproduction: verdicts on the paper's claims, figures, tables and settings."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.reports._chapter import Chapter, ClaimVerdict, chapter_context
from sojourn.reports._page import render

__all__ = ["reproduction_report"]


def reproduction_report(chapters: Sequence[Chapter], *, quick: bool, command: str) -> str:
    """Return the report of a reproduction as one self-contained HTML page.

    Args:
        chapters: Chapters of the parts that were run.
        quick: Whether this was a quick run; the page then says so.
        command: Command that repeats the run.
    """
    claims = [claim for chapter in chapters for claim in chapter.claims]
    counts = {verdict: sum(claim.verdict is verdict for claim in claims) for verdict in ClaimVerdict}
    summary = (
        f"Of {len(claims)} claims, {counts[ClaimVerdict.HOLDS]} hold, {counts[ClaimVerdict.FAILS]} fail, "
        f"{counts[ClaimVerdict.DEPENDS]} depend on what the paper does not say, and "
        f"{counts[ClaimVerdict.OPEN]} are open: the runs do not decide them."
    )
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
        **chapter_context(chapters, command=command),
    )
