"""About how long the rest of an experiment takes."""

from __future__ import annotations

import contextlib
import math
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

_TIME = 20.0  # seconds that trying may take in all, about
_ENOUGH = 0.5  # seconds of play that say how long a trial takes
_FIRST = 20  # episodes
_TRIED = 12  # combinations, about


def forecast(
    stock: Inventory, store: Store, n_workers: int, progress: Callable[[float], object] | None = None
) -> float:
    """Return about how many seconds the missing trials take, so many at a time.

    Combinations of which trials are done are known from the log; of the others, some are tried for a few
    episodes.
    """
    left: dict[str, list[str]] = defaultdict(list)
    cells: dict[str, Cell] = {}
    for key in stock.missing:
        cell = stock.trials[key][0]
        name = cell.trials[0].settings
        left[name].append(key)
        cells[name] = cell
    known = _known(stock, store)
    unknown = [name for name in left if name not in known]
    begun, step = time.monotonic(), max(1, len(unknown) // _TRIED)
    for i in range(0, len(unknown), step):
        if time.monotonic() - begun > _TIME:
            break
        with contextlib.suppress(Exception):  # a learner that fails will be named when it is run
            known[unknown[i]] = _try(cells[unknown[i]])
        if progress is not None:
            progress(min(1.0, (i + step) / len(unknown)))
    if not known:
        return 0.0
    usual = statistics.fmean(known.values())
    total = sum(known.get(name, usual) * len(keys) for name, keys in left.items())
    return total / max(1, min(n_workers, len(stock.missing)))


def _known(stock: Inventory, store: Store) -> dict[str, float]:
    times, _ = store.timings.read()
    found: dict[str, list[float]] = defaultdict(list)
    for key in stock.done:
        seconds = times.get(key, math.nan)
        if not math.isnan(seconds):
            found[stock.trials[key][1].settings].append(seconds)
    return {name: statistics.median(seconds) for name, seconds in found.items()}


def _try(cell: Cell) -> float:
    """Return about how long a trial takes, from short ones: what it costs at once, and then an episode."""
    wanted = int(cell.settings["episodes"])
    _play(cell, min(_FIRST, wanted))  # compiles
    episodes, seconds = min(_FIRST, wanted), 0.0
    first = before = (episodes, _play(cell, episodes))
    while episodes < wanted and seconds < _ENOUGH:
        episodes = min(4 * episodes, wanted)
        seconds = _play(cell, episodes)
        first, before = before, (episodes, seconds)
    if before[0] == wanted:
        return before[1]
    slope = (before[1] - first[1]) / (before[0] - first[0])
    return before[1] + max(slope, 0.0) * (wanted - before[0])


def _play(cell: Cell, episodes: int) -> float:
    begun = time.perf_counter()
    play_trial(Trial(to_text({**cell.settings, "episodes": episodes}), 0).text)
    return time.perf_counter() - begun
