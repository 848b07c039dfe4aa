"""Sojourn: reinforcement learning when you don't know how long you've got.

The distribution of episode lengths (the law) is a discount function. Public names are listed once, in
`__init__.pyi`, and are loaded when first used, so that importing the package is quick.
"""

import lazy_loader

from sojourn._interrupts import signals_held_back

__version__ = "0.1.0"

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    with signals_held_back():  # extension modules drop the exception of Ctrl-C while they are loaded
        value = _load(name)
    globals()[name] = value
    return value
