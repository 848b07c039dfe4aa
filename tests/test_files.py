"""Archives: written whole or not at all; damaged and hostile ones are refused."""

from __future__ import annotations

import errno
import io
import json
import os
import stat
import tracemalloc
import zipfile

import numpy as np
import pytest

from sojourn._files import (
    open_regular_file,
    pack_archive,
    parse_json,
    read_archive,
    write_archive,
    write_atomically,
)
from sojourn.errors import MemoryLimitError

ABOUT = {"format": "thing 1", "note": "ρ"}
ARRAYS = {"a": np.arange(6.0).reshape(2, 3), "b.c": np.array([], dtype=np.int32), "d": np.float64(0.1)}


def test_archives_are_read_as_they_were_written(tmp_path):
    about, arrays = read_archive(write_archive(tmp_path / "x", ABOUT, ARRAYS), form="thing 1", writer="me")
    assert about == ABOUT
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_permissions_follow_the_umask(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        path = write_archive(tmp_path / "x.npz", ABOUT, ARRAYS)
        with open_regular_file(tmp_path / "y", write=True, create=True):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "y").stat().st_mode) == mode


def test_names_may_be_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("x" * 251 + ".npz")
    assert write_archive(path, ABOUT, ARRAYS).exists()


def test_a_failed_write_leaves_nothing(tmp_path):
    def fail(file):
        file.write(b"half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(tmp_path / "x.txt", fail)
    assert list(tmp_path.iterdir()) == []


def test_the_error_of_a_full_disk_names_the_file(tmp_path):
    def fail(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left on device") as raised:
        write_atomically(tmp_path / "x.txt", fail)
    assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, str(tmp_path / "x.txt"))


def test_an_existing_temporary_file_is_not_written_over(tmp_path, monkeypatch):
    taken = tmp_path / ".x.txt.00000000.tmp"
    taken.write_text("mine")
    tokens = iter(["00000000", "11111111"])
    monkeypatch.setattr("secrets.token_hex", lambda n: next(tokens))
    write_atomically(tmp_path / "x.txt", lambda file: file.write(b"new"))
    assert taken.read_text() == "mine"
    assert (tmp_path / "x.txt").read_text() == "new"


def test_a_file_is_synced_before_and_its_folder_after_the_rename(tmp_path, monkeypatch):
    path, seen = tmp_path / "x.npz", []
    fsync = os.fsync

    def record(handle):
        seen.append((stat.S_ISDIR(os.fstat(handle).st_mode), path.exists()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", record)
    write_archive(path, ABOUT, ARRAYS)
    assert seen == [(False, False), (True, True)]


def test_a_description_that_is_not_json_is_refused_before_writing(tmp_path):
    with pytest.raises(TypeError):
        write_archive(tmp_path / "x.npz", {"format": object()}, ARRAYS)
    assert list(tmp_path.iterdir()) == []


def test_pickled_arrays_are_not_read(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, about=np.array('{"format": "thing 1"}'), a=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match=r"x.npz is not a file that me wrote, or it is damaged.$"):
        read_archive(path, form="thing 1", writer="me")


def test_another_format_is_named(tmp_path):
    path = write_archive(tmp_path / "x", ABOUT, ARRAYS)
    with pytest.raises(ValueError, match=r"x.npz has the format 'thing 1'; this version reads 'thing 2'.$"):
        read_archive(path, form="thing 2", writer="me")


def npy(header: str, data: bytes = bytes(48), version: int = 1) -> bytes:
    """The content of a member: a header as NumPy writes it, and some data."""
    text = header.encode() + b"\n"
    size = len(text).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + size + text + data


def archive(*members: bytes, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive whose description is sound, with some members called "a"."""
    packed = io.BytesIO(pack_archive(ABOUT, {}))
    with zipfile.ZipFile(packed, "a", compression) as file:
        for member in members:
            file.writestr("a.npy", member)
    return packed.getvalue()


def patch(content: bytes, offset: int, value: int, size: int) -> bytes:
    """The archive with another value in the directory's entry of "a"."""
    place = content.rindex(b"a.npy") - 46 + offset
    return content[:place] + value.to_bytes(size, "little") + content[place + size :]


SOUND = "{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}"
HOSTILE = {
    "a shape of 8 TB": archive(npy(SOUND.replace("6", "1000000000000"))),
    "a shape of more than fits an integer": archive(npy(SOUND.replace("6", "9" * 40))),
    "a negative shape": archive(npy(SOUND.replace("6", "-6"))),
    "a shape that is smaller than the data": archive(npy(SOUND.replace("6", "5"))),
    "a declared size of 2 GB": patch(archive(npy(SOUND)), 24, 2**31 - 1, 4),
    "a description of 36 MB": pack_archive({"format": "thing 1", "x": " " * 9_000_000}, {}),
    "a bomb of LZMA": archive(npy(SOUND, bytes(20_000_000)), compression=zipfile.ZIP_LZMA),
    "a bomb of bzip2 that declares 48 bytes": patch(
        archive(npy(SOUND, bytes(20_000_000)), compression=zipfile.ZIP_BZIP2), 24, 176, 4
    ),
    "bzip2": archive(npy(SOUND), compression=zipfile.ZIP_BZIP2),
    "a member without an ending": archive(npy(SOUND)).replace(b"a.npy", b"a.xyz"),
    "encryption": patch(archive(npy(SOUND)), 8, 1, 2),
    "an unknown compression": patch(archive(npy(SOUND)), 10, 99, 2),
    "pickled objects": archive(npy(SOUND.replace("<f8", "|O"))),
    "a header of code": archive(npy("{'descr': __import__('os').getcwd(), 'shape': (6,)}")),
    "a header of 60 kB": archive(npy(SOUND + " " * 60_000)),
    "a header of another version": archive(npy(SOUND, version=2)),
    "no array": archive(b"text"),
    "a character that does not exist": archive(npy(SOUND.replace("<f8", "<U2"), b"\xff" * 48)),
    "a large one with the other byte order": archive(npy(SOUND.replace("<f8", ">U2"), b"\0\x11\0\0" * 12)),
    "text in a field": archive(npy("{'descr': [('x', '<U2')], 'fortran_order': False, 'shape': (6,)}")),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_archives_are_refused_without_using_memory(tmp_path, content):
    (tmp_path / "x.npz").write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="is not a file that me wrote, or it is damaged"):
            read_archive(tmp_path / "x.npz", form="thing 1", writer="me")
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_all_arrays_of_an_archive_must_fit_in_memory_together(tmp_path, monkeypatch):
    path = write_archive(tmp_path / "x.npz", ABOUT, {name: np.zeros(500) for name in "abc"})
    monkeypatch.setattr("sojourn._memory._ALWAYS_FITS", 1_000)
    monkeypatch.setattr("sojourn._memory.available_memory", lambda: 10_000)
    with pytest.raises(MemoryLimitError, match=r"x\.npz needs"):  # it is not called damaged
        read_archive(path, form="thing 1", writer="me")


@pytest.mark.parametrize("dtype", ["<U2", ">U2"])
def test_all_characters_that_exist_are_read(tmp_path, dtype):
    texts = np.array(["\U0010ffff", "\ud800a", ""], dtype=dtype)
    path = write_archive(tmp_path / "x", ABOUT, {"a": texts})
    assert read_archive(path, form="thing 1", writer="me")[1]["a"].tolist() == texts.tolist()


def test_a_description_with_a_character_that_does_not_exist_is_refused(tmp_path):
    packed = io.BytesIO()
    text = np.array(json.dumps(ABOUT))
    data = bytearray(text.tobytes())
    data[-5] = 255  # the highest byte of the character before the last
    np.savez(packed, about=np.ndarray((), text.dtype, data))
    (tmp_path / "x.npz").write_bytes(packed.getvalue())
    with pytest.raises(ValueError, match="or it is damaged"):
        read_archive(tmp_path / "x.npz", form="thing 1", writer="me")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", None])
def test_json_has_at_most_100_levels(encoding):
    def written(text):
        return text if encoding is None else text.encode(encoding)

    wide = f"[{', '.join(['{}', '[[]]'] * 200)}]"
    quoted = '["' + "[" * 200 + '\\"{{"]'
    for text in ("[" * 100 + "]" * 100, '{"a":' * 100 + "1" + "}" * 100, wide, quoted):
        assert parse_json(written(text)) == json.loads(text)
    for text in (
        "[" * 101 + "]" * 101,
        f"{wide[:-1]}, {'[' * 100}{']' * 100}]",
        '["\\\\",' * 101 + "]" * 101,
    ):
        with pytest.raises(ValueError, match="it has more than 100 levels"):
            parse_json(written(text))


@pytest.mark.parametrize("text", ['[]"' + '\\"' * 10**6, "[]" * 200 + " " * 10**6, "[]" * 200 + '"' * 10**6])
def test_the_levels_of_what_is_not_json_are_counted_quickly(text):
    with pytest.raises(json.JSONDecodeError):
        parse_json(text)  # a pattern that starts again at every quotation mark would take hours


def test_archives_without_compression_are_read(tmp_path):
    (tmp_path / "x.npz").write_bytes(archive(npy(SOUND), compression=zipfile.ZIP_STORED))
    assert read_archive(tmp_path / "x.npz", form="thing 1", writer="me")[1]["a"].tolist() == [0.0] * 6


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(tmp_path):
    (tmp_path / "x.npz").write_bytes(archive(npy(SOUND), npy(SOUND, np.ones(6).tobytes())))
    with pytest.raises(ValueError, match="or it is damaged"):
        read_archive(tmp_path / "x.npz", form="thing 1", writer="me")


def test_a_large_array_is_not_compressed_to_almost_nothing(tmp_path):
    zeros = np.zeros(1_000_000)  # 8 MB, which deflate packs into 8 kB
    path = write_archive(tmp_path / "x", ABOUT, {"a": zeros})
    assert path.stat().st_size > zeros.nbytes
    assert read_archive(path, form="thing 1", writer="me")[1]["a"].size == zeros.size
    forged = tmp_path / "forged.npz"
    np.savez_compressed(forged, a=zeros, about=np.array(json.dumps(ABOUT)))
    assert forged.stat().st_size < 20_000
    with pytest.raises(ValueError, match="or it is damaged"):
        read_archive(forged, form="thing 1", writer="me")


def test_an_archive_whose_members_overlap_is_refused(tmp_path):
    path = tmp_path / "overlap.npz"
    np.savez(path, a=np.random.default_rng(0).random(20_000), about=np.array(json.dumps(ABOUT)))
    with zipfile.ZipFile(path, "a") as archive:
        first = archive.getinfo("a.npy")
        for i in range(3):  # further entries of the directory for the same bytes
            copy = archive.NameToInfo[f"b{i}.npy"] = type(first)(f"b{i}.npy", first.date_time)
            for name in ("compress_type", "CRC", "compress_size", "file_size", "header_offset", "flag_bits"):
                setattr(copy, name, getattr(first, name))
            archive.filelist.append(copy)
        archive._didModify = True
    with pytest.raises(ValueError, match="or it is damaged"):
        read_archive(path, form="thing 1", writer="me")
