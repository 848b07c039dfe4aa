"""The report on choices between dated rewards."""

from __future__ import annotations

from sojourn.behavior import FAMILIES, ChoiceAnalysis, ChoiceFit
from sojourn.plots import choice_fit_curves, draw_choice_fit, new_figure, svg_image
from sojourn.reports._page import render

__all__ = ["choice_report"]


def choice_report(found: ChoiceAnalysis) -> str:
    """Return an HTML page on an analysis of choices; subjects are numbered, their names are not in it."""
    best = found.best
    figure, panels = new_figure(2, width=4.2, height=3.3)
    draw_choice_fit(choice_fit_curves(best), panels)
    findings = found.findings()
    least_bic, least_aic = best.bic, min(one.aic for one in found.fits)
    account = found.data.account
    return render(
        "choices.html",
        kind="Choices between dated rewards",
        title=found.data.name,
        summary=findings[0][1],
        facts=[
            ("subjects", f"{found.data.n_subjects:,}"),
            ("choices", f"{len(found.data):,}"),
            ("chose later", f"{100.0 * found.data.chose_later.mean():.0f}%"),
            ("best family", best.family.replace("_", " ")),
        ],
        findings=findings[1:],
        figure=svg_image(figure),
        families=[
            (
                one.family.replace("_", " "),
                FAMILIES[one.family].formula,
                one.pooled.interval_words(),
                f"{one.bic - least_bic:,.1f}",
                f"{one.aic - least_aic:,.1f}",
            )
            for one in found.fits
        ],
        sources=[(one.family.replace("_", " "), FAMILIES[one.family].source) for one in found.fits],
        refused=sorted(found.refused.items()),
        headings=_names(best),
        subjects=[_subject(i, best) for i in range(found.data.n_subjects)],
        rows=f"{account.n_rows:,} rows were read; {account.n_rejected:,} of them were rejected.",
        rejected=[(f"{one.row:,}", one.rule) for one in account.first_rejected],
        confidence=f"{100.0 * best.confidence:g}%",
    )


def _names(fit: ChoiceFit) -> list[str]:
    return [name for name in fit.pooled.parameters if name in fit.pooled.intervals]


def _subject(i: int, fit: ChoiceFit) -> list[str]:
    one = fit.subjects[i]
    cells = [f"{i + 1:,}", f"{one.n_later:,} of {one.n_choices:,}"]
    for name in _names(fit):
        low, high = one.intervals[name]
        cells += [f"{one.parameters[name]:.4g}", f"{low:.3g} … {high:.3g}"]
    return cells
