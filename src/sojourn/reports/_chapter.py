"""What a part of a report shows: figures, tables, and what became of claims."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from typing import TYPE_CHECKING, Any

from sojourn.plots import svg_image

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Chapter", "Claim", "Picture", "Table", "Verdict", "chapters_shown"]

_PACKAGES = ("numpy", "scipy", "numba", "gymnasium", "matplotlib")
_WIDE = 7.0  # inches


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    DEPENDS = "depends"
    OPEN = "open"


@dataclass(frozen=True)
class Claim:
    """Something that the paper says, and what is true.

    Attributes:
        source: Where the paper says it.
        text: What it says, in our words.
        verdict: What became of it.
        measured: The number that decides, in a sentence.
    """

    source: str
    text: str
    verdict: Verdict
    measured: str


@dataclass(frozen=True)
class Table:
    """A table: the first column names things, the others hold numbers."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure with the name of its file and what it shows."""

    name: str
    caption: str
    figure: Figure

    @property
    def is_wide(self) -> bool:
        """Whether it has several panels side by side, which could not be read on a phone all at once."""
        return bool(self.figure.get_figwidth() > _WIDE)


@dataclass(frozen=True, eq=False)
class Chapter:
    """One part of a report.

    Attributes:
        name: What the part is called, on the command line for instance.
        title: What it is about.
        text: A few sentences.
        pictures: Its figures.
        tables: Its tables.
        claims: The claims that it decides.
        settings: What was run: names of experiments, and their files.
    """

    name: str
    title: str
    text: str
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()


def chapters_shown(chapters: Sequence[Chapter], *, command: str) -> dict[str, Any]:
    """Return what the template `chapters.html` takes: chapters, the command that repeats them, versions."""
    return {
        "chapters": [
            {
                "title": chapter.title,
                "text": chapter.text,
                "tables": chapter.tables,
                "settings": chapter.settings,
                "pictures": [
                    (picture.caption, svg_image(picture.figure), picture.is_wide)
                    for picture in chapter.pictures
                ],
            }
            for chapter in chapters
        ],
        "command": command,
        "versions": [("Python", platform.python_version())]
        + [(name, metadata.version(name)) for name in _PACKAGES],
    }
