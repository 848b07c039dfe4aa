"""Sphinx extension: set formulas such as `T^{p/(2p−1)}` and `Σ_{h ≤ H}` with superscripts and subscripts."""

from __future__ import annotations

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from sojourn.reports._formulas import FORMULA_PART

_LEFT_ALONE = (
    nodes.literal,
    nodes.literal_block,
    nodes.doctest_block,
    nodes.raw,
    nodes.title,
    nodes.reference,
    addnodes.desc_signature,
)


def typeset(text: str) -> list[nodes.Node]:
    """Split a text into nodes, with a superscript after each ^ and a subscript after each _."""
    parts: list[nodes.Node] = []
    end = 0
    for found in FORMULA_PART.finditer(text):
        if found.start() > end:
            parts.append(nodes.Text(text[end : found.start()]))
        raised = found["braces"] or found["brackets"] or found["plain"]
        node = nodes.superscript() if raised else nodes.subscript()
        node += typeset(raised or found["below"] or found["letter"] or "")
        parts.append(node)
        end = found.end()
    if end < len(text):
        parts.append(nodes.Text(text[end:]))
    return parts


def typeset_page(app: Sphinx, doctree: nodes.document) -> None:
    """Typeset the formulas of a page, except those in code, titles and links."""
    for text in list(doctree.findall(nodes.Text)):
        above, is_code = text.parent, False
        while above is not None and not is_code:
            above, is_code = above.parent, isinstance(above, _LEFT_ALONE)
        if not is_code and FORMULA_PART.search(text.astext()):
            text.parent.replace(text, typeset(text.astext()))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("doctree-read", typeset_page)
    return {"parallel_read_safe": True}
