"""Finite problems as environments, by object and by id."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import sojourn as sj
from sojourn.envs import IDS, StepIndex, TabularEnv
from sojourn.errors import NoTableError
from sojourn.mdps import BUILDERS

PROBLEMS = [
    sj.mdps.river_swim(4),
    sj.mdps.deep_sea(4, seed=1),
    sj.mdps.garnet(12, 3, 4, seed=2),
    sj.mdps.chain(5, slip=0.2, small=2, large=10).normalized(),
    sj.TabularMDP.from_env("Taxi-v4"),
    sj.TabularMDP.from_env("Taxi-v4").normalized(),  # its absorbing state pays
]


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_from_env_returns_the_same_problem(problem):
    again = sj.TabularMDP.from_env(TabularEnv(problem))
    assert again == problem
    assert (again.name, again.reward_scale, again.reward_shift) == (
        problem.name,
        problem.reward_scale,
        problem.reward_shift,
    )


def test_from_env_reads_through_neutral_wrappers_and_takes_another_start():
    env = gymnasium.make("sojourn/RiverSwim-v0", n=5, max_episode_steps=9)
    assert sj.TabularMDP.from_env(env) == sj.mdps.river_swim(5)
    assert sj.TabularMDP.from_env(env, start=3).start.tolist() == [0, 0, 0, 1, 0]
    with pytest.raises(NoTableError, match="StepIndex may change what"):
        sj.TabularMDP.from_env(StepIndex(env, 4))


class Bare:
    """Nothing but a table, as another library would read it."""

    def __init__(self, env):
        self.P, self.initial_state_distrib = env.P, env.initial_state_distrib


@pytest.mark.parametrize("problem", PROBLEMS, ids=repr)
def test_the_table_in_gymnasiums_form_describes_the_same_problem(problem):
    read, law = sj.TabularMDP.from_env(Bare(TabularEnv(problem))), sj.Geometric(0.9)
    expected = sj.plan(problem, law, tolerance=1e-9)
    found = sj.plan(read, law, tolerance=1e-9)
    assert problem.start @ expected.value == pytest.approx(
        read.start @ found.value, abs=1e-7 * law.mean * np.abs(problem.rewards).max()
    )


@pytest.mark.parametrize("problem", PROBLEMS[:4], ids=repr)
def test_steps_follow_the_table(problem):
    """Shares of 4,000 draws of every pair, within five standard errors of the probabilities."""
    env, n = TabularEnv(problem), 4_000
    env.reset(seed=0)
    for state in range(min(problem.n_states, 5)):
        for action in range(problem.n_actions):
            counts = np.zeros(problem.n_states)
            for _ in range(n if problem.successors(state, action)[0].size > 1 else 1):
                env._state = state
                following, reward, terminated, truncated, info = env.step(action)
                counts[following] += 1
                assert reward == problem.rewards[state, action]
                assert terminated == (following in problem.terminal)
                assert (truncated, info) == (False, {})
            chances = np.zeros(problem.n_states)
            states, shares = problem.successors(state, action)
            chances[states] = shares
            errors = np.sqrt(chances * (1 - chances) / counts.sum())
            assert (np.abs(counts / counts.sum() - chances) <= 5 * errors + 1e-12).all()


def test_starts_follow_the_distribution():
    problem = sj.TabularMDP(np.eye(3)[:, None, :], np.zeros((3, 1)), start=[0.2, 0.0, 0.8])
    env = TabularEnv(problem)
    counts = np.bincount([int(env.reset(seed=seed)[0]) for seed in range(2_000)], minlength=3)
    assert counts[1] == 0
    assert abs(counts[0] / 2_000 - 0.2) < 5 * np.sqrt(0.16 / 2_000)


def test_terminal_states_that_pay_do_not_end_the_episode():
    problem = sj.TabularMDP([[[0.0, 1.0]], [[0.0, 1.0]]], [[-4.0], [0.0]], terminal=1)
    plain, paying = TabularEnv(problem), TabularEnv(problem.normalized())
    _, _ = plain.reset(), paying.reset()
    assert plain.step(0)[1:3] == (-4.0, True)
    assert [paying.step(0)[1:3] for _ in range(3)] == [(0.0, False), (1.0, False), (1.0, False)]


def test_every_builder_has_an_id():
    assert sorted(IDS.values()) == sorted(BUILDERS)
    assert set(IDS) <= set(gymnasium.registry)
    for id_, builder in IDS.items():
        env = gymnasium.make(id_).unwrapped
        settings = {"n_states": 50, "n_actions": 4, "n_successors": 3} if builder == "garnet" else {}
        assert env.mdp == BUILDERS[builder](**settings)


def test_an_id_with_the_module_in_it_needs_no_import():
    code = (
        "import gymnasium; env = gymnasium.make('sojourn.envs:sojourn/RiverSwim-v0', n=8); "
        "print(env.observation_space)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "Discrete(8)\n"


def test_an_id_takes_the_settings_of_its_builder():
    assert gymnasium.make("sojourn/DeepSea-v0", n=3, seed=4).unwrapped.mdp == sj.mdps.deep_sea(3, seed=4)
    assert sj.TabularMDP.from_env("sojourn/chain-v0", n=3) == sj.mdps.chain(3)
    with pytest.raises(TypeError, match=r"^sojourn/Chain-v0 has no setting 'm'\. It takes n, slip"):
        sj.TabularMDP.from_env("sojourn/Chain-v0", m=3)
    with pytest.raises(ValueError, match=r"Did you mean 'sojourn/RiverSwim-v0'\?$"):
        sj.TabularMDP.from_env("sojourn/RiverSwin-v0")


def test_a_line_of_text_shows_the_state():
    env = gymnasium.make("sojourn/RiverSwim-v0", render_mode="ansi").unwrapped
    assert env.render() == "RiverSwim(6): not begun\n"
    env.reset(seed=0)
    assert env.render() == "RiverSwim(6): state 0 of 6\n"
    assert TabularEnv(sj.mdps.chain(3)).render() is None


def test_misuse_raises_a_one_line_error():
    with pytest.raises(TypeError, match=r"^mdp must be a TabularMDP; got 3\.$"):
        TabularEnv(3)
    with pytest.raises(ValueError, match=r"^render_mode must be one of 'ansi'; got 'human'\.$"):
        TabularEnv(sj.mdps.chain(3), render_mode="human")
    env = TabularEnv(sj.mdps.chain(3))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset()
    with pytest.raises(ValueError, match=r"^action must be in 0 … 1; got 2\.$"):
        env.step(2)
