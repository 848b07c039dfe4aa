"""Results: what was played is what is read, compared and exported."""

from __future__ import annotations

import csv
import os
import re
import shutil
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sojourn as sj
from sojourn.errors import MemoryLimitError, SojournWarning
from sojourn.experiments import (
    Results,
    ThisProcess,
    export_csv,
    export_parquet,
    load_results,
    read_experiment,
    run_experiment,
    verify_store,
)
from sojourn.experiments._export import is_export
from sojourn.reports import results_report


def played(scale, seed):
    """The tiny experiment's trial, played with `learn`."""
    law = sj.Fixed(4)
    agent = sj.UCBVI(law, sj.PaperBonus(scale)) if scale else sj.RandomPlayer()
    return sj.learn(agent, sj.mdps.river_swim(3), law, episodes=20, seed=seed)


def test_results_are_those_of_learn(store):
    results = load_results(store)
    assert len(results) == 9
    assert {trial.agent for trial in results} == {
        "general (bonus.scale=0.1)",
        "general (bonus.scale=0.01)",
        "chance",
    }
    for trial in results:
        run = played(trial.varied.get("bonus.scale"), trial.seed)
        np.testing.assert_array_equal(trial.cumulative_regret, np.cumsum(run.regret))
        np.testing.assert_array_equal(trial.arrays["lengths"], run.lengths)
        assert (trial.problem, trial.law, trial.episodes) == ("RiverSwim(3)", "Fixed(length=4)", 20)


def test_results_of_an_earlier_results_version_are_read_and_verified_but_not_reused(
    store, write, tmp_path, monkeypatch
):
    with monkeypatch.context() as earlier:
        for module in ("_trial", "_archive"):
            earlier.setattr(f"sojourn.experiments.trials.{module}.RESULTS_VERSION", 2)
        run_experiment(read_experiment(write()), tmp_path / "earlier", executor=ThisProcess())
    assert verify_store(tmp_path / "earlier").findings == ()
    (old,), (new,) = (load_results(folder).comparisons() for folder in (tmp_path / "earlier", store))
    np.testing.assert_array_equal(old.cumulative_regret, new.cumulative_regret)
    report = run_experiment(read_experiment(write()), tmp_path / "earlier", executor=ThisProcess())
    assert (report.reused, report.played) == (0, 9)
    assert verify_store(tmp_path / "earlier").findings == ()


def test_comparisons_are_those_of_compare(store):
    law = sj.Fixed(4)
    agents = {
        "general (bonus.scale=0.1)": sj.UCBVI(law, sj.PaperBonus(0.1)),
        "general (bonus.scale=0.01)": sj.UCBVI(law, sj.PaperBonus(0.01)),
        "chance": sj.RandomPlayer(),
    }
    expected = sj.compare(agents, sj.mdps.river_swim(3), law, episodes=20, seeds=3)
    (found,) = load_results(store).comparisons()
    assert found.table() == expected.table()
    assert found.agents == expected.agents
    np.testing.assert_array_equal(found.cumulative_regret, expected.cumulative_regret)
    np.testing.assert_array_equal(found.difference.half_width, expected.difference.half_width)


def test_checkpoints_read_the_same(store, write, tmp_path):
    spec = write(("episodes = 20", "episodes = 20\nrecord = { checkpoints = 5 }"))
    run_experiment(read_experiment(spec), tmp_path / "few", executor=ThisProcess())
    whole = {(trial.agent, trial.seed): trial for trial in load_results(store)}
    for trial in load_results(tmp_path / "few"):
        other = whole[trial.agent, trial.seed]
        at = trial.checkpoints - 1
        for name in ("regret", "rewards", "lengths", "observed", "price", "regret_width"):
            np.testing.assert_allclose(trial.cumulative(name), other.cumulative(name)[at], rtol=1e-13)


def test_results_can_be_chosen(store):
    results = load_results(store)
    assert len(results.select(agent="chance")) == 3
    assert len(results.select(bonus_scale=0.1, seed=2)) == 1
    assert len(results.select(seed=7)) == 0
    with pytest.raises(ValueError, match=r"No trial has a 'bonus_scal'\. Did you mean 'bonus_scale'\?"):
        results.select(bonus_scal=0.1)
    assert "general (bonus.scale=0.01)" in repr(results)
    assert "<table>" in results._repr_html_()
    assert repr(results.select(seed=7)).endswith("no trials)")


def test_a_store_of_several_experiments(store, write):
    other = write(("[agents.chance]", "[agents.luck]"), ("seeds = 3", "seeds = 2"), name="other.toml")
    run_experiment(read_experiment(other), store, executor=ThisProcess())
    assert len(load_results(store)) == 9 + 6
    assert len(load_results(store, experiment="other")) == 6
    with pytest.raises(ValueError, match=r"Unknown experiment 'othr'\. Did you mean 'other'\?"):
        load_results(store, experiment="othr")


def test_a_changed_experiment_replaces_the_old_one(store, write):
    run_experiment(read_experiment(write(("seeds = 3", "seeds = 2"))), store, executor=ThisProcess())
    assert len(load_results(store)) == 6
    assert len(list((store / "experiments").iterdir())) == 1


def test_two_runs_of_one_name_leave_one_experiment(store, write):
    other = read_experiment(write(("seeds = 3", "seeds = 2")))

    def run_another(stock, outcome):
        if outcome is None:
            run_experiment(other, store, executor=ThisProcess())

    run_experiment(read_experiment(write()), store, executor=ThisProcess(), watch=run_another)
    assert len(load_results(store)) == 9


def test_trials_that_only_an_older_manifest_lists_give_a_warning(store, write, tmp_path):
    other = tmp_path / "other"
    changed = write(("seeds = 3", "seeds = [3]"))
    run_experiment(read_experiment(changed), other, executor=ThisProcess())
    shutil.copytree(store, other, dirs_exist_ok=True)
    with pytest.warns(SojournWarning, match=r"two manifests of 'tiny'.* [39] trials that only the older"):
        load_results(other)
    run_experiment(read_experiment(write(("seeds = 3", "seeds = 4"))), other, executor=ThisProcess())
    assert len(load_results(other)) == 12


def test_two_results_of_one_trial_give_a_warning(store):
    first = min((store / "trials").iterdir())
    content = first.read_bytes()
    first.with_name(f"{first.name[:33]}{'f' * 32}.npz").write_bytes(content)
    with pytest.warns(SojournWarning, match="is not the only result of its trial"):
        load_results(store)


def test_unfinished_runs_can_be_looked_at(store):
    for path in sorted((store / "trials").iterdir())[:8]:
        path.unlink()
    with pytest.warns(SojournWarning, match="Only 1 of the 9 trials of 'tiny' are there: tables"):
        results = load_results(store)
    assert len(results) == 1
    assert len(results.comparisons()[0].names) == 1
    assert "Only 1 of the 9 trials of &#39;tiny&#39; are there" in results_report(results, command="report")


def test_problems_without_a_seed_that_all_agents_have_are_left_out(write, tmp_path):
    changes = (
        ('problem = "river_swim(3)"', 'problem = ["river_swim(3)", "two_paths()"]'),
        ("seeds = 3", "seeds = 2"),
    )
    run_experiment(read_experiment(write(*changes)), tmp_path / "store", executor=ThisProcess())
    for trial in load_results(tmp_path / "store").select(problem="TwoPaths"):
        if (trial.agent == "chance") == (trial.seed == 0):
            trial.path.unlink()
    with pytest.warns(SojournWarning, match="Only 9 of the 12 trials"):
        results = load_results(tmp_path / "store")
    gap = "Comparisons leave out TwoPaths under Fixed(4): there is no seed that all agents have."
    with pytest.warns(SojournWarning, match=re.escape(gap)):
        assert [found.problem for found in results.comparisons()] == ["RiverSwim(3)"]
    with pytest.warns(SojournWarning, match=re.escape(gap)):
        page = results_report(results, command="report")
    assert gap in page
    assert "TwoPaths" not in page.replace(gap, "")
    with pytest.raises(ValueError, match=r"there is none on TwoPaths under Fixed\(4\)"):
        results.select(problem="TwoPaths").comparisons()


def table_of(results):
    """The expected table, from `learn`: a list of rows."""
    return [
        (
            trial.agent,
            trial.varied.get("bonus.scale"),
            trial.seed,
            k + 1,
            float(np.cumsum(run.regret)[k]),
            float(np.cumsum(run.rewards)[k]),
            int(np.cumsum(run.lengths)[k]),
        )
        for trial in results
        for run in [played(trial.varied.get("bonus.scale"), trial.seed)]
        for k in range(20)
    ]


def test_csv_is_one_tidy_table(store, tmp_path):
    results = load_results(store)
    assert export_csv(results, tmp_path / "table.csv") == 180
    with (tmp_path / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = [
        (
            row["agent"],
            float(row["agent.bonus.scale"]) if row["agent.bonus.scale"] else None,
            int(row["seed"]),
            int(row["episode"]),
            float(row["cumulative_regret"]),
            float(row["cumulative_reward"]),
            int(row["cumulative_steps"]),
        )
        for row in rows
    ]
    assert found == table_of(results)
    assert {row["law"] for row in rows} == {"Fixed(length=4)"}
    assert {row["trial"] for row in rows} == {path.name[:32] for path in (store / "trials").iterdir()}


def test_parquet_is_the_same_table(store, tmp_path):
    results = load_results(store)
    assert export_parquet(results, tmp_path / "table.parquet") == 180
    table = pq.read_table(tmp_path / "table.parquet")
    names = (
        "agent",
        "agent.bonus.scale",
        "seed",
        "episode",
        "cumulative_regret",
        "cumulative_reward",
        "cumulative_steps",
    )
    rows = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    assert rows == table_of(results)
    assert table["cumulative_observed"].to_pylist()[19] == 20


def test_a_grid_over_law_leaves_the_true_law_alone(write, tmp_path):
    assumed = ["Fixed(length=3)", "Fixed(length=5)"]
    spec = write(('law = "true"', f"law = {{ grid = {assumed} }}"))
    run_experiment(read_experiment(spec), tmp_path / "store", executor=ThisProcess())
    results = load_results(tmp_path / "store")
    assert len(results.select(law="Fixed(length=4)")) == len(results) == 15
    assert len(results.select(agent_law=assumed[0], agent_bonus_scale=0.1)) == 3
    assert (
        len(results.select(learner_law=assumed[0], learner="general (law=Fixed(length=3), bonus.scale=0.1)"))
        == 3
    )
    assert len(results.select(law=assumed[0])) == 0
    export_csv(results, tmp_path / "table.csv")
    export_parquet(results, tmp_path / "table.parquet")
    with (tmp_path / "table.csv").open(newline="") as file:
        texts = list(csv.DictReader(file))
    for rows in (texts, pq.read_table(tmp_path / "table.parquet").to_pylist()):
        assert {row["law"] for row in rows} == {"Fixed(length=4)"}
        assert {row["agent.law"] or "" for row in rows} == {*assumed, ""}


def test_problems_without_a_name_are_shown_by_their_text(write, tmp_path):
    (tmp_path / "own_problems.py").write_text(
        "import sojourn as sj\n"
        "def bare(p): return sj.TabularMDP([[[1 - p, p]], [[p, 1 - p]]], [[0.0], [1.0]])\n"
    )
    texts = ["own_problems:bare(p=0.1)", "own_problems:bare(p=0.4)", "river_swim(3)"]
    spec = write(('"river_swim(3)"', str(texts)))
    run_experiment(read_experiment(spec), tmp_path / "store", executor=ThisProcess())
    results = load_results(tmp_path / "store")
    assert len(results) == 27
    assert {trial.problem for trial in results} == {*texts[:2], "RiverSwim(3)"}
    few, many, _ = results.comparisons()
    assert (few.problem, many.problem) == tuple(texts[:2])
    assert not np.array_equal(few.rewards, many.rewards)
    assert len(results.select(problem=texts[0])) == 9


def test_grid_points_that_look_alike_have_different_names(write, tmp_path):
    scales = [0.1, 0.1000000001]
    spec = write(("grid = [0.1, 0.01]", f"grid = {scales}"))
    run_experiment(read_experiment(spec), tmp_path / "store", executor=ThisProcess())
    (found,) = load_results(tmp_path / "store").comparisons()
    assert found.names == (*(f"general (bonus.scale={scale})" for scale in scales), "chance")
    assert [agent.bonus.scale for agent in found.agents[:2]] == scales


def test_different_laws_with_the_same_label_are_numbered(write, tmp_path):
    laws = 'law = ["geometric(0.9)", "geometric(0.90000001)"]'
    spec = read_experiment(write(('law = "fixed(4)"', laws), ("seeds = 3", "seeds = 1")))
    run_experiment(spec, tmp_path / "two", executor=ThisProcess())
    results = load_results(tmp_path / "two")
    assert repr(results).count("Geometric(0.9) (2)") == 3
    page = results_report(results, command="")
    assert "RiverSwim(3), Geometric(0.9)<" in page
    assert "RiverSwim(3), Geometric(0.9) (2)<" in page


def test_agents_with_the_same_name_are_numbered(store):
    trials = tuple(replace(trial, agent="same") for trial in load_results(store))
    (found,) = Results(store, trials).comparisons()
    assert found.names == ("same", "same (2)", "same (3)")
    assert found.rewards.shape == (3, 3)


def test_results_of_an_agent_that_cannot_be_imported_can_be_read(write, tmp_path):
    (tmp_path / "own_absent.py").write_text(
        "from sojourn import RandomPlayer\nclass Mine(RandomPlayer): pass\n"
    )
    spec = write(('type = "random"', 'type = "own_absent:Mine"'))
    run_experiment(read_experiment(spec), tmp_path / "store", executor=ThisProcess())
    del sys.modules["own_absent"]
    results = load_results(tmp_path / "store")
    assert "chance" in repr(results)
    (found,) = results.comparisons()
    assert found.agents[0] == sj.UCBVI(sj.Fixed(4), sj.PaperBonus(0.1))
    with pytest.raises(ValueError, match=r"own_absent:Mine cannot play here: .* imports nothing"):
        found.agents[2].start()
    assert np.isfinite(found.cumulative_regret).all()


def test_results_print_whatever_is_missing(store):
    results = load_results(store)
    some = (results.select(agent="chance", seed=0), results.select(bonus_scale=0.1, seed=1))
    apart = Results(store, tuple(trial for part in some for trial in part))
    assert [line.split()[-3:] for line in repr(apart).splitlines()[1:]] == [["0", "—", "—"]] * 2
    with pytest.raises(ValueError, match="a seed that all agents have"):
        apart.comparisons()
    results.trials[0].path.write_bytes(b"")
    assert "9 trials: " in repr(results)
    assert "is damaged" in repr(results)
    assert results._repr_html_() is None


def test_exports_and_comparisons_hold_no_arrays(store, tmp_path):
    results = load_results(store)
    export_csv(results, tmp_path / "table.csv")
    export_parquet(results, tmp_path / "table.parquet")
    results.comparisons()
    repr(results)
    assert not any("arrays" in vars(trial) for trial in results)
    first = results.trials[0]
    assert first.arrays is first.arrays  # read once, then cached


def test_names_with_commas_and_quotes_come_back(write, tmp_path):
    spec = write(("[agents.chance]", "[agents.'a \"b\", c']"))
    run_experiment(read_experiment(spec), tmp_path / "store", executor=ThisProcess())
    export_csv(load_results(tmp_path / "store"), tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="") as file:
        assert 'a "b", c' in {row["agent"] for row in csv.DictReader(file)}


def test_agents_without_regret_and_mixed_grids_leave_gaps(write, tmp_path):
    (tmp_path / "own_mixed.py").write_text(
        "class Blind:\n"
        "    def __init__(self, size=1): pass\n"
        "    def start(self, **_): return self\n"
        "    def act(self, state, h): return 1\n"
        "    def observe(self, *_): pass\n"
        "    def end_episode(self, *_): pass\n"
    )
    spec = write(('type = "random"', 'type = "own_mixed:Blind"\nsize = { grid = [2, "two", true] }'))
    run_experiment(read_experiment(spec), tmp_path / "store", executor=ThisProcess())
    results = load_results(tmp_path / "store")
    export_parquet(results, tmp_path / "table.parquet")
    table = pq.read_table(tmp_path / "table.parquet").to_pylist()
    blind = [row for row in table if row["agent"].startswith("chance")]
    assert {row["agent.size"] for row in blind} == {"2", "two", "True"}
    assert {row["cumulative_regret"] for row in blind} == {None}
    export_csv(results, tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["agent"].startswith("chance")]
    assert {row["cumulative_regret"] for row in rows} == {""}


def test_trials_with_equal_settings_share_them(store):
    results = load_results(store)
    assert len({id(trial.settings) for trial in results}) == 3  # two points of a grid, and chance


def test_regret_is_stored_as_precisely_as_the_spec_says(write, tmp_path):
    law, widths = "geometric(0.9)", {}
    for tolerance in (1e-6, 1e-9):
        more = ("episodes = 20", f"episodes = 20\nregret_tolerance = {tolerance}")
        spec = read_experiment(write(('"fixed(4)"', f'"{law}"'), more))
        run_experiment(spec, tmp_path / str(tolerance), executor=ThisProcess())
        assert verify_store(tmp_path / str(tolerance)).findings == ()
        widths[tolerance] = max(
            trial.arrays["regret_width"].max() for trial in load_results(tmp_path / str(tolerance))
        )
    assert widths[1e-9] < 1e-2 * widths[1e-6]


@pytest.mark.parametrize("record", ["{ regret_episodes = 6 }", "{ checkpoints = 5, regret_episodes = 6 }"])
def test_estimated_regret_is_stored_read_compared_and_exported(write, tmp_path, record):
    law = sj.Fixed(4)
    agents = {
        "general (bonus.scale=0.1)": sj.UCBVI(law, sj.PaperBonus(0.1)),
        "general (bonus.scale=0.01)": sj.UCBVI(law, sj.PaperBonus(0.01)),
        "chance": sj.RandomPlayer(),
    }
    expected = sj.compare(agents, sj.mdps.river_swim(3), law, episodes=20, seeds=3, regret_episodes=6)
    spec = read_experiment(write(("episodes = 20", f"episodes = 20\nrecord = {record}")))
    run_experiment(spec, tmp_path / "some", executor=ThisProcess())
    assert verify_store(tmp_path / "some").findings == ()
    results = load_results(tmp_path / "some")
    (found,) = results.comparisons()
    at = found.checkpoints - 1
    assert found.regret_episodes == 6
    np.testing.assert_array_equal(found.cumulative_regret, expected.cumulative_regret[:, :, at])
    np.testing.assert_array_equal(found.regret_error, expected.regret_error[:, :, at])
    assert found.notes() == expected.notes()
    export_csv(results, tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(encoding="utf-8") as file:
        errors = [float(row["cumulative_regret_error"]) for row in csv.DictReader(file)]
    assert errors == [error for trial in results for error in trial.regret_error.tolist()]


def test_long_texts_of_grids_are_stored_once_in_parquet(store, tmp_path):
    results = load_results(store)
    text = "tabulated(" + "1.0," * 2_000 + ")"
    varied = [replace(trial, varied={"law": text}) for trial in results]
    export_parquet(replace(results, trials=tuple(varied)), tmp_path / "table.parquet")
    table = pq.read_table(tmp_path / "table.parquet")
    assert pa.types.is_dictionary(table.schema.field("agent.law").type)
    assert table["agent.law"].unique().to_pylist() == [text]


def test_wide_tables_have_smaller_row_groups(store, tmp_path, monkeypatch):
    results = load_results(store)
    varied = {f"s{i}": f"text {i}" if i % 2 else float(i) for i in range(100)}
    wide = replace(results, trials=tuple(replace(trial, varied=varied) for trial in results))
    path = tmp_path / "table.parquet"
    export_parquet(wide, path)
    expected = pq.read_table(path)
    assert pq.ParquetFile(path).num_row_groups == 1
    monkeypatch.setattr("sojourn.experiments._export._GROUP_ROWS", 10)  # a trial has 20 rows
    shares = []
    assert export_parquet(wide, path, progress=shares.append) == 180
    assert pq.ParquetFile(path).num_row_groups == len(results) * -(-20 // (10 * 64 // 114))
    assert pq.read_table(path).to_pylist() == expected.to_pylist()
    assert shares == [(i + 1) / len(results) for i in range(len(results))]
    export_parquet(results, path)
    assert pq.ParquetFile(path).num_row_groups == len(results)  # at least a whole trial, with few columns


def test_more_than_1000_grids_are_refused(store, tmp_path):
    results = load_results(store)
    for n in (1_000, 1_001):
        varied = dict.fromkeys((f"s{i}" for i in range(n)), 1.0)
        wide = replace(results, trials=(replace(results.trials[0], varied=varied),))
        for write in (
            wide.to_pandas,
            lambda wide=wide: export_csv(wide, tmp_path / "t.csv"),
            lambda wide=wide: export_parquet(wide, tmp_path / "t.parquet"),
        ):
            if n == 1_000:
                write()
                continue
            with pytest.raises(ValueError, match=r"at most 1,000 columns of grids; got 1,001\. Choose one"):
                write()


def test_a_data_frame_must_fit_in_memory(store, monkeypatch):
    results = load_results(store)
    monkeypatch.setattr("sojourn._memory._ALWAYS_FITS", 1_000)
    monkeypatch.setattr("sojourn._memory.available_memory", lambda: 16 * 180 * 15 - 1)
    with pytest.raises(MemoryLimitError, match="The table of all results needs"):
        results.to_pandas()


def test_a_pipe_is_no_export(tmp_path):
    pipe = tmp_path / "x.parquet"
    os.mkfifo(pipe)
    assert not is_export(pipe)


def test_results_are_data_frames_and_latex_tables(store, tmp_path):
    results = load_results(store)
    frame = results.to_pandas()
    export_parquet(results, tmp_path / "table.parquet")
    exported = pq.read_table(tmp_path / "table.parquet").to_pandas()
    assert list(frame.columns) == list(exported.columns)
    for name in ("agent", "law", "seed", "episode", "cumulative_reward", "trial"):
        assert frame[name].tolist() == exported[name].tolist()
    text = results.to_latex()
    assert text.startswith("\\begin{tabular}{lllrrr}")
    assert text.endswith("\\end{tabular}")
    assert text.count("\\\\") == 1 + len(results.table().splitlines()) - 1
