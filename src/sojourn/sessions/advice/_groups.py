"""What is said about groups, or states, and about plans on a problem."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sojourn.sessions._format import chi_squared_words, gamma_words, law_words, percent
from sojourn.sessions.analysis._coverage import SMALL_DIFFERENCE
from sojourn.sessions.analysis._price import NOTHING

if TYPE_CHECKING:
    from sojourn.sessions.analysis._analysis import Analysis
    from sojourn.sessions.analysis._groups import GroupTest
    from sojourn.sessions.analysis._price import ProblemPrice

__all__ = ["group_law_words", "group_words", "price_words"]


def price_words(analysis: Analysis, price: ProblemPrice) -> str:
    """Describe what a single γ costs on a problem, and what plans for each group gain."""
    where, note = f"On {price.problem}", ""
    if analysis.best_is_contradicted:
        where = f"By the best fit, which the data contradict, on {price.problem}"
        note = (
            " The plan that is shown is by that fit, too. For one by the data, pass their table to sojourn "
            "plan: --law 'tabulated(\"FILE\")'."
        )
    gamma = gamma_words(price.gamma)
    if price.is_free:
        text = (
            f"{where} the policy that is best under γ = {gamma} earns as much as the best one under the "
            f"fitted law: {price.best:.6g} per session."
        )
    else:
        share = percent(price.loss / abs(price.best)) if price.best else "all"
        text = (
            f"{where} the best policy earns {price.best:.6g} per session. The one that is best under γ = "
            f"{gamma} earns {price.geometric:.6g}: the geometric assumption costs {price.loss:.4g}, {share}."
            f"{_held_out(price)}"
        )
    return text + _group_values(analysis) + note


def _group_values(analysis: Analysis) -> str:
    """Return what plans for each group gain over one plan for all."""
    marks = ("", ", whose law does not fit its data")
    pairs = zip(analysis.group_values, analysis.group_laws, strict=False)
    gains = [
        f"{_gain_words(*values)} in group {i}{marks[law.is_contradicted]}"
        for i, (values, law) in enumerate(pairs, 1)
        if values is not None
    ]
    return f" Over one plan for all, a plan for a group's own law gains {'; '.join(gains)}." if gains else ""


def _gain_words(own: float, common: float) -> str:
    """Return how much more a plan for a group's own law earns than the common plan."""
    return f"{own - common:.3g}" if own - common > NOTHING * abs(own) else "nothing"


def _held_out(price: ProblemPrice) -> str:
    """Return what the two plans differ by on data that were not used to plan."""
    if price.held_out is None:
        return ""
    low, high = price.held_out
    text = f" On steps that were not used to plan it costs {low:.3g} to {high:.3g} (95% interval)"
    return f"{text}." if low > 0.0 else f"{text}: the log does not show that it costs anything."


_CONSEQUENCES = {
    "group": (
        "This has two consequences. One law for all is a mixture: it is right for a session whose group is "
        "unknown, and wrong if the group is known; fit each group by itself. And if the group is a state "
        "that changes within a session, the end depends on what happens, so no law of lengths is a discount: "
        "make leaving part of the problem's transitions."
    ),
    "action": (
        "So no law of lengths is a discount here: the end depends on what the agent does, and a plan that "
        "ignores this may be far from the best. Make leaving part of the problem's transitions (terminated), "
        "and fit a law to the remaining ends."
    ),
    "state": (
        "So no law of lengths is a discount here: the end depends on what happens, and the chance of "
        "reaching step h is not the same for every policy. Make leaving part of the problem's transitions "
        "(terminated), and fit a law to the remaining ends."
    ),
}


def group_law_words(analysis: Analysis, i: int) -> str:
    """Return the best law of a group, and what is the matter with it; a dash if it has none."""
    law = analysis.group_laws[i] if analysis.group_laws else None
    if law is None or law.fit is None:
        return "–"
    words = law_words(law.fit) + ", at the edge of its family" * bool(law.fit.edge)
    words += ", does not fit" * law.is_contradicted
    is_far = law.unseen > SMALL_DIFFERENCE
    return words + (f", {percent(law.unseen)} of its mean beyond the data" if is_far else "")


_FEWEST_ENDS = 5
"""A group with fewer expected ends hardly shows how often it ends, compared with what is expected."""


def _name(test: GroupTest, i: int) -> str:
    """Return what to call a group, state or action, counted from 1."""
    if test.pooled and i == len(test.sizes):
        return f"the {test.pooled:,} {'smallest' if test.what == 'group' else 'rarest'} {test.what}s together"
    name = test.names[i - 1]
    return f"group {name}" if test.what == "group" else f"{test.what} no. {name}"


def group_words(test: GroupTest) -> str:
    """Explain the result of a test of groups."""
    what = test.what
    pooled = f"; {what}s with fewer than 10 expected ends are pooled" * (0 < test.n_tested < len(test.sizes))
    result = f"(log-rank {chi_squared_words(test)}{pooled})"
    known = [(ratio, i + 1) for i, ratio in enumerate(test.ratios) if not math.isnan(ratio)]
    large = [one for one in known if test.expected[one[1] - 1] >= _FEWEST_ENDS]
    is_part = 0 < len(large) < len(known)
    known = large or known
    (low, quiet), (high, hasty) = min(known), max(known)
    verb = "end" if test.pooled and hasty == len(test.sizes) else "ends"
    sizes = f"{_name(test, hasty)} {verb} {high:.2f} times as often as expected if all left at the same rate"
    sizes += f", {_name(test, quiet)} {low:.2f} times" if hasty != quiet else ""
    sizes += f", of the {what}s with at least {_FEWEST_ENDS} expected ends" * is_part
    if what != "group":
        sizes += " (in the alphabetical order of their names)"
    if test.crosses and test.by_range is not None:
        ranges = f"log-rank tests in four ranges of steps together: {chi_squared_words(test.by_range)}"
        return (
            f"No {what} leaves at a higher rate over all steps at the 5% level {result}: {sizes}. But in "
            f"some ranges of steps the {what}s differ ({ranges}). {_CONSEQUENCES[what]}"
        )
    if not test.depends:
        return (
            f"The log shows no difference between the {what}s' rates of leaving at the 5% level {result}: "
            f"{sizes}. This does not show that there is none; a larger log may find one."
        )
    if test.largest_difference <= SMALL_DIFFERENCE:
        return f"Leaving depends on the {what} at the 5% level {result}, but little: {sizes}."
    other = test.other
    too = f" It depends on the {other.what}, too (log-rank {chi_squared_words(other)})." if other else ""
    return f"Leaving depends on the {what} at the 5% level {result}: {sizes}.{too} {_CONSEQUENCES[what]}"
