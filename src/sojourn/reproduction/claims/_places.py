"""The places of the paper to which claims belong, in the order of the paper."""

from __future__ import annotations

from collections.abc import Iterable

from sojourn.reports import Claim

__all__ = ["PLACES", "in_order_of_the_paper"]

PLACES = (
    "Abstract",
    "Introduction",
    "Section 2.1",
    "Lemma 1",
    "Lemma 2",
    "Theorem 1",
    "Lemma 3",
    "Corollary 2, p ≥ 2",
    "Corollary 2, 1 < p < 2",
    "Corollary 3",
    "Proof of Corollary 3",
    "Section 4",
    "Theorem 4",
    "Proof of Theorem 4",
    "Lemma 5",
    "Lemma 6",
    "Lemma 7",
    "Corollary 5",
    "Corollary 6",
    "Section 5",
    "Section 6, Figure 1",
    "Section 6",
)
"""Theorems and corollaries have the numbers that are printed: they share one counter."""


def in_order_of_the_paper(claims: Iterable[Claim]) -> list[Claim]:
    """Return the claims sorted by their place; raise `ValueError` if a place is not in `PLACES`."""
    return sorted(claims, key=lambda claim: PLACES.index(claim.source))
