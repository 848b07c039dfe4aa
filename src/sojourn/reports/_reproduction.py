"""The report of a reproduction: what was run, what was seen, and what became of each claim."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.reports._chapter import Chapter, Verdict, chapters_shown
from sojourn.reports._page import render

__all__ = ["reproduction_report"]


def reproduction_report(chapters: Sequence[Chapter], *, quick: bool, command: str) -> str:
    """Return the report of a reproduction's chapters as one HTML page that loads nothing.

    Args:
        chapters: The parts that were run.
        quick: Whether they were run in small: the page then says so.
        command: What repeats it.
    """
    claims = [claim for chapter in chapters for claim in chapter.claims]
    counts = {verdict: sum(claim.verdict is verdict for claim in claims) for verdict in Verdict}
    summary = f"Of {len(claims)} claims {counts[Verdict.HOLDS]} hold, {counts[Verdict.FAILS]} fail, "
    summary += f"{counts[Verdict.DEPENDS]} depend on what the paper does not say, and {counts[Verdict.OPEN]} "
    summary += "are open: what was played does not decide them."
    if quick:
        summary += " This is a quick run, in small: its numbers show that everything works, and nothing else."
    return render(
        "reproduction.html",
        kind="Reproduction",
        title="Online Reinforcement Learning with Uncertain Episode Lengths",
        summary=summary,
        claims=claims,
        **chapters_shown(chapters, command=command),
    )
