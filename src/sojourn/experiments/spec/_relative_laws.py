"""What a learner believes of the law, in words that follow the true law of each problem.

"true" is the true law itself; "geometric mean" the geometric law of its mean; "fixed mean" and
"fixed 0.5 mean" the fixed length that is its mean, or half of it, rounded with halves up. Anything else is a
law by itself.
"""

from __future__ import annotations

import re

from sojourn.laws import Fixed, Geometric, LengthLaw, parse_law, same_mean

__all__ = ["parse_belief"]

_RELATIVE = re.compile(r"(geometric|fixed)\s+(?:([0-9.]+)\s*[x×*]?\s*)?mean", re.IGNORECASE)


def parse_belief(text: str, truth: LengthLaw) -> LengthLaw:
    """Return the law that a text states, where the true law is `truth`.

    Example:
        >>> parse_belief("fixed 1.5 mean", Geometric(0.95))
        Fixed(length=30)
        >>> parse_belief("geometric mean", Fixed(4))
        Geometric(gamma=0.75)
    """
    said = text.strip()
    if said.lower() == "true":
        return truth
    found = _RELATIVE.fullmatch(said)
    if found is None:
        return parse_law(text)
    try:
        mean = float(found[2] or 1.0) * truth.mean
    except ValueError:
        raise ValueError(f"law must be written like 'fixed 0.5 mean'; got {said[:60]!r}.") from None
    if not 0.0 < mean < 2.0**53:
        raise ValueError(f"law {said[:60]!r} must have a mean above 0 and below 2**53; got {mean:g}.")
    if found[1].lower() == "fixed":
        return Fixed(max(1, int(mean + 0.5)))
    if mean == truth.mean:
        return same_mean(truth) or truth
    if mean < 1.0:
        raise ValueError(f"law {said[:60]!r} must have a mean of at least 1; got {mean:g}.")
    return Geometric(min(1.0 - 1.0 / mean, 1.0 - 2.0**-53))
