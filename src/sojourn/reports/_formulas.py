"""Formulas in texts, such as `T^{p/(2p−1)}` and `Σ_{h ≤ H}`, with superscripts and subscripts as HTML."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

__all__ = ["FORMULA_PART", "typeset"]

_ONCE = r"(?:[^()]|\([^()]*\))*"
_TWICE = rf"(?:[^()]|\({_ONCE}\))*"
FORMULA_PART = re.compile(
    rf"\^(?:\{{(?P<braces>[^{{}}]*)\}}|\((?P<brackets>{_TWICE})\)|(?P<plain>[−-]?[\w.]*\w))"
    r"|(?<=\S)_(?:\{(?P<below>[^{}]*)\}|(?P<letter>[^\W_]|∞)(?!\w))"
)
"""A superscript after ^, as one of the first three groups, or a subscript after _, as one of the last two."""


def typeset(text: str) -> Markup:
    """Return a text as HTML, with its formulas typeset and everything else escaped.

    Example:
        >>> typeset("x_h < T^{1/(2−p)}")
        Markup('x<sub>h</sub> &lt; T<sup>1/(2−p)</sup>')
    """
    parts, end = Markup(), 0
    for found in FORMULA_PART.finditer(text):
        raised = found["braces"] or found["brackets"] or found["plain"]
        tag = "sup" if raised else "sub"
        inner = typeset(raised or found["below"] or found["letter"] or "")
        parts += escape(text[end : found.start()]) + Markup("<{0}>{1}</{0}>").format(tag, inner)
        end = found.end()
    return parts + escape(text[end:])
