"""Reads SQLite files: their only table, or the result of a query that may only read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.sessions.reading._tables import Table
from sojourn.sessions.reading.sources._records import table_of_query, text_size

if TYPE_CHECKING:
    import sqlite3

__all__ = ["open_sqlite"]

_STEPS_BETWEEN_CHECKS = 10_000
"""Instructions of SQLite's machine, about a tenth of a millisecond, between two checks for Ctrl-C."""

_LETTERS_PER_BYTE = 100
"""Most characters of text that a table may hold per byte of its file."""


@contextmanager
def open_sqlite(path: Path, query: str | None, row: str) -> Iterator[Table]:
    """Open the result of a query on an SQLite file, or its only table.

    Views and computed columns are programs, which may never end or fill the memory: only a query reads them.
    A query may only read: the file is opened so, but VACUUM and ATTACH could write other files.
    """
    import sqlite3  # noqa: PLC0415

    raised: list[BaseException] = []
    refused: list[int] = []
    watch = _keep_exceptions(raised)
    next(watch)
    allowed = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)

    def authorize(action: int, first: object, second: object, *_: object) -> int:
        if action in allowed and str(second).lower() != "load_extension":
            return sqlite3.SQLITE_OK
        if (action, first) == (
            sqlite3.SQLITE_UPDATE,
            "sqlite_master",
        ):  # so json_each begins; nothing is written
            return sqlite3.SQLITE_OK
        refused.append(action)
        return sqlite3.SQLITE_DENY

    try:
        with contextlib.closing(sqlite3.connect(_sqlite_address(path), uri=True)) as base:
            base.text_factory = _decode
            base.set_progress_handler(watch.__next__, _STEPS_BETWEEN_CHECKS)
            base.execute("PRAGMA trusted_schema = OFF")
            most = None if query else path.stat().st_size  # a row takes more than a byte
            query = query or f"{_query_of_only_table(base, path.name)} LIMIT {most} + 1"
            base.set_authorizer(authorize)
            measure = text_size if most is None else _SizeCheck(most, path.name)
            yield table_of_query(base.execute(query), path.name, row, measure=measure)
    except (sqlite3.Error, sqlite3.Warning) as error:
        if raised:
            raise raised[0] from None
        if refused:
            raise ValueError(f"query must only read tables, with SELECT; got {query!r:.200}.") from error
        raise ValueError(
            f"{path.name} is an SQLite file that cannot be read so: {str(error).rstrip('.')}."
        ) from error


def _decode(content: bytes) -> str:
    """Return the text of a cell; bytes that are not UTF-8 are kept, because the cell may not matter."""
    return content.decode("utf-8", "surrogateescape")


class _SizeCheck:
    """Raises `ValueError` once a table has more rows, or far more text, than its file can honestly hold.

    The pages of a forged file may refer to each other, so that a few of them hold billions of rows. The
    default of a column that was added later stands in the file once, however many rows have it.
    """

    def __init__(self, n_bytes: int, source: str) -> None:
        self._n_bytes, self._source = n_bytes, source
        self._n_rows = self._n_letters = 0

    def __call__(self, record: dict[str, object]) -> int:
        """Return the size of a row, after checking it and those before it."""
        size = text_size(record)
        self._n_rows += 1
        self._n_letters += size
        if self._n_rows > self._n_bytes:
            raise ValueError(f"{self._source} is a damaged SQLite file: it has more rows than bytes.")
        if self._n_letters > _LETTERS_PER_BYTE * self._n_bytes:
            raise ValueError(
                f"{self._source} has rows with more than {_LETTERS_PER_BYTE} times as much text as the file "
                "has bytes: select the columns of lengths and ends with --query 'SELECT …' (query=…)."
            )
        return size


def _keep_exceptions(raised: list[BaseException]) -> Iterator[int]:
    """Yield 0 for SQLite to go on; keep what Ctrl-C raises here, which SQLite would drop, and yield 1.

    It is a generator because a signal that arrived earlier raises its exception as soon as Python code goes
    on: at the `yield`, but before the `try` of a function.
    """
    try:
        while True:
            yield 0
    except GeneratorExit:
        raise
    except BaseException as error:
        raised.append(error)
    yield 1


def _sqlite_address(path: Path) -> str:
    """Return the address with which SQLite opens a file to read it, and creates no file beside it.

    SQLite creates two files beside one in WAL mode even if it only reads. If there is no log of writes to
    take into account, the address says that the file does not change.
    """
    index = path.with_name(f"{path.name}-shm")  # SQLite writes it, although it only reads the log
    if index.exists() and index.stat().st_nlink > 1:
        raise ValueError(
            f"{index.name} has another name, a hard link, which reading {path.name} would overwrite."
        )
    with path.open("rb") as file:
        is_wal = file.read(20)[18:] == b"\x02\x02"
    has_log = path.with_name(f"{path.name}-wal").exists()
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' * (is_wal and not has_log)}"


def _query_of_only_table(base: sqlite3.Connection, source: str) -> str:
    """Return a query for the stored columns of the only table of an SQLite file."""
    found = base.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
    tables = {name: sql for name, sql in found if not name.startswith("sqlite_")}
    if len(tables) != 1 or not str(*tables.values()).startswith("CREATE TABLE"):
        listed = ", ".join(map(repr, list(tables)[:8])) or "none"
        raise ValueError(
            f"{source} is an SQLite file with the tables and views {listed}: say what to read with "
            "--query 'SELECT …' (query=…)."
        )
    (table,) = map(_quoted, tables)
    columns = [name for _, name, *_ in base.execute(f"PRAGMA table_info({table})")]
    return f"SELECT {', '.join(map(_quoted, columns))} FROM {table}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
