"""Functions that tests run as jobs of executors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from sojourn.errors import TerminatedError


def echo(text: str) -> bytes:
    return text.encode()


def nap(text: str) -> bytes:
    time.sleep(0.05)
    return text.encode()


def double(text: str) -> bytes:
    """Return twice a number, computed by a kernel whose machine code is cached."""
    from sojourn._kernels._jit import kernel

    @kernel
    def twice(x):
        return 2.0 * x

    return repr(twice(float(text))).encode()


def leave(text: str) -> bytes:
    """Call `sys.exit` with a number, or raise what a signal handler raises."""
    if text == "signal":
        raise TerminatedError(143)
    if text == "subclass":
        raise Ended(0)
    sys.exit(int(text))


class Ended(SystemExit):
    """An exit with a name of its own."""


def long_nap(text: str) -> bytes:
    time.sleep(0.3)
    return text.encode()


def fork(text: str) -> bytes:
    """Fork a child that inherits all open files, note both process ids, and then do what the text says."""
    how, _, folder = text.partition(" ")
    child = os.fork()
    if child == 0:
        if how == "return":
            return b"the copy"
        if how == "escape":
            os.setsid()
        time.sleep(120.0)
        os._exit(0)
    (Path(folder) / f"{os.getpid()}.pid").touch()
    (Path(folder) / f"{child}.pid").touch()
    if how == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "spawn":
        other = subprocess.Popen(["sleep", "120"])
        (Path(folder) / f"{other.pid}.pid").touch()
    if how in ("wait", "spawn"):
        time.sleep(120.0)
    return b"done"


def spin(text: str) -> bytes:
    """Keep the GIL for a minute: no other thread of this process runs."""
    (Path(text.partition(" ")[2]) / f"{os.getpid()}.pid").touch()
    sys.setswitchinterval(1000.0)
    end = time.monotonic() + 60.0
    while time.monotonic() < end:
        pass
    return b""


def open_stores(folder, number, begin, errors):
    """Open new stores at the same time as other processes; report errors."""
    from sojourn.experiments import Store

    for i in range(number):
        begin.wait()
        try:
            with Store(folder / str(i)).writing():
                pass
        except Exception as error:
            errors.put(f"{type(error).__name__}: {error}")


def give_up(text: str) -> bytes:
    """Raise an exception that `except Exception` does not catch."""
    raise {"base": BaseException, "generator": GeneratorExit}[text]("I give up")
