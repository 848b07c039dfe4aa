"""Figures as SVG: files, and images embedded in HTML pages that follow the page's light or dark mode."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import matplotlib as mpl
from matplotlib.figure import Figure

from sojourn._files import make_folder, write_atomically

__all__ = ["draw_svg", "save_figure", "svg_image"]

_DARK = {
    "#ffffff": "#161a1f",
    "#222222": "#e6e8ea",
    "#888888": "#8b929a",
    "#e4e4e4": "#2c3238",
    "#5b6770": "#a9b4bd",
    "#0072b2": "#4aa8e0",
    "#d55e00": "#ff7a45",
    "#009e73": "#2fc79c",
    "#cc79a7": "#e79ac4",
    "#e69f00": "#ffd24a",
    "#56b4e9": "#b7e3ff",
    "#000000": "#f2f4f5",
}
"""The dark-mode counterpart of every color of the figures, chosen to be as easy to tell apart."""

_PATH = re.compile(rb' d="[^"]*"')
_FRACTION = re.compile(rb"-?\d+\.\d{3,}")
_SAFE = " ()*,-./:;=@_~!$+?"
"""Characters that need no percent-encoding in a quoted URL."""


def save_figure(figure: Figure, stem: Path, *, svg: bytes | None = None) -> tuple[Path, Path]:
    """Write a figure as `.svg` and `.png`, deterministically and atomically; return both paths.

    Args:
        figure: The figure.
        stem: The path of the files, without suffix.
        svg: The result of `draw_svg`, if it is known already.
    """
    make_folder(stem.parent)
    vector, pixels = stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.png")
    write_atomically(vector, lambda file: file.write(svg or draw_svg(figure)))
    settings: Any = {"format": "png", "dpi": 200, "metadata": {"Software": None}}
    write_atomically(pixels, lambda file: figure.savefig(file, **settings))
    return vector, pixels


def svg_image(figure: Figure | bytes) -> str:
    """Return a figure, or the SVG of one, as the `data:` URL of an image that follows the page's dark mode.

    Matplotlib writes colors into style attributes; CSS rules that match these attributes override them. If a
    browser does not apply dark mode to images, the figure stays light, on a white background.
    """
    drawn = figure if isinstance(figure, bytes) else draw_svg(figure)
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", drawn.decode(), flags=re.DOTALL)
    rules = "".join(
        f'[style*="{part}: {color}"]{{{part}:{other}!important}}'
        for color, other in _DARK.items()
        for part in ("fill", "stroke")
    )
    _, opening, rest = re.split(r"(<svg[^>]*>)", svg, maxsplit=1)
    black = f"svg{{fill:{_DARK['#000000']}}}"  # the default of elements without an explicit color
    style = f"<style>@media screen and (prefers-color-scheme: dark){{{black}{rules}}}</style>"
    whole = re.sub(r"\s+", " ", f"{opening}{style}{rest}")
    return f"data:image/svg+xml,{quote(whole, safe=_SAFE)}"


def draw_svg(figure: Figure) -> bytes:
    """Return a figure as SVG; equal figures give equal bytes."""
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "sojourn", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return _PATH.sub(_rounded, buffer.getvalue())


def _rounded(path: re.Match[bytes]) -> bytes:
    """Return a path with coordinates rounded to 0.01 points: a smaller file without a visible change."""
    return _FRACTION.sub(lambda found: b"%.2f" % float(found[0]), path[0])
