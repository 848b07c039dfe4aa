"""The command line: one command a file. Nothing heavy is imported before a command runs."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit: 0 is success, 1 a failed run, 2 bad input, 130 a Ctrl-C."""
    try:
        from sojourn.cli._app import app  # noqa: PLC0415 - a Ctrl-C while this loads is quiet too

        app(prog_name="sojourn")
    except KeyboardInterrupt:
        raise SystemExit(130) from None
