"""The cards and short texts that notebooks and terminals show for session logs and their analyses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sojourn import _html
from sojourn.laws import is_heavy, quantile
from sojourn.sessions._format import gamma_words, law_words, number, percent, step_words
from sojourn.sessions.analysis._hazard_bins import hazard_bins

if TYPE_CHECKING:
    from sojourn.sessions._log import SessionLog
    from sojourn.sessions.analysis._analysis import Analysis

__all__ = ["analysis_card", "analysis_text", "log_card", "log_text"]

_MOST_COLUMNS = 40
_LAST_SURVIVAL = 0.01


def log_text(log: SessionLog) -> str:
    """Return a session log in one line."""
    parts = [f"{len(log):,} sessions of {int(log.lengths.min()):,} … {log.longest:,} steps", _open_words(log)]
    parts += [f"{log.n_groups:,} groups"] if log.n_groups else []
    parts += [f"{log.account.n_rejected:,} rows rejected"] if log.account.n_rejected else []
    return f"SessionLog({log.name!r}: {', '.join(parts)})"


def _open_words(log: SessionLog) -> str:
    return f"{percent(log.n_open / len(log))} still open" if log.n_open else "all seen to end"


def log_card(log: SessionLog) -> str:
    """Return a card with a histogram of the lengths; open sessions have another color."""
    account = log.account
    facts = [
        ("sessions", f"{len(log):,}"),
        ("still open", percent(log.n_open / len(log))),
        ("longest", step_words(log.longest)),
        ("groups", f"{log.n_groups:,}" if log.n_groups else "none"),
    ]
    rows: list[tuple[str, object]] = [
        ("rows", f"{account.n_rows:,}"),
        ("used", f"{account.n_used:,}"),
        ("rejected", f"{account.n_rejected:,}"),
        *((f"column of {meaning}", column) for meaning, column in account.columns),
        *(("note", note) for note in account.notes),
    ]
    return _html.card(f"Session log {log.name}", facts, _histogram(log), _html.table("", rows))


def _histogram(log: SessionLog) -> str:
    low, high = int(log.lengths.min()), log.longest
    if high - low < _MOST_COLUMNS:
        edges = np.arange(low, high + 2)
    else:
        is_wide = high > 1_000
        spread = np.geomspace if is_wide else np.linspace
        edges = np.unique(spread(low, high + 1, _MOST_COLUMNS + 1).round().astype(np.int64))
    ended, still_open = (
        np.histogram(log.lengths[which], edges, weights=log.counts[which])[0]
        for which in (log.observed, ~log.observed)
    )
    columns = zip(edges[:-1].tolist(), (edges[1:] - 1).tolist(), ended, still_open, strict=True)
    parts = ("seen to end", "still open") if log.n_open else None
    return _html.column_picture(list(columns), ("length in steps", "sessions"), parts)


def analysis_text(analysis: Analysis) -> str:
    """Return an analysis in four lines."""
    facts = _facts(analysis)
    width = max(len(name) for name, _ in facts)
    log = analysis.log
    head = f"Analysis of {log.name!r}: {len(log):,} sessions, {_open_words(log)}"
    return "\n".join([head, *(f"{name.ljust(width)}  {text}" for name, text in facts)])


def _facts(analysis: Analysis) -> list[tuple[str, str]]:
    fit = "inside" if analysis.best.in_band else "outside"
    fit += f" the {percent(analysis.band.confidence)} band"
    if analysis.best_is_contradicted:
        fit += ", but the data contradict it" if analysis.best.in_band else "; the data contradict it"
    mean = gamma = "not determined by this log"
    if analysis.determines_mean:
        verdict = "ruled out" if analysis.rules_out_geometric else "not ruled out"
        mean = step_words(analysis.described_law.mean)
        gamma = f"{gamma_words(analysis.described_geometric.gamma)}, {verdict}"
    law = [("best law", law_words(analysis.best.fit)), ("fit", fit)]
    if not analysis.shows_a_family:
        law = [("best law", "not determined by this log" if analysis.is_too_small else repr(analysis.law))]
    return [*law, ("mean length", mean), ("best single γ", gamma)]


def analysis_card(analysis: Analysis) -> str:
    """Return a card with the chances of leaving, in the data and by the best law."""
    rows = [
        (
            law_words(one.fit),
            number(one.bic_gap),
            "inside" if one.in_band else f"leaves it by {percent(one.excess)}",
        )
        for one in analysis.fits
    ]
    details = _html.grid(
        "Families by BIC", ("law", "ΔBIC", f"{percent(analysis.band.confidence)} band"), rows
    )
    log = analysis.log
    title = f"Analysis of {log.name}: {len(log):,} sessions, {_open_words(log)}"
    return _html.card(title, _facts(analysis), _hazard_picture(analysis), details)


def _hazard_picture(analysis: Analysis) -> str:
    law, first = analysis.law, analysis.first
    last = max(min(quantile(law, _LAST_SURVIVAL) + 1, analysis.log.longest), first + 1)
    dots, shares, _ = hazard_bins(analysis.log.sample, last)
    logarithmic = last > 40 and is_heavy(law)
    spread = np.geomspace if logarithmic else np.linspace
    h = np.unique(spread(first, last, 120).round())
    lines = [("best law", h.tolist(), law.hazard(h).tolist())]
    if analysis.best.fit.family != "geometric":
        lines.append(("best single γ", h.tolist(), analysis.geometric.hazard(h).tolist()))
    data = ("data", dots.tolist(), shares.tolist()) if dots.size else None
    names = ("step", "chance that this step is the last")
    return _html.line_picture(lines, names, dots=data, logarithmic=logarithmic)
