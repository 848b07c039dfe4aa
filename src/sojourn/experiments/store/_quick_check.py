"""Whose file it is, seen without opening the archive: for the thousands that a run begins with."""

from __future__ import annotations

import functools
import json
import zlib

from sojourn.experiments.trials._trial import FORMAT, RESULTS, Trial

__all__ = ["says_trial"]

_NAME = b"about.npy"
_MOST = 1 << 20  # bytes of what a file says of itself


def says_trial(content: bytes, trial: Trial) -> bool:
    """Whether a file says of itself, in the very words that are written today, that it is a trial's.

    What it says is the last member of the archive. Of another file nothing follows: it must be opened.
    """
    name = content.rfind(_NAME, 0, max(0, content.rfind(_NAME)))
    begin = name + len(_NAME) + int.from_bytes(content[name - 2 : name], "little")  # after the extra field
    if name < 30:
        return False
    try:
        array = zlib.decompressobj(-15).decompress(content[begin:], _MOST)
        text = array[10 + int.from_bytes(array[8:10], "little") :].decode("utf-32-le")
    except (zlib.error, UnicodeDecodeError):
        return False
    return text.startswith(f'{_words(trial.settings)}{trial.seed}, "problem": ')


@functools.lru_cache(maxsize=4096)
def _words(settings: str) -> str:
    """Return how the words begin for all seeds of some settings."""
    told = {"format": FORMAT, "results": RESULTS, "settings": json.loads(settings), "seed": 0}
    return json.dumps(told)[:-2]
