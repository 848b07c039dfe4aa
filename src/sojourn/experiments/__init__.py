"""Experiments: read a spec, run its trials anywhere, resume after any interruption, compare the results.

Public names are listed once, in `__init__.pyi`, and are loaded when first used: a worker process needs few.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
