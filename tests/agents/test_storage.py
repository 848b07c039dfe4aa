"""Learners on disk: they continue bit for bit, and bad files are refused."""

from __future__ import annotations

import dataclasses
import io
import json
import pathlib
import zipfile

import numpy as np
import pytest

import sojourn as sj
from sojourn._files import read_archive, write_archive
from sojourn.agents import BONUSES, EpisodeBatch, load_learner
from sojourn.agents import _bonuses as bonuses
from sojourn.learning._reference import Reference, problem_arrays

LAW = sj.Geometric(0.8)
AGENTS = [
    sj.UCBVI(LAW, sj.PaperBonus(0.01)),
    sj.UCBVI(LAW, sj.PaperBonus(0.01), horizon=4, ties="first", after="hold", count="first"),
    sj.UCBVI(sj.Polynomial(p=1.6, offset=3), sj.PaperBonus(0.003), replan="doubling", delta=0.05),
    sj.UCBVI(sj.Fixed(6), sj.Hoeffding(0.01), truncation=0.5),
    sj.UCBVI(sj.Fixed(6), sj.Bernstein(0.01)),
    sj.UCBVI(LAW, sj.MonotoneBernstein(0.01)),
    sj.UCBVI(sj.Mixture([0.5, 0.5], [sj.Fixed(1), LAW]), sj.GeneralBernstein(0.001)),
]
PROBLEMS = [sj.mdps.garnet(90, 3, 3, seed=1), sj.TabularMDP.from_env("FrozenLake-v1", is_slippery=False)]


def play(learner, mdp, episodes, rng):
    table = mdp.transitions.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    for _ in range(episodes):
        state, length, ended = int(rng.choice(mdp.n_states, p=mdp.start)), LAW.sample(rng), False
        for h in range(1, length + 1):
            action = learner.act(state, h)
            following = int(rng.choice(mdp.n_states, p=table[state, action]))
            ended = following in mdp.terminal
            learner.observe(state, action, float(mdp.rewards[state, action]), following, ended)
            state = following
            if ended:
                break
        learner.end_episode(h, not ended)


def start(agent, mdp, **settings):
    problem = {"n_states": mdp.n_states, "rewards": mdp.rewards, "terminal_reward": mdp.terminal_reward}
    problem |= {"n_actions": mdp.n_actions, "episodes": 60, "rng": np.random.default_rng(5)}
    return agent.start(**{**problem, **settings})


def parts(value):
    """Return the content of a value in a form that compares bit for bit."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tobytes()
    if isinstance(value, tuple):
        return [parts(part) for part in value]
    if dataclasses.is_dataclass(value):
        return [parts(getattr(value, field.name)) for field in dataclasses.fields(value)]
    return type(value), value


def assert_same(first, second):
    ours, theirs = first.state(), second.state()
    for field in dataclasses.fields(ours):
        if field.name != "tables":
            assert parts(getattr(ours, field.name)) == parts(getattr(theirs, field.name)), field.name
    for name in ours.tables._fields:
        if name not in {"incumbent", "runner_up", "greedy_masks"}:  # ties may be resolved differently
            assert parts(getattr(ours.tables, name)) == parts(getattr(theirs.tables, name)), name


@pytest.mark.parametrize("mdp", PROBLEMS, ids=lambda mdp: mdp.name)
@pytest.mark.parametrize("agent", AGENTS, ids=repr)
def test_a_loaded_learner_continues_bit_for_bit(agent, mdp, tmp_path):
    learner = start(agent, mdp)
    play(learner, mdp, 30, np.random.default_rng(1))
    again = load_learner(learner.save(tmp_path / "learner.npz"))
    assert_same(learner, again)
    for one in (learner, again):
        play(one, mdp, 30, np.random.default_rng(2))
    assert_same(learner, again)
    assert again.settings == agent
    assert again.episode == 60
    assert again.transition_counts == learner.transition_counts
    np.testing.assert_array_equal(again.q_values(), learner.q_values())
    np.testing.assert_array_equal(again.policy(), learner.policy())


@pytest.mark.parametrize("agent", [AGENTS[0], AGENTS[4]], ids=repr)
def test_a_loaded_learner_continues_in_compiled_trials_too(agent, tmp_path):
    mdp = PROBLEMS[0].normalized()
    problem = problem_arrays(mdp)
    starts, drawn = np.zeros(30, dtype=np.int64), LAW.sample(np.random.default_rng(3), 30)
    learner = start(agent, mdp)
    learner.play(EpisodeBatch(problem, Reference(mdp, LAW).arrays, np.random.default_rng(1), starts, drawn))
    again = load_learner(learner.save(tmp_path / "learner.npz"))
    for one in (learner, again):
        one.play(
            EpisodeBatch(problem, Reference(mdp, LAW).arrays, np.random.default_rng(2), starts, drawn)
        )  # with its own scratch arrays
    assert_same(learner, again)


def test_the_learners_compared_above_have_learned_something():
    # Otherwise the test above would compare empty tables.
    for agent in AGENTS[:2]:
        learner = start(agent, PROBLEMS[0])
        play(learner, PROBLEMS[0], 30, np.random.default_rng(1))
        assert learner.states.size > 20
        assert (learner.q_values() < learner.q_values([10**6])).any()


@pytest.mark.parametrize("settings", [{"rewards": None, "reward_range": (-0.1, 1.3)}, {"n_states": None}])
def test_learned_rewards_and_unnumbered_states_are_restored(settings, tmp_path):
    agent, mdp = sj.UCBVI(LAW, sj.PaperBonus(0.01), n_states=90), PROBLEMS[0]
    learner = start(agent, mdp, **{"rewards": None, **settings})
    play(learner, mdp, 20, np.random.default_rng(1))
    again = load_learner(learner.save(tmp_path / "learner.npz"))
    for one in (learner, again):
        play(one, mdp, 20, np.random.default_rng(2))
    assert_same(learner, again)


def test_a_new_learner_is_restored(tmp_path):
    learner = start(AGENTS[0], PROBLEMS[0])
    path = learner.save(tmp_path / "learner")
    assert path == tmp_path / "learner.npz"
    assert_same(learner, load_learner(path))


def test_settings_given_as_numpy_numbers_are_restored(tmp_path):
    agent = sj.UCBVI(LAW, delta=np.float64(0.2), horizon=np.int64(5))
    assert load_learner(start(agent, PROBLEMS[0]).save(tmp_path / "l.npz")).settings == agent


def test_nothing_in_the_file_is_pickled(tmp_path):
    with zipfile.ZipFile(start(AGENTS[0], PROBLEMS[0]).save(tmp_path / "l.npz")) as archive:
        for name in archive.namelist():
            assert np.load(io.BytesIO(archive.read(name)), allow_pickle=False).dtype != object


@pytest.mark.parametrize("replan", ["every", "doubling"])
def test_saving_within_an_episode_is_refused(replan, tmp_path):
    learner = start(sj.UCBVI(LAW, replan=replan), PROBLEMS[0])
    message = r"^save must come between episodes; this one has begun. Call end_episode first.$"
    for _ in range(3):
        action = learner.act(0, 1)
        with pytest.raises(ValueError, match=message):
            learner.save(tmp_path / "l.npz")
        learner.observe(0, action, 0.0, 1, False)
        with pytest.raises(ValueError, match=message):
            learner.save(tmp_path / "l.npz")
        assert list(tmp_path.iterdir()) == []
        learner.end_episode(1, True)
        learner.save(tmp_path / "l.npz").unlink()


def test_every_bonus_can_be_saved():
    kinds = {name: getattr(bonuses, name) for name in bonuses.__all__}
    written = {
        name for name, kind in kinds.items() if dataclasses.is_dataclass(kind) and name != "ProblemSize"
    }
    assert set(BONUSES) == written


def test_a_bonus_class_of_the_user_is_refused(tmp_path):
    class Mine(sj.PaperBonus):
        pass

    learner = start(sj.UCBVI(LAW, Mine()), PROBLEMS[0])
    with pytest.raises(ValueError, match=r"^bonus must be one of PaperBonus, .* to be saved; got Mine"):
        learner.save(tmp_path / "l.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def saved(tmp_path):
    learner = start(AGENTS[0], PROBLEMS[1])
    play(learner, PROBLEMS[1], 20, np.random.default_rng(1))
    return learner.save(tmp_path / "learner.npz")


def test_actions_that_no_table_holds_take_no_memory(tmp_path):
    learner = start(AGENTS[0], PROBLEMS[0])
    about, arrays = read_archive(learner.save(tmp_path / "l.npz"), form="sojourn learner 1", writer="save")
    about["n_actions"] = 300_000_000
    arrays["tables.names"] = arrays["tables.names"][:0]
    arrays["tables.pair_of"] = np.zeros((0, 300_000_000), np.int32)
    path = write_archive(tmp_path / "large.npz", about, arrays)
    with pytest.raises(ValueError, match=r"is a damaged learner: it holds 300,000,000 actions and no state"):
        load_learner(path)


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 damaged"])
def test_other_files_are_refused_by_name(content, tmp_path):
    path = tmp_path / "other.npz"
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"other.npz is not a file that UCBVILearner.save wrote, or it is damaged.$"
    ):
        load_learner(path)


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(FileNotFoundError, match="path must be a file that exists; got"):
        load_learner(tmp_path / "nowhere.npz")


def test_a_plan_is_no_learner(tmp_path):
    path = sj.plan(sj.mdps.river_swim(4), LAW).save(tmp_path / "plan.npz")
    message = r"has the format 'sojourn plan 1'; this version reads 'sojourn learner 1'"
    with pytest.raises(ValueError, match=message):
        load_learner(path)


def test_a_file_cut_anywhere_is_refused(saved):
    whole = saved.read_bytes()
    for at in range(0, len(whole), len(whole) // 40):
        saved.write_bytes(whole[:at])
        with pytest.raises(ValueError, match="or it is damaged"):
            load_learner(saved)


def changed(path, **arrays):
    with np.load(path) as file:
        found = {name: file[name] for name in file.files}
    np.savez(
        path,
        **{**found, **{f"tables.{name}": edit(found[f"tables.{name}"]) for name, edit in arrays.items()}},
    )


def put(at, value):
    def edit(array):
        array = array.copy()
        array[at] = value
        return array

    return edit


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        ("q", lambda q: q[:-1], "its table 'q' has the wrong shape"),
        ("visits", lambda n: n.astype(np.int32), "its table 'visits' has the wrong shape"),
        ("value", lambda v: v[:, :-1], "its table 'value' has the wrong shape"),
        ("slots", lambda s: s[:-1], "its table 'slots' has the wrong shape"),
        ("sizes", put(1, 10**6), "its tables hold more than fits"),
        ("slots", put(0, 10**6), "an index in its tables is out of range"),
        ("slots", np.zeros_like, "an index in its tables is out of range"),
        ("names", put(1, 10**6), "an index in its tables is out of range"),
        ("pair_of", put((1, 0), 10**6), "an index in its tables is out of range"),
        ("state_of", put(0, -1), "an index in its tables is out of range"),
        ("visits", put(0, 0), "an index in its tables is out of range"),
        ("tried", put(1, 0), "an index in its tables is out of range"),
        ("into", put(1, 10**6), "an index in its tables is out of range"),
        ("first_arc", put(0, -1), "an index in its tables is out of range"),
        ("arc_to", put(0, 10**6), "an index in its tables is out of range"),
        ("arc_from", put(0, 10**6), "an index in its tables is out of range"),
        ("q", put((0, 0), np.nan), "a table holds infinity or NaN"),
        ("arc_next", put(0, 0), "an index in its tables is out of range"),
        ("arc_other", put(0, 0), "an index in its tables is out of range"),
        ("pair_of", lambda p: p[[0, 1, 1, *range(3, len(p))]], "an index in its tables is out of range"),
        ("first_arc", lambda arc: np.minimum(arc, 0), "an index in its tables is out of range"),
        ("last_arc", lambda arc: np.minimum(arc, 0), "an index in its tables is out of range"),
    ],
)
def test_tables_that_would_lead_compiled_loops_astray_are_refused(name, edit, message, saved):
    changed(saved, **{name: edit})
    with pytest.raises(ValueError, match=f"is a damaged learner: {message}.$"):
        load_learner(saved)


def test_an_assumed_law_that_is_not_finite_is_refused(saved):
    with np.load(saved) as file:
        found = {name: file[name] for name in file.files}
    np.savez(saved, **{**found, "outlook.caps": found["outlook.caps"] * np.nan})
    with pytest.raises(ValueError, match="a table holds infinity or NaN"):
        load_learner(saved)


def test_parts_that_are_not_in_use_are_not_taken_from_the_file(saved):
    learner = load_learner(saved)
    n_states, n_pairs, n_arcs = learner.tables.sizes
    changed(
        saved,
        pair_of=put(slice(n_states, None), 10**6),
        first_arc=put(slice(n_pairs, None), 10**6),
        arc_next=put(slice(n_arcs, None), 10**6),
    )
    for found, expected in zip(load_learner(saved).tables, learner.tables, strict=True):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    "edit",
    [
        lambda about: about.pop("key"),
        lambda about: about["settings"].pop("law"),
        lambda about: about["settings"].update(law="geometric(2)"),
        lambda about: about["settings"].update(law="tabulated('law.csv')"),
        lambda about: about["settings"]["bonus"].update(name="Other"),
        lambda about: about["settings"].update(unknown=1),
        lambda about: about.update(n_actions=3),
        lambda about: about.update(n_actions=10**15),
        lambda about: about.update(key=-1),
        lambda about: about.update(low=None),
        lambda about: about.update(span=0.0),
        lambda about: about.update(span=float("nan")),
        lambda about: about.update(episode=None),
        lambda about: about.update(episode=10**20),
        lambda about: about.update(n_states=1.5),
    ],
)
def test_a_header_that_does_not_fit_is_refused(edit, saved):
    with np.load(saved) as file:
        found = {name: file[name] for name in file.files}
    about = json.loads(str(found["about"]))
    edit(about)
    np.savez(saved, **{**found, "about": np.array(json.dumps(about))})
    with pytest.raises(ValueError, match="damaged"):
        load_learner(saved)


@pytest.mark.parametrize("name", ["paper-bonus", "bernstein"])
def test_files_of_version_0_1_0_are_read(name):
    learner = load_learner(pathlib.Path(__file__).parent / "saved" / f"{name}-0.1.0.npz")
    mdp = sj.mdps.river_swim(4)
    bonus = sj.PaperBonus(0.01) if name == "paper-bonus" else sj.Bernstein(0.01)
    expected = start(sj.UCBVI(sj.Fixed(6), bonus), mdp)
    play(expected, mdp, 20, np.random.default_rng(1))
    assert_same(learner, expected)
