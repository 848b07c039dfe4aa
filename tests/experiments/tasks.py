"""Jobs for executors."""

from __future__ import annotations

import sys
import time


def nap(text: str) -> bytes:
    time.sleep(0.05)
    return text.encode()


def plan(text: str) -> bytes:
    import sojourn as sj

    return repr(float(sj.plan(sj.mdps.two_paths(), sj.Fixed(int(text))).value[0])).encode()


def leave(text: str) -> bytes:
    """Call `sys.exit` with a number, or be ended as by a signal."""
    if text == "signal":
        raise Ended(143)
    sys.exit(int(text))


class Ended(SystemExit):
    """What a handler of signals raises."""


def long_nap(text: str) -> bytes:
    time.sleep(0.5)
    return text.encode()
