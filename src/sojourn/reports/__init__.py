"""Reports: HTML pages that hold all that they show and load nothing."""

from __future__ import annotations

from sojourn.reports._chapter import Chapter, Claim, Picture, Table, Verdict
from sojourn.reports._page import render, write_page
from sojourn.reports._reproduction import reproduction_report
from sojourn.reports._results import reported_trials, results_report, tell_left_out
from sojourn.reports._sessions import session_report

__all__ = [
    "Chapter",
    "Claim",
    "Picture",
    "Table",
    "Verdict",
    "render",
    "reported_trials",
    "reproduction_report",
    "results_report",
    "session_report",
    "tell_left_out",
    "write_page",
]
