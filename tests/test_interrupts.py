"""Ctrl-C waits until a block is done."""

from __future__ import annotations

import contextlib
import signal
import threading

import pytest

import sojourn
from sojourn._interrupts import signals_held_back


def test_an_interrupt_is_raised_after_the_block():
    done = []

    def work() -> None:
        with signals_held_back():
            signal.raise_signal(signal.SIGINT)
            done.append("the rest of the block")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_an_interrupt_nothing_is_raised():
    with signals_held_back():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_of_the_block_is_raised():
    with pytest.raises(ValueError, match="mine"), signals_held_back():
        raise ValueError("mine")


def test_other_threads_are_left_alone():
    seen = []

    def work() -> None:
        with signals_held_back():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_ctrl_c_waits_while_modules_are_loaded(monkeypatch):
    def load(name):
        with contextlib.suppress(KeyboardInterrupt):  # as modules written in Cython do
            signal.raise_signal(signal.SIGINT)
        return name

    monkeypatch.setattr("sojourn._load", load)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            sojourn.__getattr__("some_name")
    finally:
        signal.signal(signal.SIGINT, before)
