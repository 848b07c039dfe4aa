"""Checks of user input, each with a one-line error.

Errors have the form `<name> must be <rule>; got <value>.`
All comparisons are written so that NaN fails.
"""

from __future__ import annotations

import difflib
import inspect
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sojourn._typing import FloatArray

__all__ = [
    "check_arguments",
    "check_choice",
    "check_closed_unit",
    "check_half_open_unit",
    "check_nonnegative",
    "check_not_masked",
    "check_open_unit",
    "check_positive",
    "check_reward_range",
    "check_whole",
    "did_you_mean",
    "to_floats",
]


def _is_boolean(value: Any) -> bool:
    """Whether a value is a Python or NumPy boolean; does not import NumPy."""
    return isinstance(value, bool) or type(value).__name__ in {"bool", "bool_"}


def _number(name: str, value: Any, rule: str) -> float:
    if isinstance(value, (str, bytes)) or _is_boolean(value):
        raise TypeError(f"{name} must be {rule}; got {value!r}.")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be {rule}; got {value!r}.") from error


def check_half_open_unit(name: str, value: Any, *, rule: str = "in [0, 1)") -> float:
    """Return `value` as a float in [0, 1); `rule` is the wording of the error."""
    number = _number(name, value, f"a number {rule}")
    if not 0.0 <= number < 1.0:
        raise ValueError(f"{name} must be {rule}; got {value!r}.")
    return number


def check_closed_unit(name: str, value: Any) -> float:
    """Return `value` as a float in [0, 1]."""
    number = _number(name, value, "a number in [0, 1]")
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{name} must be in [0, 1]; got {value!r}.")
    return number


def check_positive(name: str, value: Any, *, rule: str = "a finite number > 0") -> float:
    """Return `value` as a finite float above 0; `rule` is the wording of the error."""
    number = _number(name, value, rule)
    if not 0.0 < number < math.inf:
        raise ValueError(f"{name} must be {rule}; got {value!r}.")
    return number


def check_finite(name: str, value: Any) -> float:
    """Return `value` as a float; raise an error unless it is a finite number."""
    number = _number(name, value, "a finite number")
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number; got {value!r}.")
    return number


def check_open_unit(name: str, value: Any) -> float:
    """Return `value` as a float in (0, 1)."""
    number = _number(name, value, "a number in (0, 1)")
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name} must be in (0, 1); got {value!r}.")
    return number


def check_nonnegative(name: str, value: Any) -> float:
    """Return `value` as a finite float of at least 0."""
    number = _number(name, value, "a finite number ≥ 0")
    if not 0.0 <= number < math.inf:
        raise ValueError(f"{name} must be a finite number ≥ 0; got {value!r}.")
    return number


def check_whole(name: str, value: Any, *, least: int) -> int:
    """Return `value` as an int of at least `least`; 3.0 passes, 3.5 and True do not."""
    if type(value) is int and value >= least:  # most calls
        return value
    rule = f"a whole number ≥ {least}"
    if isinstance(value, (str, bytes)) or _is_boolean(value):
        raise TypeError(f"{name} must be {rule}; got {value!r}.")
    try:
        number = operator.index(value)
    except TypeError:
        as_float = _number(name, value, rule)
        if not as_float.is_integer():
            raise ValueError(f"{name} must be {rule}; got {value!r}.") from None
        number = int(as_float)
    if number < least:
        raise ValueError(f"{name} must be {rule}; got {value!r}.")
    return number


def check_not_masked(name: str, value: Any) -> None:
    """Raise `ValueError` for a NumPy array with masked entries, or a sequence that contains one."""
    parts = value if isinstance(value, (list, tuple)) else (value,)
    for part in parts:
        if isinstance(part, (int, float)):
            continue
        if isinstance(part, (list, tuple)):
            check_not_masked(name, part)
        elif hasattr(part, "filled") and getattr(part, "mask", None) is not None and part.mask.any():
            raise ValueError(f"{name} must have no masked entries; fill it first, as with filled(0).")


def to_floats(name: str, values: Any) -> FloatArray:
    """Return values as an array of floats; raises `ValueError` if some are masked."""
    import numpy as np  # noqa: PLC0415 - `import sojourn` loads nothing heavy

    check_not_masked(name, values)
    return np.asarray(values, dtype=np.float64)


def check_reward_range(value: Any) -> tuple[float, float]:
    """Return a least and a largest reward whose difference is finite."""
    rule = "reward_range must be two finite numbers, the lower first"
    try:
        low, high = (float(end) for end in value)
    except (TypeError, ValueError):
        raise TypeError(f"{rule}; got {value!r}.") from None
    if not (-math.inf < low < high < math.inf and high - low < math.inf):
        raise ValueError(f"{rule}; got {value!r}.")
    return low, high


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`."""
    options = list(choices)
    if value not in options:
        listed = ", ".join(repr(option) for option in options)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.{did_you_mean(value, options)}")
    return str(value)


def check_flag(name: str, value: Any) -> bool:
    """Return a setting that is True or False."""
    if not _is_boolean(value):
        raise TypeError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def check_arguments(
    name: str, function: Callable[..., Any], places: Sequence[Any], names: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of a call by name, after checking that the function accepts them.

    Args:
        name: The function's name in error messages.
        function: Any callable with a signature.
        places: Positional arguments.
        names: Keyword arguments.
    """
    found = inspect.signature(function).parameters.values()
    parameters = {p.name: p for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    takes_any_name = any(p.kind is p.VAR_KEYWORD for p in found)
    if any(p.kind is p.POSITIONAL_ONLY and p.default is p.empty for p in found):
        raise ValueError(f"{name} must take its arguments by name; it has some by position only.")
    order = [p.name for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
    if len(places) > len(order):
        takes = f"takes {', '.join(order)}" if order else "takes no positional arguments"
        raise ValueError(f"{name} {takes}; got {len(places)} argument{'s' * (len(places) > 1)}.")
    given = dict(zip(order, places, strict=False))
    for argument in names:
        if argument not in parameters and not takes_any_name:
            takes = f" It takes {', '.join(parameters) or 'none'}."
            raise ValueError(
                f"{name} has no argument {argument!r}.{did_you_mean(argument, parameters) or takes}"
            )
        if argument in given:
            raise ValueError(f"{name} got {argument} twice.")
    given |= names
    missing = [p.name for p in parameters.values() if p.default is p.empty and p.name not in given]
    if missing:
        listed = " and ".join(filter(None, [", ".join(missing[:-1]), missing[-1]]))
        raise ValueError(f"{name} needs {listed}; write {name}({', '.join(parameters)}).")
    return given


def did_you_mean(word: Any, known: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the closest known word, ignoring case, or an empty text."""
    options = {option.lower(): option for option in known}
    close = difflib.get_close_matches(str(word).lower(), options, n=1)
    return f" Did you mean {options[close[0]]!r}?" if close else ""
