"""Plans on disk: one `.npz` file, arrays and a line of JSON, no pickle."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from sojourn.laws import parse_law
from sojourn.planning._plan import Plan

__all__ = ["load_plan", "save_plan"]

_FORMAT = "sojourn plan 1"


def save_plan(plan: Plan, path: str | Path) -> Path:
    """Write `plan` to `path` (`.npz` is added if it has no ending) in one step: whole, or not at all."""
    path = Path(path)
    if not path.suffix:
        path = path.with_suffix(".npz")
    about = {"format": _FORMAT, "law": repr(plan.law), "problem": plan.problem, "after": plan.after}
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
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            arrays = {name: file[name] for name in ("policy", "value", "lower", "upper")}
        if about["format"] != _FORMAT:
            raise ValueError(f"its format is {about['format']!r}, not {_FORMAT!r}")
        plan = Plan(law=parse_law(about["law"]), problem=about["problem"], after=about["after"], **arrays)
        n_states = plan.value.size
        if not (plan.policy.ndim == 2 and plan.policy.shape[1] == n_states and len(plan.policy) > 0):
            raise ValueError("its policy does not fit its values")
        if not (plan.lower.shape == plan.upper.shape == plan.value.shape == (n_states,)):
            raise ValueError("its bounds do not fit its values")
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a saved plan: {error}.") from error
    for array in arrays.values():
        array.flags.writeable = False
    return plan
