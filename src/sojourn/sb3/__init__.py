"""Stable-Baselines3 agents under any law: buffers with a discount per step, and policy evaluation.

`prepare` turns an environment and a law into a wrapped environment and the keyword arguments of an agent.

Modules:
    `_prepare`: `prepare`.
    `_clock`: weights and discounts by step, and the geometric tail after the last distinguished step.
    `_law_clock`: the wrapper that counts steps for the buffers.
    `_replay`: replay buffers for DQN, SAC, TD3, QR-DQN, TQC and CrossQ.
    `_rollout`: rollout buffers for PPO, A2C and TRPO.
    `_evaluate`: `evaluate_policy` and `tabulate`.
    `_multi_horizon`: the multi-horizon agent of Fedus et al. (2019), and its corrected form.

The folder needs stable-baselines3: `pip install 'sojourn[sb3]'`.
"""

from __future__ import annotations

try:
    import stable_baselines3 as _  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"sojourn.sb3 needs {error.name}, which is not installed: pip install 'sojourn[sb3]'.",
        name=error.name,
    ) from error

from sojourn.sb3._clock import GeometricTail, StepClock
from sojourn.sb3._evaluate import PolicyReturns, evaluate_policy, tabulate
from sojourn.sb3._law_clock import LawClock
from sojourn.sb3._multi_horizon import MultiHorizonDQN, MultiHorizonPolicy
from sojourn.sb3._prepare import prepare
from sojourn.sb3._replay import LawDictReplayBuffer, LawReplayBuffer
from sojourn.sb3._rollout import LawDictRolloutBuffer, LawRolloutBuffer

__all__ = [
    "GeometricTail",
    "LawClock",
    "LawDictReplayBuffer",
    "LawDictRolloutBuffer",
    "LawReplayBuffer",
    "LawRolloutBuffer",
    "MultiHorizonDQN",
    "MultiHorizonPolicy",
    "PolicyReturns",
    "StepClock",
    "evaluate_policy",
    "prepare",
    "tabulate",
]
