"""The parts of a report: chapters with figures, tables and claims."""

from __future__ import annotations

import functools
import itertools
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from typing import TYPE_CHECKING, Any

from sojourn.plots import draw_svg, svg_image

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "VERDICT_MEANINGS",
    "VERDICT_TONES",
    "Chapter",
    "Claim",
    "ClaimVerdict",
    "Picture",
    "ReportTable",
    "chapter_context",
]

_PACKAGES = ("numpy", "scipy", "numba", "gymnasium", "matplotlib")
_WIDE = 7.0
"""Figures wider than this, in inches, scroll on a phone."""


class ClaimVerdict(StrEnum):
    """What was found about a claim of the paper; `VERDICT_MEANINGS` defines the words."""

    HOLDS = "holds"
    HOLDS_IN_PART = "holds in part"
    CONSISTENT = "consistent"
    FAILS = "fails"
    NOT_REPRODUCED = "not reproduced"
    UNPROVEN = "unproven"
    DEPENDS = "depends"
    OPEN = "open"


VERDICT_MEANINGS = {
    ClaimVerdict.HOLDS: "it is proven, in the paper or here, and computations agree",
    ClaimVerdict.HOLDS_IN_PART: "the part that the row names is proven; the rest is not, and is not refuted",
    ClaimVerdict.CONSISTENT: "the runs agree with it; runs cannot prove a statement about all problems",
    ClaimVerdict.FAILS: "there is a counterexample, or the paper contradicts itself, in the reading that the "
    "row states",
    ClaimVerdict.NOT_REPRODUCED: "our runs of the experiment, with the choices that the row states, do not "
    "show it",
    ClaimVerdict.UNPROVEN: "the printed proof does not establish it, and neither do we; it is not refuted",
    ClaimVerdict.DEPENDS: "it is true or false depending on the problem, or on something that the paper "
    "does not state",
    ClaimVerdict.OPEN: "the runs do not decide it",
}
"""The definition of each verdict, as a clause."""

VERDICT_TONES = {
    ClaimVerdict.HOLDS: "good",
    ClaimVerdict.HOLDS_IN_PART: "mixed",
    ClaimVerdict.CONSISTENT: "good",
    ClaimVerdict.FAILS: "bad",
    ClaimVerdict.NOT_REPRODUCED: "bad",
    ClaimVerdict.UNPROVEN: "open",
    ClaimVerdict.DEPENDS: "mixed",
    ClaimVerdict.OPEN: "open",
}
"""The kind of color in which each verdict is shown."""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper and what the reproduction found.

    Attributes:
        source: Place in the paper, with the numbers that are printed there.
        text: What the paper says, in its words or close to them, and nothing else.
        verdict: What was found about it.
        measured: A few sentences with the numbers that decide it.
    """

    source: str
    text: str
    verdict: ClaimVerdict
    measured: str


@dataclass(frozen=True)
class ReportTable:
    """A table whose first column has names and whose other columns have numbers.

    Attributes:
        caption: Heading of the table.
        header: Names of the columns.
        rows: Cells as text.
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure of a chapter.

    Attributes:
        name: Name of its file, without suffix.
        caption: What it shows.
        figure: The figure itself.
    """

    name: str
    caption: str
    figure: Figure

    @functools.cached_property
    def svg(self) -> bytes:
        """The figure as SVG."""
        return draw_svg(self.figure)

    @property
    def is_wide(self) -> bool:
        """Whether the figure is too wide to be read on a phone without scrolling."""
        return bool(self.figure.get_figwidth() > _WIDE)


@dataclass(frozen=True, eq=False)
class Chapter:
    """One chapter of a report.

    Attributes:
        name: Short name, for example on the command line.
        title: Heading.
        text: A few sentences of introduction.
        pictures: Figures.
        tables: Tables.
        claims: Claims of the paper that the chapter decides.
        settings: Specs of the experiments: pairs of file name and content.
    """

    name: str
    title: str
    text: str
    pictures: tuple[Picture, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    claims: tuple[Claim, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()


def chapter_context(chapters: Sequence[Chapter], *, command: str) -> dict[str, Any]:
    """Return the variables of the template `chapters.html`: chapters, command and versions."""
    numbers = itertools.count(1)
    return {
        "chapters": [
            {
                "id": f"part-{i}",
                "title": chapter.title,
                "text": chapter.text,
                "tables": chapter.tables,
                "settings": chapter.settings,
                "pictures": [
                    (f"Figure {next(numbers)}. {picture.caption}", svg_image(picture.svg), picture.is_wide)
                    for picture in chapter.pictures
                ],
            }
            for i, chapter in enumerate(chapters, start=1)
        ],
        "command": command,
        "versions": [("Python", platform.python_version())]
        + [(name, metadata.version(name)) for name in _PACKAGES],
    }
