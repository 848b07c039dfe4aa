"""Plans on disk: one `.npz` file with the arrays and a line of JSON, without pickle."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from sojourn._files import read_archive, write_archive
from sojourn._text import one_line
from sojourn._typing import FloatArray, PolicyArray
from sojourn.laws import law_to_text, parse_stored_law
from sojourn.mdps import TabularMDP
from sojourn.planning._plan import Plan

__all__ = ["load_plan", "save_plan"]

_FORMAT = "sojourn plan 1"
_ARRAYS = ("policy", "value", "lower", "upper")
_MOST_ACTIONS = 2**20
"""Largest action that a stored plan may play, so that a damaged file cannot fill the memory with names."""

_MOST_LETTERS = 200  # of the name of a problem; figures of longer ones would take minutes

_PIECE = 1 << 20  # numbers that are hashed at a time
_KEPT_BITS = 40
"""Bits of each number that are hashed: other processors may compute the last bits of a table differently."""


def save_plan(plan: Plan, path: str | Path) -> Path:
    """Write `plan` to `path` atomically; `.npz` is added if the path has no suffix."""
    law = law_to_text(plan.law, remedy="Store plan.policy and plan.value yourself.")
    about = {"format": _FORMAT, "law": law, "problem": plan.problem}
    if plan.mdp is not None:
        about["table"] = _hash_of_table(plan.mdp)
    return write_archive(path, about, {name: getattr(plan, name) for name in _ARRAYS})


def load_plan(path: str | Path, mdp: TabularMDP | None = None) -> Plan:
    """Return the plan that `Plan.save` wrote to `path`.

    Args:
        path: The file.
        mdp: The problem planned for. It is not stored in the file; `Plan.plot` takes the names of states and
            actions from it, and needs it to compare policies.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is damaged, or `mdp` is another problem. The file has a hash of the transitions,
            rewards, start and terminal states, so that another version of the problem is refused too.

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
        law, problem = parse_stored_law(about["law"]), one_line(str(about["problem"]), _MOST_LETTERS)
        table = about.get("table")
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a file that Plan.save wrote, or it is damaged.") from error
    wrong = _describe_damage(**arrays)
    if wrong:
        raise ValueError(f"{path} is a damaged plan: {wrong}.")
    is_named_so = mdp is not None and one_line(mdp.label, _MOST_LETTERS) == problem
    if mdp is not None and is_named_so and table is not None and table != _hash_of_table(mdp):
        raise ValueError(f"{path} was planned for another version of {problem!r}; plan again.")
    if mdp is not None and int(arrays["policy"].max()) >= mdp.n_actions:
        raise ValueError(f"{path} is a damaged plan: it plays actions that {mdp.label} does not have.")
    if mdp is not None and not (is_named_so and mdp.n_states == arrays["value"].size):
        raise ValueError(f"mdp must be the problem of {path}, {problem!r}; got {mdp.label!r}.")
    plan = Plan(law=law, problem=problem, mdp=mdp, **arrays)
    for array in arrays.values():
        array.flags.writeable = False
    return plan


def _hash_of_table(mdp: TabularMDP) -> str:
    """Return a hash of what a problem is: transitions, rewards, start and terminal states, but no names."""
    found = hashlib.sha256(f"{mdp.n_states} {mdp.n_actions} {list(mdp.terminal)}".encode())
    table = mdp.transitions
    for whole in (table.indptr, table.indices):
        for first in range(0, whole.size, _PIECE):
            found.update(whole[first : first + _PIECE].astype("<i8").tobytes())
    for numbers in (table.data, mdp.rewards.ravel(), mdp.start):
        for first in range(0, numbers.size, _PIECE):
            mantissa, exponent = np.frexp(numbers[first : first + _PIECE])
            kept = np.rint(np.ldexp(mantissa, _KEPT_BITS)) + 0.0  # −0.0 becomes 0.0
            with np.errstate(all="ignore"):  # the largest floats may be rounded to infinity
                found.update(np.ldexp(kept, exponent - _KEPT_BITS).astype("<f8").tobytes())
    return found.hexdigest()[:32]


def _describe_damage(policy: PolicyArray, value: FloatArray, lower: FloatArray, upper: FloatArray) -> str:
    """Return what is wrong with the arrays of a plan, or an empty text."""
    if not (policy.ndim == 2 and policy.size > 0 and policy.shape[1:] == value.shape):
        return "its policy does not fit its values"
    if not (lower.shape == upper.shape == value.shape):
        return "its bounds do not fit its values"
    if policy.dtype.kind != "u" or {array.dtype.str for array in (value, lower, upper)} != {"<f8"}:
        return "its policy holds no actions, or its values are not numbers"
    if int(policy.max()) > _MOST_ACTIONS:
        return f"it plays action {int(policy.max()):,}"
    if not (all(np.isfinite(one).all() for one in (value, lower, upper)) and (lower <= upper).all()):
        return "its bounds are not in order"
    return ""
