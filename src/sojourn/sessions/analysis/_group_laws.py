"""Fits a law to each group of a log, and finds out what the group's sessions say about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sojourn.laws import Fit, Sample, band_of_sample
from sojourn.sessions._log import SessionLog
from sojourn.sessions.analysis._coverage import (
    FEWEST_ENDS,
    SMALL_DIFFERENCE,
    find_hole,
    first_of_many,
    mean_up_to,
    share_beyond,
    unended,
)
from sojourn.sessions.analysis._fit_check import check_fit
from sojourn.sessions.analysis._groups import group_samples
from sojourn.sessions.analysis._ranking import BIC_TIE, rank_fits
from sojourn.sessions.analysis._schedule import schedule_of

__all__ = ["GroupLaw", "fit_groups"]

_MAX_DISTINCT = 1 << 12
"""Maximum number of distinct lengths per group when laws are fitted."""


@dataclass(frozen=True)
class GroupLaw:
    """The law of a group, and what the group's sessions say about it.

    Attributes:
        fit: The best fit; None if the group has fewer than 10 observed ends.
        mean: The mean length by the fit, or by the data (Kaplan–Meier) if they contradict the fit; None if
            the sessions do not determine it.
        is_contradicted: Whether the sessions contradict the fit, by enough to matter.
        unseen: Share of the mean length that lies beyond the longest session, and rests on the fit.
    """

    fit: Fit | None
    mean: float | None = None
    is_contradicted: bool = False
    unseen: float = 0.0

    def schedule(self) -> dict[str, Any] | None:
        """Return the group's discounts as `Analysis.schedule` does; None if `mean` is unknown."""
        return None if self.fit is None or self.mean is None else schedule_of(self.fit.law)


def fit_groups(log: SessionLog) -> tuple[GroupLaw, ...]:
    """Return the law of each group that is compared."""
    samples, _ = group_samples(log)
    return tuple(_law_of(sample) for sample in samples)


def _law_of(sample: Sample) -> GroupLaw:
    """Return a group's law.

    Its mean is None unless the sessions are seen from step 1, without a hole, and show enough of it, also of
    the means of other fits that are about as good. If they contradict the fit, it is their Kaplan–Meier mean,
    for which almost all must have ended.
    """
    if sample.n_observed < FEWEST_ENDS:
        return GroupLaw(None)
    fits, band = rank_fits(sample.thinned(_MAX_DISTINCT)), band_of_sample(sample)
    fit = fits[0]
    if find_hole(sample) is not None:  # the band says nothing about later steps
        return GroupLaw(fit)
    is_contradicted = check_fit(sample, band, fit).is_contradicted
    if first_of_many(sample) > 1:
        return GroupLaw(fit, None, is_contradicted)
    left = unended(sample, band)
    if is_contradicted:
        return GroupLaw(fit, None if left > SMALL_DIFFERENCE else mean_up_to(band, sample.longest), True)
    beyond = share_beyond(fit.law, 1, sample.longest)
    most = min(one.bic for one in fits) + BIC_TIE
    tied = [one for one in fits if one.bic <= most]
    is_open = any(
        one.without_mean or (not one.edge and share_beyond(one.law, 1, sample.longest) > 0.5) for one in tied
    )
    is_known = max(beyond, left) <= (SMALL_DIFFERENCE if fit.edge else 0.5) and not is_open
    return GroupLaw(fit, fit.law.mean, False, beyond) if is_known else GroupLaw(fit)
