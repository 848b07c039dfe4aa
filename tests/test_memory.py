"""Requests that do not fit in memory are refused."""

from __future__ import annotations

import pytest

from sojourn import _memory
from sojourn.errors import MemoryLimitError


def test_the_system_says_how_much_is_free():
    free = _memory.available_memory()
    assert free is None or 2**20 < free < 2**50


def test_requests_that_do_not_fit_are_refused_with_figures(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 3 * 2**30)
    _memory.check_fits(3 * 2**30, "It", "do less")
    with pytest.raises(MemoryLimitError, match=r"^It needs 4.0 GiB and 3.0 GiB are free; do less.$"):
        _memory.check_fits(4 * 2**30, "It", "do less")


def test_nothing_is_refused_where_the_system_does_not_say(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: None)
    _memory.check_fits(2**60, "It", "do less")
