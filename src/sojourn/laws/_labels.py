"""Short labels of laws."""

from __future__ import annotations

from sojourn.laws._base import LengthLaw
from sojourn.laws.estimates._empirical import Empirical
from sojourn.laws.estimates._kaplan_meier import KaplanMeier
from sojourn.laws.families._mixture import Mixture
from sojourn.laws.families._tabulated import Tabulated

__all__ = ["label"]

_MAX_CHARACTERS = 60


def label(law: LengthLaw) -> str:
    """Return a short label for titles and legends: numbers to six digits, long data by their size.

    Example:
        >>> from sojourn.laws import Empirical, Geometric
        >>> label(Geometric(2 / 3))
        'Geometric(gamma=0.666667)'
        >>> label(Empirical(range(1, 501)))
        'Empirical of 500 lengths'
    """
    arguments = ", ".join(f"{name}={_short(value)}" for name, value in law._parameters().items())
    text = f"{type(law).__name__}({arguments})"
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


def _short(value: object) -> str:
    if isinstance(value, float):
        six = f"{value:.6g}"
        # Numbers that are only close to 0 or 1 must not be shown as 0 or 1.
        return repr(value) if float(six) in (0.0, 1.0) and float(six) != value else six
    if isinstance(value, tuple):
        inside = ", ".join(_short(item) for item in value[:_MAX_CHARACTERS])
        return f"({inside}{',' * (len(value) == 1)})"
    return label(value) if isinstance(value, LengthLaw) else repr(value)
