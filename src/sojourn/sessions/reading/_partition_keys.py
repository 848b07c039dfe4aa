"""Reads the keys of partitioned folders, such as country=DE, as columns of the files in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sojourn._typing import IntArray
from sojourn.sessions.reading._rows import Column, RowReader
from sojourn.sessions.reading._table_columns import ObjectColumn

__all__ = ["KeyedRows", "keys_of"]

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def keys_of(path: Path) -> dict[str, str]:
    """Return the keys in the names of a path's folders, and their values."""
    pairs = [part.split("=", 1) for part in path.parent.parts if "=" in part]
    return {unquote(name): "" if value == _NO_VALUE else unquote(value) for name, value in pairs if name}


class KeyedRows(RowReader):
    """Passes rows to another reader with a column for each key; a column of the file itself comes first."""

    def __init__(self, reader: RowReader, keys: dict[str, str]) -> None:
        super().__init__()
        self._reader, self._keys = reader, keys
        self._constant: dict[int, str] = {}
        self.headerless, self.row = reader.headerless, reader.row

    def begin(self, names: Sequence[str], source: str, first_rows: Sequence[Sequence[str]]) -> list[int]:
        """Begin a file, and return the indices of its own columns that are needed."""
        self.names = tuple(names)
        wanted = self._reader.begin(self._with_keys(names), source, first_rows)
        values = [value for name, value in self._keys.items() if name not in names]
        self._constant = {at: values[at - len(names)] for at in wanted if at >= len(names)}
        return [at for at in wanted if at < len(names)]

    def _with_keys(self, names: Sequence[str]) -> list[str]:
        return [*names, *(name for name in self._keys if name not in names)]

    def locate(self, names: Sequence[str], source: str) -> dict[str, int]:
        """Return the indices of the file's own columns that are needed, by what they hold."""
        found = self._reader.locate(self._with_keys(names), source)
        return {what: at for what, at in found.items() if at < len(names)}

    def feed(self, columns: Mapping[int, Column], rows: IntArray) -> None:
        """Pass a batch of rows."""
        keys = {at: ObjectColumn([value] * rows.size) for at, value in self._constant.items()}
        self._reader.feed({**columns, **keys}, rows)

    def reject_row(self, row: int, rule: str, got: str = "", cells: Sequence[str] = ()) -> None:
        """Pass a row that cannot be split into cells."""
        self._reader.reject_row(row, rule, got, cells)

    def build(self, name: str) -> Any:
        """Return the log."""
        return self._reader.build(name)
