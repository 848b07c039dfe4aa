"""The cache of compiled kernels never breaks a run."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import pytest

from sojourn._kernels import _jit

KERNEL = """
from sojourn._kernels._jit import kernel

@kernel
def double(x):
    return 2.0 * x
"""
USE = "from kernels import double; print(double(1.0))"


@pytest.fixture(autouse=True)
def module(tmp_path):
    """A module with a small kernel, which `USE` imports."""
    (tmp_path / "kernels.py").write_text(KERNEL)


def run(folder, code=USE, **variables):
    names = ("PATH", "PYTHONPATH", "HOME", "TMPDIR")
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


def test_loading_a_kernel_does_not_load_the_compiler(tmp_path):
    use = f"{USE}; import sys; print('numba.np.linalg' in sys.modules)"
    cache = {"SOJOURN_CACHE_DIR": str(tmp_path / "cache")}
    assert run(tmp_path, use, **cache).split() == ["2.0", "True"]
    assert run(tmp_path, use, **cache).split() == ["2.0", "False"]


def test_inlined_functions_can_be_called_from_python():
    @_jit.inlined
    def add(x, y):
        return x + y

    assert add(1, 2) == 3
    assert numba.njit(lambda x: add(x, x))(1.5) == 3.0
    assert add(1.5, 2.0) == 3.5  # also with types that it was inlined with


def test_processes_wait_for_one_that_compiles(tmp_path):
    count = "from kernels import double; double(1.0); print(sum(double.stats.cache_misses.values()))"
    cache = {"SOJOURN_CACHE_DIR": str(tmp_path / "cache")}
    with ThreadPoolExecutor(4) as threads:
        misses = [threads.submit(run, tmp_path, count, **cache) for _ in range(4)]
    assert sorted(one.result() for one in misses) == ["0", "0", "0", "1"]


@pytest.mark.skipif(os.name != "posix", reason="needs locks")
def test_waiting_for_a_lock_ends(tmp_path):
    held = _jit.lock_when_free(tmp_path / "lock")
    assert _jit.lock_when_free(tmp_path / "lock", at_most=0.2) is None
    held.close()
    _jit.lock_when_free(tmp_path / "lock").close()
    assert _jit.lock_when_free(tmp_path / "missing" / "lock") is None


@pytest.mark.skipif(os.name != "posix", reason="needs locks")
def test_no_process_waits_after_a_compilation_was_interrupted(tmp_path):
    code = """
from kernels import double
from sojourn._kernels import _jit

def interrupt(*_):
    raise KeyboardInterrupt

double._compiler.compile = interrupt
try:
    double(1.0)
except KeyboardInterrupt:
    (place,) = _jit.cache_directory().rglob("*.lock")
    print(_jit.lock_when_free(place, at_most=1.0) is not None)
"""
    assert run(tmp_path, code, SOJOURN_CACHE_DIR=str(tmp_path / "cache")) == "True"


def test_interrupts_in_callbacks_of_the_compiler_are_raised(tmp_path):
    code = """
import ctypes, signal
from kernels import double

@ctypes.CFUNCTYPE(None)
def callback():
    signal.raise_signal(signal.SIGINT)

def interrupted(*arguments):
    double._compiler.compile = compile_  # once
    callback()
    return compile_(*arguments)

compile_, double._compiler.compile = double._compiler.compile, interrupted
try:
    double(1.0)
except KeyboardInterrupt:
    print(double(1.0))
"""
    assert run(tmp_path, code) == "2.0"


def test_kernels_run_without_a_cache_if_there_is_no_place_for_one(tmp_path):
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
numba.core.compiler.compile_extra = refuse  # nothing may be compiled again
"""


def test_a_read_only_cache_is_read(tmp_path):
    run(tmp_path, SOJOURN_CACHE_DIR=str(tmp_path / "cache"))
    assert run(tmp_path, READ_ONLY + USE, SOJOURN_CACHE_DIR=str(tmp_path / "cache")) == "2.0"


def test_a_change_of_any_kernel_file_changes_the_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("SOJOURN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(_jit, "__file__", str(tmp_path / "kernels" / "_jit.py"))
    source = tmp_path / "kernels" / "learning" / "_play.py"
    source.parent.mkdir(parents=True)
    found = set()
    for text in ("first", "second"):
        source.write_text(text)
        found.add(_jit.cache_directory.__wrapped__())
    assert len(found) == 2


def test_a_relative_home_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(_jit, "_cache_base", lambda: Path("relative", ".cache", "sojourn"))
    monkeypatch.chdir(tmp_path)
    assert _jit.cache_directory.__wrapped__() is None
    assert not (tmp_path / "relative").exists()


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


WHERE = """
import warnings
from sojourn.errors import CacheWarning
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from sojourn._kernels._jit import cache_directory
    print(cache_directory(), len(caught), all(issubclass(one.category, CacheWarning) for one in caught))
"""


@pytest.mark.skipif(os.name != "posix", reason="needs file modes")
def test_new_folders_are_private(tmp_path):
    before = os.umask(0)
    try:
        found, *rest = run(tmp_path, WHERE, SOJOURN_CACHE_DIR=str(tmp_path / "a" / "cache")).split()
    finally:
        os.umask(before)
    assert rest == ["0", "True"]
    folder = Path(found)
    for path in (folder, folder.parent, folder.parent.parent):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name != "posix", reason="needs file modes")
@pytest.mark.parametrize("level", ["base", "kernels", "digest"])
@pytest.mark.parametrize("mode", [0o775, 0o707])
def test_a_folder_that_others_can_write_to_is_not_used(tmp_path, level, mode):
    folder = Path(run(tmp_path, WHERE, SOJOURN_CACHE_DIR=str(tmp_path / "cache")).split()[0])
    {"base": folder.parent.parent, "kernels": folder.parent, "digest": folder}[level].chmod(mode)
    assert run(tmp_path, WHERE, SOJOURN_CACHE_DIR=str(tmp_path / "cache")) == "None 1 True"


def test_only_the_user_and_the_administrator_are_trusted(tmp_path, monkeypatch):
    if os.name != "posix":
        pytest.skip("needs owners")
    tmp_path.chmod(0o700)
    assert _jit._is_trusted(tmp_path, may_be_shared=False)
    tmp_path.chmod(0o1777)
    assert _jit._is_trusted(tmp_path, may_be_shared=True)
    assert not _jit._is_trusted(tmp_path, may_be_shared=False)
    tmp_path.chmod(0o700)
    owner = tmp_path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert _jit._is_trusted(tmp_path, may_be_shared=False) == (owner == 0)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    with monkeypatch.context() as patched:
        foreign = os.stat_result((0o120777, 0, 0, 0, owner + 2, 0, 0, 0, 0, 0))
        patched.setattr(os, "geteuid", lambda: owner)
        assert _jit._is_trusted(link, may_be_shared=False)
        patched.setattr(Path, "lstat", lambda self: foreign)
        assert not _jit._is_trusted(link, may_be_shared=False)
    os_stat = os.stat_result((0o40700, 0, 0, 0, owner + 2, 0, 0, 0, 0, 0))
    monkeypatch.setattr(Path, "stat", lambda self, **_: os_stat)
    assert not _jit._is_trusted(tmp_path, may_be_shared=False)
