"""The report of a reproduction: what was run, what was seen, and what became of each claim."""

from __future__ import annotations

import base64
import io
import platform
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from sojourn.plots import svg_pair
from sojourn.reports._chapter import Chapter, Picture, Verdict
from sojourn.reports._page import render

__all__ = ["reproduction_report"]

_PACKAGES = ("numpy", "scipy", "numba", "gymnasium", "matplotlib")
_LARGEST_SVG = 200_000
"""Bytes; larger figures are shown as pixels, so that the page stays small."""


def reproduction_report(chapters: Sequence[Chapter], *, quick: bool, command: str) -> str:
    """Return the report of a reproduction's chapters as one HTML page that loads nothing.

    Args:
        chapters: The parts that were run.
        quick: Whether they were run in small: the page then says so.
        command: What repeats it.
    """
    claims = [claim for chapter in chapters for claim in chapter.claims]
    counts = {verdict: sum(claim.verdict is verdict for claim in claims) for verdict in Verdict}
    summary = f"Of {len(claims)} claims {counts[Verdict.HOLDS]} hold, {counts[Verdict.FAILS]} fail and "
    summary += f"{counts[Verdict.DEPENDS]} depend on what the paper does not say."
    if quick:
        summary += " This is a quick run, in small: its numbers show that everything works, and nothing else."
    return render(
        "reproduction.html",
        kind="Reproduction",
        title="Online Reinforcement Learning with Uncertain Episode Lengths",
        summary=summary,
        claims=claims,
        chapters=[_chapter(chapter) for chapter in chapters],
        command=command,
        versions=[("Python", platform.python_version())]
        + [(name, metadata.version(name)) for name in _PACKAGES],
    )


def _chapter(chapter: Chapter) -> dict[str, Any]:
    return {
        "name": chapter.name,
        "title": chapter.title,
        "text": chapter.text,
        "tables": chapter.tables,
        "pictures": [_picture(picture) for picture in chapter.pictures],
    }


def _picture(picture: Picture) -> dict[str, str]:
    light, dark = svg_pair(picture.figure)
    if len(light) > _LARGEST_SVG:
        buffer = io.BytesIO()
        picture.figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
        light = dark = f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
    return {"light": light, "dark": dark, "caption": picture.caption, "name": picture.name}
