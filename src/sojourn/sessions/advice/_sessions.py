"""What is said about the data: the sessions, how long they last and when they end; no fitted law is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sojourn.sessions._format import join_words, percent, step_words
from sojourn.sessions._log import OpenRule, SessionLog
from sojourn.sessions.analysis._coverage import StepRange, data_quantile, is_thin, step_ranges

if TYPE_CHECKING:
    from sojourn.sessions.analysis._analysis import Analysis

__all__ = ["data_words", "hole_words", "seen_before", "session_words"]

_FEW_AT_END = 10
"""Fewer sessions with the largest length are not pointed out."""

_PILE = 0.02
"""Least share of sessions with the largest length that may be a cut-off."""

_FEW_STEPS = 20
"""From this length on, sessions with the largest length may lie apart from all others."""

_APART = 10
"""A session is pointed out if it is this many times as long as the next longest one."""


def session_words(analysis: Analysis) -> str:
    """Describe the sessions: how many there are, what was seen of them, and where that is read from."""
    log = analysis.log
    n, late = len(log), int(log.counts[log.entry > analysis.first].sum())
    text = f"{n:,} session{'s' * (n != 1)}"
    text += f". {_open_words(log)}" if log.n_open else _no_open_words(log)
    if late:
        since = "their first step" if analysis.first == 1 else f"step {analysis.first:,}"
        text += (
            f" {late:,} came under observation after {since}, and count only from there on. This "
            "corrects for sessions that ended before they could be seen, if such are missing from the log."
        )
    if analysis.first > 1:
        gone = ""
        if analysis.n_left_out == 0:
            gone = "Earlier steps are left out. "
        elif analysis.n_left_out is not None:
            gone = f"Earlier steps are left out, with {analysis.n_left_out:,} sessions that get no further. "
        seen = seen_before(analysis)
        text += (
            f" {seen[0].upper()}{seen[1:]}. {gone}The data describe only sessions that get to step "
            f"{analysis.first:,}, and laws are compared with the data under that condition. What a law says "
            "about earlier steps, and so its mean length, is an extrapolation by its family."
        )
    if analysis.ends_at_hole:
        n_after, start = analysis.n_after_hole, (analysis.hole or (0, 0))[0]
        many = "session" if n_after == 1 else "sessions"
        beside = f", with {n_after:,} {many} that came under observation there" if n_after else ""
        text += (
            f" Hardly any session was observed at {hole_words(analysis)}. Later steps are left out{beside}; "
            f"sessions that got to step {start:,} count as open there."
        )
    if analysis.hole is not None and log.open_rule is OpenRule.REACHED and not log.n_open:
        text += " If open sessions were seen to go on after their last step, pass --open-survived."
    text += _pile(analysis) or _outlier(log)
    if log.account.n_rejected:
        bad = log.account.n_rejected
        text += f" {bad:,} row{'s' * (bad != 1)} of the file could not be used."
    if log.account.columns:
        used = [f"{what} from {name!r}" for what, name in log.account.columns]
        text += f" Columns used: {', '.join(used)}."
    return text


def seen_before(analysis: Analysis) -> str:
    """Return why the analysis does not begin at step 1."""
    if analysis.hole is not None and not analysis.ends_at_hole:
        return f"hardly any session was observed at {hole_words(analysis)}"
    few = "no session was" if analysis.n_left_out is None else "too few sessions were"
    return f"{few} seen before step {analysis.first:,}"


def hole_words(analysis: Analysis) -> str:
    """Return the steps of the hole in the log; empty if there is none."""
    start, end = analysis.hole or (0, 0)
    return "" if not end else f"step {start:,}" if start == end else f"steps {start:,}–{end:,}"


def _open_words(log: SessionLog) -> str:
    """Say how many sessions are open, and how they count."""
    is_one = log.n_open == 1
    who = f"{log.n_open:,} of them ({percent(log.n_open / len(log))}) {'is' if is_one else 'are'} open"
    if "terminated" in {what for what, _ in log.account.columns}:
        return (
            f"{who}, or ended by the problem (terminated): such a session of n steps counts as one that "
            "nothing had ended before step n. So what follows is about sessions that nothing terminates."
        )
    return f"{who}: {_OPEN_RULES[log.open_rule]}"


_OPEN_RULES = {
    OpenRule.REACHED: "an open session of n steps counts as having n steps or more. If it was seen to go on "
    "after step n, as in data for lifelines and R, pass --open-survived.",
    OpenRule.EVENTS: "an open session of n steps counts as having n steps or more.",
    OpenRule.SURVIVED: "an open session counts as having gone on after its last step (--open-survived).",
    OpenRule.DURATION: "an open session counts as having survived each step of which half or more was seen.",
}


def _no_open_words(log: SessionLog) -> str:
    if _says_ends(log):
        return ", all seen to their end."
    has_times = "end times" in {what for what, _ in log.account.columns}
    why = "each has an end time" if has_times else "no column that says so is used"
    return f", all counted as seen to their end ({why})."


def _says_ends(log: SessionLog) -> bool:
    """Whether a column says which sessions ended; true of logs that were not read from columns of lengths."""
    used = {what for what, _ in log.account.columns}
    flags = ("ends", "open sessions", "ended")
    return used.isdisjoint(("lengths", "end times", "step")) or not used.isdisjoint(flags)


def _pile(analysis: Analysis) -> str:
    """Return a warning if many sessions end at the largest length: a cut-off, or a code such as 99."""
    log = analysis.log
    is_last = log.lengths == log.longest
    n_last, n_end, n = int(log.counts[is_last].sum()), int(log.counts[is_last & log.observed].sum()), len(log)
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
    if n_end < _FEW_AT_END or not (is_large or is_peak or is_apart):
        return ""
    ends = f", and {n_end:,} of these were seen to end" if n_end < n_last else ""
    return (
        f" {n_last:,} of them ({percent(n_last / n)}) have the largest length, {log.longest:,}{ends}: if the "
        f"log or the sessions were cut off there, mark {'all' * bool(ends) or 'these'} as open; if it stands "
        "for an unknown length, leave them out."
    )


def _outlier(log: SessionLog) -> str:
    """Point out a session that is far longer than all others: it may be a mistake."""
    n_longest = int(log.counts[log.lengths == log.longest].sum())
    next_longest = int(log.lengths[log.lengths < log.longest].max(initial=0))
    if n_longest > 1 or not 0 < _APART * next_longest <= log.longest or next_longest < _FEW_STEPS:
        return ""
    return (
        f" The longest has {log.longest:,} steps, the next longest {next_longest:,}: if that is a mistake, "
        "leave it out."
    )


def data_words(analysis: Analysis) -> str:
    """Describe how long sessions last and when they end, as far as the data show it."""
    log, first, longest = analysis.log, analysis.first, analysis.log.longest
    if longest == first:
        return f"No session was seen to go on after step {first:,}."
    if analysis.kaplan_meier is None and (log.entry > 1).any():
        return f"Late entries leave open how long sessions last. {_range_words(analysis)}"
    is_complete = log.sample.is_complete
    last = longest if is_complete else min(analysis.last_of_many + 1, longest)
    who = "Sessions" if first == 1 else f"Sessions that reach step {first:,}"
    since = " from there on" if first > 1 else ""
    mean = f"{step_words(analysis.mean_up_to(last) - (first - 1))} on average{since}"
    if is_complete:
        text = f"{who} last {mean}"
    else:
        fewer = ", from which on fewer than 10 sessions are at risk" if last < longest else ""
        fewer = ", with fewer than 10 sessions at risk at every step" if is_thin(log.sample) else fewer
        text = f"By Kaplan–Meier, counted up to step {last:,}{fewer}, {who[0].lower()}{who[1:]} last {mean}"
    return f"{text}{_quantiles(analysis, last, is_complete=is_complete)}. {_range_words(analysis)}"


def _quantiles(analysis: Analysis, last: int, *, is_complete: bool) -> str:
    """Return after how many steps half and a tenth of the sessions remain, or how many get to `last`."""
    band = analysis.band
    known = last if is_complete else min(last, analysis.last_of_many)  # ends of a few show little
    known = min(known, analysis.log.longest - 1) if analysis.still_open else known
    known = 0 if is_thin(analysis.log.sample) and not is_complete else known
    half, tenth = (data_quantile(band, share, last=known) for share in (0.5, 0.1))
    parts = [] if half is None else [f"at least half of them end by step {half:,}"]
    if tenth is not None:
        parts.append(f"at least one in ten get to step {tenth:,}")
    else:
        parts.append(f"{percent(float(band.of(last)))} get to step {last:,}")
    return f"; {' and '.join(parts)}"


def _range_words(analysis: Analysis) -> str:
    """Return what share of the sessions at a step ends there, in a few ranges of steps."""
    ranges = step_ranges(analysis.log.sample)
    start = ranges[0].first
    who = f"No session that reached step {analysis.first:,}" if analysis.first > 1 else "No session"
    text = f"{who} ended before step {start:,}. " if start > analysis.first else ""
    if len(ranges) > 1:
        parts = join_words([_one_range(one) for one in ranges])
        text += f"Of the sessions at a step, these shares end there on average: {parts}."
    elif ranges[0].share == 1.0 and not analysis.still_open:
        return f"{text}There all end." if text else "All end at the first step."
    elif ranges[0].share == 1.0:
        return f"{text}There {analysis.log.sample.n_observed:,} were seen to end; the others are open."
    else:
        since = f"From step {start:,} on, on" if text else "On"
        text += f"{since} average {percent(ranges[0].share)} of the sessions at a step end there."
    if analysis.rules_out_geometric:
        return f"{text} The log rules out, at the 1% level, that this share is the same at every step."
    return f"{text} The log does not settle whether this share is the same at every step."


def _one_range(one: StepRange) -> str:
    if one.last is None:
        where = f"from step {one.first:,} on"
    else:
        where = f"at step {one.first:,}" if one.first == one.last else f"at steps {one.first:,}–{one.last:,}"
    return f"{percent(one.share)} {where}"
