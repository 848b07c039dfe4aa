"""Stores are data: whatever their files say, reading them runs nothing and refuses lies in one line."""

from __future__ import annotations

import csv
import functools
import shutil
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiments.forge import (
    ARRAY_LIES,
    HEADER_LIES,
    attacks,
    forge_store,
    forge_trial,
    sound_arrays,
    write_module,
)
from pyarrow import parquet
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli._app import app
from sojourn.errors import MemoryLimitError
from sojourn.experiments import (
    Outcome,
    Results,
    Store,
    ThisProcess,
    export_csv,
    export_parquet,
    load_results,
    read_experiment,
    run_experiment,
    verify_store,
)
from sojourn.experiments._comparisons import group_by_agent
from sojourn.experiments.trials._archive import read_trial
from sojourn.experiments.trials._play import play_trial
from sojourn.experiments.trials._result import read_result_file
from sojourn.reports import results_report

REFUSED = r"npz is damaged: it.*\. Delete it and run the experiment again\.$"


def use_everything(store, tmp_path) -> Results:
    """Read a store in every way."""
    results = load_results(store)
    repr(results)
    results._repr_html_()
    export_csv(results, tmp_path / "table.csv")
    export_parquet(results, tmp_path / "table.parquet")
    for comparison in results.comparisons():
        repr(comparison)
    results_report(results, command="sojourn report store")
    return results


@pytest.mark.parametrize("attack", attacks(Path()))
def test_reading_a_store_imports_and_calls_nothing_that_it_names(tmp_path, monkeypatch, attack):
    trace = tmp_path / "trace"
    write_module(tmp_path, trace)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    settings = attacks(trace)[attack]
    store = forge_store(tmp_path / "store", **settings)
    assert verify_store(store).findings == ()
    results = use_everything(store, tmp_path)
    assert "forged" in repr(results)
    (comparison,) = results.comparisons()
    (agent,) = comparison.agents
    assert agent.settings == results.trials[0].settings["learner"]
    assert settings.get("learner", {}).get("type", "") in repr(agent)
    with pytest.raises(ValueError, match="cannot play here: "):
        agent.start()
    for command in (["report", "store"], ["verify", "store"], ["export", "store", "--csv"]):
        assert CliRunner().invoke(app, command).exit_code == 0, command
    assert not trace.exists()
    assert "forged_module" not in sys.modules


def test_agents_of_sojourn_are_built_again(tmp_path):
    learner = {
        "type": "UCBVI",
        "law": {"law": "Fixed(length=4)"},
        "bonus": {"type": "PaperBonus", "scale": 2},
    }
    results = load_results(forge_store(tmp_path / "store", learner=learner))
    assert results.comparisons()[0].agents == (sj.UCBVI(sj.Fixed(4), sj.PaperBonus(2)),)


@pytest.mark.parametrize("law", ["tabulated('trace')", 'Tabulated("trace")'])
def test_laws_inside_agents_read_no_file(tmp_path, monkeypatch, law):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace").write_text("survival\n1.0\n0.5\n0.0\n")
    store = forge_store(tmp_path / "store", learner={"type": "UCBVI", "law": {"law": law}})
    ((agent,),) = (comparison.agents for comparison in load_results(store).comparisons())
    assert agent.reason == f"ValueError: its law {law!r} cannot be read"


def test_laws_with_options_in_quotes_are_read(tmp_path):
    law = sj.KaplanMeier([3, 5, 9], [True, True, False], tail="end")
    store = forge_store(
        tmp_path / "store", law=repr(law), learner={"type": "UCBVI", "law": {"law": repr(law)}}
    )
    assert verify_store(store).findings == ()
    (found,) = load_results(store).comparisons()
    assert found.law == law
    assert found.agents[0].law == law


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A spec and a store with its two trials."""
    folder = tmp_path_factory.mktemp("honest")
    (folder / "forged.toml").write_text(
        'problem = "river_swim(3)"\nlaw = "fixed(4)"\nepisodes = 5\nseeds = 2\n'
        '[agents.forged]\ntype = "random"\n'
    )
    run_experiment(read_experiment(folder / "forged.toml"), folder / "store", executor=ThisProcess())
    return folder


@pytest.mark.parametrize("lie", ARRAY_LIES)
def test_run_verify_and_readers_agree_on_arrays(honest, tmp_path, lie):
    store = forge_store(tmp_path / "store", ARRAY_LIES[lie])
    findings = verify_store(store).findings
    assert len(findings) == 2
    assert all(finding.what.startswith("it") for finding in findings)
    results = load_results(store)
    for read in (results.comparisons, lambda: export_csv(results, tmp_path / "x.csv")):
        with pytest.raises(ValueError, match=REFUSED):
            read()
    assert "is damaged" in repr(results)
    report = run_experiment(read_experiment(honest / "forged.toml"), store, executor=ThisProcess())
    assert (report.reused, report.played) == (0, 2)
    assert all(note.startswith("A damaged trial was set aside as ") for note in report.notes)
    assert verify_store(store).findings == ()
    names = [path.name for path in (store / "trials").iterdir()]
    assert sorted(names) == sorted(path.name for path in (honest / "store" / "trials").iterdir())


@pytest.mark.parametrize("lie", HEADER_LIES)
def test_headers_with_wrong_types_are_refused(tmp_path, lie):
    store = forge_store(tmp_path / "store", HEADER_LIES[lie])
    findings = verify_store(store).findings
    assert len({finding.path for finding in findings}) == len(Store(store).trials())
    assert all(finding.what.startswith("it") for finding in findings if "different" not in finding.what)
    with pytest.raises(ValueError, match=REFUSED):
        load_results(store)
    found = CliRunner().invoke(app, ["report", str(store)])
    assert (found.exit_code, found.stderr.count("\n")) == (2, 1)


def test_arrays_without_regret_or_price_are_sound(tmp_path):
    def change(header, arrays):
        del arrays["regret"], arrays["regret_width"]
        if header["seed"]:
            del arrays["price"]

    store = forge_store(tmp_path / "store", change)
    assert verify_store(store).findings == ()
    assert np.isnan(load_results(store).comparisons()[0].cumulative_regret).all()


CHECKPOINT_LIES = {
    "no checkpoints": lambda arrays: arrays.pop("checkpoints"),
    "too many": lambda arrays: arrays.update(checkpoints=np.arange(1, 6)),
    "others": lambda arrays: arrays.update(checkpoints=np.array([1, 3, 5])),
    "differences that wrap": lambda arrays: arrays.update(checkpoints=np.array([1, -128, 5], np.int8)),
    "only the last": lambda arrays: arrays.update(
        {name: array[:1] for name, array in arrays.items()} | {"checkpoints": np.array([5])}
    ),
    "falling": lambda arrays: arrays.update(checkpoints=np.array([2, 1, 5])),
    "from 0": lambda arrays: arrays.update(checkpoints=np.array([0, 1, 5])),
    "an earlier end": lambda arrays: arrays.update(checkpoints=np.array([1, 2, 4])),
    "as numbers": lambda arrays: arrays.update(checkpoints=np.array([1.0, 2.0, 5.0])),
    "another number of sums": lambda arrays: arrays.update(sum_rewards=np.zeros(2)),
    "none": lambda arrays: arrays.update({name: array[:0] for name, array in arrays.items()}),
    "starts": lambda arrays: arrays.update(starts=np.zeros(3, int)),
    "falling lengths": lambda arrays: arrays.update(sum_lengths=arrays["sum_lengths"][::-1].copy()),
    "less than a step per episode": lambda arrays: arrays.update(sum_lengths=np.ones(3, int)),
    "lengths below the law's shortest": lambda arrays: arrays.update(sum_lengths=arrays["sum_lengths"] - 1),
    "lengths above the law's longest": lambda arrays: arrays.update(sum_lengths=999 * arrays["sum_lengths"]),
    "more observed lengths than episodes": lambda arrays: arrays.update(
        sum_observed=np.array([1, 2, 10**12])
    ),
    "falling numbers of observed lengths": lambda arrays: arrays.update(sum_observed=np.array([1, 0, 3])),
}


@pytest.mark.parametrize("lie", CHECKPOINT_LIES)
def test_run_verify_and_readers_agree_on_checkpoints(tmp_path, lie):
    def change(header, arrays):
        whole, at = sound_arrays(5), np.array([1, 2, 5])
        arrays.clear()
        arrays["checkpoints"] = at
        arrays.update({f"sum_{name}": np.cumsum(whole[name])[at - 1] for name in whole if name != "starts"})
        if is_lying:
            CHECKPOINT_LIES[lie](arrays)

    for is_lying in (False, True):
        store = forge_store(tmp_path / f"store-{is_lying}", change, record={"checkpoints": 3})
        assert len(verify_store(store).findings) == 2 * is_lying
    with pytest.raises(ValueError, match="is damaged: it"):
        load_results(store).comparisons()


def test_trials_with_other_checkpoints_are_not_compared(tmp_path):
    def change(header, arrays):
        if header["seed"]:
            whole = {name: np.cumsum(array)[[0, 4]] for name, array in arrays.items() if name != "starts"}
            arrays.clear()
            arrays.update({f"sum_{name}": array for name, array in whole.items()})
            arrays["checkpoints"] = np.array([1, 5])
            header["settings"]["record"] = {"checkpoints": 2}

    store = forge_store(tmp_path / "store", change)
    whole, last = load_results(store).comparisons()
    assert (whole.seeds, whole.checkpoints.tolist()) == ((0,), [1, 2, 3, 4, 5])
    assert (last.seeds, last.checkpoints.tolist()) == ((1,), [1, 5])


def test_sizes_are_compared_with_the_settings_before_arrays_are_unpacked(tmp_path):
    junk = np.random.default_rng(0).integers(0, 2, 4_000_000).astype(float)  # 32 MB, packed into 1 MB
    store = forge_store(tmp_path / "store", lambda header, arrays: arrays.update(junk=junk))
    tracemalloc.start()
    try:
        assert [finding.what for finding in verify_store(store).findings] == ["it is not a trial file"] * 2
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_names_of_a_store_are_shown_on_one_line_and_cut(tmp_path):
    store = forge_store(
        tmp_path / "store", lambda header, arrays: header.update(problem="\x1b[31mred\n" * 999)
    )
    results = load_results(store)
    names = {"agent": "\u202eW" * 100_000, "experiment": "\x1b[2J\u202e"}
    trials = tuple(replace(trial, **names) for trial in results)
    changed = Results(store, trials)
    for shown in (repr(changed), repr(changed.comparisons()), changed._repr_html_()):
        assert len(shown) < 5_000
        assert all(line.isprintable() for line in shown.split("\n"))
        assert "\\x1b[31mred\\n" in shown
    page = results_report(changed, command="x")  # a figure with the whole name would take minutes
    assert all(line.isprintable() for line in page.split("\n"))


def test_different_settings_never_share_a_name(tmp_path):
    def change(header, arrays):
        header["settings"]["learner"]["x"] = header["seed"] % 3
        arrays["regret"] = np.full(5, float(header["seed"] % 3))

    results = load_results(forge_store(tmp_path / "store", change, seeds=3))
    names = ("ours", "ours", "ours (2)")
    trials = tuple(replace(each, agent=name, seed=0) for each, name in zip(results, names, strict=True))
    (found,) = Results(results.folder, trials).comparisons()
    assert found.names == ("ours", "ours (2)", "ours (2) (2)")
    assert found.cumulative_regret[:, 0, -1].tolist() == [0.0, 5.0, 10.0]


def test_numbers_too_large_for_parquet_are_exported_as_text(tmp_path):
    results = load_results(forge_store(tmp_path / "store"))
    values = (2**70, 1.5)
    trials = tuple(replace(each, varied={"x": x, "y": 0.5}) for each, x in zip(results, values, strict=True))
    export_parquet(Results(results.folder, trials), tmp_path / "table.parquet")
    table = parquet.read_table(tmp_path / "table.parquet").to_pydict()
    assert set(table["agent.x"]) == {str(2**70), "1.5"}
    assert set(table["agent.y"]) == {0.5}


def test_a_member_that_cannot_be_unpacked_is_found_by_run_too(honest, tmp_path):
    # The first member says that it is compressed in a way that does not exist; the header is untouched.
    store = tmp_path / "store"
    shutil.copytree(honest / "store", store)
    kept = Store(store)
    (first, _) = kept.trials()
    content = bytearray(first.path.read_bytes())
    content[8:10] = (99).to_bytes(2, "little")
    place = content.index(b"PK\1\2")
    content[place + 10 : place + 12] = (99).to_bytes(2, "little")
    header, _ = read_trial(first.path.read_bytes(), first.key)
    first.path.unlink()
    forge_trial(store, header, {}, bytes(content))
    assert [finding.what for finding in verify_store(store).findings] == ["it is not a trial file"]
    report = run_experiment(read_experiment(honest / "forged.toml"), store, executor=ThisProcess())
    assert (report.reused, report.played) == (1, 1)
    assert verify_store(store).findings == ()


class Liar(ThisProcess):
    """Returns results in which one array is wrong, something that is no result, or an unknown key."""

    lie = "NaN"

    def run(self, function, jobs):
        for job in jobs:
            trial = play_trial(job.text)
            header, arrays = read_trial(trial, job.key)
            ARRAY_LIES["NaN"](header, arrays)
            content = {"NaN": sj._files.pack_archive(header, arrays), "text": "x", "unknown": trial}[self.lie]
            yield Outcome("0" * 32 if self.lie == "unknown" else job.key, content, "", 0.0, 1)


@pytest.mark.parametrize("lie", ["NaN", "text"])
def test_what_an_executor_returns_is_checked_in_full(honest, tmp_path, monkeypatch, lie):
    monkeypatch.setattr(Liar, "lie", lie)
    report = run_experiment(read_experiment(honest / "forged.toml"), tmp_path / "store", executor=Liar())
    assert (report.played, len(report.failures)) == (0, 2)
    assert report.failures[0].reason.startswith("what came back is not its result: it")
    assert Store(tmp_path / "store").trials() == []


def test_outcomes_of_unknown_jobs_are_refused(honest, tmp_path, monkeypatch):
    monkeypatch.setattr(Liar, "lie", "unknown")
    with pytest.raises(RuntimeError, match="an outcome of an unknown job"):
        run_experiment(read_experiment(honest / "forged.toml"), tmp_path / "store", executor=Liar())


def test_names_that_spreadsheets_take_for_formulas_are_escaped(tmp_path):
    store = forge_store(tmp_path / "store", problem="=cmd|' /C calc'!A0")
    results = load_results(store)
    first = results.trials[0]
    escaped = {
        "a;=1": "a;'=1",
        "a;b": "a;b",
        "a\n@x": "a\n'@x",
        "a=1": "a=1",
        "＝1": "'＝1",
        "a;－1": "a;'－1",
        'a;"=1': "a;\"'=1",
        '"=1': "\"'=1",
        "\t=1": "'\t'=1",
        "\tx": "'\tx",
    }
    for name in ("=1+1", "+1", "-1", "@x", "\tx", "\rx", *escaped):
        object.__setattr__(first, "agent", name)
        object.__setattr__(first, "varied", {"scale": -0.5, "law": name, "list": ["a;=1"]})
        export_csv(Results(store, (first,)), tmp_path / "table.csv")
        with (tmp_path / "table.csv").open(newline="") as file:
            row = next(csv.DictReader(file))
        expected = escaped.get(name, f"'{name}")
        assert (row["agent"], row["agent.law"], row["agent.scale"]) == (expected, expected, "-0.5")
        assert row["agent.list"] == "['a;'=1']"


def test_texts_that_differ_only_in_formulas_or_types_stay_different(tmp_path):
    first, second = load_results(forge_store(tmp_path / "store")).trials
    pairs = [("=a", "'=a"), ("b" * 300, "b" * 300 + "c"), (1, "1"), (True, "True"), ("1", "1 (2)")]
    for one, other in pairs:
        trials = tuple(
            replace(trial, agent=str(value), varied={"x": value})
            for trial, value in ((first, one), (second, other))
        )
        export_csv(Results(tmp_path, trials), tmp_path / "table.csv")
        export_parquet(Results(tmp_path, trials), tmp_path / "table.parquet")
        with (tmp_path / "table.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert len({row["agent.x"] for row in rows}) == 2
        assert len({row["agent"] for row in rows}) == 1 + (str(one) != str(other))
        assert max(len(row["agent"]) for row in rows) <= 204
        assert len(set(parquet.read_table(tmp_path / "table.parquet")["agent.x"].to_pylist())) == 2


def test_manifests_that_repeat_their_trials_are_refused(tmp_path):
    store = forge_store(tmp_path / "store", seeds=1)
    [trial] = load_results(store)
    cells = [{"learner": f"agent {i}", "varied": {}, "trials": [trial.key]} for i in range(11)]
    manifest = {"format": "sojourn experiment 1", "name": "forged", "source": "", "cells": cells}
    Store(store).add_manifest(manifest)
    assert "not the manifest" in verify_store(store).findings[0].what
    with pytest.raises(ValueError, match="is damaged: it is not the manifest of an experiment"):
        load_results(store)


def test_agents_of_one_name_and_long_settings_take_memory_once(tmp_path):
    store = forge_store(tmp_path / "store", seeds=1)
    [trial] = load_results(store)
    trial.settings["learner"]["note"] = "x" * 1_000_000
    trials = [replace(trial, agent=f"agent {i}") for i in range(50)]
    tracemalloc.start()
    try:
        assert len(group_by_agent(trials)) == 50
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("limit", "value"), [("_PIECE_ROWS", 2), ("_PIECE_NAMES", 1)])
def test_long_trials_and_long_names_are_exported_piece_by_piece(tmp_path, monkeypatch, limit, value):
    results = load_results(forge_store(tmp_path / "store"))
    export_csv(results, tmp_path / "whole.csv")
    monkeypatch.setattr(f"sojourn.experiments._export.{limit}", value)
    export_csv(results, tmp_path / "pieces.csv")
    assert (tmp_path / "pieces.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_the_settings_of_all_trials_must_fit_in_memory_together(tmp_path, monkeypatch):
    def other_law(header, arrays):
        header["settings"]["law"] = f"Fixed(length={4 + header['seed']})"

    sizes = []
    monkeypatch.setattr("sojourn.experiments._results.check_fits", lambda n_bytes, *_: sizes.append(n_bytes))
    load_results(forge_store(tmp_path / "same"))
    load_results(forge_store(tmp_path / "different", other_law))
    assert sizes == [sizes[0], sizes[0], 2 * sizes[0]]


def test_the_size_of_a_comparison_is_checked_before_it_is_made(tmp_path, monkeypatch):
    def refuse(n_bytes, what, remedy):
        raise MemoryLimitError(f"{what} needs {n_bytes} bytes; {remedy}.")

    results = load_results(forge_store(tmp_path / "store"))
    monkeypatch.setattr("sojourn.experiments._comparisons.check_fits", refuse)
    with pytest.raises(MemoryLimitError, match="needs 80 bytes"):  # 1 agent, 2 seeds, 5 episodes
        results.comparisons()


@pytest.mark.parametrize("record", ["episodes", {"regret_episodes": 2}])
def test_a_trial_of_many_cells_is_read_once(tmp_path, record, monkeypatch):
    def change(header, arrays):
        if record != "episodes":
            arrays |= {"valued": np.array([0, 3])}
            arrays |= {name: arrays[name][:2] for name in ("regret", "regret_width")}

    store = forge_store(tmp_path / "store", change, seeds=1, record=record)
    alone = load_results(store).comparisons()[0]
    [trial] = load_results(store)
    cells = [{"learner": f"agent {i}", "varied": {}, "trials": [trial.key]} for i in range(10)]
    Store(store).add_manifest(
        {"format": "sojourn experiment 1", "name": "forged", "source": "", "cells": cells}
    )
    results = load_results(store)
    n_read = 0

    def read(file, **options):
        nonlocal n_read
        n_read += 1
        return read_result_file(file, **options)

    monkeypatch.setattr("sojourn.experiments.trials._result.read_result_file", read)
    assert len(results.table().splitlines()) == 11
    assert n_read <= 2  # one of them for the checkpoints
    found = results.comparisons()[0]
    for name in ("cumulative_regret", "regret_width", "rewards", "regret_error"):
        array, expected = getattr(found, name), getattr(alone, name)
        assert (array is None) == (expected is None)
        if array is not None:
            np.testing.assert_array_equal(array, np.repeat(expected, 10, axis=0))


@pytest.mark.parametrize(
    ("law", "shortest"),
    [("Uniform(low=5, high=20)", 5), ("Polynomial(p=1.4, offset=20)", 21), ("own_laws:Mine(x=3)", 1)],
)
def test_only_observed_lengths_are_at_least_the_shortest_of_their_law(tmp_path, law, shortest):
    lengths, observed = np.full(5, shortest), np.ones(5, bool)
    lengths[2], observed[2] = 1, False  # censored by a terminal state
    for wrong in (0, 1):
        lengths[0] -= wrong
        change = functools.partial(_set_lengths, lengths=lengths, observed=observed)
        store = forge_store(tmp_path / f"store-{wrong}", change, law=law)
        assert len(verify_store(store).findings) == 2 * wrong
        change = functools.partial(change, at=np.array([1, 2, 5]))
        store = forge_store(tmp_path / f"sums-{wrong}", change, law=law, record={"checkpoints": 3})
        assert len(verify_store(store).findings) == 2 * wrong


def _set_lengths(header, arrays, *, lengths, observed, at=None):
    arrays.update(lengths=lengths, observed=observed)
    if at is not None:
        whole = dict(arrays)
        arrays.clear()
        arrays["checkpoints"] = at
        arrays.update({f"sum_{name}": np.cumsum(whole[name])[at - 1] for name in whole if name != "starts"})
