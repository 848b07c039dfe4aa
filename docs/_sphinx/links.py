"""Sphinx extension: link names in running text, such as `sj.plan` or `LawDiscount`, to the reference."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

FOLDERS = (
    "laws",
    "mdps",
    "planning",
    "theory",
    "agents",
    "envs",
    "learning",
    "sessions",
    "experiments",
    "plots",
    "reports",
    "reproduction",
    "testing",
    "errors",
)
"""Public folders; a name that two of them export links to the first, which defines it."""

_NAME = re.compile(r"(?:(?P<package>sj|sojourn)\.)?(?P<rest>[A-Za-z_][\w.]*?)(?:\(.*\))?", re.DOTALL)


def targets(objects: dict[str, Any]) -> dict[str, str]:
    """Map each short name (`plan`, `planning.plan`) of a documented object to its full name."""
    found: dict[str, str] = {}
    for folder in FOLDERS:
        start = f"sojourn.{folder}."
        for full in sorted(objects):
            if full.startswith(start):
                short = full.removeprefix(start)
                found[f"{folder}.{short}"] = full
                found.setdefault(short, full)
    return found


def target_of(text: str, known: dict[str, str]) -> str | None:
    """Return the full name that a piece of inline code refers to, or None.

    Without the prefix `sj.`, a name needs a capital letter or an underscore: `plan` and `law` are also
    just words.
    """
    named = _NAME.fullmatch(text)
    if named is None:
        return None
    name = named["rest"]
    distinct = named["package"] or any(letter.isupper() or letter == "_" for letter in name)
    return known.get(name) if distinct else None


def link_names(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Turn names in inline code into links."""
    objects = app.env.domains["py"].data["objects"]
    known = targets(objects)
    for literal in list(doctree.findall(nodes.literal)):
        full = target_of(literal.astext(), known)
        if full is None or isinstance(literal.parent, (nodes.reference, nodes.title)):
            continue
        place = objects[full]
        address = f"{app.builder.get_relative_uri(page, place.docname)}#{place.node_id}"
        reference = nodes.reference("", "", internal=True, refuri=address, reftitle=full, classes=["name"])
        literal.replace_self(reference)
        reference += literal


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
