"""Source files of the user's own modules: what is in them, and whether it is what runs here."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from sojourn.experiments.spec._import_observer import (
    imported_from,
    is_older_than_this_process,
    lies_among_installed,
)

__all__ = ["Source", "find_source", "found_elsewhere", "is_installed"]


@dataclass(frozen=True, eq=False)
class Source:
    """The file of a module, as it was when the module was imported, or is if it was not.

    Attributes:
        spec: The import that it belongs to; a module that is loaded anew has another.
        stamp: When the file was written, its size and its number, by which a change is noticed.
        digest: A digest of its bytes.
        content: Its bytes, if it is Python that can be parsed.
        imports: Names of the modules that it imports, and of what it imports from them.
        is_certain: Whether a module that is loaded is known to be made from these bytes.
    """

    spec: ModuleSpec
    stamp: tuple[int, int, int]
    digest: str
    content: bytes = field(repr=False)
    imports: tuple[str, ...] = field(repr=False)
    is_certain: bool

    @property
    def path(self) -> Path:
        """Where the file is."""
        return Path(str(self.spec.origin))

    def is_of(self, spec: ModuleSpec) -> bool:
        """Whether this is what a module was loaded from, or will be if nothing is edited until then."""
        if spec.name in sys.modules:
            return self.spec is spec
        return self.spec.origin == spec.origin and _stamp(self.path) == self.stamp

    def is_what_runs(self) -> bool:
        """Whether the module that is loaded here, if it is, is the one that the file states now."""
        module = sys.modules.get(self.spec.name)
        if module is None:
            return True
        if not self.is_certain or not self._is_unchanged():
            return False
        is_plain = type(self.spec.loader) is SourceFileLoader and not lies_among_installed(str(self.path))
        return not is_plain or _has_its_code(module, self)

    def _is_unchanged(self) -> bool:
        try:
            return _digest(self.path.read_bytes()) == self.digest
        except OSError:
            return False


_sources: dict[str, Source] = {}


def find_source(name: str) -> Source | None:
    """Return the file of a module, or None if it has none; nothing is imported for it."""
    spec = _find_spec(name)
    if spec is None or not spec.has_location or spec.origin is None:
        return None
    known = _sources.get(name)
    if known is not None and known.is_of(spec):
        return known
    path, stamp = Path(spec.origin), _stamp(Path(spec.origin))
    content = imported_from(spec) if name in sys.modules else None
    is_certain = content is not None or lies_among_installed(spec.origin) or is_older_than_this_process(path)
    if content is None:
        try:
            content = path.read_bytes()
        except OSError:
            return None
    tree = _parsed(content) if spec.origin.endswith(".py") else None
    imports = () if tree is None else tuple(dict.fromkeys(_imports(tree, spec)))
    source = Source(spec, stamp, _digest(content), b"" if tree is None else content, imports, is_certain)
    _sources[name] = source
    return source


def found_elsewhere(source: Source) -> Path | None:
    """Return the file that a module would be imported from now, if it is another than its own."""
    if "." in source.spec.name:
        return None  # it lies where its package does
    spec = PathFinder.find_spec(source.spec.name)
    if spec is None or spec.origin is None or not spec.has_location:
        return None
    return None if os.path.realpath(spec.origin) == os.path.realpath(source.path) else Path(spec.origin)


def is_installed(name: str) -> bool:
    """Whether a module comes with Python or was installed, or is not there: whether it is not one's own."""
    if name in sys.stdlib_module_names:
        return True
    spec = _find_spec(name)
    if spec is None:
        return True
    places = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or ())
    return not places or any(lies_among_installed(str(place)) for place in places)


def _find_spec(name: str) -> ModuleSpec | None:
    """Return where a module is, from what is loaded or by looking for it, without importing anything."""
    if name in sys.modules:
        return _spec_of(name, sys.modules[name])
    parent, _, _ = name.rpartition(".")
    try:
        if not parent:
            return importlib.util.find_spec(name)
        above = _find_spec(parent)
        if above is None or above.submodule_search_locations is None:
            return None
        return PathFinder.find_spec(name, above.submodule_search_locations)
    except (ImportError, ValueError):
        return None


def _spec_of(name: str, module: ModuleType) -> ModuleSpec | None:
    """Return what a module was imported by, or a stand-in if a failed reload took that away."""
    spec, file = getattr(module, "__spec__", None), getattr(module, "__file__", None)
    if spec is not None or file is None:
        return spec
    known = _sources.get(name)
    return known.spec if known is not None else importlib.util.spec_from_file_location(name, file)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino


def _parsed(content: bytes) -> ast.Module | None:
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _imports(tree: ast.Module, spec: ModuleSpec) -> Iterator[str]:
    """Yield what a module imports, anywhere in it; names that are no modules do no harm."""
    package = spec.name if spec.submodule_search_locations is not None else spec.parent
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = (package or "").split(".")
            above = above[: len(above) - node.level + 1] if node.level else []
            base = ".".join(filter(None, [*above, node.module]))
            if base:
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)


def _has_its_code(module: ModuleType, source: Source) -> bool:
    """Whether a module's functions and constants are those of a file.

    A module may have been imported, and its file edited, before anybody looked: the functions tell, for their
    code knows its lines. What code of the module itself changes (`global`) is not compared.
    """
    written = _written(source)
    if written is None:
        return True
    codes, constants = written
    path = os.path.abspath(source.path)
    for function in _functions(module):
        if os.path.abspath(function.__code__.co_filename) == path and function.__code__ not in codes:
            return False
    missing = object()
    return all(_are_same(vars(module).get(name, missing), value) for name, value in constants.items())


def _are_same(found: Any, stated: Any) -> bool:
    return type(found) is type(stated) and found == stated


@lru_cache(maxsize=256)
def _written(source: Source) -> tuple[frozenset[CodeType], dict[str, Any]] | None:
    """Return the code of all functions of a file, and its constants."""
    tree = _parsed(source.content)
    if tree is None:
        return None
    code = compile(source.content, str(source.path), "exec", dont_inherit=True)
    return frozenset(_codes(code)), dict(_constants(tree))


def _codes(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _codes(inner)


def _constants(tree: ast.Module) -> Iterator[tuple[str, Any]]:
    """Yield names in capitals that are assigned a plain number or text once, and their values."""
    assigned = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and _is_set(node)]
    declared = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            for name in names:
                if name.isupper() and name not in declared and assigned.count(name) == 1:
                    yield name, node.value.value


def _is_set(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    """Yield the functions and methods that a module defines, as far as nothing is wrapped around them."""
    for thing in vars(module).values():
        if isinstance(thing, FunctionType):
            yield thing
        elif isinstance(thing, type) and thing.__module__ == module.__name__:
            for inner in vars(thing).values():
                plain = getattr(inner, "__func__", inner)
                plain = inner.fget if isinstance(inner, property) else plain
                if isinstance(plain, FunctionType):
                    yield plain
