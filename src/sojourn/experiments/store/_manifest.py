"""What was asked for under a name, as a store keeps it: learners by name, and the trials of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sojourn.experiments.spec._experiment import Experiment

__all__ = ["Record", "describe_experiment", "read_record"]


@dataclass(frozen=True)
class Record:
    """What an experiment asks for.

    Attributes:
        name: What it is called.
        cells: Its combinations: for each "learner", what it is called, "varied", the values of its grids, and
            "trials", their keys.
    """

    name: str
    cells: tuple[Mapping[str, Any], ...]

    @property
    def keys(self) -> set[str]:
        """Keys of all different trials."""
        return {key for cell in self.cells for key in cell["trials"]}


def describe_experiment(experiment: Experiment) -> dict[str, Any]:
    """Return what a store keeps of an experiment."""
    cells = []
    for cell in experiment.cells:
        keys = [trial.key for trial in cell.trials]
        cells.append({"learner": cell.learner, "varied": dict(cell.varied), "trials": keys})
    return {
        "format": "sojourn experiment 1",
        "name": experiment.name,
        "source": experiment.source,
        "cells": cells,
    }


def read_record(content: bytes) -> Record:
    """Return what a store kept of an experiment; raise `ValueError` if it is no such thing."""
    try:
        told = json.loads(content)
        for cell in told["cells"]:
            if not all(isinstance(key, str) for key in cell["trials"]) or "learner" not in cell:
                raise ValueError("a cell without trials")
            dict(cell["varied"])
        return Record(str(told["name"]), tuple(told["cells"]))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError("it is no record of an experiment") from error
