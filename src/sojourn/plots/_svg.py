"""Figures for pages: as text that a page holds itself, light or dark as the page is."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import matplotlib as mpl
from matplotlib.figure import Figure

from sojourn._files import make_folder, write_atomically

__all__ = ["save_figure", "svg_image"]

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
"""What the colours of figures become on a dark page, all of them; they stay far apart."""

_PATH = re.compile(rb' d="[^"]*"')
_FRACTION = re.compile(rb"-?\d+\.\d{3,}")
_PLAIN = " ()*,-./:;=@_~!$+?"
"""What needs no escape in an address that stands in quotes."""


def save_figure(figure: Figure, stem: Path) -> tuple[Path, Path]:
    """Write a figure as `.svg` and `.png`, the same bytes for the same figure; return both paths.

    Each file is written whole or not at all.
    """
    make_folder(stem.parent)
    vector, pixels = stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.png")
    write_atomically(vector, lambda file: file.write(_svg(figure)))
    look: Any = {"format": "png", "dpi": 200, "metadata": {"Software": None}}
    write_atomically(pixels, lambda file: figure.savefig(file, **look))
    return vector, pixels


def svg_image(figure: Figure) -> str:
    """Return a figure as the `data:` address of an SVG image that turns dark where the page does.

    Colours are written out in matplotlib's style attributes: rules that match those stand above them. Where a
    browser does not pass on to images what the page prefers, the figure stays light, on its own white ground.
    """
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", _svg(figure).decode(), flags=re.DOTALL)
    rules = "".join(
        f'[style*="{part}: {colour}"]{{{part}:{other}!important}}'
        for colour, other in _DARK.items()
        for part in ("fill", "stroke")
    )
    _, opening, rest = re.split(r"(<svg[^>]*>)", svg, maxsplit=1)
    black = f"svg{{fill:{_DARK['#000000']}}}"  # what has no colour written at all
    style = f"<style>@media screen and (prefers-color-scheme: dark){{{black}{rules}}}</style>"
    whole = re.sub(r"\s+", " ", f"{opening}{style}{rest}")
    return f"data:image/svg+xml,{quote(whole, safe=_PLAIN)}"


def _svg(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "sojourn", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return _PATH.sub(_rounded, buffer.getvalue())


def _rounded(path: re.Match[bytes]) -> bytes:
    """Return the coordinates of a path to a hundredth of a point: no eye can tell, and files are smaller."""
    return _FRACTION.sub(lambda found: b"%.2f" % float(found[0]), path[0])
