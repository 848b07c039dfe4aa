"""Identity of the user's own code: an edited agent, problem or law gives other trials.

A spec may name agents, problems and laws by import path ("module:Class"). The identity of such a module is a
hash of its source file and of the files of all modules that it imports, directly or indirectly. Installed
packages and the standard library are left out. Imports are read from the syntax tree and files from disk;
nothing is run for it. Data files and modules that are imported by a computed name are not covered.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import marshal
import os
import struct
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from sojourn import mdps
from sojourn._imports import import_object, is_import_path
from sojourn.experiments.spec._agent_settings import import_paths

__all__ = ["check_loaded_code", "code_of", "own_modules"]

_VERSIONED = ("sojourn", "gymnasium")
"""Packages whose code has another identity: the results version, or the version in an environment's id."""

_INSTALLED = {"site-packages", "dist-packages"}


@dataclass(frozen=True)
class _SourceFile:
    spec: ModuleSpec
    path: Path
    content: bytes

    @property
    def digest(self) -> str:
        return _short_hash(self.content)


def own_modules(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the user's own modules that a trial's problem, law and agent name; this imports them."""
    name = settings["problem"].partition("(")[0]
    found = []
    for path in (name, *import_paths({"law": settings["law"]}), *import_paths(settings["learner"])):
        if is_import_path(path):
            import_object(path)
            found.append(path.partition(":")[0])
    if name not in mdps.BUILDERS and not is_import_path(name):
        found += mdps.modules_of_env(name)
    return tuple(sorted({module for module in found if _top(module) not in _VERSIONED}))


def code_of(modules: Iterable[str]) -> dict[str, str]:
    """Return the hash of the source files that each module consists of, as they are on disk now."""
    return {name: _joint_hash(_source_files(name)) for name in modules}


def check_loaded_code(modules: Iterable[str]) -> None:
    """Check that the modules loaded in this process are those on disk.

    Raises:
        ValueError: If a module has no source file, came from another file, or was edited since.
    """
    for name in modules:
        files = _source_files(name)
        if name not in files and _top(name) not in sys.stdlib_module_names:
            typed = " and not typed in" if name == "__main__" else ""
            raise ValueError(f"The code of {name} must be in a file that can be read{typed}; there is none.")
        for module, file in files.items():
            other = _other_location(module, file)
            if other is not None:
                raise ValueError(
                    f"{module} was imported from {file.path}, and is {other} here; restart Python."
                )
            if module in sys.modules and _bytecode_is_stale(file):
                folder = Path(file.spec.cached or "").parent
                raise ValueError(
                    f"{file.path} is not what its bytecode in {folder} was compiled from, although size and "
                    "time are the same; delete that folder and run again."
                )
            if _was_edited_since_import(module, file):
                raise ValueError(
                    f"{file.path} was changed after {module} was imported; restart Python, or reload it."
                )


def _source_files(root: str) -> dict[str, _SourceFile]:
    """Return the files of a module and of all own modules that it imports, by module name."""
    found: dict[str, _SourceFile] = {}
    seen: set[str] = set()
    waiting = [root]
    while waiting:
        name = waiting.pop()
        top = _top(name)
        if not name or name in seen or not (top == _top(root) or _is_own(top)):
            continue
        seen.add(name)
        waiting.append(name.rpartition(".")[0])  # importing a module also runs its package
        file = _read_source(name)
        if file is not None:
            found[name] = file
            waiting += _imported_names(file)
    return found


def _read_source(name: str) -> _SourceFile | None:
    spec = _find_spec(name)
    if spec is None or not spec.has_location or spec.origin is None:
        return None
    try:
        return _SourceFile(spec, Path(spec.origin), Path(spec.origin).read_bytes())
    except OSError:
        return None


def _imported_names(file: _SourceFile) -> tuple[str, ...]:
    if file.path.suffix != ".py":
        return ()
    is_package = file.spec.submodule_search_locations is not None
    return _parse_imports(file.content, file.spec.name if is_package else file.spec.parent or "")


@functools.lru_cache(maxsize=256)
def _parse_imports(content: bytes, package: str) -> tuple[str, ...]:
    """Return all names that source code imports; names that are not modules do no harm."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            parts = parts[: len(parts) - node.level + 1] if node.level else []
            base = ".".join(filter(None, [*parts, node.module]))
            if base:
                names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return tuple(dict.fromkeys(names))


def _find_spec(name: str) -> ModuleSpec | None:
    """Return where a module was loaded from, or would be; nothing is imported."""
    module = sys.modules.get(name)
    if module is not None:
        spec, file = getattr(module, "__spec__", None), getattr(module, "__file__", None)
        if spec is not None or file is None:
            return spec
        return importlib.util.spec_from_file_location(
            name, file
        )  # a script, or a module after a failed reload
    parent = name.rpartition(".")[0]
    try:
        if not parent:
            return importlib.util.find_spec(name)
        package = _find_spec(parent)
        if package is None or package.submodule_search_locations is None:
            return None
        return PathFinder.find_spec(name, package.submodule_search_locations)
    except (ImportError, ValueError):
        return None


def _is_own(top: str) -> bool:
    """Whether a top-level module is neither installed nor part of Python."""
    if top in _VERSIONED or top in sys.stdlib_module_names:
        return False
    spec = _find_spec(top)
    if spec is None:
        return False
    places = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or ())
    return bool(places) and all(_INSTALLED.isdisjoint(Path(str(place)).parts) for place in places)


def _other_location(name: str, file: _SourceFile) -> Path | None:
    """Return the file that a top-level module would be imported from now, if that is another one."""
    spec = PathFinder.find_spec(name) if "." not in name else None
    if spec is None or spec.origin is None or not spec.has_location:
        return None
    return None if os.path.realpath(spec.origin) == os.path.realpath(file.path) else Path(spec.origin)


_first_seen: dict[str, tuple[Any, str]] = {}
"""For each loaded own module, what identifies that import and the hash of its file when first checked."""


def _was_edited_since_import(name: str, file: _SourceFile) -> bool:
    """Whether a loaded module's file has changed: since the first check, or since its bytecode was cached."""
    module = sys.modules.get(name)
    if module is None:
        return False
    imported = getattr(module, "__spec__", None) or module  # `importlib.reload` makes a new spec
    known = _first_seen.get(name)
    if known is not None and known[0] is imported:
        return known[1] != file.digest
    if _bytecode_is_older(file):
        return True
    _first_seen[name] = (imported, file.digest)
    return False


def _bytecode_is_older(file: _SourceFile) -> bool:
    """Whether Python's cached bytecode, written at import, is of another version of the file."""
    cached = file.spec.cached
    if sys.dont_write_bytecode or cached is None or not os.access(os.path.dirname(cached), os.W_OK):
        return False
    try:
        with open(cached, "rb") as cache:
            flags, time, size = struct.unpack("<4xIII", cache.read(16))
        stat = file.path.stat()
    except (OSError, struct.error):
        return False
    return flags == 0 and (time, size) != (int(stat.st_mtime) & 0xFFFFFFFF, stat.st_size & 0xFFFFFFFF)


def _bytecode_is_stale(file: _SourceFile) -> bool:
    """Whether Python takes cached bytecode of another version of the file for its own.

    Python compares sizes, and times in whole seconds, so it misses an edit or a copy within a second.
    """
    if file.spec.cached is None or _bytecode_is_older(file):
        return False
    try:
        content = Path(file.spec.cached).read_bytes()
        code = compile(file.content, str(file.path), "exec", dont_inherit=True)
        return content[:4] == importlib.util.MAGIC_NUMBER and marshal.loads(content[16:]) != code
    except (OSError, EOFError, ValueError, TypeError, SyntaxError):
        return False


def _top(name: str) -> str:
    return name.partition(".")[0]


def _joint_hash(files: Mapping[str, _SourceFile]) -> str:
    if len(files) <= 1:
        return "".join(file.digest for file in files.values())
    lines = "".join(f"{name} {file.digest}\n" for name, file in sorted(files.items()))
    return _short_hash(lines.encode())


def _short_hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
