"""The Kaplan–Meier estimate of a law, for lengths some of which are censored."""

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
    """The law estimated from lengths when some are censored (Kaplan and Meier 1958).

    A censored length n means H ≥ n: the episode was at risk of ending at steps 1 … n − 1, and not at n.
    (In libraries that keep a censored subject at risk at its time, that time is n − 1.)

    If the largest length, L, is censored, the data say nothing about later steps, and `tail` decides:
    "geometric" continues with the constant ρ = γ(L)^(1/(L−1)) (Brown, Hollander, Kowalczyk 1974), and "end"
    makes L the longest length (Efron 1967). If the largest length is observed, the estimate falls to 0 there.

    Rows that came under observation late, at step `entry`, are at risk from that step on (left truncation;
    Lynden-Bell 1971). The data say nothing about steps before the first entry, so the estimate is conditional
    on H ≥ that step.

    Args:
        lengths: Whole numbers ≥ 1, `(n,)`.
        observed: Whether each episode was observed to its end, `(n,)`; otherwise its length is censored.
        counts: Number of times that each row occurs, whole numbers ≥ 0, `(n,)`; 1 by default.
        tail: "geometric" or "end".
        entry: Step from which each row was under observation, from 1 to its length, `(n,)`; 1 by default.

    Example:
        >>> law = KaplanMeier([1, 2, 2, 3], [True, True, False, True])
        >>> law.hazard([1, 2, 3])  # 1 of 4 at step 1, 1 of 2 at step 2 (where one is censored), 1 of 1
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
        """The share of lengths that are censored."""
        cut = sum(count for count, seen in zip(self.counts, self.observed, strict=True) if not seen)
        return cut / sum(self.counts)

    def _details(self) -> list[tuple[str, object]]:
        return [
            ("lengths", f"{sum(self.counts):,}"),
            ("censored", f"{100.0 * self.censored:.2g}%"),
            ("tail", self.tail_rule),
        ]

    @cached_property
    def _stairs(self) -> Staircase:
        sample = self._sample
        ends, end_counts, last = sample.ends, sample.end_counts, sample.longest
        at_risk = sample.at_risk(ends)
        hazards, continuations = end_counts / at_risk, (at_risk - end_counts) / at_risk
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
    """Return the distinct rows, coded as 2 · length + observed, their entries, and their counts."""
    keys = 2 * columns.lengths + columns.observed
    if columns.entry is None:
        pairs, totals = tally(keys, columns.counts)
        return pairs, None, totals
    pairs, pair = np.unique(keys, return_inverse=True)
    entries, start = np.unique(columns.entry, return_inverse=True)
    rows, totals = tally(pair * entries.size + start, columns.counts)
    return pairs[rows // entries.size], entries[rows % entries.size], totals


def _check_risk(sample: Sample) -> None:
    """Raise an error if late entries leave so few rows at risk that the estimate falls to 0 too early."""
    gone = (sample.at_risk(sample.ends) == sample.end_counts) & (sample.ends < sample.longest)
    if gone.any():
        at = int(np.argmax(gone))
        raise ValueError(
            f"entry leaves only {sample.end_counts[at]} at risk at step {sample.ends[at]}, "
            f"all of which end there although others last longer; "
            f"leave out the rows that entered up to step {sample.ends[at]}."
        )
