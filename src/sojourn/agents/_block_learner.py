"""Base class of learners that play blocks of episodes, each with a new learner of UCB-VI."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from sojourn.agents._delegating_learner import DelegatingLearner
from sojourn.agents._protocol import EpisodeBatch, Played

__all__ = ["FIRST_BLOCK", "BlockLearner"]

FIRST_BLOCK = 16
"""Number of episodes of the first block, unless a learner states another."""


class BlockLearner(DelegatingLearner):
    """Plays blocks of episodes, each twice as long as the one before and with its own learner.

    A subclass returns the learner of each block from `_start_block`.
    """

    def __init__(self, first_block: int = FIRST_BLOCK) -> None:
        self._block = self._left = first_block
        self._n_before = 0  # episodes before this block
        self._inner = self._start_block(None)

    @property
    def playing(self) -> Any:
        """The learner that plays this block."""
        return self._inner

    def end_episode(self, length: int, observed: bool) -> None:
        """End the episode and learn from it; at the end of a block, start the next one."""
        super().end_episode(length, observed)
        self._count([int(length)], [bool(observed)])

    def play(self, batch: EpisodeBatch, **settings: Any) -> Played:
        """Play whole episodes in compiled code, block by block; see `CompiledLearner.play`."""
        early, parts, done, size = settings.pop("early", None), [], 0, batch.starts.size
        while done < size:
            some = slice(done, done + min(self._left, size - done))
            if early is not None:
                settings["early"] = early[some]
            parts.append(self._inner.play(batch.part(some), **settings))
            self._count(parts[-1].lengths.tolist(), parts[-1].observed.tolist())
            done = some.stop
        return Played.joined(parts)

    @property
    def _last_episode(self) -> int:
        """Number of episodes that will have been played at the end of this block."""
        return self._n_before + self._block

    @abstractmethod
    def _start_block(self, before: Any) -> Any:
        """Return the learner of a block that begins; `before` is that of the last block, or None."""

    def _count(self, lengths: list[int], observed: list[bool]) -> None:
        """Count episodes that were played; at the end of a block, start the next one."""
        self._left -= len(lengths)
        if self._left == 0:
            self._n_before += self._block
            self._block *= 2
            self._left = self._block
            self._inner = self._start_block(self._inner)
