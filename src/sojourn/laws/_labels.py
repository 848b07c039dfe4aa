"""Short labels of laws."""

from __future__ import annotations

import math

from sojourn.laws._base import LengthLaw
from sojourn.laws._own import MissingLaw
from sojourn.laws.estimates._empirical import Empirical
from sojourn.laws.estimates._kaplan_meier import KaplanMeier
from sojourn.laws.families._mixture import Mixture
from sojourn.laws.families._tabulated import Tabulated

__all__ = ["label"]

_MAX_CHARACTERS = 60


def label(law: LengthLaw) -> str:
    """Return a short label for titles and legends: numbers to four digits, long data by their size.

    Arguments that have their default value are left out.

    Example:
        >>> from sojourn.laws import Empirical, Geometric, Polynomial
        >>> label(Geometric(2 / 3)), label(Geometric(0.999987)), label(Polynomial(1.4))
        ('Geometric(0.6667)', 'Geometric(0.999987)', 'Polynomial(1.4)')
        >>> label(Empirical(range(1, 501)))
        'Empirical of 500 lengths'
    """
    if isinstance(law, MissingLaw):
        return law.text if len(law.text) <= _MAX_CHARACTERS else f"{law.text[: _MAX_CHARACTERS - 1]}…"
    text = f"{type(law).__name__}({', '.join(_arguments(law))})"
    if len(text) <= _MAX_CHARACTERS:
        return text
    if isinstance(law, Mixture):
        return f"Mixture of {len(law.laws)} laws"
    if isinstance(law, KaplanMeier):
        return f"KaplanMeier of {sum(law.counts):,} lengths, {100.0 * law.censored:.2g}% censored"
    if isinstance(law, Empirical):
        return f"Empirical of {sum(law.counts):,} lengths"
    if isinstance(law, Tabulated):
        return f"Tabulated, {len(law.table):,} steps"
    return f"{type(law).__name__}(…)"


def _arguments(law: LengthLaw) -> list[str]:
    """Return the arguments that differ from their defaults, without names as long as none is left out."""
    fields = getattr(law, "__dataclass_fields__", {})
    shown: list[str] = []
    is_positional = True
    for name, value in law._parameters().items():
        if name in fields and fields[name].default == value:
            is_positional = False
        else:
            shown.append(_short(value) if is_positional else f"{name}={_short(value)}")
    return shown


def _short(value: object) -> str:
    if isinstance(value, float):
        return _short_number(value)
    if isinstance(value, tuple):
        inside = ", ".join(_short(item) for item in value[:_MAX_CHARACTERS])
        return f"({inside}{',' * (len(value) == 1)})"
    return label(value) if isinstance(value, LengthLaw) else repr(value)


def _short_number(value: float) -> str:
    """Format a number to four digits; of numbers close to 1, three digits of the difference are shown."""
    if 0.9 < value < 1.0:
        decimals = max(4, 2 - math.floor(math.log10(1.0 - value)))
        return f"{value:.{decimals}f}".rstrip("0") if decimals <= 16 else repr(value)
    four = f"{value:.4g}"
    return repr(value) if float(four) == 1.0 != value else four
