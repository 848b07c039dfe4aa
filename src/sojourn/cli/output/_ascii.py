"""ASCII spellings of symbols, for streams whose encoding lacks them."""

from __future__ import annotations

import codecs
from typing import TextIO

__all__ = ["spell_missing_symbols"]

_SPELLINGS = str.maketrans(
    {
        "γ": "g",
        "Γ": "G",
        "ρ": "r",
        "Δ": "D",
        "·": "*",
        "−": "-",
        "–": "-",
        "×": "x",
        "σ": "s",
        "Σ": "S",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
        "≈": "~",
        "±": "+/-",
        "…": "...",
        "→": "->",
        "✓": "+",
        "✗": "x",
    }
)  # fmt: skip


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Handle an encoding error: return the ASCII spelling and the position after it."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_SPELLINGS)
    return text.encode("ascii", "replace").decode(), error.end


codecs.register_error("sojourn.spell", _spell)


def spell_missing_symbols(*streams: TextIO) -> None:
    """Make streams write symbols that their encoding lacks in ASCII, instead of failing."""
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="sojourn.spell")
