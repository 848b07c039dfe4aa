"""Ctrl-C, EOFError and unusable streams: one line, the right exit code, and no lost work."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest
from cli.tiny import SPEC

from sojourn.cli import _errors
from sojourn.cli._signals import repeated_interrupts
from sojourn.cli.output._lasting_streams import LastingStream
from sojourn.cli.output._streams import one_line

SOJOURN = [sys.executable, "-m", "sojourn"]
PLAN = ["plan", "--problem", "garnet(1500, 5, 50)", "--law", "fixed(2500)", "--no-price"]


def in_shell(line, folder, **env):
    """Run `sojourn`, abbreviated as @, in a shell; return the exit code, stdout and stderr."""
    command = line.replace("@", shlex.join(SOJOURN))
    done = subprocess.run(
        ["sh", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | {"COLUMNS": "80"} | env,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
# An interrupt between opening a file and entering its `with` leaves it to the garbage collector.
@pytest.mark.filterwarnings("ignore:Exception ignored in.*<_io:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "arguments",
    [PLAN, ["fit", "sample:course", "--report", "r.html"], ["run", "tiny.toml", "--on", "here"]],
    ids=lambda arguments: arguments[0],
)
def test_ctrl_c_at_any_time_prints_one_line_and_exits_with_130(run, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(SPEC)
    whole = run(*arguments)  # loads everything: LLVM, which loads kernels, loses exceptions
    assert whole.exit_code == 0
    # fit prints its analysis before it draws: a later Ctrl-C leaves it. The others print only at their end.
    printable = whole.stdout if arguments[0] == "fit" else ""
    long = SPEC.replace("episodes = 20", "episodes = 50_000_000").replace("fixed(4)", "fixed(5)")
    (tmp_path / "tiny.toml").write_text(long)
    delay = 0.0
    monkeypatch.setattr(_errors, "_check_encoding", lambda _: signal.setitimer(signal.ITIMER_REAL, delay))
    numbers = (signal.SIGALRM, signal.SIGINT)  # a background job of a shell ignores SIGINT
    before = [signal.signal(number, signal.default_int_handler) for number in numbers]
    try:
        for k in range(10):
            delay = 0.001 + 0.03 * k
            with repeated_interrupts():  # as `sojourn.cli.main` does
                result = run(*arguments)
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert result.exit_code == 130, result.output
            assert printable.startswith(result.stdout)
            assert result.stderr.splitlines()[-1] == "Stopped."
            assert "Error" not in result.stderr
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def test_a_sigint_stops_planning():
    for _ in range(3):
        with subprocess.Popen([*SOJOURN, *PLAN], stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr.readline().startswith("Planning")
            process.send_signal(signal.SIGINT)
            errors = process.stderr.read()
        assert process.returncode == 130
        assert errors == "Stopped.\n"


def test_a_ctrl_c_in_code_that_exec_runs_exits_with_130(tmp_path):
    (tmp_path / "stops.py").write_text("def machine():\n    exec('raise KeyboardInterrupt')\n")
    command = [*SOJOURN, "plan", "--problem", "stops:machine", "--law", "fixed(3)"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 130


def test_a_ctrl_c_that_a_module_turns_into_an_import_error_exits_with_130(tmp_path):
    (tmp_path / "loads.py").write_text(
        "import signal\n"
        "try:\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "except KeyboardInterrupt:\n"
        "    raise ImportError('an extension module failed to load') from None\n"
    )
    command = [*SOJOURN, "plan", "--problem", "loads:machine", "--law", "fixed(3)"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stderr) == (130, "Stopped.\n")


def test_a_ctrl_c_that_python_ignores_is_repeated(capsys):
    def wait():
        things = {1, 2}
        reference = weakref.ref(things, lambda _: signal.raise_signal(signal.SIGINT))
        del things
        assert reference() is None  # the callback was called, and its exception ignored
        time.sleep(10)

    with repeated_interrupts(), pytest.raises(KeyboardInterrupt):
        wait()
    assert capsys.readouterr().err == ""


def test_a_ctrl_c_that_other_code_drops_is_repeated():
    def wait():
        with contextlib.suppress(BaseException):
            signal.raise_signal(signal.SIGINT)
        time.sleep(10)

    with repeated_interrupts(), pytest.raises(KeyboardInterrupt):
        wait()


def test_a_ctrl_c_that_is_being_handled_is_not_repeated():
    with repeated_interrupts():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            time.sleep(0.3)
    time.sleep(0.1)


def test_an_eoferror_in_a_users_problem_is_one_line(run, tmp_path, monkeypatch):
    (tmp_path / "ends.py").write_text("def machine():\n    raise EOFError('No data left in file')\n")
    (tmp_path / "spec.toml").write_text(SPEC.replace('"river_swim(3)"', '"ends:machine"'))
    monkeypatch.syspath_prepend(str(tmp_path))
    for arguments in (
        ["plan", "--problem", "ends:machine", "--law", "fixed(3)"],
        ["run", str(tmp_path / "spec.toml"), "--on", "here"],
    ):
        result = run(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stderr.startswith("Error: ")
        assert "EOFError: No data left in file" in result.stderr
        assert result.stderr.count("\n") == 1


def test_an_eoferror_anywhere_is_one_line(run, monkeypatch):
    def end(_):
        raise EOFError("no more")

    monkeypatch.setattr("sojourn.cli.commands._law.same_mean", end, raising=False)
    monkeypatch.setattr("sojourn.laws.same_mean", end)
    result = run("law", "fixed(3)")
    assert (result.exit_code, result.stderr) == (2, "Error: EOFError: no more\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("@ law 'fixed(3)' >&-", "it is closed"),
        ("@ law 'fixed(3)' >/dev/full", "No space left on device"),
        ("@ list laws --json >/dev/full", "No space left on device"),
    ],
)
def test_results_that_cannot_be_printed_are_an_error(command, reason, tmp_path):
    message = f"Error: The results could not be printed to stdout: {reason}.\n"
    assert in_shell(command, tmp_path) == (1, "", message)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("redirect", "code"),
    [("2>&-", 0), ("2>/dev/full", 0), ("2>&1 | true", 0), (">&- 2>&- <&-", 1)],
)
def test_a_run_goes_on_without_its_streams(redirect, code, tmp_path):
    (tmp_path / "tiny.toml").write_text(SPEC)
    assert in_shell(f"@ run tiny.toml --on here {redirect}", tmp_path)[0] == code
    assert len(list(tmp_path.glob("tiny.results/trials/*.npz"))) == 2


def test_messages_to_a_closed_stderr_are_dropped(tmp_path):
    code, output, errors = in_shell("@ law 'fixed(3)' --no-plot 2>&-", tmp_path)
    assert (code, errors) == (0, "")
    assert output.startswith("Fixed(length=3)")
    assert in_shell("@ law 'fxed(3)' 2>&-", tmp_path) == (2, "", "")


def test_a_log_on_standard_input_is_never_written_over(tmp_path):
    (tmp_path / "own.csv").write_text("length\n3\n")
    message = "Error: --table must not be the file that is read; got 'own.csv'.\n"
    assert in_shell("@ fit - --table own.csv < own.csv", tmp_path) == (2, "", message)


def test_zero_columns_are_an_unknown_width(tmp_path):
    expected = in_shell("@ list laws", tmp_path)
    for width in ("0", "00", "²", "1000000000"):
        assert in_shell("@ list laws", tmp_path, COLUMNS=width) == expected


def test_settings_files_of_the_current_folder_are_ignored(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    (tmp_path / ".numba_config.yaml").write_text("chrome_trace: thesis.tex\ndisable_jit: 1\n")
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nbackend: module://mine\n")
    assert in_shell("@ law 'fixed(3)' --plot law.svg", tmp_path)[0] == 0
    assert (tmp_path / "thesis.tex").read_text() == "precious"


def on_terminal(command, folder):
    """Run a shell command whose stderr is a terminal; return what it writes there."""
    ours, theirs = pty.openpty()
    env = os.environ | {"TERM": "xterm-256color", "COLUMNS": "80"}
    with subprocess.Popen(
        ["sh", "-c", command.replace("@", shlex.join(SOJOURN))], stderr=theirs, cwd=folder, env=env
    ) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            written += part
        assert process.wait() == 0
    os.close(ours)
    return written.decode()


def test_results_go_to_a_file_and_the_progress_bar_disappears(tmp_path):
    shown = on_terminal("@ fit sample:support --no-plot --table t.csv > out.txt", tmp_path)
    expected = in_shell("@ fit sample:support --no-plot", tmp_path)[1]
    assert (tmp_path / "out.txt").read_text() == expected
    assert "Fitting" in shown
    assert "ΔBIC" not in shown
    after_bar = shown[shown.rindex("\x1b[2K") :]  # erases the line of the bar
    assert "Drawing" not in after_bar
    assert "━" not in after_bar


def test_names_with_control_characters_are_escaped_on_stdout(run, tmp_path):
    name = "a\x1b[31mred\nline"
    log = tmp_path / f"{name}.csv"
    log.write_text("length,group\n" + "3,x\x1b[32m\n5,y\n" * 40)
    spec = tmp_path / f"{name}.toml"
    spec.write_text(SPEC)
    for arguments in (
        ["fit", str(log), "--labels", "--no-plot"],
        ["run", str(spec), "--on", "here"],
        ["run", str(spec), "--dry-run"],
        ["verify", str(tmp_path / f"{name}.results")],
    ):
        result = run(*arguments)
        assert result.exit_code == 0, result.stderr
        assert "\x1b" not in result.output
    assert "\\x1b[31mred\\nline" in run("run", str(spec), "--on", "here", width=300).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "\udcff.csv"],
        ["law", "fixed(3)", "--plot", "\udcff.png"],
        ["plan", "--problem", "chain", "--law", "fixed(3)", "--save", "\udcff.npz"],
        ["run", "\udcff.toml"],
        ["verify", "\udcff"],
        ["export", "a", "--csv", "--to=\udcff.csv"],
        ["report", "\udcff"],
        ["reproduce", "--folder", "\udcff"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_names_that_are_not_utf8_are_refused(run, arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: Names of files must be UTF-8; got '")
    assert result.stderr.endswith("'. Rename it.\n")
    assert result.stderr.count("\n") == 1


def test_one_line_escapes_what_a_terminal_would_obey():
    assert one_line("a\x1b[1m\n\t\u202e\x9b\udcff é") == "a\\x1b[1m\\n\\t\\u202e\\x9b\\udcff é"


class FullDisk(io.StringIO):
    """A stream on a full disk."""

    def write(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self):
        self.write("")


def test_a_lasting_stream_keeps_its_first_error():
    stream = LastingStream(FullDisk())
    assert stream.error is None
    assert stream.write("text") == 4
    stream.flush()
    assert stream.error.errno == errno.ENOSPC
    assert not stream.isatty()


def test_a_lasting_stream_without_a_stream_fails_only_if_written_to():
    stream = LastingStream(None)
    stream.write("")
    stream.flush()
    assert stream.error is None
    stream.write("text")
    assert stream.error.errno == errno.EBADF
