"""Names in running text lead to the reference: `sj.plan`, `sojourn.testing.check_law`, `LawDiscount`."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

import sojourn

_NAME = re.compile(r"(?:(?P<door>sj|sojourn)\.)?(?P<rest>[A-Za-z_][\w.]*?)(?:\(.*\))?", re.DOTALL)


def targets(objects: dict[str, Any]) -> dict[str, str]:
    """Return the full name of everything public by what it may be called; where it is at home comes first."""
    found: dict[str, str] = {}
    for folder in dict.fromkeys((*sojourn._HOMES, *sojourn._FOLDERS)):
        start = f"sojourn.{folder}."
        for full in sorted(objects):
            if full.startswith(start):
                short = full.removeprefix(start)
                found[f"{folder}.{short}"] = full
                found.setdefault(short, full)
    return found


def target_of(text: str, known: dict[str, str]) -> str | None:
    """Return the full name that a piece of code in running text means, or None.

    Without `sj.` before it, a name must look like one: `plan` and `law` are also just words.
    """
    named = _NAME.fullmatch(text)
    if named is None:
        return None
    name = named["rest"]
    distinct = named["door"] or any(letter.isupper() or letter == "_" for letter in name)
    return known.get(name) if distinct else None


def link_names(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Turn names in running text into links."""
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
    """Register with Sphinx."""
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
