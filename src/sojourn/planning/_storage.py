"""Plans on disk: one `.npz` file, arrays and a line of JSON, no pickle."""

from __future__ import annotations

import reprlib
from pathlib import Path

import numpy as np

from sojourn._files import read_archive, write_archive
from sojourn._typing import FloatArray, PolicyArray
from sojourn.laws import LengthLaw, parse_law
from sojourn.planning._plan import Plan

__all__ = ["load_plan", "save_plan", "text_of_law"]

_FORMAT = "sojourn plan 1"
_ARRAYS = ("policy", "value", "lower", "upper")


def save_plan(plan: Plan, path: str | Path) -> Path:
    """Write `plan` to `path` (`.npz` is added if it has no ending) in one step: whole, or not at all."""
    law = text_of_law(plan.law, "Keep plan.policy and its values in a file of your own.")
    about = {"format": _FORMAT, "law": law, "problem": plan.problem}
    return write_archive(path, about, {name: getattr(plan, name) for name in _ARRAYS})


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
    about, found = read_archive(path, form=_FORMAT, writer="Plan.save")
    try:
        arrays = {name: found[name] for name in _ARRAYS}
        law, problem = parse_law(about["law"]), str(about["problem"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a file that Plan.save wrote, or it is damaged.") from error
    wrong = _what_is_wrong(**arrays)
    if wrong:
        raise ValueError(f"{path} is a damaged plan: {wrong}.")
    plan = Plan(law=law, problem=problem, **arrays)
    for array in arrays.values():
        array.flags.writeable = False
    return plan


def text_of_law(law: LengthLaw, remedy: str) -> str:
    """Return a law as a text that `parse_law` reads back; refuse one that it does not, with a remedy."""
    text = repr(law)
    try:
        is_read_back = parse_law(text) == law
    except (TypeError, ValueError):
        is_read_back = False
    if not is_read_back:
        raise ValueError(f"law must be one that parse_law reads back; got {reprlib.repr(law)}. {remedy}")
    return text


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
