"""The law of lengths of which some were cut off."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sojourn._typing import ArrayLike
from sojourn._validation import check_choice
from sojourn.laws._checks import check_column, check_flags
from sojourn.laws._empirical import tally
from sojourn.laws._special import running_products
from sojourn.laws._staircase import Staircase, StaircaseLaw

__all__ = ["KaplanMeier"]


@dataclass(frozen=True, init=False, repr=False)
class KaplanMeier(StaircaseLaw):
    """Episode lengths estimated from lengths of which some were cut off (Kaplan and Meier 1958).

    A length n that was not observed means H ≥ n: it was at risk of ending at steps 1 … n − 1, and not at n.
    (For libraries that keep a censored subject at risk at its time, that time is n − 1.)

    Where the largest length is a censored one, L, the data say nothing after step L, and `tail` does:
    "geometric" goes on with the constant ρ = γ(L)^(1/(L−1)) (Brown, Hollander, Kowalczyk 1974), "end" lets
    nobody outlive L (Efron 1967). If the largest length is observed, the estimate falls to 0 by itself.

    Args:
        lengths: Whole numbers ≥ 1, `(n,)`.
        observed: Whether each episode was seen to its end, `(n,)`.
        counts: How often each pair was seen, whole numbers ≥ 0, `(n,)`; once each by default.
        tail: "geometric" or "end".

    Example:
        >>> law = KaplanMeier([1, 2, 2, 3], [True, True, False, True])
        >>> law.hazard([1, 2, 3])  # of 4 at step 1, of 2 at step 2 (one was cut off there), of 1 at step 3
        array([0.25, 0.5 , 1.  ])
        >>> law.survival([1, 2, 3, 4])
        array([1.   , 0.75 , 0.375, 0.   ])
    """

    lengths: tuple[int, ...]
    observed: tuple[bool, ...]
    counts: tuple[int, ...] = field(kw_only=True)
    tail_rule: str = field(kw_only=True)

    def __init__(
        self,
        lengths: ArrayLike,
        observed: ArrayLike,
        *,
        counts: ArrayLike | None = None,
        tail: str = "geometric",
    ) -> None:
        column, flags = check_column("lengths", lengths, least=1), check_flags("observed", observed)
        if column.size != flags.size:
            raise ValueError(
                f"observed must be as many as lengths; got {flags.size} flags for {column.size} lengths."
            )
        pairs, totals = tally(2 * column + flags, counts)
        rule = check_choice("tail", tail, ("geometric", "end"))
        if rule == "geometric" and not np.any(pairs % 2):
            raise ValueError(
                "observed must be True for at least one length: with none the mean length is infinite; "
                "add data or pass tail='end'."
            )
        self._set(
            lengths=tuple((pairs // 2).tolist()),
            observed=tuple((pairs % 2 == 1).tolist()),
            counts=tuple(totals.tolist()),
            tail_rule=rule,
        )

    def _parameters(self) -> dict[str, Any]:
        return {
            "lengths": self.lengths,
            "observed": self.observed,
            "counts": self.counts,
            "tail": self.tail_rule,
        }

    @property
    def censored(self) -> float:
        """The share of the lengths that were cut off."""
        cut = sum(count for count, seen in zip(self.counts, self.observed, strict=True) if not seen)
        return cut / sum(self.counts)

    def _about(self) -> list[tuple[str, object]]:
        return [
            ("lengths", f"{sum(self.counts):,}"),
            ("censored", f"{100.0 * self.censored:.2g}%"),
            ("tail", self.tail_rule),
        ]

    @cached_property
    def _stairs(self) -> Staircase:
        lengths, observed, counts = np.array(self.lengths), np.array(self.observed), np.array(self.counts)
        # Sorted with the censored first, all from an observed pair on are at risk at its step.
        at_risk = np.cumsum(counts[::-1])[::-1][observed]
        ends, died = lengths[observed], counts[observed]
        hazards, continuations = died / at_risk, (at_risk - died) / at_risk
        levels = running_products(np.append(1.0, continuations))
        last = int(lengths[-1])
        if ends.size and ends[-1] == last:
            return Staircase(ends, levels[:-1], hazards, continuations)
        log_rate = math.log(levels[-1]) / (last - 1) if self.tail_rule == "geometric" else -math.inf
        return Staircase(
            np.append(ends, last),
            levels,
            np.append(hazards, -math.expm1(log_rate)),
            np.append(continuations, math.exp(log_rate)),
            log_rate,
        )
