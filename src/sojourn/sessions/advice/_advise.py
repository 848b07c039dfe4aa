"""Puts the advice together: what to do first, then the reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sojourn.sessions._format import gamma_words, law_words, percent
from sojourn.sessions.advice._discount import (
    NEARLY_ENOUGH,
    horizon_words,
    needs_more,
    single_gamma_words,
    unknown_price,
)
from sojourn.sessions.advice._groups import group_words, price_words
from sojourn.sessions.advice._law import discount_words, law_advice, mean_words
from sojourn.sessions.advice._sessions import data_words, session_words
from sojourn.sessions.analysis._coverage import FEWEST_ENDS, SMALL_DIFFERENCE

if TYPE_CHECKING:
    from sojourn.sessions.analysis._analysis import Analysis

__all__ = ["advise"]


def advise(analysis: Analysis) -> tuple[tuple[str, str], ...]:
    """Return pairs of a heading and a paragraph."""
    found = [
        ("In short", _in_short(analysis)),
        ("The sessions", session_words(analysis)),
        ("The data", data_words(analysis)),
    ]
    if analysis.shows_a_family:
        found += [("The law", law_advice(analysis)), ("The mean length", mean_words(analysis))]
        if analysis.log.longest > analysis.first:
            found.append(("The discount", discount_words(analysis)))
        found += [("A single γ", single_gamma_words(analysis)), ("How far to plan", horizon_words(analysis))]
    if analysis.price is not None:
        found.append(("On the problem", price_words(analysis, analysis.price)))
    elif analysis.problem is not None and analysis.shows_a_family:
        found.append(("On the problem", unknown_price(analysis)))
    if analysis.groups is not None:
        found.append((f"{analysis.groups.what.capitalize()}s", group_words(analysis.groups)))
    return tuple(found)


def _in_short(analysis: Analysis) -> str:
    """Return what to do."""
    groups = analysis.groups
    if groups is None or not (groups.depends or groups.crosses):
        return _by_length(analysis, "")
    if not groups.crosses and groups.largest_difference <= SMALL_DIFFERENCE:
        return _by_length(analysis, "")
    if groups.what == "group":
        return _by_length(analysis, " The groups differ: see below.")
    return (
        f"Leaving depends on the {groups.what}, so no law of lengths is a discount: make leaving part of the "
        f"problem (see {groups.what.capitalize()}s). The rest holds only if that may be ignored. "
        f"{_by_length(analysis, '')}"
    )


def _by_length(analysis: Analysis, rest: str) -> str:
    """Return what to do as far as lengths alone tell."""
    if analysis.is_too_small:
        n = analysis.log.sample.n_observed
        return (
            f"The log is too small for advice: {n} session{'s were' if n > 1 else ' was'} seen to end, and "
            f"with fewer than {FEWEST_ENDS} one law cannot be told from another.{rest}"
        )
    if analysis.is_constant:
        return _for_constant(analysis.log.longest, rest)
    is_untested = analysis.hazard_test is None and not analysis.best_is_contradicted
    if is_untested and analysis.determines_mean and analysis.log.longest > 1:
        rest = f" The law could not be tested, so take it as a guess.{rest}"
    if not analysis.determines_mean:
        use = " Use the table of the data for the steps that it covers (--table FILE)." * analysis.has_table
        return f"The log does not show enough to choose a discount for all steps.{use}{rest}"
    if analysis.best_is_contradicted:
        return _without_fit(analysis, rest)
    if analysis.log.longest == 1 and analysis.log.n_open:
        return f"If the open sessions have one step, as all others, there is nothing to discount.{rest}"
    gamma, share = gamma_words(analysis.geometric.gamma), analysis.gap / analysis.law.mean
    if share <= NEARLY_ENOUGH and any(needs_more(one) for one in analysis.rivals):
        enough = "enough" if share <= SMALL_DIFFERENCE else "nearly enough"
        return (
            f"One discount, γ = {gamma}, is {enough} by the best fit, but not by others that the data do not "
            f"contradict: the log does not settle it.{rest}"
        )
    if share <= SMALL_DIFFERENCE:
        return f"One discount is enough by the best fit: γ = {gamma}.{rest}"
    if share > NEARLY_ENOUGH and not analysis.rules_out_geometric:
        constant = gamma_words(analysis.ranked("geometric").fit.parameters["gamma"])
        return (
            f"The log does not settle whether one discount is enough: if so, it is γ = {constant}. By the "
            f"best fit a discount that changes with the step is better.{rest}"
        )
    if share <= NEARLY_ENOUGH:
        return (
            f"By the best fit one discount, γ = {gamma}, is nearly enough: for rewards in [0, 1], planning "
            f"with it loses at most {percent(share)} of the mean length. A discount that changes with the "
            f"step is more exact.{rest}"
        )
    price, file = analysis.price, "--schedule FILE writes it"
    if analysis.group_laws:
        file = "--schedule FILE writes one per group, and with --group none this one"
    if price is not None and price.is_slight:
        much = "is enough" if price.is_free else f"costs only {percent(price.loss / abs(price.best))}"
        return (
            f"On {price.problem} one discount {much}: γ = {gamma}. On another problem it may cost more: "
            f"there use a discount that changes with the step ({file}), and let the policy know the step."
            f"{rest}"
        )
    return (
        f"Use a discount that changes with the step, ρ(h) of the law at the end ({file}), and let "
        f"the policy know the step. The best single γ, {gamma}, may lose up to {percent(share)} of the mean "
        f"length, for rewards in [0, 1].{rest}"
    )


def _for_constant(length: int, rest: str) -> str:
    """Return what to do if all sessions have the same length."""
    if length == 1:
        return f"All sessions have one step, so there is nothing to discount.{rest}"
    return (
        f"All sessions that were seen to end have {length:,} steps. If that is how they end, plan for so "
        f"many steps and do not discount: the law is fixed({length}).{rest}"
    )


def _without_fit(analysis: Analysis, rest: str) -> str:
    """Return what to do if the data contradict the best fit, but determine the mean."""
    others, share = analysis.replacements, analysis.gap / analysis.described_law.mean
    use = f", or with {law_words(others[0].fit)}, which the data do not contradict" if others else ""
    text = (
        "The best family of laws does not fit the data. Plan with the table of the data (--table FILE "
        f"writes it){use}."
    )
    if share <= NEARLY_ENOUGH:
        gamma = gamma_words(analysis.described_geometric.gamma)
        text += (
            f" One discount, γ = {gamma}, is nearly enough: for rewards in [0, 1], planning with it loses at "
            f"most {percent(share)} of the mean length."
        )
    return text + rest
