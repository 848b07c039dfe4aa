"""Output files: checked before any work starts, and written at its end."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.cli._errors import reading_input
from sojourn.cli.output._streams import print_message

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["check_output_file", "check_output_files", "file_beside", "write_figure", "write_report"]

_SUFFIXES = {"--figure": (".png", ".svg", ".pdf"), "--report": (".html", ".htm"), "--table": (".csv",)}


def check_output_files(source: Path, figure: Path | None, report: Path | None, table: Path | None) -> None:
    """Raise `ValueError` unless the figure, report and table can be written; None is not wanted."""
    for (option, suffixes), path in zip(_SUFFIXES.items(), (figure, report, table), strict=True):
        if path is not None:
            check_output_file(option, path, suffixes, source=source)


def check_output_file(
    option: str, path: Path, suffixes: Sequence[str], *, source: Path | None = None
) -> None:
    """Raise `ValueError` unless `path` is a file that can be written and has one of the suffixes.

    Args:
        option: The option that names the file, for messages.
        path: The file.
        suffixes: The allowed suffixes.
        source: The input file, folder or pattern, of which no file must be overwritten.
    """
    if path.suffix.lower() not in suffixes:
        raise ValueError(f"{option} must end in {' or '.join(suffixes)}; got {str(path)!r}.")
    if not path.parent.is_dir():
        raise ValueError(f"{option} must be in a folder that exists; got {str(path)!r}.")
    if path.is_dir():
        raise ValueError(f"{option} must be a file; {str(path)!r} is a folder.")
    if source is not None and source.is_dir() and ".csv" in suffixes:
        if source.resolve() in path.resolve().parents:
            raise ValueError(f"{option} must not be in the folder that is read; got {str(path)!r}.")
    elif source is not None and path.exists() and any(path.samefile(one) for one in _files_of(source)):
        raise ValueError(f"{option} must not be the file that is read; got {str(path)!r}.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"{option} must be a file that can be written; {str(path)!r} cannot.")


def file_beside(store: Path, ending: str) -> Path:
    """Return the file next to a store that has its name, without the usual `.results`, and an ending."""
    folder = store.resolve() if store.name in ("", "..") else store
    return folder.with_name(folder.name.removesuffix(".results") + ending)


def _files_of(source: Path) -> list[Path]:
    """Return the files that a path, a pattern or "-" stands for."""
    source = Path("/dev/stdin") if str(source) == "-" else source  # perhaps redirected from a file
    return (
        [source] if source.exists() else [Path(one) for one in glob.glob(str(source)) if Path(one).exists()]
    )


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure and say so."""
    from sojourn._files import write_atomically  # noqa: PLC0415

    with reading_input():
        kind = path.suffix[1:].lower()
        write_atomically(path, lambda file: figure.savefig(file, format=kind))
    print_message(f"Figure written to {path}.")


def write_report(page: str, path: Path) -> None:
    """Write the page of a report and say so."""
    from sojourn.reports import write_page  # noqa: PLC0415

    with reading_input():
        write_page(page, path)
    print_message(f"Report written to {path}.")
