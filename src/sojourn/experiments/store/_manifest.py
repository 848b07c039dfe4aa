"""Manifests: what each experiment of a store consists of, its agents by name and the keys of their trials."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sojourn._files import parse_json
from sojourn.experiments.spec._experiment import Experiment, Purpose, repeats_trials
from sojourn.experiments.store._stored_file import StoredFile, content_hash

__all__ = ["Manifest", "manifest_of", "read_manifest_file"]

_FORMAT = "sojourn experiment 1"
_KEY = re.compile(r"[0-9a-f]{32}")


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
        "format": _FORMAT,
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
        manifest = _manifest(parse_json(content))
        is_named_so = content_hash(manifest.name.encode()) == file.key
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError("it is not the manifest of an experiment") from error
    if not is_named_so:
        raise ValueError("it is the manifest of another experiment")
    return manifest


def _manifest(data: Any) -> Manifest:
    """Return a manifest after checking the types of all its parts."""
    name, cells = data["name"], data["cells"]
    if data["format"] != _FORMAT:
        raise ValueError("it has another format")
    if not isinstance(name, str) or not isinstance(cells, list):
        raise TypeError("a manifest has a name and a list of cells")
    for cell in cells:
        agent, varied, keys = cell["learner"], cell["varied"], cell["trials"]
        if not isinstance(agent, str) or not isinstance(varied, dict) or not isinstance(keys, list):
            raise TypeError("a cell has an agent, the values of its grids and a list of trials")
        if not all(isinstance(key, str) and _KEY.fullmatch(key) for key in keys):
            raise ValueError("a key has 32 hexadecimal digits")
        json.dumps([agent, varied], ensure_ascii=False).encode()  # refuses what cannot be shown as UTF-8
    listed = [key for cell in cells for key in set(cell["trials"])]
    if repeats_trials(len(listed), len(set(listed))):
        raise ValueError("no spec has the same trials so often")
    return Manifest(name, tuple(cells), _purpose(data))


def _purpose(data: Mapping[str, Any]) -> Purpose:
    """Return the purpose of an experiment; manifests of version 0.1.0 have it only in the name."""
    is_tuning = data["purpose"] == "tuning" if "purpose" in data else str(data["name"]).endswith("-tuning")
    return "tuning" if is_tuning else "evaluation"
