"""Fits every family of laws to sessions, and ranks the fits by BIC."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.laws import FAMILIES, Band, Fit, Sample, fit_sample

__all__ = [
    "BIC_TIE",
    "STRONG_EVIDENCE",
    "RankedFit",
    "choose_best",
    "compare_fits",
    "evidence_words",
    "rank_fits",
]

BIC_TIE = 2.0
"""Fits whose BIC differ by at most this are tied (Raftery 1995: not worth more than a bare mention).

Among tied fits, one that is not at the edge of its family is preferred. A fit at the edge is either
equivalent to a simpler law, whose parameters BIC overcounts, or limited by the range of its family.
"""

STRONG_EVIDENCE = 6.0
"""Least difference of BIC that is strong evidence against a fit (Raftery 1995)."""

_VERY_STRONG = 10.0


def evidence_words(bic_gap: float) -> str:
    """Say how strong the evidence is against a fit whose BIC is larger by `bic_gap`, in Raftery's words.

    Example:
        >>> evidence_words(4.6)
        'positive evidence against it'
    """
    limits = ((BIC_TIE, "weak"), (STRONG_EVIDENCE, "positive"), (_VERY_STRONG, "strong"))
    how = next((word for limit, word in limits if bic_gap < limit), "very strong")
    return f"{how} evidence against it"


@dataclass(frozen=True)
class RankedFit:
    """The maximum-likelihood law of a family, compared with other families and with the data.

    Attributes:
        fit: The law and its likelihood.
        bic_gap: Difference between its BIC and the smallest BIC.
        aic_gap: Difference between its AIC and the smallest AIC.
        excess: Largest distance of γ outside the simultaneous band; ≤ 0 if γ stays inside.
        step: The step of that distance.
    """

    fit: Fit
    bic_gap: float
    aic_gap: float
    excess: float
    step: int

    @property
    def in_band(self) -> bool:
        """Whether the law lies in the band at every step."""
        return self.excess <= 1e-12


def rank_fits(sample: Sample) -> list[Fit]:
    """Fit every family, and sort the fits by BIC; among tied fits, those at no edge come first."""
    sample = sample.thinned()
    return _ranked([fit_sample(sample, family) for family in FAMILIES])


def choose_best(fits: list[Fit]) -> Fit:
    """Return the first of `fits` in the order of `rank_fits`."""
    return _ranked(fits)[0]


def compare_fits(fits: list[Fit], band: Band) -> tuple[RankedFit, ...]:
    """Compare fits with each other and with the band around the data."""
    bic, aic = min(one.bic for one in fits), min(one.aic for one in fits)
    return tuple(RankedFit(one, one.bic - bic, one.aic - aic, *band.excess(one.law)) for one in fits)


def _ranked(fits: list[Fit]) -> list[Fit]:
    tied_bic = min(one.bic for one in fits) + BIC_TIE
    return sorted(fits, key=lambda one: (one.bic > tied_bic or bool(one.edge), one.bic))
