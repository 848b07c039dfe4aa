"""Sphinx extension: figures with several panels have a second version for phones, panels below each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def add_narrow_figures(app: Sphinx, doctree: nodes.document) -> None:
    """Put `name-narrow.svg` behind every picture that has one; style sheets show one of the two."""
    folder = Path(app.env.doc2path(app.env.docname)).parent
    for image in list(doctree.findall(nodes.image)):
        narrow = image["uri"].removesuffix(".svg") + "-narrow.svg"
        if (folder / narrow).exists():
            image["classes"].append("wide")
            other = image.copy()
            other["uri"], other["classes"] = narrow, ["narrow"]
            image.parent.insert(image.parent.index(image) + 1, other)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension, before Sphinx collects the pictures of a page."""
    app.connect("doctree-read", add_narrow_figures, priority=100)
    return {"parallel_read_safe": True}
