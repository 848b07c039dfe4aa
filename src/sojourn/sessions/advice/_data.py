"""What is said about the data: the sessions, and how long they last."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sojourn.laws import quantile
from sojourn.sessions._analysis import SMALL_DIFFERENCE
from sojourn.sessions._format import number, percent, step_words

if TYPE_CHECKING:
    from sojourn.sessions._analysis import Analysis
    from sojourn.sessions._log import SessionLog

__all__ = ["length_words", "session_words"]

_FEW_SESSIONS = 10
"""With fewer sessions, the advice is called a guess."""

_PILE = 0.02
"""Least share of sessions with the largest length that may be a cut-off."""

_MUCH = 0.1
"""Least share of a mean that is pointed out if fewer than 10 sessions show it."""

_FEW_STEPS = 20
"""From this length on, sessions with the largest length may lie apart from all others."""


def session_words(analysis: Analysis) -> str:
    """Describe the sessions: how many there are, what was seen of them, and where that is read from."""
    log = analysis.log
    n, late = len(log), int(log.counts[log.entry > 1].sum())
    text = f"{n:,} session{'s' * (n != 1)}"
    if n < _FEW_SESSIONS:
        text += " (too few to tell one law from another: take what follows as a guess)"
    if log.n_open:
        who = f"{log.n_open:,} of them ({percent(log.n_open / n)})"
        they = "are open: it is known only that they lasted at least this long, and they count as such."
        one = "is open: it is known only that it lasted at least this long, and it counts as such."
        if "terminated" in {what for what, _ in log.account.columns}:
            they = one = (
                "are open, or were ended by the problem (terminated): it is known only that they lasted at "
                "least this long, and they count as such. So what follows is about sessions that nothing "
                "terminates."
            )
        text += f". {who} {one if log.n_open == 1 else they}"
    else:
        text += (
            ", all seen to their end."
            if _says_ends(log)
            else (", all counted as seen to their end (no column that says so is used).")
        )
    if late:
        text += (
            f" {late:,} came under observation after their first step, and count only from there on. This "
            "corrects for sessions that ended before they could be seen, if such are missing from the log."
        )
    if analysis.first > 1:
        text += (
            f" No session was seen before step {analysis.first:,}: the data describe only sessions that get "
            "that far, and laws are compared with the data under that condition. What a law says about "
            "earlier steps, and so its mean length, is an extrapolation by its family."
        )
    text += _pile(analysis)
    if log.account.n_rejected:
        bad = log.account.n_rejected
        text += f" {bad:,} row{'s' * (bad != 1)} of the file could not be used."
    if log.account.columns:
        used = [f"{what} from {name!r}" for what, name in log.account.columns]
        text += f" Columns used: {', '.join(used)}."
    return text


def _says_ends(log: SessionLog) -> bool:
    """Whether a column says which sessions ended; true of logs that were not read from columns of lengths."""
    used = {what for what, _ in log.account.columns}
    return "lengths" not in used or not used.isdisjoint(("ends", "open sessions"))


def _pile(analysis: Analysis) -> str:
    """Return a warning if many sessions end at the largest length: a cut-off, or a code such as 99."""
    log = analysis.log
    n_end, n = int(log.counts[(log.lengths == log.longest) & log.observed].sum()), len(log)
    if n_end == n > 1:
        return (
            f" All have the same length, {step_words(log.longest)}: if the log or the sessions were cut off "
            "there, mark them as open; if this is not the column of lengths, name it with --length."
        )
    before = log.lengths < log.longest
    lengths, where = np.unique(log.lengths[before], return_inverse=True)
    by_length = np.bincount(where, log.counts[before])
    long = by_length[2 * lengths > log.longest]
    is_large = n_end >= _PILE * n and n_end > 2 * by_length.max(initial=0 if before.any() else n)
    is_peak = n_end >= _PILE * n and long.size > 1 and n_end > 2 * long.max() > 0
    is_apart = log.longest >= _FEW_STEPS and n_end > 2 * long.sum()
    if n_end < _FEW_SESSIONS or not (is_large or is_peak or is_apart):
        return ""
    return (
        f" {n_end:,} of them ({percent(n_end / n)}) have the largest length, {log.longest:,}: if the log or "
        "the sessions were cut off there, mark these as open; if it stands for an unknown length, leave them "
        "out."
    )


def length_words(analysis: Analysis) -> str:
    """Describe how long sessions last, as far as the log determines it."""
    law, first = analysis.law, analysis.first
    if not analysis.determines_remaining:
        return _undetermined(analysis)
    if first > 1:
        half, tenth = (number(analysis.quantile_from_first(share)) for share in (0.5, 0.1))
        text = (
            f"No session was seen before step {first:,}, so the log does not determine the mean length. "
            f"Sessions that get that far last {step_words(analysis.remaining)} on average from there on"
            f"{_interval(analysis)}: at least half of them end by step {half}, and at least one in ten get "
            f"to step {tenth}."
        )
    else:
        described = analysis.described_law
        mean = f"{step_words(law.mean)} on average{_interval(analysis)}"
        if described is law:
            text = f"A session lasts {mean}{_shares(analysis)}."
        else:  # the data contradict the best fit, so they come first
            how = "Kaplan–Meier, with a geometric tail" if analysis.still_open else "Kaplan–Meier"
            text = f"A session lasts {step_words(described.mean)} on average by the data themselves ({how})"
            text += f"{_shares(analysis)}.{_few_long(analysis, described.mean)}"
            text += f" The best family does not fit; by it a session lasts {mean}."
    if analysis.described_law is law:
        text += _mean_of_data(analysis)
    if analysis.best.fit.edge and analysis.described_law is law:
        text += f" The best fit is at the edge of its family ({', '.join(analysis.best.fit.edge)})."
    unseen = analysis.unseen
    if unseen > 0.02 and (first > 1 or analysis.described_law is law):
        text += (
            f" {percent(unseen)} of that mean lies beyond the longest session of the log and comes from the "
            "fitted law, not from the data."
        )
    return text


def _mean_of_data(analysis: Analysis) -> str:
    """Return the mean of the data themselves if all ends were seen, unless it is that of the law."""
    data_law, mean = analysis.kaplan_meier, analysis.law.mean
    is_seen = data_law is not None and analysis.first == 1 and not analysis.log.n_open
    if not is_seen or data_law is None or number(data_law.mean) == number(mean):
        return ""
    return f" This mean is that of the best fit; in the data it is {number(data_law.mean)}."


def _shares(analysis: Analysis) -> str:
    """Return after which steps half and a tenth of the sessions remain, with a word if no data are there."""
    half, tenth = analysis.length_reached(0.5), analysis.length_reached(0.1)
    text = f"; at least half of them last at most {number(half)}, and at least one in ten "
    text += f"{number(tenth)} or more"
    return f"{text}, which no session of the log reached" if tenth > analysis.log.longest else text


def _few_long(analysis: Analysis, mean: float) -> str:
    """Return how much of the mean of the data comes from a few long sessions, if that is much."""
    last = analysis.last_of_many
    share = 1.0 - analysis.mean_up_to(last) / mean
    if share <= _MUCH:
        return ""
    return (
        f" {percent(share)} of that mean comes from steps after {last:,}, which fewer than 10 sessions show: "
        "it is hardly known."
    )


def _undetermined(analysis: Analysis) -> str:
    """Describe the lengths where the mean would come from the fitted law rather than from the data."""
    law, edge, longest, first = analysis.law, analysis.best.fit.edge, analysis.log.longest, analysis.first
    mean = law.mean if first == 1 else analysis.remaining
    share = percent(analysis.unseen)
    why = f"{share} of the best fit's mean of {step_words(mean)} lies beyond the longest session"
    unended = f"the data hardly show when {percent(analysis.unended)} of the sessions end"
    if analysis.unseen <= 0.5:
        why = unended
    if analysis.mean_is_unbounded and max(analysis.unseen, analysis.unended) <= 0.5:
        why = "its 95% interval, from resampled logs, has no upper limit"
    if analysis.best_is_contradicted and analysis.unended > SMALL_DIFFERENCE:
        why = f"the best family does not fit, and {unended}"
    if edge:
        why = f"the best fit is at the edge of its family ({', '.join(edge)})"
    if analysis.best.fit.without_mean:
        why = f"the most likely member of the best family, {analysis.best.fit.without_mean}, has no mean"
    whose = f"sessions that reach step {first:,} last" if first > 1 else "sessions last"
    what = f"mean from step {first:,} on, the first step seen" if first > 1 else "mean length"
    last = min(analysis.last_of_many + 1, longest)
    that = "the first at which fewer than 10 are at risk"
    that = "which the longest session reaches" if last == longest else that
    text = f"The log does not determine the {what}: {why}. Counted up to step {last:,}, {that}, {whose} "
    text += f"{step_words(analysis.mean_up_to(last) - (first - 1))} on average"
    text += " from there on" if first > 1 else ""
    data_law = analysis.kaplan_meier
    half = analysis.quantile_from_first(0.5) if data_law is None else quantile(data_law, 0.5)
    if float(analysis.band.of(last)) > 0.5:
        text += "; more than half of them get that far"
    elif half <= last:
        text += f"; at least half of them {'end by step' if first > 1 else 'last at most'} {number(half)}"
    return f"{text}. More sessions, or sessions observed for longer, may settle it."


def _interval(analysis: Analysis) -> str:
    """Return the 95% interval of the mean from step `first` on; empty if there is none.

    From resampled logs, or from a log scale and standard errors, which leave out the choice of the family.
    """
    if analysis.bootstrap is not None:
        low, high = analysis.bootstrap.remaining
        if low == high:  # all sessions are alike, so that resampling shows nothing
            return ""
        above = "on, with no upper limit" if analysis.mean_is_unbounded else f"to {number(high)}"
        rough = "; its upper end is rough, and --resamples 1000 makes it finer" * analysis.bootstrap.is_rough
        return f" (95% interval from {number(low)} {above}, with the choice of the family{rough})"
    fit, mean = analysis.best.fit, analysis.remaining
    error = fit.error_of(lambda law: float(law.remaining(analysis.first)))
    if not error > 0.0 or fit.edge:
        return ""
    factor = math.exp(1.96 * error / mean)
    return f" (95% interval {number(mean / factor)} to {number(mean * factor)}, given the family)"
