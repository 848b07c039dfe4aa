"""Plans on disk."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest

import sojourn as sj
from sojourn.laws import steps
from sojourn.planning._storage import _hash_of_table


@pytest.fixture
def plan():
    return sj.plan(sj.mdps.cash_or_invest(delay=5), sj.Polynomial(p=1.4), tolerance=1e-4)


def test_a_plan_survives_saving_and_loading(plan, tmp_path):
    path = plan.save(tmp_path / "plan.npz")
    again = sj.load_plan(path)
    for name in ("policy", "value", "lower", "upper"):
        np.testing.assert_array_equal(getattr(again, name), getattr(plan, name))
        assert getattr(again, name).dtype == getattr(plan, name).dtype
        assert not getattr(again, name).flags.writeable
    assert (again.law, again.problem, again.after) == (plan.law, plan.problem, plan.after)


def test_a_suffix_is_added_and_an_old_file_is_replaced(plan, tmp_path):
    assert plan.save(tmp_path / "plan") == tmp_path / "plan.npz"
    assert plan.save(str(tmp_path / "plan")) == tmp_path / "plan.npz"
    assert [path.name for path in tmp_path.iterdir()] == ["plan.npz"]


def test_a_law_estimated_from_data_comes_back(tmp_path):
    law = sj.KaplanMeier([1, 2, 2, 5, 9], [True, True, False, True, False])
    best = sj.plan(sj.mdps.river_swim(4), law)
    assert sj.load_plan(best.save(tmp_path / "p.npz")).law == law


def test_nothing_in_the_file_is_pickled(plan, tmp_path):
    with zipfile.ZipFile(plan.save(tmp_path / "plan.npz")) as archive:
        for name in archive.namelist():
            array = np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
            assert array.dtype != object


def test_a_failed_save_leaves_the_old_file_and_no_temporary_files(plan, tmp_path, monkeypatch):
    path = plan.save(tmp_path / "plan.npz")
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        plan.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["plan.npz"]


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 damaged"])
def test_other_files_are_refused_by_name(content, tmp_path):
    path = tmp_path / "other.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"other.npz is not a file that Plan.save wrote, or it is damaged.$"):
        sj.load_plan(path)


def test_a_long_name_of_a_problem_is_cut(tmp_path):
    river = sj.mdps.river_swim(4)
    long = sj.TabularMDP(river.transitions, river.rewards, name="a" * 5_000)
    path = sj.plan(long, sj.Fixed(3)).save(tmp_path / "plan.npz")
    assert sj.load_plan(path, long).problem == "a" * 199 + "…"


def machine(pay=0.8, wear=0.3, start=0, terminal=2, **names):
    """A machine that wears down, with a name that says nothing of its numbers."""
    run = [[1.0 - wear, wear, 0.0], [0.0, 0.8, 0.2], [0.0, 0.0, 1.0]]
    repair = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    rewards = [[1.0, 0.0], [pay, 0.0], [0.0, 0.0]]
    return sj.TabularMDP(
        np.stack([run, repair], axis=1), rewards, start=start, terminal=terminal, name="machine", **names
    )


@pytest.mark.parametrize(
    "change",
    [
        {"pay": 2.0},
        {"pay": 0.8 + 1e-9},
        {"wear": 0.4},
        {"start": 1},
        {"start": [0.5, 0.5, 0.0]},
        {"terminal": None},
    ],
)
def test_another_version_of_a_problem_is_refused(tmp_path, change):
    path = sj.plan(machine(), sj.Uniform(1, 19)).save(tmp_path / "plan.npz")
    with pytest.raises(
        ValueError, match=r"plan\.npz was planned for another version of 'machine'; plan again\.$"
    ):
        sj.load_plan(path, machine(**change))


def test_a_version_with_more_states_or_fewer_actions_is_refused_likewise(tmp_path):
    path = sj.plan(machine(), sj.Uniform(1, 19)).save(tmp_path / "plan.npz")
    more = sj.TabularMDP(np.ones((4, 1, 1)) * np.eye(4)[:, None], np.zeros((4, 1)), name="machine")
    with pytest.raises(ValueError, match="another version of 'machine'"):
        sj.load_plan(path, more)


@pytest.mark.parametrize(
    "same", [{}, {"state_names": ["new", "worn", "broken"]}, {"action_names": ["run", "repair"]}]
)
def test_names_of_states_and_the_last_bits_are_not_part_of_the_version(tmp_path, same):
    path = sj.plan(machine(), sj.Uniform(1, 19)).save(tmp_path / "plan.npz")
    mdp = machine(np.nextafter(0.8, 1.0), np.nextafter(0.3, 0.0), **same)
    assert sj.load_plan(path, mdp).mdp is mdp


def test_a_plan_without_a_hash_of_its_problem_is_read(tmp_path):  # as of version 0.1.0
    path = sj.plan(machine(), sj.Uniform(1, 19)).save(tmp_path / "plan.npz")
    again = sj.load_plan(sj.load_plan(path).save(tmp_path / "again.npz"), machine())
    assert again.mdp == machine()
    with np.load(tmp_path / "again.npz") as file:
        assert json.loads(str(file["about"])).keys() == {"format", "law", "problem"}


def test_rewards_of_any_size_have_a_hash(tmp_path):
    rewards = np.array([[np.finfo(float).max, 5e-324], [-0.0, 1e-300]])
    tables = [sj.TabularMDP(np.full((2, 2, 2), 0.5), one) for one in (rewards, rewards + 0.0)]
    assert _hash_of_table(tables[0]) == _hash_of_table(tables[1])
    assert _hash_of_table(tables[0]) != _hash_of_table(sj.TabularMDP(np.full((2, 2, 2), 0.5), -rewards))


def test_another_archive_is_refused(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.ones(3))
    with pytest.raises(ValueError, match=r"is not a file that Plan\.save wrote"):
        sj.load_plan(tmp_path / "x.npz")


def test_a_plan_whose_parts_do_not_fit_is_refused(plan, tmp_path):
    path = plan.save(tmp_path / "plan.npz")
    with np.load(path) as file:
        parts = {name: file[name] for name in file.files}
    np.savez(path, **{**parts, "policy": parts["policy"][:, :-1]})
    with pytest.raises(ValueError, match="its policy does not fit its values"):
        sj.load_plan(path)
    np.savez(path, **{**parts, "lower": parts["lower"][:-1]})
    with pytest.raises(ValueError, match="its bounds do not fit its values"):
        sj.load_plan(path)
    np.savez(path, **{**parts, "policy": parts["policy"] + 0.5})
    with pytest.raises(ValueError, match="its policy holds no actions"):
        sj.load_plan(path)
    np.savez(path, **{**parts, "policy": parts["policy"].astype(np.uint32) + np.uint32(2**31)})
    with pytest.raises(ValueError, match="it plays action 2,147,483"):
        sj.load_plan(path)
    np.savez(path, **{**parts, "value": parts["value"].astype(str)})
    with pytest.raises(ValueError, match="its values are not numbers"):
        sj.load_plan(path)
    np.savez(path, **{**parts, "upper": parts["upper"] * np.nan})
    with pytest.raises(ValueError, match="its bounds are not in order"):
        sj.load_plan(path)


@pytest.mark.parametrize("law", ["tabulated('law.csv')", 'mixture([1], [tabulated("law.csv")])', 3, []])
def test_the_law_of_a_plan_reads_no_other_file(plan, tmp_path, monkeypatch, law):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "law.csv").write_text("survival\n1.0\n0.5\n0.0\n")
    path = plan.save(tmp_path / "plan.npz")
    with np.load(path) as file:
        parts = {name: file[name] for name in file.files}
    about = json.loads(str(parts["about"])) | {"law": law}
    np.savez(path, **{**parts, "about": np.array(json.dumps(about))})
    with pytest.raises(ValueError, match="wrote, or it is damaged"):
        sj.load_plan(path)


def test_another_format_is_named(plan, tmp_path):
    path = plan.save(tmp_path / "plan.npz")
    with np.load(path) as file:
        parts = {name: file[name] for name in file.files}
    about = str(parts["about"]).replace("sojourn plan 1", "sojourn plan 9")
    np.savez(path, **{**parts, "about": np.array(about)})
    with pytest.raises(
        ValueError, match=r"has the format 'sojourn plan 9'; this version reads 'sojourn plan 1'"
    ):
        sj.load_plan(path)


def test_a_law_that_cannot_be_read_back_is_refused_before_writing(tmp_path):
    class Mine(sj.LengthLaw):
        def survival(self, h):
            return 0.5 ** (steps(h) - 1.0)

        def tail(self, h):
            return 2.0 * self.survival(h)

    best = sj.plan(sj.mdps.two_paths(), Mine())
    with pytest.raises(ValueError, match=r"law must be one that parse_law reads back; got Mine\(\)"):
        best.save(tmp_path / "mine.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_reported_as_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match="path must be a file that exists; got"):
        sj.load_plan(tmp_path / "nowhere.npz")


def test_a_missing_folder_is_reported_as_missing(plan, tmp_path):
    with pytest.raises(FileNotFoundError, match="path must be in a folder that exists; got"):
        plan.save(tmp_path / "nowhere" / "plan.npz")


def test_a_file_cut_anywhere_is_refused(plan, tmp_path):
    path = plan.save(tmp_path / "plan.npz")
    whole = path.read_bytes()
    for at in range(0, len(whole), max(1, len(whole) // 150)):
        path.write_bytes(whole[:at])
        with pytest.raises(ValueError, match=r"is not a file that Plan.save wrote, or it is damaged"):
            sj.load_plan(path)


def test_a_changed_file_is_refused_or_gives_the_same_plan(plan, tmp_path):
    path = plan.save(tmp_path / "plan.npz")
    whole = path.read_bytes()
    n_refused = 0
    for at in range(0, len(whole), max(1, len(whole) // 150)):
        changed = bytearray(whole)
        changed[at] ^= 0x55
        path.write_bytes(changed)
        try:
            again = sj.load_plan(path)
        except ValueError:  # anything else that zip or NumPy raises fails the test
            n_refused += 1
        else:
            np.testing.assert_array_equal(again.policy, plan.policy)
            np.testing.assert_array_equal(again.value, plan.value)
    assert n_refused > 100
