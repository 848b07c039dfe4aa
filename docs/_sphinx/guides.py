"""Guides that no list names yet: every page beside index.md finds its place in the contents."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

_MARK = "<!-- all other pages of this folder -->"


def list_other_pages(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the pages that index.md does not name in place of its mark."""
    if page == "index":
        names = sorted(path.stem for path in Path(app.srcdir).glob("*.md"))
        listed = set(source[0].split())
        source[0] = source[0].replace(_MARK, "\n".join(name for name in names if name not in listed | {page}))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", list_other_pages)
    return {"parallel_read_safe": True}
