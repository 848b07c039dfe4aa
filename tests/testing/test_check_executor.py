"""The suite for executors finds what it is for."""

from __future__ import annotations

import dataclasses
import re

import pytest

from sojourn.experiments import Outcome, ThisProcess
from sojourn.testing import check_executor


class Broken:
    """An executor that changes what a good one gives."""

    n_workers = 1
    retries = 2

    def __init__(self, change):
        self._change = change

    def run(self, function, jobs):
        yield from self._change(list(ThisProcess(retries=2).run(function, jobs)))


def change_all(**fields):
    return lambda outcomes: [dataclasses.replace(outcome, **fields) for outcome in outcomes]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (lambda outcomes: outcomes[1:], "every job must have an outcome"),
        (lambda outcomes: outcomes + outcomes[:1], "a job must have one outcome"),
        (
            lambda outcomes: [*outcomes, Outcome("another", b"", "", 0.0, 1)],
            "outcomes must belong to the given jobs",
        ),
        (lambda outcomes: [outcome.content for outcome in outcomes], "run must yield outcomes"),
        (change_all(content=b"?"), "a job's result must be what its function returns"),
        (change_all(tries=0), "tries and seconds must be reported"),
        (change_all(tries=3), "a job that succeeds must be run once"),
        (change_all(reason="two\nlines"), "a job must have a result or a reason"),
        (
            lambda outcomes: [
                dataclasses.replace(outcome, reason=outcome.reason and "no\ngood") for outcome in outcomes
            ],
            "a reason must be one line",
        ),
        (
            lambda outcomes: [
                dataclasses.replace(outcome, reason=outcome.reason and "something") for outcome in outcomes
            ],
            "a reason must say what was raised",
        ),
        (
            lambda outcomes: [
                dataclasses.replace(outcome, tries=1) if outcome.reason else outcome for outcome in outcomes
            ],
            "a failing job must be tried 1 + retries times",
        ),
    ],
)
def test_broken_executors_are_caught(change, rule):
    with pytest.raises(AssertionError, match=rf"^{re.escape(rule)}"):
        check_executor(Broken(change), in_process=True)


def test_an_executor_that_never_retries_is_caught():
    class Lazy(ThisProcess):
        def run(self, function, jobs):
            for outcome in ThisProcess(retries=0).run(function, jobs):
                yield dataclasses.replace(outcome, tries=3) if outcome.reason else outcome

    with pytest.raises(AssertionError, match="a job that failed must be tried again"):
        check_executor(Lazy(), in_process=True)


def test_an_executor_that_needs_the_number_of_jobs_is_caught():
    class Counting(ThisProcess):
        def run(self, function, jobs):
            yield from super().run(function, [jobs[i] for i in range(len(jobs))])

    with pytest.raises(TypeError, match="has no len"):
        check_executor(Counting(), in_process=True)


@pytest.mark.parametrize("thing", [None, ThisProcess, 3])
def test_an_object_that_is_no_executor_is_refused(thing):
    with pytest.raises(TypeError, match="executor must have a method run"):
        check_executor(thing)
