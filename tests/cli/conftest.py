from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from sojourn.cli._app import app


@pytest.fixture
def run() -> Callable[..., Any]:
    """Run a command in this process; `width` is the width of the terminal."""

    def invoke(*arguments: str, width: int = 80, **options: Any) -> Any:
        return CliRunner().invoke(app, list(arguments), env={"COLUMNS": str(width)}, **options)

    return invoke
