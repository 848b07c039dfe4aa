"""Reports: self-contained HTML pages that load no other files."""

from __future__ import annotations

from sojourn.reports._chapter import (
    VERDICT_MEANINGS,
    VERDICT_TONES,
    Chapter,
    Claim,
    ClaimVerdict,
    Picture,
    ReportTable,
)
from sojourn.reports._choices import choice_report
from sojourn.reports._claims import claims_as_json, claims_page, claims_table, count_verdicts
from sojourn.reports._page import render, write_page
from sojourn.reports._reproduction import is_reproduction_report, reproduction_report
from sojourn.reports._results import (
    describe_left_out,
    is_results_report,
    reported_trials,
    results_report,
)
from sojourn.reports._sessions import session_report

__all__ = [
    "VERDICT_MEANINGS",
    "VERDICT_TONES",
    "Chapter",
    "Claim",
    "ClaimVerdict",
    "Picture",
    "ReportTable",
    "choice_report",
    "claims_as_json",
    "claims_page",
    "claims_table",
    "count_verdicts",
    "describe_left_out",
    "is_reproduction_report",
    "is_results_report",
    "render",
    "reported_trials",
    "reproduction_report",
    "results_report",
    "session_report",
    "write_page",
]
