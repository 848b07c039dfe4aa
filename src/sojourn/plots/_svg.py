"""Figures for pages: as text that a page holds itself, in a light and a dark form."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

__all__ = ["save_figure", "svg_pair"]

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


def save_figure(figure: Figure, stem: Path) -> tuple[Path, Path]:
    """Write a figure as `.svg` and `.png`, the same bytes for the same figure; return both paths."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    vector, pixels = stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.png")
    vector.write_bytes(_svg(figure))
    figure.savefig(pixels, dpi=200, metadata={"Software": None})
    return vector, pixels


def svg_pair(figure: Figure) -> tuple[str, str]:
    """Return a figure as two `data:` addresses of SVG images, for light and for dark pages."""
    light = _svg(figure).decode()
    dark = light
    for colour, other in _DARK.items():
        dark = dark.replace(colour, other)
    return _address(light), _address(dark)


def _svg(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "sojourn", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _address(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
