"""Specs: the trials that they stand for, in canonical form, and the errors that they give."""

from __future__ import annotations

import importlib
import json
import os
import py_compile
import shutil
import sys

import pytest
from experiments.hostile import FILES, GOOD
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli._app import app
from sojourn.errors import SpecDeprecationWarning
from sojourn.experiments import example_names, read_example, read_experiment
from sojourn.experiments.spec import _agent_types
from sojourn.experiments.spec._agent_settings import resolve
from sojourn.experiments.spec._grid import count_points, points
from sojourn.experiments.spec._import_path import importing_from
from sojourn.experiments.spec._relative_laws import parse_assumed_law
from sojourn.experiments.trials._trial import trial_key
from sojourn.laws import read_law


def agents(experiment):
    return [(cell.agent, cell.settings["learner"]) for cell in experiment.cells]


def test_a_spec_stands_for_every_combination(write):
    path = write(
        ('"river_swim(3)"', '["river_swim(3)", "chain"]'), ('"fixed(4)"', '["fixed(4)", "geometric(0.5)"]')
    )
    experiment = read_experiment(path)
    assert experiment.name == "tiny"
    assert len(experiment.cells) == 2 * 2 * 3
    assert experiment.n_trials == 36
    assert agents(experiment)[:3] == [
        (
            "general (bonus.scale=0.1)",
            {
                "type": "UCBVI",
                "law": {"law": "Fixed(length=4)"},
                "bonus": {"type": "PaperBonus", "scale": 0.1},
            },
        ),
        (
            "general (bonus.scale=0.01)",
            {
                "type": "UCBVI",
                "law": {"law": "Fixed(length=4)"},
                "bonus": {"type": "PaperBonus", "scale": 0.01},
            },
        ),
        ("chance", {"type": "RandomPlayer"}),
    ]
    assert [trial.seed for _, trial in experiment.trials()][:13] == [0] * 12 + [1]


def test_two_spellings_of_the_same_settings_are_the_same_trial(write):
    plain = [trial.key for _, trial in read_experiment(write()).trials()]
    other = write(
        ('"river_swim(3)"', '"RiverSwim(n=3.0)"'),
        ("episodes = 20", "episodes = 20.0"),
        ("seeds = 3", "seeds = [0, 1, 2]"),
        ('law = "true"', 'law = "fixed(4)"\ndelta = 0.1\nties = "random"'),
        (
            "bonus.scale = { grid = [0.1, 0.01] }",
            'bonus = { type = "PaperBonus", scale = { grid = [0.1, 1e-2] } }',
        ),
        ("[agents.general]", "[agents.another_name]"),
    )
    assert [trial.key for _, trial in read_experiment(other).trials()] == plain


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("river_swim(3)", "river_swim(4)"),
        ("fixed(4)", "fixed(5)"),
        ("episodes = 20", "episodes = 21"),
        ("seeds = 3", "seeds = [3, 4, 5]"),
        ("episodes = 20", "episodes = 20\nrecord = { checkpoints = 5 }"),
        ("[0.1, 0.01]", "[0.2, 0.02]"),
    ],
)
def test_what_changes_a_result_changes_the_key(write, old, new):
    plain = {trial.key for _, trial in read_experiment(write()).trials()}
    other = {trial.key for _, trial in read_experiment(write((old, new))).trials()}
    chance_stays = "grid" in old or old.startswith("[0.1")
    assert len(plain & other) == (3 if chance_stays else 0)


def test_long_runs_keep_checkpoints_by_default(write):
    assert read_experiment(write()).cells[0].settings["record"] == "episodes"
    long = read_experiment(write(("episodes = 20", "episodes = 10_001")))
    assert long.cells[0].settings["record"] == {"checkpoints": 200}
    few = read_experiment(write(("episodes = 20", "episodes = 20\nrecord = { checkpoints = 1_000 }")))
    assert few.cells[0].settings["record"] == {"checkpoints": 20}
    both = "record = { checkpoints = 5, regret_episodes = 8 }"
    some = read_experiment(write(("episodes = 20", f"episodes = 20\n{both}")))
    assert some.cells[0].settings["record"] == {"checkpoints": 5, "regret_episodes": 8}
    every = read_experiment(write(("episodes = 20", "episodes = 20\nrecord = { regret_episodes = 20 }")))
    assert every.cells[0].settings["record"] == "episodes"


def test_a_tolerance_of_regret_is_a_setting_of_trials_unless_it_is_the_default(write):
    plain = read_experiment(write())
    same = read_experiment(write(("episodes = 20", "episodes = 20\nregret_tolerance = 1e-6")))
    assert [trial.key for _, trial in same.trials()] == [trial.key for _, trial in plain.trials()]
    narrow = read_experiment(write(("episodes = 20", "episodes = 20\nregret_tolerance = 1e-9")))
    assert narrow.cells[0].settings["regret_tolerance"] == 1e-9


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("true", sj.Geometric(0.95)),
        ("True", sj.Geometric(0.95)),
        ("geometric mean", sj.Geometric(0.95)),
        ("fixed mean", sj.Fixed(20)),
        ("fixed 0.5 mean", sj.Fixed(10)),
        ("Fixed 1.5 × mean", sj.Fixed(30)),
        ("fixed 0.0001 mean", sj.Fixed(1)),
        ("geometric 0.5 mean", sj.Geometric(0.9)),
        ("uniform(1, 3)", sj.Uniform(1, 3)),
    ],
)
def test_assumed_laws_follow_the_true_law(text, law):
    found = parse_assumed_law(text, read_law("geometric(0.95)")).law
    assert type(found) is type(law)
    assert found.mean == pytest.approx(law.mean, rel=1e-12)


def test_a_mean_is_rounded_with_halves_up():
    assert parse_assumed_law("fixed 0.5 mean", read_law("fixed(5)")).law == sj.Fixed(3)
    assert parse_assumed_law("fixed 0.5 mean", read_law("fixed(3)")).law == sj.Fixed(2)
    assert parse_assumed_law("geometric mean", read_law("fixed(4)")).law == sj.Geometric(0.75)


@pytest.mark.parametrize(
    "text", ["fixed 1.2.3 mean", "geometric 0.01 mean", "fixed 0 mean", "fixd mean", "mean"]
)
def test_other_assumed_laws_are_refused(text):
    with pytest.raises(ValueError, match=r"^(law|Unknown law)"):
        parse_assumed_law(text, read_law("geometric(0.5)"))


def test_grids_may_stand_anywhere():
    settings = {
        "a": {"grid": [1, {"b": 2}]},
        "list": [{"x": {"grid": ["p", "q"]}}],
        "plain": {"grid_like": 3},
    }
    found = list(points(settings, "here"))
    assert len(found) == count_points(settings, "here") == 4
    assert found[2] == (
        {"a": {"b": 2}, "list": [{"x": "p"}], "plain": {"grid_like": 3}},
        {"a": {"b": 2}, "list.0.x": "p"},
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("episodes = 20", "epsiodes = 20"), "Unknown key 'epsiodes'. Did you mean 'episodes'?"),
        (
            ('type = "ucbvi"', 'type = "ucbvy"'),
            "Unknown type 'ucbvy' in agents.general. Did you mean 'UCBVI'?",
        ),
        (
            ("bonus.scale", "bonus.scal"),
            "Unknown key 'scal' in agents.general.bonus, a PaperBonus. Did you mean 'scale'?",
        ),
        (('law = "true"\n', ""), "agents.general needs law, for UCBVI."),
        (('law = "true"', 'law = "tru(1)"'), "agents.general.law: Unknown law 'tru'."),
        (('law = "true"', 'law = "true"\nties = "frist"'), "agents.general: ties must be one of"),
        (
            ('type = "random"', 'type = "paper"'),
            "agents.chance.type must be an agent; PaperBonus has no method",
        ),
        (
            ('type = "random"', ""),
            "agents.chance needs a type, such as 'ucbvi'; see 'sojourn list agents'.",
        ),
        (('"fixed(4)"', '"fixd(4)"'), "law: Unknown law 'fixd'. Did you mean 'fixed'?"),
        (
            ('"river_swim(3)"', '"rivr_swim"'),
            "problem: Unknown environment 'rivr_swim'. Did you mean 'river_swim'?",
        ),
        (
            ("seeds = 3", "seeds = 3\nrecord = 7"),
            "record must be 'episodes' or { checkpoints = 200 }, also with regret_episodes; got 7.",
        ),
        (
            ("seeds = 3", "seeds = 3\nregret_tolerance = 2"),
            "regret_tolerance must be a number from 1e-12 to 0.01; got 2.",
        ),
    ],
)
def test_errors_name_the_place_and_the_remedy(write, change, said):
    path = write(change)
    with pytest.raises(ValueError) as error:
        read_experiment(path)
    assert str(error.value).startswith(f"{path}: {said}")


def test_the_old_table_gives_the_same_trials_and_a_note(write):
    plain = [trial.key for _, trial in read_experiment(write()).trials()]
    old = write(text=write().read_text().replace("[agents.", "[learners."))
    with pytest.warns(
        SpecDeprecationWarning, match=r"tiny\.toml: \[learners\.NAME\] is now \[agents\.NAME\]"
    ):
        experiment = read_experiment(old)
    assert [trial.key for _, trial in experiment.trials()] == plain
    # Settings are written as in version 0.1.0, whose results version was 2.
    first = next(trial for _, trial in experiment.trials())
    assert trial_key(first.text, 2) == "4cb7d07a52259c8229cf55cb43a4a130"
    both = write(text=old.read_text() + '\n[agents.more]\ntype = "random"\n')
    with pytest.raises(ValueError, match=r"it has both \[agents\.NAME\] and \[learners\.NAME\]"):
        read_experiment(both)


def test_the_good_file_is_good(write):
    assert read_experiment(write(text=GOOD)).n_trials == 2


@pytest.mark.parametrize("name", FILES)
def test_hostile_files_are_refused_in_one_line(name, tmp_path):
    assert len(FILES) >= 40
    path, text = tmp_path / "hostile.toml", FILES[name]
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError) as error:  # `evidence/durability.py hostile` measures the time
        read_experiment(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < len(str(path)) + 400


OWN = """
from dataclasses import dataclass
from typing import Any
from sojourn.laws import LengthLaw

@dataclass(frozen=True)
class Mine:
    law: LengthLaw
    size: int = 3
    inner: Any = None
    def start(self, **_): return self
    def act(self, state, h): return 0
    def observe(self, *_): pass
    def end_episode(self, length, observed): pass

class Plain:
    def __init__(self, law, laws=(), **rest): self.law, self.laws = law, laws
    start = Mine.start

class Whole(Plain):
    def __init__(self, size=1, sizes=(1, 2)): self.size, self.sizes = size, sizes
"""


@pytest.fixture
def own(tmp_path):
    """A module with the user's own agents beside the spec."""
    (tmp_path / "own_agents.py").write_text(OWN)
    yield
    sys.modules.pop("own_agents", None)


def test_the_users_own_agent_lies_beside_the_spec(write, tmp_path, own):
    change = 'type = "own_agents:Mine"\nlaw = "geometric mean"\nsize = 3\ninner = { type = "random" }'
    experiment = read_experiment(write(('type = "random"', change)))
    cell = experiment.cells[-1]
    assert cell.settings["learner"] == {
        "type": "own_agents:Mine",
        "law": {"law": "Geometric(gamma=0.75)"},
        "inner": {"type": "RandomPlayer"},
    }
    before = cell.trials[0].key
    assert list(cell.settings["code"]) == ["own_agents"]
    (tmp_path / "own_agents.py").write_text(OWN + "\n# changed\n")
    said = r"own_agents\.py was changed after own_agents was imported; restart Python, or reload it\.$"
    with pytest.raises(ValueError, match=said):
        read_experiment(tmp_path / "tiny.toml")
    with importing_from(tmp_path):
        importlib.reload(sys.modules["own_agents"])
    assert read_experiment(tmp_path / "tiny.toml").cells[-1].trials[0].key != before


def test_bytecode_of_another_version_with_the_same_size_and_time_is_refused(write, tmp_path):
    module = tmp_path / "own_stale.py"
    text = "from sojourn import RandomPlayer\nX = 0\nclass Mine(RandomPlayer):\n    pass\n"
    module.write_text(text)
    py_compile.compile(str(module), doraise=True)
    time = module.stat().st_mtime_ns
    module.write_text(text.replace("X = 0", "X = 1"))
    os.utime(module, ns=(time, time))
    spec = write(('type = "random"', 'type = "own_stale:Mine"'))
    try:
        with pytest.raises(ValueError, match=r"is not what its bytecode in .* was compiled from"):
            read_experiment(spec)
        sys.modules.pop("own_stale", None)
        shutil.rmtree(tmp_path / "__pycache__")
        assert read_experiment(spec).cells
    finally:
        sys.modules.pop("own_stale", None)


def test_floats_reach_the_users_own_agents_as_floats(write, own):
    change = 'type = "own_agents:Plain"\nlaw = { law = "true" }\nlaws = [2.0, 3, [1.0]]'
    spec = write(('type = "random"', change))
    laws = read_experiment(spec).cells[-1].settings["learner"]["laws"]
    assert laws == [2.0, 3, [1.0]]
    assert [type(laws[0]), type(laws[1]), type(laws[2][0])] == [float, int, float]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("size = 1.0", {"size": 1.0}),
        ("size = 1", {}),
        ("sizes = [1.0, 2]", {"sizes": [1.0, 2]}),
        ("sizes = [1, 2]", {}),
    ],
)
def test_a_float_is_not_the_whole_default_of_the_users_own_agent(write, own, given, kept):
    spec = write(('type = "random"', f'type = "own_agents:Whole"\n{given}'))
    learner = read_experiment(spec).cells[-1].settings["learner"]
    assert repr({key: value for key, value in learner.items() if key != "type"}) == repr(kept)


def test_a_law_is_marked_where_the_class_has_no_type_hints(write, own):
    laws = '[{ law = "fixed(2)" }, { import = "math:pi" }]'
    change = f'type = "own_agents:Plain"\nlaw = {{ law = "true" }}\nlaws = {laws}'
    settings = read_experiment(write(('type = "random"', change))).cells[-1].settings["learner"]
    assert settings["law"] == {"law": "Fixed(length=4)"}
    assert settings["laws"] == [{"law": "Fixed(length=2)"}, {"import": "math:pi"}]


def test_values_too_long_to_be_shown_are_numbered(write, own):
    shared = ", ".join(f'{{ law = "fixed({length})" }}' for length in range(1, 9))
    lists = ", ".join(f'[{shared}, {{ law = "fixed({last})" }}]' for last in (20, 30, 20))
    change = f'type = "own_agents:Plain"\nlaw = {{ law = "true" }}\nlaws = {{ grid = [{lists}] }}'
    cells = read_experiment(write(('type = "random"', change))).cells[-3:]
    names = [cell.agent for cell in cells]
    assert names == [names[0], f"{names[0]} (2)", names[0]]
    assert cells[0].settings == cells[2].settings != cells[1].settings


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys\nsys.exit(0)\n", "own_leaving cannot be imported: .*called sys.exit"),
        ("class Mine:\n    def __init__(self): raise SystemExit\n    def start(self): pass\n", "sys.exit"),
        ("raise GeneratorExit\n", "own_leaving cannot be imported: GeneratorExit$"),
        (
            "class Mine:\n    start = print\n    def __init__(self): raise BaseException('no\\nway')\n",
            "agents.chance: own_leaving:Mine raised BaseException: no way$",
        ),
    ],
)
def test_code_that_exits_or_raises_anything_is_an_error(code, said, write, tmp_path):
    sys.modules.pop("own_leaving", None)
    (tmp_path / "own_leaving.py").write_text(code)
    with pytest.raises(ValueError, match=said):
        read_experiment(write(('type = "random"', 'type = "own_leaving:Mine"')))


def test_examples_are_experiments(tmp_path):
    assert {"tiny", "river_swim", "taxi", "long_run"} <= set(example_names())
    for name in example_names():
        path = tmp_path / f"{name}.toml"
        path.write_text(read_example(name))
        experiment = read_experiment(path)
        assert experiment.n_trials >= 8
        json.dumps([cell.settings for cell in experiment.cells])
    with pytest.raises(ValueError, match=r"Unknown example 'tinny'\. Did you mean 'tiny'\?"):
        read_example("tinny")


@pytest.mark.parametrize("agent", ['"ucbvi"\nlaw = "true"', '"own_agents:Mine"\nlaw = "true"'])
def test_the_work_of_reading_a_type_does_not_grow_with_a_grid(write, own, monkeypatch, agent):
    looked = []
    hints = _agent_types._hints
    monkeypatch.setattr(_agent_types, "_hints", lambda make: (looked.append(make), hints(make))[1])
    grid = ", ".join(str(i) for i in range(1, 301))
    name = "n_states" if "ucbvi" in agent else "size"
    text = write().read_text().replace('"random"', f"{agent}\n{name} = {{ grid = [{grid}] }}")
    assert len(read_experiment(write(text=text)).cells) == 302
    assert len(looked) <= 5


def test_a_value_of_another_type_is_no_default(tmp_path):
    (tmp_path / "own_typed.py").write_text(
        "class Mine:\n    def __init__(self, a=1, b=True): pass\n    def start(self, **_): return self\n"
    )
    with importing_from(tmp_path):
        for given, kept in (({"a": 1, "b": True}, {}), ({"a": True}, {"a": True}), ({"b": 1}, {"b": 1})):
            settings = resolve({"type": "own_typed:Mine", **given}, read_law("fixed(3)"), "mine")
            assert {key: repr(settings[key]) for key in settings if key != "type"} == {
                key: repr(value) for key, value in kept.items()
            }


POPEN = '{ type = "subprocess:Popen", args = ["touch", "trace"] }'


@pytest.mark.parametrize(
    "lines",
    [
        'type = "os:system"\ncommand = "touch trace"',
        'type = "subprocess:Popen"\nargs = ["touch", "trace"]',
        'type = "ucbvi"\nlaw = "true"\nbonus = { type = "os:system", command = "touch trace" }',
        'type = "ucbvi"\nlaw = "true"\nbonus = { type = "os:popen", cmd = "touch trace" }',
        'type = "ucbvi"\nlaw = "true"\nbonus = ' + POPEN,
        'type = "psrl"\nlaw = ' + POPEN,
        'type = "sojourn.agents:UCBVI"\nlaw = "true"\nbonus = ' + POPEN,
        'type = "sojourn.agents:PSRL"\nlaw = ' + POPEN,
        'type = "unknown_law"\nhorizon = 5\nestimator = ' + POPEN,
        'type = "horizon_selection"\nrule = ' + POPEN,
    ],
)
def test_types_are_checked_before_they_are_called(write, tmp_path, monkeypatch, lines):
    monkeypatch.chdir(tmp_path)
    spec = write(('type = "random"', lines))
    refused = r"\.type must be (an agent; .* has no method start|a class; .* is none|.*; .* is not)\.$"
    with pytest.raises(ValueError, match=refused):
        read_experiment(spec)
    found = CliRunner().invoke(app, ["run", str(spec), "--dry-run"])
    assert (found.exit_code, found.stderr.count("\n")) == (2, 1)
    assert not (tmp_path / "trace").exists()


def test_a_spec_that_repeats_itself_is_refused(write):
    laws = ", ".join(['"fixed(4)"'] * 11)
    with pytest.raises(ValueError, match=r"has 33 combinations, of which only 3 differ; name every"):
        read_experiment(write(('"fixed(4)"', f"[{laws}]")))


def test_a_file_name_that_is_not_utf8_is_refused_or_named(write, tmp_path):
    spec = tmp_path / os.fsdecode(b"caf\xe9.toml")
    text = write().read_text()
    spec.write_text(text)
    with pytest.raises(ValueError, match="the name of the file must be UTF-8"):
        read_experiment(spec)
    spec.write_text(f'name = "coffee"\n{text}')
    assert read_experiment(spec).name == "coffee"


def test_a_link_to_a_missing_spec_is_refused(tmp_path):
    (tmp_path / "spec.toml").symlink_to(tmp_path / "gone.toml")
    with pytest.raises(ValueError, match=r"must be a TOML file; it is a link to a file that is missing\.$"):
        read_experiment(tmp_path / "spec.toml")


def test_line_ends_and_the_mark_of_editors_of_windows_change_nothing(write):
    path = write()
    expected = read_experiment(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_experiment(path).cells == expected.cells
