"""Manifests: what each experiment of a store consists of, its agents by name and the keys of their trials."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sojourn.experiments.spec._experiment import Experiment, Purpose
from sojourn.experiments.store._stored_file import StoredFile

__all__ = ["Manifest", "manifest_of", "read_manifest_file"]


@dataclass(frozen=True)
class Manifest:
    """What an experiment consists of.

    Attributes:
        name: The name of the experiment.
        cells: One mapping per cell: "learner" is the name of the agent, "varied" the values of its grids, and
            "trials" the keys of its trials.
        purpose: "evaluation", or "tuning" if the experiment only served to choose settings.
    """

    name: str
    cells: tuple[Mapping[str, Any], ...]
    purpose: Purpose

    @property
    def keys(self) -> set[str]:
        """Keys of all different trials."""
        return {key for cell in self.cells for key in cell["trials"]}


def manifest_of(experiment: Experiment) -> dict[str, Any]:
    """Return the manifest of an experiment as it is written to disk."""
    cells = []
    for cell in experiment.cells:
        keys = [trial.key for trial in cell.trials]
        cells.append({"learner": cell.agent, "varied": dict(cell.varied), "trials": keys})
    return {
        "format": "sojourn experiment 1",
        "name": experiment.name,
        "purpose": experiment.purpose,
        "source": experiment.source,
        "cells": cells,
    }


def read_manifest_file(file: StoredFile) -> Manifest:
    """Read a manifest of a store.

    Raises:
        ValueError: If the file is damaged or is not a manifest; one clause says which.
        OSError: If it cannot be read.
    """
    content = file.read()
    if content is None:
        raise ValueError("its content does not match the hash in its name")
    try:
        data = json.loads(content)
        for cell in data["cells"]:
            if not all(isinstance(key, str) for key in cell["trials"]) or "learner" not in cell:
                raise ValueError("a cell without trials")
            dict(cell["varied"])
        return Manifest(str(data["name"]), tuple(data["cells"]), _purpose(data))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError("it is not the manifest of an experiment") from error


def _purpose(data: Mapping[str, Any]) -> Purpose:
    """Return the purpose of an experiment; manifests of version 0.1.0 have it only in the name."""
    is_tuning = data["purpose"] == "tuning" if "purpose" in data else str(data["name"]).endswith("-tuning")
    return "tuning" if is_tuning else "evaluation"
