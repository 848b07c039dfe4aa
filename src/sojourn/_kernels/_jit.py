"""How kernels are compiled: cached on disk in a directory of our own, no fastmath, no threads."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import caching

from sojourn.errors import CacheWarning

__all__ = ["cache_directory", "inlined", "kernel"]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile `function` when first called; keep the machine code in our cache directory.

    Numba reads its cache directory when a function is decorated, so it is set for that moment only: other
    users of numba in the process keep theirs. One that can only be read is read, and nothing is kept.
    """
    compiled: Any = numba.njit(nogil=True)(function)
    directory = cache_directory()
    if directory is not None:
        settings: Any = numba.config
        theirs = settings.CACHE_DIR
        try:
            settings.CACHE_DIR = str(directory)
            compiled._cache = _Cache(function)
        except (RuntimeError, OSError):
            pass  # as if there were no directory
        finally:
            settings.CACHE_DIR = theirs
    return cast(F, compiled)


def inlined(function: F) -> F:
    """Write a small function into the kernels that call it: passing many arrays would cost more than it does.

    It can be called from Python as well, and is then compiled by itself and not kept.
    """
    return cast(F, numba.njit(inline="always")(function))


_NumbasLocator: Any = getattr(caching, "UserProvidedCacheLocator", None) or getattr(
    caching, "_UserProvidedCacheLocator", object
)  # its name in older versions


class _Locator(_NumbasLocator):
    """Numba's own folder of a cache, but one that can only be read will do: what is there is used."""

    def ensure_cache_path(self) -> None:
        """Make the folder if that is possible; whoever saves something there finds out."""
        with contextlib.suppress(OSError):
            Path(self.get_cache_path()).mkdir(parents=True, exist_ok=True)


class _Impl(caching.CompileResultCacheImpl):
    _locator_classes: Any = (_Locator,)


class _Cache(caching.FunctionCache):
    """A cache whose damaged files are thrown away and written again, whatever the damage."""

    _impl_class = _Impl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function, or None if it has to be compiled."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unpickling and parsing fail in too many ways to list
            self._forget()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function; where that fails, go on without."""
        try:
            super().save_overload(sig, data)
        except Exception:  # a full disk, a damaged index, a folder that went away
            self._forget()

    def _forget(self) -> None:
        """Remove this function's files."""
        stem = self._impl.filename_base
        for path in Path(self._cache_path).glob(f"{stem}*.nb?"):
            try:
                path.unlink(missing_ok=True)
            except OSError:
                continue


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
        base.parent.mkdir(parents=True, exist_ok=True)
        folders = base, base / "kernels", base / "kernels" / digest.hexdigest()[:16]
        for folder in folders:
            folder.mkdir(mode=0o700, exist_ok=True)
        for folder in folders[1:]:
            if not _is_trusted(folder):
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


def _is_trusted(folder: Path) -> bool:
    """Return whether only this user, or the administrator, can have written to a folder."""
    if os.name != "posix":
        return True
    found = folder.stat()
    return found.st_uid in (os.geteuid(), 0) and not found.st_mode & 0o022


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
