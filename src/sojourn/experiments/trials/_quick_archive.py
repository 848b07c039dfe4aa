"""Quick reading of archives as `pack_archive` writes them: about ten times as fast as `zipfile` and NumPy.

A run checks thousands of small files before it starts. An archive must have the very form that NumPy gives,
or the result is None and it must be read in the general way: so both ways agree on every file.
"""

from __future__ import annotations

import functools
import io
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["array_of", "read_members", "text_of"]

_END = struct.Struct("<4s4H2IH")
_ENTRY = struct.Struct("<16s3IH12sI")
"""An entry: fixed start; checksum, packed and unpacked size; length of the name; fixed rest; place."""

_LOCAL = struct.Struct("<14s3I2H")
_SIZES = struct.Struct("<2H2Q")
"""The extra field of a local header: its number, its length, and the sizes unpacked and packed."""

_IN_EXTRA = 0xFFFFFFFF
_NEW, _OLD = 45, 20
"""Versions in the headers; Python up to 3.11.3 writes the old one, and sizes in the local header, too."""

_ENTRY_STARTS = {v: struct.pack("<4s6H", b"PK\1\2", 768 + v, v, 0, 8, 0, 33) for v in (_NEW, _OLD)}
_LOCAL_STARTS = {v: struct.pack("<4s5H", b"PK\3\4", v, 0, 8, 0, 33) for v in (_NEW, _OLD)}
"""How entries of NumPy start, and their members: versions, flags, deflation, a fixed date."""

_ENTRY_REST = struct.pack("<4HI", 0, 0, 0, 0, 0o600 << 16)
"""No comments, and the mode of a new file."""

_MOST_MEMBERS = 16
_MOST_BYTES = 1 << 20
"""Largest member, unpacked: the general way refuses some larger ones, which are compressed too much."""
_CODES = {"i": "<i8", "b": "|b1", "f": "<f8"}
_TYPES = {kind: np.dtype(code) for kind, code in _CODES.items()}


def read_members(content: bytes) -> dict[str, bytes] | None:
    """Return the bytes of every member of a zip archive by name, or None if it has to be read otherwise."""
    try:
        return _read_members(content)
    except (struct.error, zlib.error, UnicodeDecodeError):
        return None


def _read_members(content: bytes) -> dict[str, bytes] | None:
    start_of_end = len(content) - _END.size
    if start_of_end < 0:
        return None
    mark, disk, first_disk, count, total, size, place, n_comment = _END.unpack_from(content, start_of_end)
    if (mark, disk, first_disk, total, n_comment) != (b"PK\5\6", 0, 0, count, 0):
        return None
    if place + size != start_of_end or not 0 < count <= _MOST_MEMBERS:
        return None
    members: dict[str, bytes] = {}
    expected_begin, start_of_entries = 0, place
    for _ in range(count):
        fixed, crc, packed, unpacked, n_name, rest, begin = _ENTRY.unpack_from(content, place)
        version = _NEW if fixed == _ENTRY_STARTS[_NEW] else _OLD
        if fixed != _ENTRY_STARTS[version] or rest != _ENTRY_REST or begin != expected_begin:
            return None
        if unpacked > _MOST_BYTES:
            return None
        place += _ENTRY.size
        name = content[place : place + n_name]
        place += n_name
        sizes = (_IN_EXTRA, _IN_EXTRA) if version == _NEW else (packed, unpacked)
        local = _LOCAL.pack(_LOCAL_STARTS[version], crc, *sizes, n_name, _SIZES.size)
        local += name + _SIZES.pack(1, 16, unpacked, packed)
        data = begin + len(local)
        if content[begin:data] != local:
            return None
        expected_begin = data + packed
        if expected_begin > start_of_entries or not name.endswith(b".npy"):
            return None
        unpacker = zlib.decompressobj(-15)
        member = unpacker.decompress(content[data:expected_begin], unpacked + 1)
        if len(member) != unpacked or not unpacker.eof or unpacker.unused_data or zlib.crc32(member) != crc:
            return None
        members[name[:-4].decode("ascii")] = member
    is_whole = expected_begin == start_of_entries and place == start_of_end
    return members if is_whole and len(members) == count else None


def array_of(member: bytes, kind: str) -> Any:
    """Return a one-dimensional array, or None if the bytes are not the usual form of one of that kind."""
    begin = 10 + int.from_bytes(member[8:10], "little")
    n, rest = divmod(len(member) - begin, 1 if kind == "b" else 8)
    if n < 0 or rest or member[:begin] != _array_header(_CODES[kind], n):
        return None
    return np.frombuffer(member, _TYPES[kind], offset=begin)


@functools.lru_cache(maxsize=1024)
def _array_header(code: str, n: int) -> bytes:
    header = io.BytesIO()
    about: Mapping[str, Any] = {"descr": code, "fortran_order": False, "shape": (n,)}
    np.lib.format.write_array_header_1_0(header, about)  # type: ignore[arg-type]
    return header.getvalue()


def text_of(member: bytes) -> str | None:
    """Return the text of an array that holds a single one, or None if the bytes are anything else."""
    begin = 10 + int.from_bytes(member[8:10], "little")
    n, rest = divmod(len(member) - begin, 4)
    if n <= 0 or rest or member[:begin] != _text_header(n):
        return None
    return member[begin:].decode("utf-32-le", errors="replace")


@functools.lru_cache(maxsize=1024)
def _text_header(n: int) -> bytes:
    header = io.BytesIO()
    about: Mapping[str, Any] = {"descr": f"<U{n}", "fortran_order": False, "shape": ()}
    np.lib.format.write_array_header_1_0(header, about)  # type: ignore[arg-type]
    return header.getvalue()
