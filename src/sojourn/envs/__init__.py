"""Gymnasium environments and wrappers for episodes of random length.

Importing this folder registers every builder's problem: `gymnasium.make("sojourn/RiverSwim-v0", n=8)`.
Without the import, `gymnasium.make("sojourn.envs:sojourn/RiverSwim-v0", n=8)` does the same.
"""

from __future__ import annotations

from sojourn.envs import vector
from sojourn.envs._ids import IDS
from sojourn.envs._law import as_law
from sojourn.envs._law_discount import LawDiscount
from sojourn.envs._numbered import NumberedEnv, open_env
from sojourn.envs._random_length import RandomLength
from sojourn.envs._step_index import FEATURES, StepIndex
from sojourn.envs._tabular_env import TabularEnv
from sojourn.envs._wrapper_checks import metadata_with_law, wrapper_with_law

__all__ = [
    "FEATURES",
    "IDS",
    "LawDiscount",
    "NumberedEnv",
    "RandomLength",
    "StepIndex",
    "TabularEnv",
    "as_law",
    "metadata_with_law",
    "open_env",
    "vector",
    "wrapper_with_law",
]
