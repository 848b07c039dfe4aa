"""Loads numba while Ctrl-C waits: its extension modules would turn the exception into an `ImportError`."""

from __future__ import annotations

from importlib import import_module

from sojourn._interrupts import signals_held_back

with signals_held_back():
    import_module("numba")

__all__: list[str] = []
