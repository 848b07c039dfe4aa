"""Loads matplotlib while Ctrl-C waits: Python crashes if its extension modules are interrupted."""

from __future__ import annotations

from importlib import import_module

from sojourn._interrupts import signals_held_back

with signals_held_back():
    import_module("matplotlib.backends.backend_agg")
    import_module("matplotlib.figure")

__all__: list[str] = []
