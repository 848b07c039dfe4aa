"""Laws that an agent assumes, written relative to the true law of each problem.

"true" is the true law itself. "geometric mean" is the geometric law with the true mean. "fixed mean" and
"fixed 0.5 mean" are fixed lengths: the true mean, or half of it, rounded with halves up. Any other text must
be a law by itself.
"""

from __future__ import annotations

import re

from sojourn.laws import Fixed, LengthLaw, NamedLaw, geometric_with_mean, read_law, same_mean

__all__ = ["parse_assumed_law"]

_RELATIVE = re.compile(r"(geometric|fixed)\s+(?:([0-9.]+)\s*[x×*]?\s*)?mean", re.IGNORECASE)


def parse_assumed_law(text: str, true_law: NamedLaw) -> NamedLaw:
    """Return the law that a text describes, given the true law.

    Example:
        >>> parse_assumed_law("fixed 1.5 mean", read_law("geometric(0.95)")).law
        Fixed(length=30)
        >>> parse_assumed_law("geometric mean", read_law("fixed(4)")).law
        Geometric(gamma=0.75)
    """
    stripped = text.strip()
    if stripped.lower() == "true":
        return true_law
    found = _RELATIVE.fullmatch(stripped)
    if found is None:
        return read_law(text)
    law = _relative_law(stripped, found, true_law.law)
    return true_law if law is true_law.law else NamedLaw(repr(law), law)


def _relative_law(stripped: str, found: re.Match[str], true_law: LengthLaw) -> LengthLaw:
    try:
        mean = float(found[2] or 1.0) * true_law.mean
    except ValueError:
        raise ValueError(f"law must be written like 'fixed 0.5 mean'; got {stripped[:60]!r}.") from None
    if not 0.0 < mean < 2.0**53:
        raise ValueError(f"law {stripped[:60]!r} must have a mean above 0 and below 2**53; got {mean:g}.")
    if found[1].lower() == "fixed":
        return Fixed(max(1, int(mean + 0.5)))
    if mean == true_law.mean:
        return same_mean(true_law) or true_law
    if mean < 1.0:
        raise ValueError(f"law {stripped[:60]!r} must have a mean of at least 1; got {mean:g}.")
    return geometric_with_mean(mean)
