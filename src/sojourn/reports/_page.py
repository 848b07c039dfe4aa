"""The frame of all reports: one file, nothing from outside, light and dark, phone to wide, fit for print."""

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
from sojourn._files import write_atomically

__all__ = ["render", "write_page"]


def render(template: str, **content: Any) -> str:
    """Return a page from a template that extends `page.html`; everything put into it is escaped.

    The page may load nothing at all but the images and the one style sheet that it holds itself: its content
    security policy names the style sheet by its hash.

    Args:
        template: Its name in `reports/templates`.
        content: What it shows, `title` and `summary` at least.
    """
    pages = jinja2.Environment(
        loader=jinja2.PackageLoader("sojourn.reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = resources.files("sojourn.reports").joinpath("templates/page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    return pages.get_template(template).render(
        style=Markup(style),  # ours, and not to be escaped
        policy=policy,
        version=__version__,
        **content,
    )


def write_page(page: str, path: str | os.PathLike[str]) -> Path:
    """Write a page to a file, whole or not at all."""
    return write_atomically(Path(path), lambda file: file.write(page.encode()))
