"""Estimates how long the rest of an experiment takes."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections import defaultdict
from collections.abc import Callable

from sojourn.experiments.spec._agent_settings import to_text
from sojourn.experiments.spec._experiment import Cell
from sojourn.experiments.store._inventory import Inventory
from sojourn.experiments.store._store import Store
from sojourn.experiments.trials._play import play_trial
from sojourn.experiments.trials._trial import Trial

__all__ = ["forecast"]

_MOST_SECONDS = 20.0  # budget of all short trials together
_ENOUGH_SECONDS = 0.5  # a short trial of this duration is long enough to extrapolate from
_FIRST_EPISODES = 20  # episodes of the first short trial
_MOST_CELLS = 12  # about how many cells are sampled


def forecast(
    inventory: Inventory, store: Store, n_workers: int, progress: Callable[[float], object] | None = None
) -> float:
    """Return about how many seconds the missing trials take on `n_workers` workers.

    Cells with finished trials are known from the store's timings. A sample of the others is played for a few
    episodes; cells that were not sampled count as average.
    """
    missing: dict[str, list[str]] = defaultdict(list)
    cells: dict[str, Cell] = {}
    for key in inventory.missing:
        cell = inventory.trials[key][0]
        settings = cell.trials[0].settings
        missing[settings].append(key)
        cells[settings] = cell
    known = _median_seconds(inventory, store)
    unknown = [settings for settings in missing if settings not in known]
    started, step = time.monotonic(), max(1, len(unknown) // _MOST_CELLS)
    for i in range(0, len(unknown), step):
        if time.monotonic() - started > _MOST_SECONDS:
            break
        with contextlib.suppress(Exception):  # the run itself will name an agent that fails
            known[unknown[i]] = _extrapolate(cells[unknown[i]])
        if progress is not None:
            progress(min(1.0, (i + step) / len(unknown)))
    if not known:
        return 0.0
    average = statistics.fmean(known.values())
    total = sum(known.get(settings, average) * len(keys) for settings, keys in missing.items())
    return total / max(1, min(n_workers, len(inventory.missing)))


def _median_seconds(inventory: Inventory, store: Store) -> dict[str, float]:
    """Return the median duration of the finished trials of each cell, by its settings."""
    timings = store.timings.read()
    found: dict[str, list[float]] = defaultdict(list)
    for key in inventory.done:
        if key in timings:
            found[inventory.trials[key][1].settings].append(timings[key])
    return {settings: statistics.median(seconds) for settings, seconds in found.items()}


def _extrapolate(cell: Cell) -> float:
    """Return about how long a trial takes: a line through the durations of two shorter ones."""
    wanted = int(cell.settings["episodes"])
    episodes, seconds = min(_FIRST_EPISODES, wanted), 0.0
    _play(cell, episodes)  # compiles the kernels
    earlier = latest = (episodes, _play(cell, episodes))
    while episodes < wanted and seconds < _ENOUGH_SECONDS:
        episodes = min(4 * episodes, wanted)
        seconds = _play(cell, episodes)
        earlier, latest = latest, (episodes, seconds)
    if latest[0] == wanted:
        return latest[1]
    slope = (latest[1] - earlier[1]) / (latest[0] - earlier[0])
    return latest[1] + max(slope, 0.0) * (wanted - latest[0])


def _play(cell: Cell, episodes: int) -> float:
    """Play a trial of this length, and return its duration in seconds."""
    started = time.perf_counter()
    play_trial(Trial(to_text({**cell.settings, "episodes": episodes}), 0).text)
    return time.perf_counter() - started
