"""The law of lengths of which some were cut off."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sojourn._typing import ArrayLike, IntArray
from sojourn._validation import check_choice
from sojourn.laws._staircase import Staircase, StaircaseLaw
from sojourn.laws.estimates._empirical import tally
from sojourn.laws.estimates._sample import Columns, Sample, check_columns, take_sample
from sojourn.laws.numerics._special import running_products

__all__ = ["KaplanMeier"]


@dataclass(frozen=True, init=False, repr=False)
class KaplanMeier(StaircaseLaw):
    """Episode lengths estimated from lengths of which some were cut off (Kaplan and Meier 1958).

    A length n that was not observed means H ≥ n: it was at risk of ending at steps 1 … n − 1, and not at n.
    (For libraries that keep a censored subject at risk at its time, that time is n − 1.)

    Where the largest length is a censored one, L, the data say nothing after step L, and `tail` does:
    "geometric" goes on with the constant ρ = γ(L)^(1/(L−1)) (Brown, Hollander, Kowalczyk 1974), "end" lets
    nobody outlive L (Efron 1967). If the largest length is observed, the estimate falls to 0 by itself.

    Rows that came under observation late, at step `entry`, are at risk from that step on (left truncation;
    Lynden-Bell 1971). Before the first entry nothing is known, and the estimate is given H ≥ that step.

    Args:
        lengths: Whole numbers ≥ 1, `(n,)`.
        observed: Whether each episode was seen to its end, `(n,)`.
        counts: How often each row was seen, whole numbers ≥ 0, `(n,)`; once each by default.
        tail: "geometric" or "end".
        entry: Step from which each row was under observation, from 1 to its length, `(n,)`; 1 by default.

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
    entry: tuple[int, ...] | None = field(kw_only=True)

    def __init__(
        self,
        lengths: ArrayLike,
        observed: ArrayLike,
        *,
        counts: ArrayLike | None = None,
        tail: str = "geometric",
        entry: ArrayLike | None = None,
    ) -> None:
        columns = check_columns(lengths, observed, entry=entry, counts=counts)
        pairs, began, totals = _distinct(columns)
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
            entry=None if began is None else tuple(began.tolist()),
        )
        if began is not None:
            _check_risk(self._sample)

    def _parameters(self) -> dict[str, Any]:
        return {
            "lengths": self.lengths,
            "observed": self.observed,
            "counts": self.counts,
            "tail": self.tail_rule,
        } | ({} if self.entry is None else {"entry": self.entry})

    @property
    def _sample(self) -> Sample:
        return take_sample(self.lengths, self.observed, entry=self.entry, counts=self.counts)

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
        sample = self._sample
        ends, died, last = sample.ends, sample.ended, sample.longest
        at_risk = sample.at_risk(ends)
        hazards, continuations = died / at_risk, (at_risk - died) / at_risk
        levels = running_products(np.append(1.0, continuations))
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


def _distinct(columns: Columns) -> tuple[IntArray, IntArray | None, IntArray]:
    """Return the distinct rows, each as 2 · length + observed and its entry, and how often each was seen."""
    keys = 2 * columns.lengths + columns.observed
    if columns.entry is None:
        pairs, totals = tally(keys, columns.counts)
        return pairs, None, totals
    pairs, pair = np.unique(keys, return_inverse=True)
    entries, start = np.unique(columns.entry, return_inverse=True)
    rows, totals = tally(pair * entries.size + start, columns.counts)
    return pairs[rows // entries.size], entries[rows % entries.size], totals


def _check_risk(sample: Sample) -> None:
    """Refuse late entries that leave so few at risk that all of them end and the estimate falls to 0."""
    gone = (sample.at_risk(sample.ends) == sample.ended) & (sample.ends < sample.longest)
    if gone.any():
        at = int(np.argmax(gone))
        raise ValueError(
            f"entry leaves only {sample.ended[at]} at risk at step {sample.ends[at]}, all of which end there "
            f"although others last longer; leave out the rows that entered up to step {sample.ends[at]}."
        )
