"""Tuning: settings are chosen on separate seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sojourn as sj
from sojourn.experiments import (
    Store,
    ThisProcess,
    load_results,
    read_experiment,
    run_experiment,
    tune,
    tuning_name,
)
from sojourn.experiments._tuning import _rivals
from sojourn.experiments.store._manifest import manifest_of

SPEC = """
problem = ["river_swim(4)", "chain(4)"]
law = "geometric(0.8)"
episodes = 60
seeds = 3

[agents."ours (general)"]
type = "ucbvi"
law = "true"
bonus.scale = { grid = [1, 0.01] }

[agents."ours (fixed)"]
type = "ucbvi"
law = { grid = ["fixed mean", "fixed 2 mean"] }
bonus = { type = "hoeffding", scale = { grid = [1, 0.01] } }

[agents.chance]
type = "random"
"""


@pytest.fixture
def experiment(tmp_path):
    (tmp_path / "tuned.toml").write_text(SPEC)
    return read_experiment(tmp_path / "tuned.toml")


def test_the_best_value_of_each_agent_is_kept(experiment, tmp_path):
    chosen = tune(experiment, tmp_path / "s", over=["bonus.scale"], seeds=[10, 11], executor=ThisProcess())
    assert len(experiment.cells) == 2 * (2 + 4 + 1)
    assert len(chosen.cells) == 2 * (1 + 2 + 1)
    assert chosen.seeds == experiment.seeds
    for cell in chosen.cells:
        if cell.name == "ours (general)":
            mdp, law = sj.mdps.parse_problem(cell.settings["problem"]), sj.Geometric(0.8)
            totals = {
                scale: np.mean(
                    [
                        sj.learn(
                            sj.UCBVI(law, sj.PaperBonus(scale)), mdp, law, episodes=60, seed=seed
                        ).regret.sum()
                        for seed in (10, 11)
                    ]
                )
                for scale in (1, 0.01)
            }
            assert cell.varied["bonus.scale"] == min(totals, key=totals.get)
    run_experiment(chosen, tmp_path / "s", executor=ThisProcess())
    results = load_results(tmp_path / "s", experiment="tuned")
    assert {trial.seed for trial in results} == {0, 1, 2}
    assert len(results) == 3 * len(chosen.cells)
    assert {trial.purpose for trial in results} == {"evaluation"}
    tuning = load_results(tmp_path / "s", experiment=tuning_name(experiment))
    assert {(trial.purpose, trial.seed) for trial in tuning} == {("tuning", 10), ("tuning", 11)}


def test_old_manifests_have_the_purpose_in_their_name(experiment, tmp_path):
    # Version 0.1.0 wrote no "purpose"; a later experiment of any name has one.
    store = Store(tmp_path / "s")
    run_experiment(replace(experiment, name="by-tuning"), store, executor=ThisProcess())
    assert {trial.purpose for trial in load_results(store.folder)} == {"evaluation"}
    old = manifest_of(experiment)
    del old["purpose"]
    with store.writing():
        for name in ("old", "old-tuning"):
            store.add_manifest(old | {"name": name})
    found = {trial.experiment: trial.purpose for trial in load_results(store.folder)}
    assert found == {"by-tuning": "evaluation", "old": "evaluation", "old-tuning": "tuning"}


def test_judging_by_the_seeds_of_the_choice_is_refused(experiment, tmp_path):
    with pytest.raises(ValueError, match="seeds must be others than those of the experiment; got 2 in both"):
        tune(experiment, tmp_path / "s", over=["bonus.scale"], seeds=[2, 3])


@pytest.mark.parametrize("seeds", [[], [-1], [1.5], [2**53 + 1]], ids=str)
def test_impossible_seeds_are_refused(experiment, tmp_path, seeds):
    with pytest.raises(ValueError, match="seeds must be"):
        tune(experiment, tmp_path / "s", over=["bonus.scale"], seeds=seeds)


def test_another_run_that_replaces_the_manifest_changes_nothing(experiment, tmp_path):
    other = replace(experiment, name=tuning_name(experiment), cells=experiment.cells[:1])

    class Shared(Store):
        def add_manifest(self, manifest):
            super().add_manifest(manifest)
            return super().add_manifest(manifest_of(other))

    chosen = tune(
        experiment, Shared(tmp_path / "s"), over=["bonus.scale"], seeds=[10], executor=ThisProcess()
    )
    assert len(chosen.cells) < len(experiment.cells)


def test_a_grid_that_is_not_there_is_named(experiment, tmp_path):
    with pytest.raises(ValueError, match=r"over must name grids of the experiment.*got 'bonus.scales'"):
        tune(experiment, tmp_path / "s", over=["bonus.scales"], seeds=[9])


def test_a_number_and_its_text_are_different_values_of_a_grid(experiment):
    one, other = (replace(experiment.cells[0], varied={"start": start}) for start in (1, "1"))
    assert _rivals(one, set()) != _rivals(other, set())
