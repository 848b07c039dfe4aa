"""Printing: results go to stdout, everything else to stderr."""

from __future__ import annotations

import json
import math
import sys
import textwrap
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from sojourn._text import one_line

__all__ = [
    "is_narrow",
    "print_json",
    "print_message",
    "print_results",
    "print_text",
    "results_console",
]

_NARROW_WIDTH = 60
"""Terminals with fewer columns get labels above texts instead of beside them."""

_LABEL_STYLES = {"Error": "bold red", "Warning": "bold yellow", "Note": "bold cyan"}


def results_console() -> Console:
    """Return a console for results, on stdout."""
    return Console(highlight=False, markup=False, emoji=False)


def is_narrow() -> bool:
    """Whether the terminal is too narrow for two columns of words."""
    return results_console().width < _NARROW_WIDTH


def print_results(*renderables: RenderableType) -> None:
    """Print results to stdout, one below the other, without trailing spaces."""
    console = results_console()
    with console.capture() as captured:
        for renderable in renderables:
            console.print(renderable)
    print_text("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def print_json(data: Any) -> None:
    """Print data as JSON to stdout; infinite and NaN numbers become null."""
    print_text(json.dumps(_without_non_finite(data), indent=2, allow_nan=False) + "\n")


def print_text(text: str) -> None:
    """Print text to stdout as it is."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _without_non_finite(data: Any) -> Any:
    """Return data with None in place of infinite and NaN numbers."""
    if isinstance(data, dict):
        return {key: _without_non_finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_without_non_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def print_message(message: str, *, label: str = "", as_one_line: bool = True) -> None:
    """Print a message to stderr, by default on one line and without control characters.

    A terminal gets lines that end between words.

    Args:
        message: The text.
        label: "Error", "Warning", "Note" or nothing; printed before the message.
        as_one_line: Whether to join lines and escape control characters.
    """
    console = Console(stderr=True, highlight=False)
    if as_one_line:
        message = one_line(" ".join(message.split()))
    shown = f"{label}: {message}" if label else message
    if as_one_line and console.is_terminal:
        lines = textwrap.wrap(shown, console.width, break_long_words=False, break_on_hyphens=False)
        shown = "\n".join(lines)
    text = Text(shown)
    if label:
        text.stylize(_LABEL_STYLES[label], 0, len(label) + 1)
    console.print(text, soft_wrap=True)
