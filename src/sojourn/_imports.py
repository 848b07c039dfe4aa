"""Import paths of the form "package.module:Name", which name objects in a user's code, and calls of them."""

from __future__ import annotations

import ast
import contextlib
import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sojourn.errors import TerminatedError

__all__ = ["call_imported", "exits_are_errors", "import_object", "is_import_path", "read_call", "write_call"]

_NAME_AND_ARGUMENTS = re.compile(r"([^()]*[^()\s])\s*(?:\((.*)\))?", re.DOTALL)
_MAX_CHARACTERS = 10_000
_PATH = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*(?:\.[^\W\d]\w*)*)")


def is_import_path(text: str) -> bool:
    """Whether a text has the form "package.module:Name"; nothing is imported."""
    return len(text) <= 1_000 and _PATH.fullmatch(text) is not None


@contextlib.contextmanager
def exits_are_errors() -> Iterator[None]:
    """Raise `ValueError` where a user's code calls `sys.exit`, so that it cannot end the program.

    The exception that SIGTERM raises passes, and ends the program.

    Example:
        >>> import sys
        >>> with exits_are_errors():
        ...     sys.exit(0)
        Traceback (most recent call last):
        ValueError: your code called sys.exit(0).
    """
    try:
        yield
    except SystemExit as error:
        if isinstance(error, TerminatedError):
            raise
        raise ValueError(f"your code called sys.exit({error.code!r}).") from error


def import_object(path: str) -> Any:
    """Return the object that "package.module:Name" names.

    Raises:
        ValueError: If there is no such object, or its module cannot be imported; one line says why.

    Example:
        >>> import_object("math:pi")
        3.141592653589793
    """
    match = _PATH.fullmatch(path)
    if match is None:
        raise ValueError(f"An import path must be written like 'package.module:Name'; got {path!r}.")
    name, inside = match.groups()
    try:
        with exits_are_errors():
            found: Any = importlib.import_module(name)
    except ModuleNotFoundError as error:
        where = "it must be installed, or lie beside the file that names it"
        raise ValueError(f"No module {error.name!r} for {path!r}; {where}.") from error
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a user's module may raise anything
        raise ValueError(f"{name} cannot be imported: {_describe(error)}") from error
    for part in inside.split("."):
        if not hasattr(found, part):
            raise ValueError(f"{name} has no {inside!r}.")
        found = getattr(found, part)
    return found


def call_imported(path: str, function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call the object that an import path names; an error becomes one line that names it.

    `TypeError` and `ValueError` pass, because their messages are written for the caller. So do Ctrl-C and the
    exit that a signal handler raises.

    Raises:
        ValueError: If the call raises anything else.

    Example:
        >>> call_imported("mine:problem", lambda: {}["reward"], {})
        Traceback (most recent call last):
        ValueError: mine:problem raised KeyError: 'reward'
    """
    try:
        with exits_are_errors():
            return function(**arguments)
    except (KeyboardInterrupt, SystemExit, TypeError, ValueError):
        raise
    except BaseException as error:
        raise ValueError(f"{path} raised {_describe(error)}") from error


def read_call(text: str, what: str, example: str) -> tuple[str, list[Any], dict[str, Any]]:
    """Return the name, the positional and the named arguments of a call that is written as text.

    Arguments must be literals. Nothing is imported or called.

    Args:
        text: The call, such as "river_swim(6)"; parentheses may be left out.
        what: What the text is called in errors.
        example: Examples for errors, in quotes.

    Example:
        >>> read_call("mine:Gompertz(0.02, rate=0.1)", "law", "'geometric(0.9)'")
        ('mine:Gompertz', [0.02], {'rate': 0.1})
    """
    found = _NAME_AND_ARGUMENTS.fullmatch(text.strip()) if len(text) <= _MAX_CHARACTERS else None
    if found is None:
        raise ValueError(f"{what} must be written like {example}; got {text[:60]!r}.")
    try:
        call = ast.parse(f"f({found[2] or ''})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError("more than one call")
        if any(keyword.arg is None for keyword in call.keywords):
            raise ValueError("** is not an argument")
        if any(isinstance(part, (ast.Set, ast.Call)) for part in ast.walk(call) if part is not call):
            raise ValueError("a set, whose order is another one in every process")
        positional = [ast.literal_eval(argument) for argument in call.args]
        named = [(str(keyword.arg), ast.literal_eval(keyword.value)) for keyword in call.keywords]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        last = example.rpartition(" ")[2]
        raise ValueError(
            f"{what} must have numbers and quoted text as arguments, as in {last}; got {text[:60]!r}."
        ) from None
    names = [name for name, _ in named]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{text.partition('(')[0].strip()[:60]} got {name} twice.")
    return found[1], positional, dict(named)


def write_call(name: str, arguments: Mapping[str, Any], *, keeps_floats: bool = False) -> str:
    """Return a call in the one form that `read_call` reads back: arguments by name, in sorted order.

    By default 2.0 becomes 2, which is the same for all builders of Sojourn.

    Example:
        >>> write_call("mine:Gompertz", {"rate": 0.1, "level": 2.0})
        'mine:Gompertz(level=2, rate=0.1)'
    """
    form = repr if keeps_floats else lambda value: repr(_plain_number(value))
    inside = ", ".join(f"{key}={form(arguments[key])}" for key in sorted(arguments))
    return f"{name}({inside})" if inside else name


def _plain_number(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _describe(error: BaseException) -> str:
    """Return the type and the message of an exception in one line."""
    try:
        message = str(error)
    except Exception:  # `__str__` of a user's exception may itself fail
        message = ""
    return " ".join(f"{type(error).__name__}: {message}".split()).removesuffix(":")
