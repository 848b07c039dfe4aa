from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.tiny import SPEC
from typer.testing import CliRunner

from sojourn.cli._app import app


@pytest.fixture
def run() -> Callable[..., Any]:
    """Run a command in this process; `width` is the width of the terminal."""

    def invoke(*arguments: str, width: int = 80, **options: Any) -> Any:
        return CliRunner().invoke(app, list(arguments), env={"COLUMNS": str(width)}, **options)

    return invoke


@pytest.fixture
def store(run: Callable[..., Any], tmp_path: Path) -> Path:
    """The results of a tiny experiment."""
    (tmp_path / "tiny.toml").write_text(SPEC)
    assert run("run", str(tmp_path / "tiny.toml"), "--on", "here").exit_code == 0
    return tmp_path / "tiny.results"
