"""The card that notebooks show for a law."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sojourn import _html
from sojourn._text import short_number
from sojourn.laws._base import LengthLaw
from sojourn.laws._labels import label
from sojourn.laws._summaries import is_heavy, quantile, same_mean

__all__ = ["law_card"]

_LAST_SURVIVAL = 0.01
_FEW_STEPS, _MOST_POINTS = 40, 120


def law_card(law: LengthLaw, rows: Iterable[tuple[str, object]]) -> str:
    """Return a card with the survival of a law, beside the geometric law of its mean; `rows` are folded."""
    late = quantile(law, 0.1)
    first, later = (short_number(float(law.continuation(h))) for h in (1, late))
    facts = [
        ("mean length", short_number(law.mean)),
        ("half are over after", f"{quantile(law, 0.5):,}"),
        ("longest length", "no limit" if law.longest is None else f"{law.longest:,}"),
        (
            "chance of one more step",
            first if first == later else f"{first} at step 1, {later} at step {late:,}",
        ),
    ]
    folded = list(rows)
    details = _html.table(type(law).__name__, folded) if folded else ""
    return _html.card(f"Law of episode lengths: {label(law)}", facts, _survival_picture(law), details)


def _survival_picture(law: LengthLaw) -> str:
    last = quantile(law, _LAST_SURVIVAL) + 1
    few = last <= _FEW_STEPS
    logarithmic = not few and is_heavy(law)
    if last <= _MOST_POINTS:
        h = np.arange(1, last + 1)
    else:
        spread = np.geomspace if logarithmic else np.linspace
        h = np.unique(spread(1, last, _MOST_POINTS).round())
    steps = h.tolist()
    lines = [("this law", steps, law.survival(h).tolist())]
    usual = same_mean(law)
    if usual is not None:
        lines.append((f"{label(usual)}, same mean", steps, usual.survival(h).tolist()))
    names = ("step", "share of episodes that reach the step")
    return _html.line_picture(lines, names, stairs=few, logarithmic=logarithmic, top=1.0)
