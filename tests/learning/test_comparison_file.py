"""Comparisons on disk: read back as they were, damaged files refused in one line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sojourn as sj
from sojourn._files import read_archive, write_archive


@pytest.fixture(scope="module")
def found() -> sj.Comparison:
    law = sj.Fixed(3)
    return sj.compare([sj.PSRL(law), sj.RandomPlayer()], sj.mdps.two_paths(), law, episodes=6, seeds=2)


def test_a_comparison_is_read_back_as_it_was(found, tmp_path):
    again = sj.load_comparison(found.save(tmp_path / "paths"))
    for name in ("checkpoints", "cumulative_regret", "regret_width", "rewards"):
        assert getattr(again, name).tobytes() == getattr(found, name).tobytes()
    assert (again.names, again.seeds, again.law, again.problem) == (
        found.names,
        found.seeds,
        found.law,
        found.problem,
    )
    assert again.agents == ()
    assert again.table() == found.table()
    assert again.plot().axes  # without its agents, none is drawn as chance


def test_agents_without_regret_are_read_back(found, tmp_path):
    regret, width = found.cumulative_regret.copy(), found.regret_width.copy()
    regret[1] = width[1] = np.nan
    again = sj.load_comparison(
        replace(found, cumulative_regret=regret, regret_width=width).save(tmp_path / "x")
    )
    assert again.cumulative_regret.tobytes() == regret.tobytes()


def test_comparisons_whose_tables_would_take_minutes_are_refused(found, tmp_path):
    names, seeds = tuple(map(str, range(1_000))), tuple(range(101))
    shape = (1_000, 101)
    large = replace(
        found,
        names=names,
        seeds=seeds,
        checkpoints=np.array([6]),
        cumulative_regret=np.zeros((*shape, 1)),
        regret_width=np.zeros(shape),
        rewards=np.zeros(shape),
    )
    rule = "must have at most 1,000 agents and 100,000 trials; got 1,000 agents with 101 seeds"
    with pytest.raises(ValueError, match=f"comparison {rule}"):
        large.save(tmp_path / "large")
    path = found.save(tmp_path / "small.npz")
    about, _ = read_archive(path, form="sojourn comparison 1", writer="Comparison.save")
    about |= {"names": list(names), "seeds": list(seeds)}
    arrays = {
        name: getattr(large, name) for name in ("checkpoints", "cumulative_regret", "regret_width", "rewards")
    }
    with pytest.raises(ValueError, match=rf"large\.npz {rule}"):
        sj.load_comparison(write_archive(tmp_path / "large.npz", about, arrays))


@pytest.mark.parametrize(
    "change",
    [
        {"rewards": np.zeros((2, 3))},
        {"checkpoints": np.array([3, 2, 1])},
        {"checkpoints": np.array([1, 2, 3, 4, 2**62 + 5, -(2**63)])},  # differences overflow
        {"cumulative_regret": np.array("text")},
        {"cumulative_regret": np.full((2, 2, 6), 1e308)},
        {"names": ["a"]},
        {"names": ["a", "a"]},
        {"law": "tabulated('law.csv')"},
        {"seeds": "ab"},
        {"seeds": [], "rewards": np.zeros((2, 0))},
        {"regret_episodes": "many"},
        {"regret_episodes": 3},
        {"regret_episodes": 3, "regret_error": -np.ones((2, 2, 6))},
        {"seeds": [0.5, 1]},
        {"seeds": [1, 1]},
        {"rewards": np.full((2, 2), np.inf)},
        {"rewards": np.ones((2, 2), np.float16)},
        {"rewards": np.array([[1.0, np.nan], [1.0, 1.0]])},
        {"regret_width": np.array([[1.0, -1.0], [1.0, 1.0]])},
        {"regret_width": np.array([[1.0, np.nan], [1.0, 1.0]])},
        {"cumulative_regret": np.where(np.arange(6) == 2, np.nan, np.ones((2, 2, 6)))},
    ],
    ids=str,
)
def test_damaged_files_are_refused(found, tmp_path, change):
    path = found.save(tmp_path / "good.npz")
    about, arrays = read_archive(path, form="sojourn comparison 1", writer="Comparison.save")
    for key, value in change.items():
        (arrays if isinstance(value, np.ndarray) else about)[key] = value
    with pytest.raises(ValueError, match=r"damaged|Comparison\.save"):
        sj.load_comparison(write_archive(tmp_path / "bad.npz", about, arrays))


def test_a_law_of_a_users_own_is_shown_by_its_text_and_not_called(found, tmp_path):
    about, arrays = read_archive(
        found.save(tmp_path / "good.npz"), form="sojourn comparison 1", writer="Comparison.save"
    )
    about["law"] = f"os:mkdir({str(tmp_path / 'made')!r})"
    again = sj.load_comparison(write_archive(tmp_path / "own.npz", about, arrays))
    assert "lengths from os:mkdir" in again.table()
    assert not (tmp_path / "made").exists()


def test_control_characters_of_a_file_are_escaped(found, tmp_path):
    about, arrays = read_archive(
        found.save(tmp_path / "good.npz"), form="sojourn comparison 1", writer="Comparison.save"
    )
    about |= {"names": ["\x1b[31mred", "b"], "problem": "\x1b[2J"}
    assert "\x1b" not in repr(sj.load_comparison(write_archive(tmp_path / "odd.npz", about, arrays)))


def test_long_names_of_a_file_are_cut_and_stay_different(found, tmp_path):
    about, arrays = read_archive(
        found.save(tmp_path / "good.npz"), form="sojourn comparison 1", writer="Comparison.save"
    )
    about |= {"names": ["a" * 5_000, "a" * 5_001], "problem": "b" * 5_000}
    again = sj.load_comparison(write_archive(tmp_path / "long.npz", about, arrays))
    short = "a" * 199 + "…"
    assert (again.names, again.problem) == ((short, f"{short} (2)"), "b" * 199 + "…")


def test_a_run_is_a_data_frame_with_one_row_per_episode():
    run = sj.learn(sj.PSRL(sj.Fixed(3)), sj.mdps.two_paths(), sj.Fixed(3), episodes=4)
    frame = run.to_pandas()
    assert list(frame["episode"]) == [1, 2, 3, 4]
    assert frame["cumulative_regret"].iloc[-1] == pytest.approx(run.regret.sum())


def test_comparisons_of_very_many_agents_are_refused(found, tmp_path):
    about, arrays = read_archive(
        found.save(tmp_path / "good.npz"), form="sojourn comparison 1", writer="Comparison.save"
    )
    about["names"] = [str(i) for i in range(1_001)]
    with pytest.raises(ValueError, match=r"many\.npz must have at most 1,000 agents .*; got 1,001 agents"):
        sj.load_comparison(write_archive(tmp_path / "many.npz", about, arrays))
