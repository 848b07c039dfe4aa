"""Forged stores whose hashes are all right: for tests and for evidence/durability.py."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sojourn._files import pack_archive
from sojourn.experiments import RESULTS_VERSION, Store
from sojourn.experiments.spec._agent_settings import to_text
from sojourn.experiments.store._stored_file import content_hash
from sojourn.experiments.trials._trial import Trial, trial_key

EPISODES = 5
SETTINGS: dict[str, Any] = {
    "problem": "river_swim(n=3)",
    "law": "Fixed(length=4)",
    "episodes": EPISODES,
    "record": "episodes",
    "learner": {"type": "RandomPlayer"},
}


def sound_arrays(n: int = EPISODES) -> dict[str, Any]:
    """Return arrays as a trial of `n` episodes has them."""
    arrays: dict[str, Any] = {
        name: np.linspace(0.0, 1.0, n) for name in ("rewards", "regret", "regret_width", "price")
    }
    return arrays | {"starts": np.zeros(n, int), "lengths": np.full(n, 4), "observed": np.ones(n, bool)}


def forge_trial(
    store: Path, header: Mapping[str, Any], arrays: Mapping[str, Any], content: bytes | None = None
) -> str:
    """Write a trial file with a name that fits its header and its content; return its key."""
    text = Trial(to_text(header["settings"]), header["seed"]).text
    key = trial_key(text, header["results"])
    content = pack_archive(header, arrays) if content is None else content
    (store / "trials" / f"{key}-{content_hash(content)}.npz").write_bytes(content)
    return key


def forge_store(
    store: Path,
    change: Callable[[dict[str, Any], dict[str, Any]], object] = lambda header, arrays: None,
    *,
    seeds: int = 2,
    **settings: Any,
) -> Path:
    """Write a store of one agent's trials, after changing the headers and arrays; return the store."""
    kept = Store(store)
    with kept.writing():
        keys = []
        for seed in range(seeds):
            header: dict[str, Any] = {
                "format": "sojourn trial 1",
                "results": RESULTS_VERSION,
                "settings": copy.deepcopy(SETTINGS) | settings,
                "seed": seed,
                "problem": "RiverSwim(3)",
            }
            arrays = sound_arrays()
            change(header, arrays)
            keys.append(forge_trial(store, header, arrays))
        cells = [{"learner": "forged", "varied": {}, "trials": keys}]
        kept.add_manifest({"format": "sojourn experiment 1", "name": "forged", "source": "", "cells": cells})
    return store


def command(trace: Path) -> str:
    """Return a shell command that leaves a trace."""
    return f"touch {trace}"


def attacks(trace: Path) -> dict[str, dict[str, Any]]:
    """Return settings of trials that leave a trace if anything that they name is imported or called."""
    run = {"type": "os:system", "command": command(trace)}
    module = {"type": "forged_module:Agent"}  # beside the store; leaves a trace when it is imported
    optimal = {"type": "OptimalPlayer"}
    return {
        "a function as agent": {"learner": run},
        "a class as agent": {"learner": {"type": "subprocess:Popen", "args": ["touch", str(trace)]}},
        "a module as agent": {"learner": module},
        "a function inside an agent": {"learner": {"type": "UCBVI", "bonus": run}},
        "a function in a list": {"learner": {"type": "UCBVI", "bonus": [run, [run]]}},
        "an import inside an agent": {"learner": {"type": "UCBVI", "bonus": {"import": "forged_module:x"}}},
        "an import as agent": {"learner": {"type": "RandomPlayer", "import": "forged_module:x"}},
        "a problem for a plan": {"problem": "forged_module:problem", "learner": optimal},
        "a function as problem": {"problem": f"os:system('{command(trace)}')", "learner": optimal},
        "an environment for a plan": {"problem": "forged_module:Env-v0", "learner": optimal},
        "a module as law": {"law": "forged_module:x(3)", "learner": module},
        "a function as law": {"law": f"os:system('{command(trace)}')", "learner": module},
        "a law inside an agent": {"learner": {"type": "UCBVI", "law": {"law": "forged_module:x(3)"}}},
        "code": {"code": {"forged_module": "0" * 16}, "learner": module},
    }


def write_module(folder: Path, trace: Path) -> None:
    """Write the module that the attacks name."""
    (folder / "forged_module.py").write_text(
        f"from pathlib import Path\nPath({str(trace)!r}).touch()\n"
        "class Agent:\n    def start(self, **_): return self\n"
        "x = problem = Agent\n"
    )


def _set(name: str, value: Any) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    return lambda header, arrays: arrays.update({name: value})


def _change(name: str, change: Callable[[Any], Any]) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    return lambda header, arrays: arrays.update({name: change(arrays[name])})


ARRAY_LIES: dict[str, Callable[[dict[str, Any], dict[str, Any]], object]] = {
    "no arrays": lambda header, arrays: arrays.clear(),
    "no rewards": lambda header, arrays: arrays.pop("rewards"),
    "no width": lambda header, arrays: arrays.pop("regret_width"),
    "no regret": lambda header, arrays: arrays.pop("regret"),
    "an unknown array": _set("mine", np.zeros(EPISODES)),
    "checkpoints of every episode": _set("checkpoints", np.arange(1, EPISODES + 1)),
    "two dimensions": _change("rewards", lambda array: array[:, None]),
    "no dimension": _set("rewards", np.array(1.0)),
    "complex numbers": _change("rewards", lambda array: array * 1j),
    "short lengths": _change("lengths", lambda array: array.astype(np.int16)),
    "other byte order": _change("rewards", lambda array: array.astype(">f8")),
    "single precision": _change("rewards", lambda array: array.astype(np.float32)),
    "whole rewards": _change("rewards", lambda array: array.astype(int)),
    "text": _set("rewards", np.array(["x"] * EPISODES)),
    "records": _set("rewards", np.zeros(EPISODES, dtype=[("a", float)])),
    "NaN": _change("rewards", lambda array: array * np.nan),
    "infinite regret": _change("regret", lambda array: array + np.inf),
    "too few episodes": _change("rewards", lambda array: array[:3]),
    "too many episodes": lambda header, arrays: arrays.update(sound_arrays(EPISODES + 1)),
    "no episodes": lambda header, arrays: arrays.update(sound_arrays(0)),
    "rewards that cannot be added up": _change("rewards", lambda array: array + 1.7e308),
    "lengths that cannot be added up": _change("lengths", lambda array: array + 2**62),
    "lengths above the law's longest": _change("lengths", lambda array: array + 996),
    "lengths below the law's shortest": _change("lengths", lambda array: array - 1),
    "negative lengths": _change("lengths", lambda array: -array),
    "episodes without a step": _change("lengths", lambda array: array * 0),
    "a negative start": _change("starts", lambda array: array - 1),
    "a negative width": _change("regret_width", lambda array: array - 1.0),
    "lengths as numbers": _change("lengths", lambda array: array.astype(float)),
    "observed as numbers": _change("observed", lambda array: array.astype(int)),
}
"""Arrays that no run writes; the header, the key and the hash are right."""


def _setting(name: str, value: Any) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    return lambda header, arrays: header["settings"].update({name: value})


HEADER_LIES: dict[str, Callable[[dict[str, Any], dict[str, Any]], object]] = {
    "no name of the problem": lambda header, arrays: header.pop("problem"),
    "a table as name of the problem": lambda header, arrays: header.update(problem={}),
    "half a character": lambda header, arrays: header.update(problem="\ud800"),
    "no problem": lambda header, arrays: header["settings"].pop("problem"),
    "a table as problem": _setting("problem", {"a": 1}),
    "a number as law": _setting("law", 4),
    "a file as law": _setting("law", "tabulated('/etc/passwd')"),
    "a file inside a law": _setting("law", 'mixture([1], [tabulated("/etc/passwd")])'),
    "an unknown law": _setting("law", "mine(3)"),
    "a computed law": _setting("law", "own_laws:Mine(open('/etc/passwd'))"),
    "a law with control characters": _setting("law", "own_laws:Mine('\x1b[31m')"),
    "a law of 20,000 characters": _setting("law", f"own_laws:Mine('{'x' * 20_000}')"),
    "no law": lambda header, arrays: header["settings"].pop("law"),
    "a number as agent": _setting("learner", 3),
    "an agent without a type": _setting("learner", {}),
    "a list as type": _setting("learner", {"type": []}),
    "settings of 200 levels": _setting(
        "learner", {"type": "RandomPlayer", "x": functools.reduce(lambda inner, _: [inner], range(200), [])}
    ),
    "no episodes": _setting("episodes", 0),
    "true episodes": _setting("episodes", True),
    "half an episode": _setting("episodes", 5.5),
    "episodes as text": _setting("episodes", "5"),
    "10^12 episodes": _setting("episodes", 10**12),
    "10^9 episodes, all recorded": _setting("episodes", 10**9),
    "10^9 checkpoints": _setting("record", {"checkpoints": 10**9}),
    "a tolerance above all": _setting("regret_tolerance", 7.0),
    "a tolerance as text": _setting("regret_tolerance", "small"),
    "one checkpoint": _setting("record", {"checkpoints": 1}),
    "more checkpoints than episodes": _setting("record", {"checkpoints": EPISODES + 1}),
    "an unknown record": _setting("record", "all"),
    "checkpoints as text": _setting("record", {"checkpoints": "5"}),
    "a list as record": _setting("record", [5]),
    "settings as a list": lambda header, arrays: header.update(settings=[1]),
    "settings as a text": lambda header, arrays: header.update(settings="x"),
    "a true seed": lambda header, arrays: header.update(seed=True),
    "a negative seed": lambda header, arrays: header.update(seed=-header["seed"] - 1),
    "a seed of 22 digits": lambda header, arrays: header.update(seed=2**70 + header["seed"]),
    "a seed as text": lambda header, arrays: header.update(seed=f"{header['seed']}"),
    "results version as text": lambda header, arrays: header.update(results="2"),
}
"""Headers that no run writes; the key and the hash are right."""
