"""Laws of a user's own code by import path, and a stand-in for those that a file names."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import NoReturn

from sojourn._imports import call_imported, import_object, is_import_path, read_call, write_call
from sojourn._typing import ArrayLike
from sojourn._validation import check_arguments
from sojourn.laws._base import LengthLaw
from sojourn.laws._parse import parse_law, parse_stored_law

__all__ = ["MissingLaw", "NamedLaw", "own_law_path", "read_law", "read_stored_law"]

_EXAMPLES = "'geometric(0.95)' or 'mymodule:MyLaw(0.02)'"


@dataclass(frozen=True)
class NamedLaw:
    """A law, and the text from which `read_law` makes it again.

    Attributes:
        text: The law in its one form: its `repr`, or the call of an import path with named arguments.
        law: The law.
    """

    text: str
    law: LengthLaw


@dataclass(frozen=True, repr=False)
class MissingLaw(LengthLaw):
    """Stands in for a law of a user's own code where a file names it: reading results imports nothing.

    It has the recorded text and no numbers: whatever needs them raises `ValueError`.

    Args:
        text: The call of an import path, such as "mymodule:Gompertz(a=0.02, b=0.1)".
    """

    text: str

    def survival(self, h: ArrayLike) -> NoReturn:
        """Raise `ValueError`: the formula is not known here."""
        raise ValueError(f"{self.text:.60} is not part of sojourn, and reading results imports nothing.")

    _survival = _tail = _remaining = tail = survival

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(self.text)}</code>"


def own_law_path(text: str) -> str | None:
    """Return the import path that a text calls, or None if it does not name a law of a user's own."""
    path = text.partition("(")[0].strip()
    return path if is_import_path(path) else None


def read_law(text: str) -> NamedLaw:
    """Return the law that a text names: one of Sojourn's, or one of your own code.

    "package.module:Name(0.02, 0.1)" imports your own law and calls it with these arguments, or takes it as it
    is. Any other text is read by `parse_law`.

    Raises:
        ValueError: If the text does not name a law; the message is one line.

    Example:
        >>> read_law("sojourn.laws:Geometric(0.9)").text
        'sojourn.laws:Geometric(gamma=0.9)'
    """
    path = own_law_path(text) if isinstance(text, str) else None
    if path is None:
        law = parse_law(text)
        return NamedLaw(repr(law), law)
    _, positional, named = read_call(text, "law", _EXAMPLES)
    made = import_object(path)
    if isinstance(made, type) and not issubclass(made, LengthLaw):  # before it is called
        raise ValueError(f"{path} must be a length law, or a function that returns one; it is another class.")
    if not isinstance(made, LengthLaw) and callable(made):
        named = check_arguments(path, made, positional, named)
        made = call_imported(path, made, named)
    elif positional or named:
        raise ValueError(f"{path} is a law already and takes no arguments.")
    if not isinstance(made, LengthLaw):
        raise ValueError(f"{path} must be a length law or return one; got {made!r}.")
    mean = call_imported(path, lambda: made.mean, {})
    if not isinstance(mean, (int, float)) or not 0.0 < mean < math.inf:
        raise ValueError(f"{path} must have a finite mean length above 0; got {mean!r:.60}.")
    return NamedLaw(write_call(path, named, keeps_floats=True), made)


def read_stored_law(text: str) -> LengthLaw:
    """Return the law that a file of Sojourn names, or a `MissingLaw` if it is one of a user's own.

    Nothing is imported, and no other file is read.

    Raises:
        ValueError: If the text is no law; one clause says so.
    """
    if not isinstance(text, str) or own_law_path(text) is None:
        return parse_stored_law(text)
    try:
        read_call(text, "law", _EXAMPLES)
    except ValueError as error:
        raise ValueError(f"its law {text[:60]!r} cannot be read") from error
    if not text.isprintable():
        raise ValueError(f"its law {text[:60]!r} cannot be read")
    return MissingLaw(text)
