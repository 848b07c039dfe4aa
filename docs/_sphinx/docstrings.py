"""Sphinx extension: escape reStructuredText markup in docstrings, and show type aliases by their names.

Docstrings are plain text with Google sections, so `H*`, `|γ − γ'|` and `Q_h` are taken literally, and single
backticks mark code. Doctests are left unchanged.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.util.inspect import TypeAliasForwardRef

_COLON = "\uf03a"
"""Stands for a colon while napoleon reads a docstring; no text has it."""

_PARTS = re.compile(r"(`[^`]+`)")
_SIGNS = re.compile(r"([*|\\]|(?<=\w)_(?=\W|$))")


def escape_line(line: str) -> str:
    """Convert one line of plain text to reStructuredText."""
    parts = _PARTS.split(line)
    parts[::2] = [_SIGNS.sub(r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"`{part}`" for part in parts[1::2]]
    return "".join(parts)


def escape(*event: Any) -> None:
    """Escape the lines of a docstring in place, except its doctests; leave out lists of private modules."""
    lines, in_doctest = event[-1], False
    if "Modules:" in lines:
        del lines[lines.index("Modules:") :]
    for place, line in enumerate(lines):
        in_doctest = line.lstrip().startswith((">>>", "...")) or (in_doctest and bool(line.strip()))
        if not in_doctest:
            lines[place] = escape_line(line)


def hide_colons(app: Sphinx, what: str, *event: Any) -> None:
    """Hide colons of sentences that napoleon would take for the end of a type: of properties and results."""
    lines, in_returns = event[-1], False
    for place, line in enumerate(lines):
        is_result = in_returns and line.startswith(" ")
        if is_result or (what == "property" and place == 0):
            lines[place] = line.replace(": ", f"{_COLON} ")
        in_returns = line.strip() == "Returns:" or (in_returns and (is_result or not line.strip()))


def show_colons(*event: Any) -> None:
    """Show the hidden colons again."""
    event[-1][:] = [line.replace(_COLON, ":") for line in event[-1]]


def simplify_signature(*event: Any) -> tuple[str | None, str | None]:
    """Return a signature that Sphinx can parse, or it would show the full paths of all types."""
    signature, result = event[-2:]
    if signature is not None:
        signature = signature.replace("Callable[[...], ", "Callable[..., ")
        signature = re.sub(r"= <function .*?>+(?=[,)])", "= ...", signature)
    return signature, result


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx, so that it runs before napoleon."""
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"
    app.connect("autodoc-process-docstring", escape, priority=400)
    app.connect("autodoc-process-docstring", hide_colons, priority=450)
    app.connect("autodoc-process-docstring", show_colons, priority=600)
    app.connect("autodoc-process-signature", simplify_signature)
    # Inside other types, Sphinx shows an alias by its repr.
    TypeAliasForwardRef.__repr__ = lambda alias: alias.name  # type: ignore[method-assign]
    return {"parallel_read_safe": True}
