"""Processes that play trials use one thread each."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = "import os, sys\n{before}\nfrom sojourn._threads import use_one_thread\nuse_one_thread()\n"


@pytest.mark.parametrize(("before", "found"), [("", "1"), ("import numpy", "")])
def test_the_limit_is_set_unless_numpy_is_loaded(before, found):
    code = CODE.format(before=before) + "print(os.environ.get('OPENBLAS_NUM_THREADS', ''))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={})
    assert done.stdout.strip() == found


def test_the_command_line_does_not_load_numpy_before_the_limit_is_set():
    code = "import sys\nimport sojourn.cli._app\nprint('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
