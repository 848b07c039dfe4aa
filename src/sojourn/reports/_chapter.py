"""What a part of the reproduction shows: figures, tables, and what became of the paper's claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Chapter", "Claim", "Picture", "Table", "Verdict"]


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    DEPENDS = "depends"


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


@dataclass(frozen=True, eq=False)
class Chapter:
    """One part of the reproduction.

    Attributes:
        name: What the part is called on the command line.
        title: What it is about.
        text: A few sentences.
        pictures: Its figures.
        tables: Its tables.
        claims: The claims that it decides.
    """

    name: str
    title: str
    text: str
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()
