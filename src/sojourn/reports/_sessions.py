"""Report on a session log."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from sojourn.laws import quantile
from sojourn.mdps import TabularMDP
from sojourn.plots import SessionCurves, draw_sessions, new_figure, session_curves, session_legend, svg_image
from sojourn.reports._page import render
from sojourn.sessions import (
    EDGE_NOTE,
    Analysis,
    OpenRule,
    RankedFit,
    gamma_words,
    group_law_words,
    law_words,
    number,
    percent,
)

__all__ = ["session_report"]

_PANELS = (
    "Survival: the share of sessions that reach each step, with its confidence band and the fitted laws.",
    "Hazard: the share of the sessions at a step that end there, in the data and in the fitted laws.",
    "Expected remaining steps: the mean number of steps from each step on, by the fitted laws.",
)

_DATA_PANELS = (
    "Survival: the share of sessions that reach each step, with its confidence band.",
    "Hazard: the share of the sessions at a step that end there.",
)
"""The panels without laws."""


def session_report(analysis: Analysis) -> str:
    """Return a report on a session log as one self-contained HTML page.

    To protect privacy, the page has neither the names of groups nor the content of rejected rows.

    Example:
        >>> from sojourn.sessions import SessionLog, analyze
        >>> page = session_report(analyze(SessionLog.from_columns([1, 2, 2, 5, 9] * 20)))
        >>> page.splitlines()[0], "<script" in page
        ('<!DOCTYPE html>', False)
    """
    log, law, curves = analysis.log, analysis.law, session_curves(analysis)
    (_, answer), *reasons = analysis.advice()
    is_known = analysis.determines_mean
    return render(
        "sessions.html",
        kind="Session lengths",
        open_length="n + 1" if log.open_rule is OpenRule.SURVIVED else "n",
        title=log.name,
        summary=answer,
        facts=[
            ("sessions", f"{len(log):,}"),
            ("still open", percent(log.n_open / len(log))),
            ("mean length", number(analysis.described_law.mean) if is_known else "not determined"),
            ("median length", _median(analysis)),
            ("best family", _family(analysis)),
            (
                "best single γ",
                gamma_words(analysis.described_geometric.gamma) if is_known else "not determined",
            ),
        ],
        findings=reasons,
        figures=_figures(curves),
        plan=_plan(analysis),
        key=session_legend(curves),
        law=repr(law) if analysis.shows_a_family else "",
        contradicted=analysis.best_is_contradicted,
        fits=[_fit(one, has_mean=is_known and analysis.shows_most_of(one)) for one in analysis.fits],
        edges=f"A law at the edge of its family is {EDGE_NOTE}."
        if any(one.fit.edge for one in analysis.fits)
        else "",
        least_bic=f"{analysis.best.fit.bic:,.1f}",
        least_aic=f"{min(one.fit.aic for one in analysis.fits):,.1f}",
        steps=_steps(analysis),
        given=f"P(H ≥ h | H ≥ {analysis.first:,})" if analysis.first > 1 else "P(H ≥ h)",
        groups=_groups(analysis),
        kind_of_group="group" if analysis.groups is None else analysis.groups.what,
        rows=_rows(analysis),
        rejected=[(f"{one.row:,}", one.rule) for one in log.account.first_rejected],
        notes=log.account.notes,
        band=_band(analysis),
    )


def _family(analysis: Analysis) -> str:
    if not analysis.shows_a_family:
        return "none" if analysis.is_too_small else "fixed"
    return analysis.best.fit.family.replace("_", " ")


def _median(analysis: Analysis) -> str:
    """Return the median length, as far as the log shows it."""
    longest = analysis.log.longest
    if analysis.first > 1:
        return "not determined"
    median = analysis.length_reached(0.5)
    return number(median) if median <= longest else f"more than {number(longest)}"


def _figures(curves: SessionCurves) -> list[tuple[str, str]]:
    figures = []
    texts = _PANELS if curves.names else _DATA_PANELS
    for place, alt in enumerate(texts[: curves.n_panels]):
        figure, panels = new_figure(1, width=4.2, height=3.3)
        draw_sessions(curves, panels, first=place)
        figures.append((alt, svg_image(figure)))
    return figures


def _plan(analysis: Analysis) -> dict[str, str] | None:
    """Return the drawing of the plan for the best law, and what it shows in words; None without a problem.

    States that a log names are numbered instead.
    """
    best = analysis.plan() if analysis.determines_mean else None
    if best is None or best.mdp is None:
        return None
    if best.mdp.name is None:
        anonymous = TabularMDP(
            best.mdp.transitions,
            best.mdp.rewards,
            start=best.mdp.start,
            terminal=best.mdp.terminal,
            action_names=best.mdp.action_names,
        )
        best = replace(best, mdp=anonymous)
    return {"words": best.describe(single_gamma=False), "image": svg_image(best.plot(single_gamma=False))}


def _fit(one: RankedFit, *, has_mean: bool) -> dict[str, Any]:
    fit = one.fit
    errors = [f"{error:.2g}" for error in fit.standard_errors.values() if not math.isnan(error)]
    return {
        "family": fit.family.replace("_", " "),
        "law": law_words(fit)
        + (f" ± {', '.join(errors)}" if errors else "")
        + (f", {' and '.join(fit.edge)} at the edge" if fit.edge else ""),
        "mean": number(fit.law.mean) if has_mean else "–",
        "bic": f"{one.bic_gap:,.1f}",
        "aic": f"{one.aic_gap:,.1f}",
        "in_band": one.in_band,
        "band": "inside the band" if one.in_band else f"{percent(one.excess)} outside at step {one.step:,}",
    }


def _steps(analysis: Analysis) -> list[tuple[str, ...]]:
    """Return the table of survival, hazard and discount at selected steps, from the first step with data."""
    law, band, last = analysis.law, analysis.band, analysis.log.longest
    shares = (0.95, 0.9, 0.75, 0.5, 0.25, 0.1, 0.05, 0.01, 0.001)
    begin = analysis.first
    chosen = sorted({begin, begin + 1, begin + 2, last} | {min(quantile(law, left), last) for left in shares})
    steps = np.array([step for step in chosen if begin <= step <= last])
    lower, upper = band.at(steps)
    columns = (
        [f"{step:,}" for step in steps.tolist()],
        [_share(value) for value in band.of(steps)],
        [f"{_share(low)} … {_share(high)}" for low, high in zip(lower, upper, strict=True)],
        [_share(value) for value in band.of_law(law, steps)],
        [_share(value) for value in law.hazard(steps)],
        [_share(value) for value in law.continuation(steps)],
        [_share(value) for value in band.of_law(analysis.ranked("geometric").fit.law, steps)],
    )
    n_columns = len(columns) if analysis.shows_a_family else 3
    return list(zip(*columns[:n_columns], strict=True))


def _share(value: float) -> str:
    return f"{value:.1e}" if 0.0 < value < 1e-3 else f"{value:.4f}"


def _groups(analysis: Analysis) -> list[tuple[str, ...]]:
    test = analysis.groups
    if test is None:
        return []
    means = [law.mean for law in analysis.group_laws] or (None,) * len(test.sizes)
    rows = zip(test.names, test.sizes, test.ended, test.expected, test.ratios, means, strict=True)
    table: list[tuple[str, ...]] = []
    for i, (name, size, ended, expected, ratio, mean) in enumerate(rows):
        law = "–" if mean is None else number(mean), group_law_words(analysis, i)
        table.append((name, f"{size:,}", f"{ended:,}", number(expected), f"{ratio:.2f}", *law))
    return table


def _rows(analysis: Analysis) -> str:
    account = analysis.log.account
    text = f"{account.n_rows:,} rows were read, {account.n_used:,} used and {account.n_rejected:,} rejected."
    return f"{text} The first rejected rows:" if account.n_rejected else text


def _band(analysis: Analysis) -> str:
    confidence = f"{100.0 * analysis.band.confidence:g}%"
    if analysis.band.kind == "dkw":
        return (
            f"with a simultaneous {confidence} confidence band (Dvoretzky, Kiefer and "
            "Wolfowitz 1956; Massart 1990)"
        )
    return f"with the simultaneous {confidence} confidence band of Hall and Wellner (1980)"
