"""Session logs: from a file of session lengths to a law, a discount and advice."""

from __future__ import annotations

from sojourn.sessions._log import Account, Rejection, SessionLog
from sojourn.sessions._read import read_sessions

__all__ = ["Account", "Rejection", "SessionLog", "read_sessions"]
