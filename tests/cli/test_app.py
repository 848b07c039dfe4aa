from __future__ import annotations

import os
import pty
import re
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import sojourn as sj

SOJOURN = [str(Path(sys.executable).with_name("sojourn"))]
HEAVY = ("numpy", "scipy", "numba", "matplotlib", "gymnasium")


def finish(*arguments, command=SOJOURN, **settings):
    environment = os.environ | {"COLUMNS": "80"} | settings.pop("env", {})
    settings = {"encoding": "utf-8", "timeout": 60} | settings
    return subprocess.run(
        [*command, *arguments], capture_output=True, check=False, env=environment, **settings
    )


def in_terminal(*arguments, **env):
    """Return what a command writes to a terminal."""
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    environment |= {"TERM": "xterm-256color", "COLUMNS": "80"} | env
    with subprocess.Popen([*SOJOURN, *arguments], stdout=theirs, stderr=theirs, env=environment) as process:
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


def test_version_is_the_packages():
    assert finish("--version").stdout == f"sojourn {sj.__version__}\n"


def test_the_module_runs_too():
    result = finish("--version", command=[sys.executable, "-m", "sojourn"])
    assert (result.returncode, result.stdout) == (0, f"sojourn {sj.__version__}\n")


def test_help_is_quick():
    # Of the processor's time, so that what else the machine does is not counted.
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        finish("--help")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    assert min(times) < 0.5


def test_help_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['sojourn', '--help']\n"
        "from sojourn.cli import main\n"
        "try: main()\n"
        f"finally: print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)\n"
    )
    result = finish("-c", code, command=[sys.executable])
    assert (result.returncode, result.stderr) == (0, "[]\n")


@pytest.mark.parametrize("command", [(), ("law",), ("plan",), ("list",)])
def test_help_cuts_nothing_off_on_a_narrow_terminal(run, command):
    output, wide = run(*command, "--help", width=40).stdout, run(*command, "--help", width=200).stdout
    text, examples = output.split("Examples")
    assert "…" not in output.replace("H,H,…", "")
    assert max(map(len, text.splitlines())) <= 40
    names = re.findall(r"(?<=\s)--[a-z-]+", wide.split("Examples")[0])
    assert names
    assert all(name in text.replace(",", " ").split() for name in names)
    commands = [line.strip() for line in wide.split("Examples")[1].splitlines()]
    assert [line.strip() for line in examples.splitlines() if line] == [line for line in commands if line]


def test_help_is_grouped_and_shows_no_types(run):
    output = run("--help").stdout
    places = [output.index(f"─ {panel} ─") for panel in ("Options", "Look", "Experiment", "Paper", "Help")]
    assert places == sorted(places)
    for command in ("fit", "run", "reproduce", "list"):
        assert not re.search(r"<(bool|list|path|laws)", run(command, "--help").stdout)
    assert "Usage: sojourn reproduce [OPTIONS] [PART]..." in run("reproduce", "--help").stdout


def test_without_a_command_the_help_is_shown(run):
    assert run().stdout == run("--help").stdout
    assert run().exit_code == 0


@pytest.mark.parametrize(("command", "n_examples"), [((), 3), (("law",), 4), (("plan",), 4), (("list",), 4)])
def test_examples_in_the_help_run(run, tmp_path, monkeypatch, command, n_examples):
    lines = [line.strip() for line in run(*command, "--help", width=200).stdout.splitlines()]
    examples = lines[lines.index("Examples") + 1 :]
    examples = [line for line in examples if line]
    assert len(examples) == n_examples
    assert max(map(len, examples)) <= 78
    monkeypatch.chdir(tmp_path)
    for example in examples:
        program, *arguments = shlex.split(example)
        assert program == "sojourn"
        result = run(*arguments)
        assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "--tolerence", "3"], "No such option: --tolerence"),
        (["lew"], "No such command 'lew'."),
        (["law"], "Missing argument 'LAW'."),
        (["plan", "--problem", "chain"], "Missing option '--law'."),
    ],
)
def test_misuse_gets_a_one_line_error_and_exits_with_2(arguments, message):
    result = finish(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Error: {message}")
    assert result.stderr.count("\n") == 1


def test_bad_input_exits_with_2_and_shows_a_traceback_only_with_debug():
    plain = finish("law", "fxed(3)")
    assert (plain.returncode, plain.stderr) == (2, "Error: Unknown law 'fxed'. Did you mean 'fixed'?\n")
    for arguments in (["--debug", "law", "fxed(3)"], ["law", "fxed(3)", "--debug"]):
        debugged = finish(*arguments)
        assert debugged.returncode == 2
        assert debugged.stderr.startswith("Traceback")
        assert debugged.stderr.endswith(plain.stderr)


def test_tracebacks_escape_control_characters(tmp_path):
    debugged = finish("--debug", "verify", str(tmp_path / "\x1b[31mred"))
    assert debugged.stderr.startswith("Traceback")
    assert "\x1b" not in debugged.stderr
    assert debugged.stderr.count("\\x1b[31mred must be a store") >= 2


def test_control_characters_never_reach_the_terminal():
    result = finish("law", "a\x1b[31m\nb(3)")
    assert result.returncode == 2
    assert "\x1b" not in result.stderr
    assert result.stderr.count("\n") == 1


def test_ctrl_c_exits_with_130_and_no_traceback(run, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sojourn.laws.read_law", interrupt)
    result = run("law", "fixed(3)")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "Stopped.\n")


@pytest.mark.parametrize("arguments", ["law 'fixed(3)'", "list laws", "list laws --json"])
def test_a_closed_pipe_is_silent(arguments):
    program = shlex.quote(SOJOURN[0])
    result = finish("-c", f"{program} {arguments} | true", command=["sh"])
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_a_terminal_gets_colors_unless_no_color_is_set():
    colour = re.compile(r"\x1b\[[\d;]*3[0-7]m")
    assert colour.search(in_terminal("law", "fixed(3)"))
    assert not colour.search(in_terminal("law", "fixed(3)", NO_COLOR="1"))


def test_a_terminal_shows_the_progress_of_planning():
    output = in_terminal("plan", "--problem", "cash_or_invest(3)", "--law", "uniform(1, 20000)", "--no-price")
    assert "Planning (the first use compiles for some seconds)" in output
    assert "100%" in output
    assert "; the first use compiles" not in output


def test_json_in_a_terminal_has_no_colors():
    assert "\x1b" not in in_terminal("list", "laws", "--json")


def test_pipes_get_no_colors():
    result = finish("law", "fixed(3)")
    assert result.returncode == 0
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_output_falls_back_to_plain_letters(encoding):
    settings = {"env": {"PYTHONIOENCODING": encoding}, "encoding": encoding}
    for arguments in (["law", "polynomial(1.4)"], ["list", "laws"], ["plan", "--help"]):
        result = finish(*arguments, **settings)
        assert result.returncode == 0, result.stderr
        assert "?" not in result.stdout
    wrong = finish("plan", "--problem", "chain(1)", "--law", "fixed(3)", **settings)
    assert wrong.stderr == "Error: n must be a whole number >= 2; got 1.\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("sojourn law geom", ["geometric"]),
        ("sojourn plan --law un", ["uniform"]),
        ("sojourn plan --problem Ta", ["Taxi-v4"]),
        ("sojourn plan --problem river", ["river_swim"]),
        ("sojourn list la", ["laws"]),
    ],
)
def test_names_are_completed(words, expected):
    settings = {
        "_SOJOURN_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    assert finish(env=settings).stdout.split() == expected


def test_completion_can_be_installed(run):
    assert "--install-completion" in run("--help").stdout
