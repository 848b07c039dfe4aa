"""Estimates how long an experiment takes: before it starts, and while it runs."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable

from sojourn._imports import exits_are_errors
from sojourn.experiments.spec._agent_settings import to_text
from sojourn.experiments.spec._experiment import Cell
from sojourn.experiments.store._inventory import Inventory
from sojourn.experiments.store._store import Store
from sojourn.experiments.trials._play import play_trial
from sojourn.experiments.trials._trial import Trial

__all__ = ["RemainingTime", "describe_long_run", "forecast"]

_MOST_SECONDS = 20.0  # budget of all short trials together
_ENOUGH_SECONDS = 0.5  # a short trial of this duration is long enough to extrapolate from
_FIRST_EPISODES = 20  # episodes of the first short trial
_MOST_CELLS = 12  # about how many cells are sampled
_MOST_STEPS = 1_000_000  # expected steps per episode above which no short trial is played
_FASTEST = 1e7  # steps per second: hardly any agent plays more
_LONG_COMPILATION = 120.0  # seconds; trials that take longer are not mainly compilation
_LONG_TRIAL, _LONG_RUN = 60.0, 86_400.0  # seconds, at that speed, from which a run is announced as long


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
        try:
            with exits_are_errors():
                known[unknown[i]] = _extrapolate(cells[unknown[i]])
        except (KeyboardInterrupt, SystemExit):  # Ctrl-C, or the exit of a signal handler
            raise
        except BaseException:  # a user's code may raise anything; the run itself will name it
            pass
        if progress is not None:
            progress(min(1.0, (i + step) / len(unknown)))
    if not known:
        return 0.0
    average = statistics.fmean(known.values())
    total = sum(known.get(settings, average) * len(keys) for settings, keys in missing.items())
    return total / max(1, min(n_workers, len(inventory.missing)))


def describe_long_run(inventory: Inventory, n_workers: int) -> str:
    """Return a sentence on a run that takes very long, or an empty text if it does not look so.

    Only the expected number of steps counts: the number of episodes times the mean of the law. Problems that
    end episodes themselves may take fewer.

    Args:
        inventory: The trials; those that are missing count.
        n_workers: Number of trials that are played at a time.
    """
    steps = {key: _expected_steps(inventory.trials[key][0]) for key in inventory.missing}
    if not steps:
        return ""
    longest = max(steps, key=lambda key: steps[key])
    total = sum(steps.values())
    seconds = max(steps[longest], total / min(n_workers, len(steps))) / _FASTEST
    if steps[longest] / _FASTEST < _LONG_TRIAL and seconds < _LONG_RUN:
        return ""
    cell = inventory.trials[longest][0]
    return (
        f"This run has about {_rounded(total)} steps, up to {_rounded(steps[longest])} per trial "
        f"({cell.agent}, {cell.settings['law']:.60}). "
        f"At 10 million steps per second it takes {_words(seconds)}."
    )


def _expected_steps(cell: Cell) -> float:
    return float(cell.settings["episodes"] * cell.law.mean)


def _rounded(number: float) -> str:
    return f"{float(f'{number:.2g}'):,.0f}" if number < 1e15 else f"{number:.0e}".replace("e+", " × 10^")


def _words(seconds: float) -> str:
    for unit, name in ((31_557_600.0, "years"), (86_400.0, "days"), (3600.0, "hours")):
        if seconds >= 2.0 * unit:
            return f"about {_rounded(seconds / unit)} {name}"
    return f"about {_rounded(seconds / 60.0)} minutes"


class RemainingTime:
    """Estimates the time that is left while trials are played.

    The first trial of each worker does not count, nor does the time before the first trial of an agent is
    finished, unless that takes minutes: it includes compilation, and whatever else is done only once.

    Args:
        n_trials: Number of trials to play.
        n_workers: Number of trials that are played at a time.
    """

    def __init__(self, n_trials: int, n_workers: int) -> None:
        self._n_trials, self._n_workers = n_trials, min(n_workers, n_trials)
        self._n_played = self._n_first = 0
        self._since = 0.0
        self._agents: set[str] = set()

    def add(self, now: float, agent: str, seconds: float) -> None:
        """Count a finished trial of an agent that took some seconds; `now` is in seconds too."""
        self._n_played += 1
        is_first = agent not in self._agents and seconds < _LONG_COMPILATION
        self._agents.add(agent)
        if is_first or self._n_played <= self._n_workers:
            self._n_first, self._since = self._n_played, now

    def per_second(self, now: float) -> float | None:
        """Return the number of trials per second, or None before one trial per worker counts."""
        if self._n_played < self._n_first + self._n_workers:
            return None
        return (self._n_played - self._n_first) / max(now - self._since, 1e-9)

    def seconds(self, now: float) -> float | None:
        """Return the seconds that are left, or None before one trial per worker counts."""
        rate = self.per_second(now)
        return None if rate is None else (self._n_trials - self._n_played) / rate


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
    if cell.law.mean > _MOST_STEPS:
        return _expected_steps(cell) / _FASTEST  # not even one episode would be short
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
