"""Processes that play trials use one thread each."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = "import os, sys\n{before}\nfrom sojourn._threads import use_one_thread\nuse_one_thread()\n"


@pytest.mark.parametrize(("before", "found"), [("", "1"), ("import numpy", "")])
def test_one_thread_is_asked_for_before_numpy_is_loaded(before, found):
    code = CODE.format(before=before) + "print(os.environ.get('OPENBLAS_NUM_THREADS', ''))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={})
    assert done.stdout.strip() == found


def test_the_command_line_loads_no_numpy_before_it_asks():
    code = "import sys\nimport sojourn.cli._app\nprint('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
