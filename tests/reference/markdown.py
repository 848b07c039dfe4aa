"""Reads tables of Markdown pages with markdown-it, the parser of the documentation."""

from __future__ import annotations

from markdown_it import MarkdownIt

__all__ = ["table_cells"]

_KINDS = {"text", "text_special", "strong_open", "strong_close", "link_open", "link_close"}
"""Kinds of tokens that show their text as it is."""


def table_cells(markdown: str) -> list[list[str]]:
    """Return the plain text of all cells of the tables in a page, row by row, with the header."""
    rows: list[list[str]] = []
    in_cell = False
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            in_cell = True
        elif token.type in ("th_close", "td_close"):
            in_cell = False
        elif token.type == "inline" and in_cell:
            parts = token.children or []
            odd = {child.type for child in parts} - _KINDS
            assert not odd, f"{token.content!r} is read as markup: {odd}"
            rows[-1].append("".join(child.content for child in parts))
    return rows
