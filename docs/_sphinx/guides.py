"""Sphinx extension: add pages that index.md does not list to its table of contents."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

_MARK = "<!-- all other pages of this folder -->"


def list_other_pages(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the mark in index.md with the pages of its folder that it does not list."""
    if page == "index":
        names = sorted(path.stem for path in Path(app.srcdir).glob("*.md"))
        listed = set(source[0].split())
        source[0] = source[0].replace(_MARK, "\n".join(name for name in names if name not in listed | {page}))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("source-read", list_other_pages)
    return {"parallel_read_safe": True}
