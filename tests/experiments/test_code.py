"""The user's own code is part of a trial's identity, in whichever file it is."""

from __future__ import annotations

import hashlib
import importlib
import os
import subprocess
import sys
import zipfile

import pytest

from sojourn.experiments import Processes, ThisProcess, read_experiment, run_experiment
from sojourn.experiments.spec._code_identity import _source_files, code_of, own_modules
from sojourn.experiments.spec._import_path import importing_from

LEARNER = """\
from __future__ import annotations
from own_lab.base import Base
import numpy as np

SCALE = 3

class Mine(Base):
    def start(self, **_):
        from . import late
        return self
"""
FILES = {
    "own_lab/__init__.py": "",
    "own_lab/learner.py": LEARNER,
    "own_lab/base.py": """\
from .deep.inside import act
import own_helpers

class Base:
    def act(self, state, h): return own_helpers.first(act(state, h), 0)
    def observe(self, *_): pass
    def end_episode(self, *_): pass
""",
    "own_lab/deep/__init__.py": "from ..cycle import around",
    "own_lab/deep/inside.py": "def act(state, h): return 1\n",
    "own_lab/cycle.py": "import own_lab.deep\naround = 1\n",
    "own_lab/late.py": "x = 1\n",
    "own_lab/unused.py": "x = 1\n",
    "own_helpers.py": "def first(*things): return things[0]\n",
}


@pytest.fixture
def lab(tmp_path, monkeypatch):
    # Cached bytecode would hide an edit within the same second.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def spec(write, lab):
    return write(("seeds = 3", "seeds = 1"), ("[0.1, 0.01]", "[0.1]"), ('"random"', '"own_lab.learner:Mine"'))


def forget():
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]
    importlib.invalidate_caches()


def key(spec):
    """The key of the own agent's trial in a fresh process."""
    forget()
    return read_experiment(spec).cells[-1].trials[0].key


@pytest.mark.parametrize("name", sorted(set(FILES) - {"own_lab/unused.py"}))
def test_an_edit_of_any_imported_file_gives_another_key(spec, lab, name):
    before = key(spec)
    assert key(spec) == before
    (lab / name).write_text(FILES[name] + "# edited\n")
    assert key(spec) != before
    (lab / name).write_text(FILES[name])
    assert key(spec) == before


def test_files_that_it_does_not_import_do_not_count(spec, lab):
    before = key(spec)
    (lab / "own_lab/unused.py").write_text("x = 2\n")
    (lab / "own_other.py").write_text("x = 2\n")
    assert key(spec) == before


def test_installed_packages_do_not_count(spec, lab):
    key(spec)
    with importing_from(lab):
        files = set(_source_files("own_lab.learner"))
    assert {"numpy", "__future__"}.isdisjoint(files)
    assert files == {name[:-3].replace("/", ".").removesuffix(".__init__") for name in FILES} - {
        "own_lab.unused"
    }


def test_the_same_code_in_another_folder_gives_the_same_key(spec, lab, tmp_path_factory):
    before = key(spec)
    other = tmp_path_factory.mktemp("other")
    for name, text in FILES.items():
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text(text)
    (other / spec.name).write_text(spec.read_text())
    assert key(other / spec.name) == before


def test_workers_find_the_same_code(spec, lab):
    experiment = read_experiment(spec)
    assert run_experiment(experiment, lab / "store", executor=Processes(1)).failures == ()
    forget()
    (lab / "own_helpers.py").write_text("def first(*things): return things[1]\n")
    report = run_experiment(experiment, lab / "other", executor=Processes(1, retries=0))
    (failure,) = report.failures
    assert failure.reason == ("ValueError: the code of an agent, problem or law changed after the run began.")


def test_an_edited_helper_is_played_again(spec, lab):
    first = run_experiment(read_experiment(spec), lab / "store", executor=ThisProcess())
    assert (first.reused, first.played) == (0, 2)
    forget()
    (lab / "own_helpers.py").write_text("def first(*things): return things[1]\n")
    again = run_experiment(read_experiment(spec), lab / "store", executor=ThisProcess())
    assert (again.reused, again.played) == (1, 1)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("own_lab/learner.py", "SCALE = 3", "SCALE = 4"),  # a constant
        ("own_lab/base.py", "act(state, h), 0)", "act(state, h), 1)"),  # a method
        ("own_helpers.py", "things[0]", "things[1]"),  # a function
    ],
)
def test_code_edited_after_its_first_use_is_refused(spec, lab, name, old, new):
    # As in a notebook that read the spec before.
    read_experiment(spec)
    text = (lab / name).read_text()
    assert old in text
    (lab / name).write_text(text.replace(old, new))
    with pytest.raises(ValueError, match=rf"{name} was changed after .* was imported; restart Python"):
        read_experiment(spec)
    (lab / name).write_text(text)
    read_experiment(spec)


def test_reloaded_code_is_accepted(spec, lab):
    before = read_experiment(spec).cells[-1].trials[0].key
    (lab / "own_helpers.py").write_text("def first(*things): return things[1]\n")
    with importing_from(lab):
        importlib.reload(sys.modules["own_helpers"])
    assert read_experiment(spec).cells[-1].trials[0].key != before


def test_nothing_watches_imports():
    script = "import sys; before = list(sys.meta_path); import sojourn.experiments as e\n"
    script += "e.load_results, e.read_experiment, e.run_experiment\nassert sys.meta_path == before"
    subprocess.run([sys.executable, "-c", script], check=True)


OWN = """\
import dataclasses, functools
{top}
class Play:
    def __init__(self, action): self.action = action
    def act(self, state, h): return self.action
    def observe(self, *_): pass
    def end_episode(self, *_): pass
@dataclasses.dataclass(frozen=True)
class Mine:
    a: int = {default}
    kind = {kind}
    def start(self, **_): return Play({action})
"""


@pytest.mark.parametrize("is_edited", [True, False])
def test_code_edited_between_its_import_and_its_first_use_is_refused(write, tmp_path, is_edited):
    spec = write(('"random"', '"own_early:Mine"'))
    text = OWN.format(top="", default=0, kind=0, action="self.a")
    (tmp_path / "own_early.py").write_text(text)
    edit = f"open('own_early.py', 'w').write({text.replace('a: int = 0', 'a: int = 10')!r})\n"
    script = (
        "import own_early\n" + edit * is_edited + "from sojourn.experiments import read_experiment\n"
        f"read_experiment({spec.name!r})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},  # the cached bytecode knows the imported version
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == is_edited, done.stderr
    assert ("own_early.py was changed after own_early was imported" in done.stderr) == is_edited


def test_code_that_is_in_no_file_is_refused(write, tmp_path):
    with zipfile.ZipFile(tmp_path / "own.zip", "w") as packed:
        packed.writestr("own_zipped.py", OWN.format(top="", default=0, kind=0, action=0))
    with (
        importing_from(tmp_path / "own.zip"),
        pytest.raises(
            ValueError, match=r"The code of own_zipped must be in a file that can be read; there is none\.$"
        ),
    ):
        read_experiment(write(('"random"', '"own_zipped:Mine"')))
    spec = write(('"random"', '"__main__:Mine"'))
    script = OWN.format(top="from sojourn.experiments import read_experiment", default=0, kind=0, action=0)
    done = subprocess.run(
        [sys.executable, "-c", f"{script}\nread_experiment({spec.name!r})"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "The code of __main__ must be in a file that can be read and not typed in" in done.stderr


@pytest.mark.parametrize("executor", [ThisProcess(retries=0), Processes(1, retries=0)])
def test_a_trial_fails_if_a_late_import_was_edited_while_it_ran(write, tmp_path, executor):
    late = OWN.format(top="", default=0, kind=0, action="self.late()") + (
        "    def late(self):\n"
        "        import pathlib\n"
        "        pathlib.Path(__file__).with_name('own_late.py').write_text('A = 1\\n')\n"
        "        import own_late\n"
        "        return own_late.A\n"
    )
    (tmp_path / "own_slow.py").write_text(late)
    (tmp_path / "own_late.py").write_text("A = 0\n")
    spec = write(("seeds = 3", "seeds = 1"), ("[0.1, 0.01]", "[0.1]"), ('"random"', '"own_slow:Mine"'))
    report = run_experiment(read_experiment(spec), tmp_path / "store", executor=executor)
    (failure,) = report.failures
    assert failure.reason.endswith("the code of an agent, problem or law changed after the run began.")


def test_a_trial_fails_if_the_code_was_edited_after_the_run_began(spec, lab):
    experiment = read_experiment(spec)
    (lab / "own_helpers.py").write_text("def first(*things): return things[1]\n")
    report = run_experiment(experiment, lab / "store", executor=ThisProcess(retries=0))
    (failure,) = report.failures
    assert failure.reason.endswith("the code of an agent, problem or law changed after the run began.")


def test_a_module_of_the_same_name_from_another_folder_is_refused(spec, lab, tmp_path_factory):
    read_experiment(spec)
    other = tmp_path_factory.mktemp("other")
    (other / "own_lab").mkdir()
    (other / "own_lab" / "__init__.py").touch()
    (other / "own_lab" / "learner.py").write_text("class Mine: pass\n")
    (other / spec.name).write_text(spec.read_text())
    with pytest.raises(ValueError, match=r"own_lab was imported from .* here; restart Python\.$"):
        read_experiment(other / spec.name)


def test_the_hash_of_one_file_is_that_of_its_bytes(lab):
    # As in version 0.1.0: stores must find the trials of unchanged code.
    (lab / "own_single.py").write_text("import math\n")
    with importing_from(lab):
        assert code_of(["own_single"]) == {"own_single": hashlib.sha256(b"import math\n").hexdigest()[:16]}


def test_the_hash_of_several_files_is_that_of_their_names_and_hashes(spec, lab):
    key(spec)
    with importing_from(lab):
        assert code_of(["own_lab.learner"]) == {"own_lab.learner": "31da5c341be6441e"}  # by version 0.1.0


ENVIRONMENT = """\
import gymnasium
from gymnasium.envs.toy_text import FrozenLakeEnv
from own_worlds_size import DESC

class Lake(FrozenLakeEnv):
    def __init__(self, **settings): super().__init__(desc=DESC, **settings)

gymnasium.register("OwnLake-v0", "own_worlds:Lake")
"""


def modules_of(problem):
    return own_modules({"problem": problem, "law": "Fixed(length=3)", "learner": {"type": "RandomPlayer"}})


def test_the_code_of_own_environments_counts(lab):
    (lab / "own_worlds.py").write_text(ENVIRONMENT)
    (lab / "own_worlds_size.py").write_text("DESC = ['SF', 'FG']\n")
    with importing_from(lab):
        modules = modules_of("own_worlds:OwnLake-v0")
        before = code_of(modules)
        assert modules == ("own_worlds",)
        assert modules_of("OwnLake-v0(is_slippery=False)") == ("own_worlds",)
        assert modules_of("Taxi-v4") == modules_of("sojourn/RiverSwim-v0") == ()
        assert modules_of("river_swim(n=3)") == ()
        (lab / "own_worlds_size.py").write_text("DESC = ['SF', 'HG']\n")
        assert code_of(modules) != before
    import gymnasium

    del gymnasium.registry["OwnLake-v0"]
