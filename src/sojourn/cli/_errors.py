"""Error handling: one line on stderr, and different exit codes for bad input and failed runs."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from typer.core import TyperGroup

from sojourn._text import one_line
from sojourn.cli._signals import was_interrupted
from sojourn.cli.output._ascii import spell_missing_symbols
from sojourn.cli.output._help import NarrowHelp
from sojourn.cli.output._lasting_streams import lasting_streams
from sojourn.cli.output._streams import print_message
from sojourn.errors import NewerVersionWarning, SojournWarning, SpecDeprecationWarning

__all__ = ["BadInputError", "Invocation", "OneLineGroup", "reading_input"]

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130

_NO_INPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of the disk, which no other input would avoid."""

_LARGEST_WIDTH = 10_000  # columns of a terminal


class BadInputError(Exception):
    """Raised for unusable input; the message says why, on one line."""


@contextlib.contextmanager
def reading_input() -> Iterator[None]:
    """Turn errors from reading and checking the user's input into `BadInputError`."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise BadInputError(str(error)) from error
    except OSError as error:
        if error.errno in _NO_INPUT_ERRORS:
            raise
        raise BadInputError(_describe_os_error(error)) from error


def _describe_os_error(error: OSError) -> str:
    """Return the file and the reason of an error of the operating system."""
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}."


@dataclass
class Invocation:
    """Options of all commands; typer's context carries them as `obj`."""

    debug: bool = False


class OneLineGroup(NarrowHelp, TyperGroup):
    """The group of commands, which reports every error and warning on one line."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; exit with its code, or return it if not `standalone_mode`."""
        spell_missing_symbols(sys.stdout, sys.stderr)
        _ignore_impossible_width()
        with lasting_streams() as stdout:
            code = self._run(args, prog_name, complete_var, windows_expand_args, **extra)
            stdout.flush()
            if code == 0 and stdout.error is not None:
                code = FAILED
                if stdout.error.errno != errno.EPIPE:  # a reader that has seen enough, such as head
                    reason = stdout.error.strerror or stdout.error
                    print_message(f"The results could not be printed to stdout: {reason}.", label="Error")
        if standalone_mode:
            sys.exit(code)
        return code

    def _run(
        self,
        args: Sequence[str] | None,
        prog_name: str | None,
        complete_var: str | None,
        windows_expand_args: bool,
        **extra: Any,
    ) -> int:
        """Run a command, report its errors and warnings, and return its exit code."""
        invocation = Invocation()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", SojournWarning)
            try:
                _check_encoding(sys.argv[1:] if args is None else args)
                code = super().main(
                    args, prog_name, complete_var, False, windows_expand_args, obj=invocation, **extra
                )
            except Exception as error:
                if invocation.debug:
                    lines = "".join(traceback.format_exception(error)).splitlines()
                    print_message("\n".join(map(one_line, lines)), as_one_line=False)
                code = INTERRUPTED if was_interrupted() else _report_error(error, debug=invocation.debug)
            finally:
                _report_warnings(caught)
        code = code if isinstance(code, int) else 0
        if code == INTERRUPTED:
            print_message("Stopped.")
        return code

    def invoke(self, ctx: Any) -> Any:
        """Invoke a command; an `EOFError` of a user's code is bad input, and not the end of stdin."""
        try:
            return super().invoke(ctx)
        except EOFError as error:
            raise BadInputError(f"EOFError: {error}") from error


def _ignore_impossible_width() -> None:
    """Remove a `COLUMNS` with which rich would fail or print nothing; elsewhere 0 means an unknown width."""
    try:
        is_possible = 0 < int(os.environ.get("COLUMNS", "1")) <= _LARGEST_WIDTH
    except ValueError:
        is_possible = False
    if not is_possible:
        del os.environ["COLUMNS"]


def _check_encoding(arguments: Sequence[str]) -> None:
    """Raise `BadInputError` for file names that cannot be written in UTF-8, as results and reports are."""
    for argument in arguments:
        try:
            os.fsencode(argument).decode("utf-8")
        except UnicodeError:
            raise BadInputError(f"Names of files must be UTF-8; got {argument!r}. Rename it.") from None


def _report_error(error: Exception, *, debug: bool) -> int:
    """Print what went wrong and return the exit code."""
    if isinstance(error, BadInputError):
        print_message(str(error), label="Error")
        return BAD_INPUT
    if isinstance(error, OSError) and error.errno in _NO_INPUT_ERRORS:
        print_message(_describe_os_error(error), label="Error")
        return FAILED
    if isinstance(error, MemoryError):
        print_message(_name_options(str(error)) or "Out of memory.", label="Error")
        return FAILED
    # Typer's own errors have no public base class in older versions, but all have `format_message`.
    format_message, context = getattr(error, "format_message", None), getattr(error, "ctx", None)
    if format_message is not None:
        message = format_message().replace("Value error, ", "")  # newer versions of typer add this
        end = "" if message.endswith((".", "?")) else "."
        hint = f" Try '{context.command_path} --help'." if context is not None else ""
        print_message(f"{message}{end}{hint}", label="Error")
        return int(getattr(error, "exit_code", FAILED))
    message = _describe_os_error(error) if isinstance(error, OSError) else str(error)
    hint = "" if debug else " ('sojourn --debug …' shows where.)"
    print_message(f"{type(error).__name__}: {message}{hint}", label="Error")
    return FAILED


def _name_options(message: str) -> str:
    """Return a library message with the names of arguments replaced by the options of the command line."""
    return message.replace("max_layers", "--max-layers")


def _report_warnings(caught: Sequence[warnings.WarningMessage]) -> None:
    """Print each distinct warning once."""
    labels: dict[str, str] = {}
    for warning in caught:
        is_note = issubclass(warning.category, (NewerVersionWarning, SpecDeprecationWarning))
        label = "Note" if is_note else "Warning"
        labels.setdefault(_name_options(str(warning.message)), label)
    for message, label in labels.items():
        print_message(message, label=label)
