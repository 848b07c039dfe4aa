"""Decorators that compile kernels: cached on disk in our own directory, no fastmath, no threads."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import stat
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import numba
from numba.core import caching
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys

from sojourn._files import lock_file
from sojourn._kernels._interrupts import interruptible, interruptible_between_passes, stop_if_asked
from sojourn.errors import CacheWarning

__all__ = ["cache_directory", "inlined", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])

_njit: Any = numba.njit  # numba's type hints do not list all options


def kernel(function: F) -> F:
    """Compile `function` on its first call, and cache the machine code in our cache directory.

    Numba reads its setting for the cache directory when a function is decorated, so we change it for that
    moment only: other users of numba in the process keep theirs. A read-only directory is read and not
    written.
    """
    compiled: Any = _njit(nogil=True, no_cfunc_wrapper=True)(function)
    if compiled is function:
        raise ImportError("Sojourn needs numba's compiler; unset NUMBA_DISABLE_JIT.")
    compiled.compile = interruptible_between_passes(compiled.compile)
    directory = cache_directory()
    if directory is not None:
        settings: Any = numba.config
        theirs = settings.CACHE_DIR
        try:
            settings.CACHE_DIR = str(directory)
            compiled._cache = cache = _Cache(function)
            compiled.compile = cache.unlocked_after(compiled.compile)
        except (RuntimeError, OSError):
            pass  # go on without a cache
        finally:
            settings.CACHE_DIR = theirs
    return cast(F, compiled)


def inlined(function: F) -> F:
    """Inline `function` into the kernels that call it: a call with many arrays would cost more than its work.

    LLVM inlines the machine code. With numba's `inline="always"`, which copies the source into every caller,
    kernels would be equally fast and take a third longer to compile.

    The code through which Python would call it is left out, which takes a quarter off the time that kernels
    need to compile. If Python does call it, as tests do, it is compiled once more with that code, and not
    cached. Inlining is not free: numba counts references to all arrays that are passed, including those
    inside of structs, unless the function has neither loops nor branches. In hot loops, pass arrays that were
    unpacked outside of the loop.
    """
    compiled: Any = _njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    if compiled is function:
        return function
    compiled.compile = interruptible_between_passes(compiled.compile)
    compiled.__class__ = _InlinedFunction
    return cast(F, compiled)


class _InlinedFunction(CPUDispatcher):
    """A function that kernels inline; a call from Python goes to a version of its own."""

    @functools.cached_property
    def _for_python(self) -> Any:
        compiled: Any = _njit(self.py_func)
        compiled.compile = interruptible_between_passes(compiled.compile)
        return compiled

    def __call__(self, *args: Any) -> Any:
        return self._for_python(*args)


_NumbasLocator: Any = getattr(caching, "UserProvidedCacheLocator", None) or getattr(
    caching, "_UserProvidedCacheLocator", object
)  # its name in older versions


class _Locator(_NumbasLocator):
    """Numba's locator for a given cache directory, except that a read-only directory is accepted."""

    def ensure_cache_path(self) -> None:
        """Create the directory if possible; if it is not, saving to it fails later and is ignored."""
        with contextlib.suppress(OSError):
            Path(self.get_cache_path()).mkdir(parents=True, exist_ok=True)


class _Impl(caching.CompileResultCacheImpl):
    _locator_classes: Any = (_Locator,)


class _Cache(caching.FunctionCache):
    """A cache that deletes its damaged files and writes them again.

    Of several processes that need the same function, such as the workers of a run, one compiles it while the
    others wait for its files.
    """

    _impl_class = _Impl
    _lock: IO[bytes] | None = None
    """The locked file while this process compiles the function."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function, or None if it has to be compiled."""
        found = self._load(sig, target_context)
        if found is None and self._lock is None:
            self._lock = lock_when_free(Path(self._cache_path, f"{self._impl.filename_base}.lock"))
            found = self._load(sig, target_context)  # another process may have compiled it meanwhile
        if found is None:
            _announce_compilation()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled function; go on without if that fails."""
        try:
            super().save_overload(sig, data)
        except Exception:  # a full disk, a damaged index, a folder that went away
            self._delete_files()

    def unlocked_after(self, compile_: Callable[..., Any]) -> Callable[..., Any]:
        """Return numba's `compile` method such that others need not wait after it fails, as with Ctrl-C."""

        @functools.wraps(compile_)
        def compile_and_unlock(sig: Any) -> Any:
            try:
                return compile_(sig)
            finally:
                self._unlock()

        return compile_and_unlock

    def _load(self, sig: Any, target_context: Any) -> Any:
        load = interruptible(self._load_machine_code)  # numba would crash after an exception in its callback
        try:
            return load(sig, target_context)
        except Exception:  # unpickling and parsing fail in too many ways to list
            self._delete_files()
            return None

    def _load_machine_code(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function from its file, or None.

        Numba's own method first loads everything that compiling needs, which takes a third of a second per
        process. Ready machine code needs only the functions that count references to arrays.
        """
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _delete_files(self) -> None:
        """Delete the cache files of this function."""
        stem = self._impl.filename_base
        for path in Path(self._cache_path).glob(f"{stem}*.nb?"):
            try:
                path.unlink(missing_ok=True)
            except OSError:
                continue


@functools.cache
def _announce_compilation() -> None:
    """Say once, to people at a terminal, why the first call takes seconds; pipes and files stay clean."""
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("Compiling for the first use; this takes some seconds and is kept for later runs.\n")
        sys.stderr.flush()


def lock_when_free(path: Path, *, at_most: float = 120.0) -> IO[bytes] | None:
    """Return a file that is locked until it is closed, or None if that is not possible.

    Args:
        path: The file; it is created if need be.
        at_most: Number of seconds to wait for a process that has locked it; that process may be suspended.
    """
    try:
        file = path.open("ab")
    except OSError:  # such as a read-only folder
        return None
    until = time.monotonic() + at_most
    while sys.platform != "win32" and time.monotonic() < until:
        if lock_file(file, exclusive=True, wait=False):
            return file
        time.sleep(0.05)
        stop_if_asked()
    file.close()
    return None


@functools.cache
def cache_directory() -> Path | None:
    """Return the folder for compiled kernels, created if need be, or None if there is no usable one.

    It is a subfolder of `SOJOURN_CACHE_DIR`, or of the user's cache folder. Its last part is a digest of all
    kernel sources: numba notices only changes of a function's own file, and would go on calling an old
    version of what it inlined from another.

    Numba unpickles the files, and so runs what they contain. Therefore new folders are private, and folders
    that another user owns or can write to are not used.
    """
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(source.read_bytes())
    try:
        base = _cache_base()
        if not base.is_absolute():  # as with a relative HOME: the current folder may be anyone's
            return None
        base.parent.mkdir(parents=True, exist_ok=True)
        folders = base, base / "kernels", base / "kernels" / digest.hexdigest()[:16]
        for folder in folders:
            folder.mkdir(mode=0o700, exist_ok=True)
        for folder in folders:
            if not _is_trusted(folder, may_be_shared=folder == base):
                warnings.warn(
                    f"{folder} belongs to other users, or they can write to it: compiled kernels are not "
                    "kept. Run 'chmod go-w' on it, or set SOJOURN_CACHE_DIR to a folder of your own.",
                    CacheWarning,
                    stacklevel=2,
                )
                return None
    except (OSError, RuntimeError):  # not writable, or no home directory
        return None
    return folders[-1]


def _is_trusted(folder: Path, *, may_be_shared: bool) -> bool:
    """Return whether only this user, or the administrator, can have written to a folder.

    Args:
        folder: The folder.
        may_be_shared: Whether others may write to it if they cannot rename what is not theirs, as in /tmp.
    """
    if os.name != "posix":
        return True
    found = folder.stat()
    owners = {found.st_uid, folder.lstat().st_uid}  # the owner of a link can point it elsewhere at any time
    is_closed = not found.st_mode & 0o022 or (may_be_shared and found.st_mode & stat.S_ISVTX)
    return owners <= {os.geteuid(), 0} and bool(is_closed)


def _cache_base() -> Path:
    chosen = os.environ.get("SOJOURN_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "sojourn"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "sojourn"
    shared = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (shared if shared.is_absolute() else Path.home() / ".cache") / "sojourn"
