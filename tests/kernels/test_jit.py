"""The cache of compiled kernels never breaks a run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from sojourn._kernels import _jit

PLAN = "import sojourn as sj; print(sj.plan(sj.mdps.two_paths(), sj.Fixed(3)).value[0])"


def run(folder, code=PLAN, **variables):
    names = ("PATH", "HOME", "TMPDIR")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**kept, **variables},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def damage(path, how):
    content = path.read_bytes()
    if how == "truncated":
        path.write_bytes(content[: len(content) // 3])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "garbage":
        path.write_bytes(b"\x93garbage" * 20)
    else:
        middle = len(content) // 2
        path.write_bytes(content[:middle] + bytes(64) + content[middle + 64 :])


def test_damaged_files_are_compiled_again(tmp_path):
    assert run(tmp_path, SOJOURN_CACHE_DIR=str(tmp_path / "cache")) == "2.0"
    for how in ("truncated", "empty", "garbage", "overwritten"):
        files = sorted((tmp_path / "cache").rglob("*.nb?"))
        assert files
        for path in files:
            damage(path, how)
        assert run(tmp_path, SOJOURN_CACHE_DIR=str(tmp_path / "cache")) == "2.0"


def test_a_place_that_cannot_be_written_is_done_without(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert run(tmp_path, SOJOURN_CACHE_DIR=str(blocked)) == "2.0"
    assert blocked.read_text() == "not a folder"


READ_ONLY = """
import tempfile
import numba.core.caching, numba.core.compiler

def refuse(*_, **__):
    raise PermissionError("read-only")

tempfile.TemporaryFile = numba.core.caching.IndexDataCacheFile.save = refuse
numba.core.compiler.compile_extra = refuse  # whatever is not in the cache
"""


def test_a_cache_that_can_only_be_read_is_read(tmp_path):
    run(tmp_path, SOJOURN_CACHE_DIR=str(tmp_path / "cache"))
    assert run(tmp_path, READ_ONLY + PLAN, SOJOURN_CACHE_DIR=str(tmp_path / "cache")) == "2.0"


@pytest.mark.parametrize("shared", ["", "relative"])
def test_a_cache_home_that_is_no_absolute_path_is_ignored(shared, tmp_path):
    where = "from sojourn._kernels._jit import cache_directory; print(cache_directory())"
    home = tmp_path / "home"
    found = run(tmp_path, where, XDG_CACHE_HOME=shared, HOME=str(home))
    if sys.platform == "linux":
        assert found.startswith(str(home / ".cache" / "sojourn"))
    assert not (tmp_path / "relative").exists()


def test_other_users_of_numba_keep_their_directory():
    import numba

    before = numba.config.CACHE_DIR

    @_jit.kernel
    def double(x):
        return 2.0 * x

    assert double(3.0) == 6.0
    assert before == numba.config.CACHE_DIR
