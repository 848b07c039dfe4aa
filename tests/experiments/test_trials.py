"""Trials: their keys, and equal bytes for equal trials."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import sojourn as sj
from sojourn.experiments import RESULTS_VERSION, Trial, read_experiment
from sojourn.experiments.spec._agent_settings import to_text
from sojourn.experiments.trials._archive import read_trial
from sojourn.experiments.trials._play import play_trial
from sojourn.experiments.trials._trial import trial_key
from sojourn.learning import spread_by_ratios

SETTINGS = {
    "problem": "river_swim(n=3)",
    "law": "Fixed(length=4)",
    "episodes": 30,
    "record": "episodes",
    "learner": {"type": "UCBVI", "law": {"law": "Fixed(length=4)"}},
}


def trial(seed=5, **changes):
    return Trial(to_text(SETTINGS | changes), seed)


def test_the_key_is_a_hash_of_settings_seed_and_results_version():
    # A fixed value: if keys changed by accident, users would lose what they have computed.
    assert trial_key(trial().text, 1) == "43908092a03642d96fd2fbbfe4d030b9"
    assert trial().key == trial_key(trial().text, RESULTS_VERSION)
    assert trial_key(trial().text, 2) != trial_key(trial().text, 1)
    assert trial(6).key != trial().key


def test_a_file_holds_what_learn_gives():
    header, arrays = read_trial(play_trial(trial().text), trial().key)
    law = sj.Fixed(4)
    run = sj.learn(sj.UCBVI(law), sj.mdps.river_swim(3), law, episodes=30, seed=5)
    assert header["settings"] == SETTINGS
    assert (header["seed"], header["results"], header["problem"]) == (5, RESULTS_VERSION, "RiverSwim(3)")
    for name in ("starts", "lengths", "observed", "rewards", "regret", "regret_width", "price"):
        np.testing.assert_array_equal(arrays[name], getattr(run, name))


def test_checkpoints_are_exact_sums():
    _, whole = read_trial(play_trial(trial().text), trial().key)
    thinned = trial(record={"checkpoints": 6})
    _, part = read_trial(play_trial(thinned.text), thinned.key)
    np.testing.assert_array_equal(part["checkpoints"], spread_by_ratios(30, 6))
    for name in ("lengths", "observed", "rewards", "regret", "regret_width", "price"):
        sums = [whole[name][:k].sum() for k in part["checkpoints"]]
        np.testing.assert_allclose(part[f"sum_{name}"], sums, rtol=1e-13)
    assert "starts" not in part


@pytest.mark.parametrize(("episodes", "most"), [(1, 2), (5, 2), (10, 10), (10, 50), (1000, 7), (10**7, 200)])
def test_checkpoints_rise_from_the_first_to_the_last(episodes, most):
    found = spread_by_ratios(episodes, most)
    assert (found[0], found[-1]) == (1, episodes)
    assert (np.diff(found) > 0).all()
    assert len(found) <= max(most, 1)


def test_the_bytes_do_not_depend_on_the_process(tmp_path):
    code = (
        "import sys, hashlib, time\n"
        "from sojourn.experiments.trials._play import play_trial\n"
        "print(hashlib.sha256(play_trial(sys.argv[1])).hexdigest())"
    )
    found = set()
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code, trial().text],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
        )
        found.add(done.stdout)
    assert len(found) == 1


def test_an_agent_without_a_policy_has_no_regret(write, tmp_path):
    (tmp_path / "own_blind.py").write_text(
        "class Blind:\n"
        "    def start(self, **_): return self\n"
        "    def act(self, state, h): return 1\n"
        "    def observe(self, *_): pass\n"
        "    def end_episode(self, *_): pass\n"
    )
    from sojourn.experiments.spec._import_path import importing_from

    experiment = read_experiment(write(('type = "random"', 'type = "own_blind:Blind"')))
    with importing_from(tmp_path):
        own = experiment.cells[-1].trials[0]
        _, arrays = read_trial(play_trial(own.text), own.key)
        assert "regret" not in arrays
        assert arrays["rewards"].shape == (20,)
        (tmp_path / "own_blind.py").write_text("class Blind: pass\n")
        del sys.modules["own_blind"]  # as in a worker that starts after the edit
        with pytest.raises(ValueError, match="the code of an agent, problem or law changed after the run"):
            play_trial(own.text)


def test_a_trial_ignores_the_error_settings_of_numpy():
    one = trial(law="Geometric(gamma=0.5)")
    expected = play_trial(one.text)
    with np.errstate(all="raise"):  # as the module of another trial's agent may have left it
        assert play_trial(one.text) == expected
