"""Code of the user's own as part of a trial's identity: an edited learner is another learner.

A module that an experiment names stands for all that it is made of: its own file, the files of its package
that it imports, and those of other modules that are neither installed nor Python's own, directly or by way of
one another. Imports are read from the files and nothing is run for it. Not seen are data files, modules that
are imported by a name that is computed, and installed packages of others.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sojourn._imports import import_object, is_import_path
from sojourn.experiments.spec._agent_settings import import_paths
from sojourn.experiments.spec._source_files import Source, find_source, found_elsewhere, is_installed
from sojourn.mdps import BUILDERS

__all__ = ["check_loaded_code", "code_of", "own_modules"]

_OURS = ("sojourn", "gymnasium")
"""What has the results number for its identity, or its version in its id."""


def own_modules(problem: str, learner: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the modules of the user's own that a problem and a learner are named by; they are imported."""
    name = problem.partition("(")[0]
    found = []
    for path in (name, *import_paths(learner)):
        if is_import_path(path):
            import_object(path)
            found.append(path.partition(":")[0])
    if name not in BUILDERS and not is_import_path(name):
        from sojourn.mdps import modules_of_env  # noqa: PLC0415 - loads Gymnasium

        found += modules_of_env(name)
    return tuple(sorted({module for module in found if _top(module) not in _OURS}))


def code_of(modules: Iterable[str]) -> dict[str, str]:
    """Return a digest of all that each of some modules is made of, as it was loaded here."""
    return {name: _together(_made_of(name)) for name in modules}


def check_loaded_code(modules: Iterable[str]) -> None:
    """Raise `ValueError` if what was loaded here is not what its file says, is another file's or in none."""
    for name in modules:
        made_of = _made_of(name)
        if name not in made_of and _top(name) not in sys.stdlib_module_names:
            typed = " and not typed in" if name == "__main__" else ""
            raise ValueError(f"The code of {name} must be in a file that can be read{typed}; there is none.")
        for module, source in made_of.items():
            elsewhere = found_elsewhere(source)
            if elsewhere is not None:
                raise ValueError(
                    f"{module} was imported from {source.path}, and is {elsewhere} here; restart Python."
                )
            if not source.is_what_runs():
                raise ValueError(
                    f"{source.path} was changed after {module} was imported; restart Python, or reload it."
                )


def _together(sources: Mapping[str, Source]) -> str:
    if len(sources) <= 1:
        return "".join(source.digest for source in sources.values())
    lines = "".join(f"{name} {source.digest}\n" for name, source in sorted(sources.items()))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def _made_of(root: str) -> dict[str, Source]:
    """Return the files that a module's behaviour is written in, by module."""
    found: dict[str, Source] = {}
    seen: set[str] = set()
    waiting = list(_with_packages(root))
    while waiting:
        name = waiting.pop()
        if name in seen or not _belongs(_top(name), _top(root)):
            continue
        seen.add(name)
        source = find_source(name)
        if source is not None:
            found[name] = source
            waiting += (inner for imported in source.imports for inner in _with_packages(imported))
    return found


def _top(name: str) -> str:
    return name.partition(".")[0]


def _belongs(top: str, root: str) -> bool:
    return top == root or (top not in _OURS and not is_installed(top))


def _with_packages(name: str) -> Iterator[str]:
    """Yield a module's name and those of the packages around it, whose files are run by its import."""
    while name:
        yield name
        name = name.rpartition(".")[0]
