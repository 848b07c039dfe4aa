"""Session logs: from a file of session lengths to a law, a discount and advice."""

from __future__ import annotations

from sojourn.sessions._format import EDGE_NOTE, gamma_words, law_words, number, percent
from sojourn.sessions._log import Account, OpenRule, Rejection, SessionLog
from sojourn.sessions._read import read_log, read_sessions, read_steps
from sojourn.sessions._samples import SAMPLES, SampleLog, sample_path
from sojourn.sessions._step_log import StepLog
from sojourn.sessions.advice._groups import group_law_words, group_words
from sojourn.sessions.analysis._analysis import Analysis
from sojourn.sessions.analysis._analyze import analyse, analyze
from sojourn.sessions.analysis._coverage import MAX_TABLE_STEPS
from sojourn.sessions.analysis._groups import GroupTest, compare_groups
from sojourn.sessions.analysis._hazard_bins import hazard_bins
from sojourn.sessions.analysis._price import ProblemPrice, price_geometric
from sojourn.sessions.analysis._ranking import RankedFit
from sojourn.sessions.reading._rows import CheckedRows, RowReader, read_rows
from sojourn.sessions.reading._tables import Table

__all__ = [
    "EDGE_NOTE",
    "MAX_TABLE_STEPS",
    "SAMPLES",
    "Account",
    "Analysis",
    "CheckedRows",
    "GroupTest",
    "OpenRule",
    "ProblemPrice",
    "RankedFit",
    "Rejection",
    "RowReader",
    "SampleLog",
    "SessionLog",
    "StepLog",
    "Table",
    "analyse",
    "analyze",
    "compare_groups",
    "gamma_words",
    "group_law_words",
    "group_words",
    "hazard_bins",
    "law_words",
    "number",
    "percent",
    "price_geometric",
    "read_log",
    "read_rows",
    "read_sessions",
    "read_steps",
    "sample_path",
]
