"""Leaves out what needs stable-baselines3 where it is not installed; `make deep` runs it."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("stable_baselines3") else ["src/sojourn/sb3", "tests/sb3"]
