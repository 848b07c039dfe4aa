"""Archives on disk: whole or not at all, and nothing of another kind."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest

from sojourn._files import read_archive, write_archive

ABOUT = {"format": "thing 1", "note": "ρ"}
ARRAYS = {"a": np.arange(6.0).reshape(2, 3), "b.c": np.array([], dtype=np.int32), "d": np.float64(0.1)}


def test_what_was_written_is_read(tmp_path):
    about, arrays = read_archive(write_archive(tmp_path / "x", ABOUT, ARRAYS), form="thing 1", writer="me")
    assert about == ABOUT
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype


def test_the_file_may_be_read_by_others(tmp_path):
    path = write_archive(tmp_path / "x.npz", ABOUT, ARRAYS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_file_and_folder_are_synced_and_the_new_name_comes_between(tmp_path, monkeypatch):
    path, seen = tmp_path / "x.npz", []
    fsync = os.fsync

    def watch(handle):
        seen.append((stat.S_ISDIR(os.fstat(handle).st_mode), path.exists()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", watch)
    write_archive(path, ABOUT, ARRAYS)
    assert seen == [(False, False), (True, True)]


def test_what_cannot_be_json_is_refused_before_writing(tmp_path):
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
