"""The test files that `evidence/logs.py` runs exist."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_files_of_every_promise_exist():
    spec = importlib.util.spec_from_file_location("logs", ROOT / "evidence" / "logs.py")
    logs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(logs)
    missing = [file for files in logs.TESTS.values() for file in files if not (ROOT / file).is_file()]
    assert missing == []
