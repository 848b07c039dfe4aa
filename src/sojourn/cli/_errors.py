"""Error handling: one line on stderr, and different exit codes for bad input and failed runs."""

from __future__ import annotations

import contextlib
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperGroup

from sojourn.cli.output._ascii import spell_missing_symbols
from sojourn.cli.output._help import NarrowHelp
from sojourn.cli.output._streams import print_message
from sojourn.errors import NewerVersionWarning, SojournWarning, SpecDeprecationWarning

__all__ = ["BadInputError", "Invocation", "OneLineGroup", "reading_input"]

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130


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
        invocation = Invocation()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", SojournWarning)
            try:
                code = super().main(
                    args, prog_name, complete_var, False, windows_expand_args, obj=invocation, **extra
                )
            except Exception as error:
                if invocation.debug:
                    print_message("".join(traceback.format_exception(error)), one_line=False)
                code = _report_error(error, debug=invocation.debug)
            finally:
                _report_warnings(caught)
        code = code if isinstance(code, int) else 0
        if code == INTERRUPTED:
            print_message("Stopped.")
        if standalone_mode:
            sys.exit(code)
        return code


def _report_error(error: Exception, *, debug: bool) -> int:
    """Print what went wrong and return the exit code."""
    if isinstance(error, BadInputError):
        print_message(str(error), label="Error")
        return BAD_INPUT
    if isinstance(error, typer.Abort):
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
