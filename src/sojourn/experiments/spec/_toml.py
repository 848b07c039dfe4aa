"""TOML from anyone: read quickly, or refused quickly."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from sojourn.experiments.store._safe_open import NotPlainError, read_at_most

__all__ = ["read_toml"]

_MOST_BYTES = 100 * 1024
_MOST_PARTS = 16  # of a dotted key
_MOST_LEVELS = 32  # of brackets
_STRINGS_AND_COMMENTS = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"""'
    r"|'''(?:[^']|'(?!''))*+'''"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'[^'\n]*+'"
    r"|#[^\n]*+",
    re.DOTALL,
)
# From the start of a word only: the time must not grow with the square of its length.
_LONG_KEY = re.compile(rf'(?<![\w-])(?:(?:[\w-]++|"")[ \t]*+\.[ \t]*+){{{_MOST_PARTS},}}')


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a TOML file and what it says.

    Keys of many parts and deep nesting are refused before parsing: Python's parser takes time that grows with
    their square, or stops with an error of its own.

    Raises:
        ValueError: If it is not TOML; one line says where.
        OSError: If it cannot be read.
    """
    try:
        content = read_at_most(path, _MOST_BYTES, follow=True)
    except NotPlainError:
        raise ValueError(f"{path} must be a file of TOML; it is something else.") from None
    if len(content) > _MOST_BYTES:
        raise ValueError(f"{path} must be at most {_MOST_BYTES // 1024} kB; it is larger.")
    try:
        text = content.decode("utf-8")
        _refuse_deep(text)
        return text, tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"{path} is not valid TOML: it is nested too deeply.") from None
    except ValueError as error:  # decoding, TOML, and numbers of too many digits
        raise ValueError(f"{path} is not valid TOML: {_reason(error)}.") from None


def _refuse_deep(text: str) -> None:
    bare = _STRINGS_AND_COMMENTS.sub('""', text)
    if _LONG_KEY.search(bare):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    depth = 0
    for mark in re.findall(r"[\[\]{}]", bare):
        depth += 1 if mark in "[{" else -1
        if depth > _MOST_LEVELS:
            raise ValueError(f"it is nested more than {_MOST_LEVELS} levels deep")


def _reason(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    reason = " ".join(str(error).split()).rstrip(".")
    if "integer string conversion" in reason:
        return "a whole number has too many digits"
    return reason if len(reason) <= 150 else f"{reason[:149]}…"
