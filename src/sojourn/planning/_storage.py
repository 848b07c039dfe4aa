"""Plans on disk: one `.npz` file, arrays and a line of JSON, no pickle."""

from __future__ import annotations

import json
import os
import reprlib
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from sojourn._typing import FloatArray, PolicyArray
from sojourn.laws import LengthLaw, parse_law
from sojourn.planning._plan import Plan

__all__ = ["load_plan", "save_plan"]

_FORMAT = "sojourn plan 1"


def save_plan(plan: Plan, path: str | Path) -> Path:
    """Write `plan` to `path` (`.npz` is added if it has no ending) in one step: whole, or not at all."""
    path = Path(path)
    if not path.suffix:
        path = path.with_suffix(".npz")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path must be in a folder that exists; got {str(path)!r}.")
    if not _can_be_read_back(plan.law):
        raise ValueError(
            f"law must be one that parse_law reads back; got {reprlib.repr(plan.law)}. "
            "Keep plan.policy and its values in a file of your own."
        )
    about = {"format": _FORMAT, "law": repr(plan.law), "problem": plan.problem}
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(
                file,
                about=np.array(json.dumps(about)),
                policy=plan.policy,
                value=plan.value,
                lower=plan.lower,
                upper=plan.upper,
            )
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def load_plan(path: str | Path) -> Plan:
    """Return the plan that `Plan.save` wrote to `path`.

    Example:
        >>> import pathlib, tempfile
        >>> import sojourn as sj
        >>> best = sj.plan(sj.mdps.river_swim(6), sj.Geometric(0.9))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = sj.load_plan(best.save(pathlib.Path(folder) / "river.npz"))
        >>> again.law == best.law and bool((again.policy == best.policy).all())
        True
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"path must be a file that exists; got {str(path)!r}.")
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            arrays = {name: file[name] for name in ("policy", "value", "lower", "upper")}
        is_ours = about["format"] == _FORMAT
    except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a file that Plan.save wrote, or it is damaged.") from error
    if not is_ours:
        raise ValueError(f"{path} has the format {about['format']!r}; this version reads {_FORMAT!r}.")
    wrong = _what_is_wrong(**arrays)
    if wrong:
        raise ValueError(f"{path} is a damaged plan: {wrong}.")
    plan = Plan(law=parse_law(about["law"]), problem=str(about["problem"]), **arrays)
    for array in arrays.values():
        array.flags.writeable = False
    return plan


def _can_be_read_back(law: LengthLaw) -> bool:
    try:
        return parse_law(repr(law)) == law
    except (TypeError, ValueError):
        return False


def _what_is_wrong(policy: PolicyArray, value: FloatArray, lower: FloatArray, upper: FloatArray) -> str:
    """Return what the parts of a plan break, or nothing."""
    if not (policy.ndim == 2 and len(policy) > 0 and policy.shape[1:] == value.shape):
        return "its policy does not fit its values"
    if not (lower.shape == upper.shape == value.shape):
        return "its bounds do not fit its values"
    if policy.dtype.kind != "u":
        return "its policy holds no actions"
    if not (np.isfinite([value, lower, upper]).all() and (lower <= upper).all()):
        return "its bounds are not in order"
    return ""
