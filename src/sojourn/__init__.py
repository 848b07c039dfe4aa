"""Sojourn: reinforcement learning when you don't know how long you've got.

The distribution of episode lengths (the law) is a discount function. Public names are listed once, in
`__init__.pyi`, and are loaded when first used, so that importing the package is quick.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
