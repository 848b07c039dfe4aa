"""How the command line fails: one line on stderr, and an exit code that says whose fault it is."""

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

from sojourn.cli.output._console import spell_out, write_line
from sojourn.cli.output._help import NarrowHelp
from sojourn.errors import NewerVersionWarning, SojournWarning, SpecDeprecationWarning

__all__ = ["BadInputError", "Invocation", "OneLineGroup", "reading_input"]

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130


class BadInputError(Exception):
    """What the user gave cannot be used; the message says why, in one line."""


@contextlib.contextmanager
def reading_input() -> Iterator[None]:
    """Turn the errors of reading and checking what the user gave into `BadInputError`."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise BadInputError(str(error)) from error
    except OSError as error:
        raise BadInputError(_of_file(error)) from error


def _of_file(error: OSError) -> str:
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}."


@dataclass
class Invocation:
    """What the options of all commands say; typer's context carries it as `obj`."""

    debug: bool = False


class OneLineGroup(NarrowHelp, TyperGroup):
    """The commands, with every error and warning said in one line."""

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
        spell_out(sys.stdout, sys.stderr)
        invocation = Invocation()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", SojournWarning)
            try:
                code = super().main(
                    args, prog_name, complete_var, False, windows_expand_args, obj=invocation, **extra
                )
            except Exception as error:
                if invocation.debug:
                    write_line("".join(traceback.format_exception(error)), one_line=False)
                code = _report(error, debug=invocation.debug)
            finally:
                _report_warnings(caught)
        code = code if isinstance(code, int) else 0
        if code == INTERRUPTED:
            write_line("Stopped.")
        if standalone_mode:
            sys.exit(code)
        return code


def _report(error: Exception, *, debug: bool) -> int:
    """Say what went wrong and return the exit code."""
    if isinstance(error, BadInputError):
        write_line(str(error), label="Error")
        return BAD_INPUT
    if isinstance(error, typer.Abort):
        return FAILED
    if isinstance(error, MemoryError):
        write_line(_with_options(str(error)) or "Out of memory.", label="Error")
        return FAILED
    # Typer's own errors have no public base class in its older versions, but all know how to say themselves.
    say, context = getattr(error, "format_message", None), getattr(error, "ctx", None)
    if say is not None:
        message = say().replace("Value error, ", "")
        end = "" if message.endswith((".", "?")) else "."
        hint = f" Try '{context.command_path} --help'." if context is not None else ""
        write_line(f"{message}{end}{hint}", label="Error")
        return int(getattr(error, "exit_code", FAILED))
    said = _of_file(error) if isinstance(error, OSError) else str(error)
    hint = "" if debug else " ('sojourn --debug …' shows where.)"
    write_line(f"{type(error).__name__}: {said}{hint}", label="Error")
    return FAILED


def _with_options(message: str) -> str:
    """Return a message of the library with an argument written as the option that it is here."""
    return message.replace("max_layers", "--max-layers")


def _report_warnings(caught: Sequence[warnings.WarningMessage]) -> None:
    said: dict[str, str] = {}
    for warning in caught:
        is_note = issubclass(warning.category, (NewerVersionWarning, SpecDeprecationWarning))
        label = "Note" if is_note else "Warning"
        said.setdefault(_with_options(str(warning.message)), label)
    for message, label in said.items():
        write_line(message, label=label)
