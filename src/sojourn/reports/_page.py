"""Rendering of reports: one self-contained HTML file for light and dark mode, phones and print."""

from __future__ import annotations

import base64
import hashlib
import os
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from sojourn import __version__
from sojourn._files import read_at_most, write_atomically
from sojourn.reports._formulas import typeset

__all__ = ["is_page_of_kind", "render", "write_page"]

_START = 1 << 16  # bytes of a page in which its kind stands


def is_page_of_kind(path: Path, kind: str) -> bool:
    """Whether a file is a page that `render` made, of a kind such as "Results"."""
    return f'<p class="kind">{kind}</p>'.encode() in read_at_most(path, _START, follow=True)


def render(template: str, **content: Any) -> str:
    """Render a template that extends `page.html`; all content is escaped.

    The content security policy of the page allows only its own `data:` images and its own style sheet, which
    it names by hash.

    Args:
        template: Name of a file in `reports/templates`.
        content: Variables of the template, at least `title` and `summary`.
    """
    pages = jinja2.Environment(
        loader=jinja2.PackageLoader("sojourn.reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters["formulas"] = typeset
    style = resources.files("sojourn.reports").joinpath("templates/page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    return pages.get_template(template).render(
        style=Markup(style),  # our own file, which must not be escaped
        policy=policy,
        version=__version__,
        **content,
    )


def write_page(page: str, path: str | os.PathLike[str]) -> Path:
    """Write a page to a file atomically."""
    return write_atomically(Path(path), lambda file: file.write(page.encode()))
