"""Figures for pages: as text that a page holds itself, light or dark as the page is."""

from __future__ import annotations

import io
import re
from pathlib import Path
from urllib.parse import quote

import matplotlib as mpl
from matplotlib.figure import Figure

__all__ = ["save_figure", "svg_image"]

_DARK = {
    "#ffffff": "#161a1f",
    "#222222": "#e6e8ea",
    "#888888": "#8b929a",
    "#e4e4e4": "#2c3238",
    "#5b6770": "#a9b4bd",
    "#0072b2": "#4aa8e0",
    "#d55e00": "#f08a3c",
    "#009e73": "#2fc79c",
    "#000000": "#f2f4f5",
}
"""What the colours of figures become on a dark page; all others stay."""

_PATH = re.compile(rb' d="[^"]*"')
_FRACTION = re.compile(rb"-?\d+\.\d{3,}")
_PLAIN = " ()*,-./:;=@_~!$+?"
"""What needs no escape in an address that stands in quotes."""


def save_figure(figure: Figure, stem: Path) -> tuple[Path, Path]:
    """Write a figure as `.svg` and `.png`, the same bytes for the same figure; return both paths."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    vector, pixels = stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.png")
    vector.write_bytes(_svg(figure))
    figure.savefig(pixels, dpi=200, metadata={"Software": None})
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
