"""Example specs that come with the package."""

from __future__ import annotations

from importlib.resources import files

from sojourn._validation import did_you_mean

__all__ = ["example_names", "read_example"]

_FOLDER = "specs"


def example_names() -> list[str]:
    """Return the names of the example specs."""
    found = (entry.name for entry in (files("sojourn.experiments") / _FOLDER).iterdir())
    return sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml"))


def read_example(name: str) -> str:
    """Return the text of an example spec.

    Example:
        >>> read_example("river_swim").startswith("# ")
        True
    """
    names = example_names()
    if name not in names:
        listed = f" There are {', '.join(names)}."
        raise ValueError(f"Unknown example {name[:60]!r}.{did_you_mean(name[:60], names) or listed}")
    return (files("sojourn.experiments") / _FOLDER / f"{name}.toml").read_text(encoding="utf-8")
