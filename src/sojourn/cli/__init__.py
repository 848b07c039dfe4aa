"""The command line. Commands have one module each, and import heavy packages only when they run."""

from __future__ import annotations

import contextlib
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with 0 (success), 1 (failed run), 2 (bad input) or 130 (Ctrl-C)."""
    try:
        from sojourn._foreign_settings import ignore_foreign_settings  # noqa: PLC0415
        from sojourn.cli._signals import repeated_interrupts, stopped_by_sigterm  # noqa: PLC0415
        from sojourn.cli.output._lasting_streams import open_closed_descriptors  # noqa: PLC0415

        open_closed_descriptors()
        with repeated_interrupts(), stopped_by_sigterm():
            ignore_foreign_settings()
            from sojourn.cli._app import app  # noqa: PLC0415 - Ctrl-C during loading exits quietly too

            app(prog_name="sojourn")
    except KeyboardInterrupt:
        if sys.stderr is not None:
            with contextlib.suppress(OSError):
                sys.stderr.write("Stopped.\n")
        raise SystemExit(130) from None
    finally:
        # Python would end itself by the signal if it arrived in code that `exec` runs; an `exec` clears that.
        exec("")
