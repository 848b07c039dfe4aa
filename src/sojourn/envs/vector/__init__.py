"""The wrappers of `sojourn.envs` for vector environments.

They take `SyncVectorEnv` and `AsyncVectorEnv`, as `gymnasium.make_vec` makes them, in the autoreset modes
`NEXT_STEP` (the default) and `DISABLED`.
"""

from __future__ import annotations

from sojourn.envs.vector._law_discount import LawDiscount
from sojourn.envs.vector._random_length import RandomLength
from sojourn.envs.vector._step_index import StepIndex

__all__ = ["LawDiscount", "RandomLength", "StepIndex"]
