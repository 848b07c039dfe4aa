"""Keeps settings files of the current folder, which may be anyone's, from numba and matplotlib."""

from __future__ import annotations

import contextlib
import importlib
import os
from typing import Any

__all__ = ["ignore_foreign_settings"]

_NUMBA, _MATPLOTLIB = ".numba_config.yaml", "matplotlibrc"


def ignore_foreign_settings() -> None:
    """Load numba and matplotlib without the settings that they would read from the current folder.

    Results are often opened in the folder that a colleague sent. Such files there could make numba overwrite
    any file, and make matplotlib run LaTeX, or in older versions code.
    """
    if os.path.lexists(_NUMBA):
        config = _import_elsewhere("numba.core.config")
        config._config_fname = os.devnull  # numba looks for the file again whenever it compiles
    if os.path.lexists(_MATPLOTLIB):
        _import_elsewhere("matplotlib")


def _import_elsewhere(name: str) -> Any:
    with contextlib.chdir(os.path.dirname(__file__)):
        return importlib.import_module(name)
