"""Converts an analysis to plain data, for JSON."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from sojourn.sessions.analysis._group_laws import GroupLaw

if TYPE_CHECKING:
    from sojourn.sessions.analysis._analysis import Analysis
    from sojourn.sessions.analysis._groups import GroupTest
    from sojourn.sessions.analysis._ranking import RankedFit

__all__ = ["as_dict"]

_MAX_BAND_STEPS = 10_000


def as_dict(analysis: Analysis, *, labels: bool) -> dict[str, Any]:
    """Return an analysis as dictionaries, lists, strings and numbers.

    Args:
        analysis: The analysis.
        labels: Whether to include the log's own names of groups.
    """
    log, account, law = analysis.log, analysis.log.account, analysis.law
    return {
        "source": log.name,
        "rows": {
            "read": account.n_rows,
            "used": account.n_used,
            "rejected": account.n_rejected,
            "first_rejected": [{"row": one.row, "rule": one.rule} for one in account.first_rejected],
            "notes": list(account.notes),
            "columns": dict(account.columns),
        },
        "sessions": len(log),
        "open": log.n_open,
        "late_entries": int(log.counts[log.entry > analysis.first].sum()),
        "first_step_seen": analysis.first,
        "sessions_left_out": analysis.n_left_out or 0,
        "law": None if analysis.is_too_small else repr(law),
        "mean": analysis.described_law.mean if analysis.determines_mean else None,
        "mean_standard_error": _mean_error(analysis),
        "median": _median(analysis),
        "mean_past_the_data": analysis.unseen,
        "mean_is_determined": analysis.determines_mean,
        "mean_up_to_the_longest": analysis.seen_mean,
        "mean_from_first_step_seen": analysis.described_remaining if analysis.determines_remaining else None,
        "mean_from_first_step_seen_is_determined": analysis.determines_remaining,
        "kaplan_meier_mean": _data_mean(analysis),
        "fits": [_fit(one) for one in analysis.fits],
        "best_fit_is_contradicted": analysis.best_is_contradicted,
        "resampled": _resampled(analysis),
        "described_by": "best fit" if analysis.described_law is analysis.best.fit.law else "data",
        "single_gamma": _single_gamma(analysis),
        "effective_horizons": [
            {"truncation": one, "horizon": analysis.horizon(one) if analysis.determines_mean else None}
            for one in analysis.truncations
        ],
        "band": _band(analysis),
        "hazard_test": None if analysis.hazard_test is None else dataclasses.asdict(analysis.hazard_test),
        "groups": _groups(analysis, labels=labels),
        "problem": _price(analysis),
        "advice": [{"about": about, "text": text} for about, text in analysis.advice()],
    }


def _mean_error(analysis: Analysis) -> float | None:
    """Return the standard error of the mean; None if the mean is not that of the best fit."""
    is_of_fit = analysis.determines_mean and analysis.described_law is analysis.best.fit.law
    return analysis.best.fit.error_of(lambda law: law.mean) if is_of_fit else None


def _single_gamma(analysis: Analysis) -> dict[str, float] | None:
    """Return the best single γ and that of the same mean; None if the log does not determine them."""
    if not analysis.determines_mean:
        return None
    return {
        "gamma": analysis.described_geometric.gamma,
        "distance": analysis.gap,
        "same_mean_gamma": analysis.usual.gamma,
        "same_mean_distance": analysis.usual_gap,
    }


def _resampled(analysis: Analysis) -> dict[str, Any] | None:
    found = analysis.bootstrap
    if found is None:
        return None
    return {
        "logs": found.n,
        "families": found.families,
        "mean_from_first_step_seen": list(found.remaining),
        "steps": found.steps.tolist(),
        "discount": found.discount.tolist(),
    }


def _median(analysis: Analysis) -> int | None:
    """Return the median length; None if it lies beyond the data and the log does not determine the mean."""
    median = analysis.length_reached(0.5)
    return median if median <= analysis.log.longest or analysis.determines_mean else None


def _data_mean(analysis: Analysis) -> float | None:
    """Return the Kaplan–Meier mean; None if it is not known, or no session was seen from its first step."""
    law = analysis.kaplan_meier
    is_known = not analysis.still_open or analysis.determines_mean
    return law.mean if law is not None and analysis.first == 1 and is_known else None


def _band(analysis: Analysis) -> dict[str, Any]:
    """Return the confidence band, thinned to at most `_MAX_BAND_STEPS` steps including the last."""
    band = analysis.band
    stride = -(-band.steps.size // _MAX_BAND_STEPS)
    shown = slice((band.steps.size - 1) % stride, None, stride)
    return {
        "kind": band.kind,
        "given_step": band.first,
        "confidence": band.confidence,
        "steps": band.steps[shown].tolist(),
        "estimate": band.estimate[shown].tolist(),
        "lower": band.lower[shown].tolist(),
        "upper": band.upper[shown].tolist(),
    }


def _fit(one: RankedFit) -> dict[str, Any]:
    fit = one.fit
    return {
        "family": fit.family,
        "law": repr(fit.law),
        "parameters": fit.parameters,
        "standard_errors": fit.standard_errors,
        "log_likelihood": fit.log_likelihood,
        "aic": fit.aic,
        "bic": fit.bic,
        "mean": fit.law.mean,
        "in_band": one.in_band,
        "leaves_band_by": one.excess,
        "at_step": one.step,
        "at_edge": list(fit.edge),
        "without_mean": fit.without_mean or None,
    }


def _groups(analysis: Analysis, *, labels: bool) -> dict[str, Any] | None:
    test = analysis.groups
    if test is None:
        return None
    laws = analysis.group_laws or (GroupLaw(None),) * len(test.sizes)
    rows = zip(test.names, test.sizes, test.ended, test.expected, test.ratios, laws, strict=True)
    groups: list[dict[str, Any]] = [
        {
            test.what: int(name) if name.isdigit() else name,
            "sessions" if test.what == "group" else "steps": size,
            "ended": ended,
            "expected": n_expected,
            "ratio": ratio,
            "law": None if law.fit is None else repr(law.fit.law),
            "law_is_contradicted": None if law.fit is None else law.is_contradicted,
            "mean": law.mean,
        }
        for name, size, ended, n_expected, ratio, law in rows
    ]
    for group, values in zip(groups, analysis.group_values, strict=False):
        if values is not None:
            group["value"], group["value_under_common_law"] = values
    if labels and analysis.log.labels:
        for i, group in enumerate(groups):
            pooled = bool(test.pooled) and i == len(groups) - 1
            group["label"] = "all others" if pooled else analysis.log.labels[i]
    other = {} if test.other is None else {"other": _test(test.other)}
    return {**_test(test), "groups": groups, **other}


def _test(test: GroupTest) -> dict[str, Any]:
    return {
        "chi_squared": test.statistic,
        "degrees_of_freedom": test.freedom,
        "p_value": test.p_value,
        "depends": test.depends,
        "of": test.what,
    }


def _price(analysis: Analysis) -> dict[str, Any] | None:
    price = analysis.price
    if price is None:
        return None
    return {
        "problem": price.problem,
        "value": price.best,
        "value_under_geometric": price.geometric,
        "gamma": price.gamma,
        "loss": price.loss,
        "width": price.width,
        "held_out_loss": None if price.held_out is None else list(price.held_out),
    }
