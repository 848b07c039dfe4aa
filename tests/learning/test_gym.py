"""Learners on Gymnasium environments, with and without a transition table."""

from __future__ import annotations

import dataclasses

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit, TransformReward

import sojourn as sj
from sojourn.envs import LawDiscount, RandomLength, StepIndex, TabularEnv

LAW = sj.Geometric(0.9)
LAKE = sj.TabularMDP.from_env("FrozenLake-v1")
BOLD = sj.UCBVI(LAW, sj.PaperBonus(0.001))


def without_table(env):
    """Return the same environment without its transition table."""
    return TransformReward(env, lambda reward: reward)


def assert_same(left, right, *, but=()):
    for field in dataclasses.fields(sj.Run):
        if field.name not in {"seconds", "law", "agent", "learner", *but}:
            np.testing.assert_array_equal(getattr(left, field.name), getattr(right, field.name), field.name)


@pytest.mark.parametrize(
    "given", [lambda: "Taxi-v4", lambda: gymnasium.make("Taxi-v4")], ids=["id", "object"]
)
def test_an_environment_with_a_table_is_played_as_its_table(given):
    settings = {"episodes": 200, "seed": 3}
    expected = sj.learn(BOLD, sj.TabularMDP.from_env("Taxi-v4"), LAW, **settings)
    found = sj.learn(BOLD, given(), LAW, **settings)
    assert_same(found, expected)
    assert found.regret is not None
    assert found.observations is None
    assert found.episodes_per_second > 0.0


def test_our_own_ids_need_no_import():
    found = sj.learn(BOLD, "sojourn/RiverSwim-v0", LAW, episodes=50)
    assert_same(found, sj.learn(BOLD, sj.mdps.river_swim(), LAW, episodes=50), but=["problem"])
    assert found.problem == "sojourn/RiverSwim-v0"


def test_a_run_without_a_table_has_no_regret():
    run = sj.learn(BOLD, "Blackjack-v1", LAW, episodes=20, reward_range=(-1, 1))
    assert (run.regret, run.regret_width, run.price, run.clairvoyant_regret) == (None, None, None, None)
    assert run.problem == "Blackjack-v1"
    assert 0.0 < run.seconds < 60.0
    assert run.episodes_per_second == 20 / run.seconds
    assert "mean reward" in repr(run)
    assert "episodes per second" in run._repr_html_()
    run.plot()


def test_a_trial_is_a_function_of_its_settings_and_seed():
    settings = {"episodes": 300, "reward_range": (-1, 1)}
    first = sj.learn(BOLD, "Blackjack-v1", LAW, seed=5, **settings)
    assert_same(first, sj.learn(BOLD, gymnasium.make("Blackjack-v1"), LAW, seed=5, **settings))
    other = sj.learn(BOLD, "Blackjack-v1", LAW, seed=6, **settings)
    assert not np.array_equal(first.rewards, other.rewards)


def test_all_learners_meet_the_same_lengths_and_start_states():
    # How much chance it takes depends on the actions: left is certain, right is not.
    river = sj.mdps.river_swim(30)
    problem = sj.TabularMDP(river.transitions, river.rewards, start=np.full(30, 1 / 30))
    law, settings = sj.Uniform(2, 30), {"episodes": 60, "seed": 1, "reward_range": (0, 1)}
    agents = (sj.RandomPlayer(), BOLD, sj.UCBVI(law))
    first, *others = [
        sj.learn(agent, without_table(TabularEnv(problem)), law, **settings) for agent in agents
    ]
    assert len(set(first.starts)) > 15
    for other in others:
        assert np.array_equal(first.starts, other.starts)
        assert np.array_equal(first.lengths, other.lengths)
        assert not np.array_equal(first.rewards, other.rewards)
    on_a_table = sj.learn(sj.RandomPlayer(), sj.mdps.river_swim(), law, episodes=60, seed=1)
    assert np.array_equal(first.lengths, on_a_table.lengths)


def test_playing_and_reading_a_deterministic_problem_give_the_same_run():
    """The problem is deterministic and the player has its own random stream, so both paths agree exactly."""
    problem = sj.mdps.cash_or_invest(3)
    settings = {"episodes": 100, "seed": 2}
    read = sj.learn(sj.RandomPlayer(), problem, LAW, **settings)
    played = sj.learn(
        sj.RandomPlayer(), without_table(TabularEnv(problem)), LAW, reward_range=(0, 1), **settings
    )
    assert_same(played, read, but=["regret", "regret_width", "price"])


class Recorder:
    """An agent that plays action 0 and records every call."""

    def __init__(self):
        self.log, self.ends, self.started_with = [], [], {}

    def start(self, **arguments):
        self.started_with = arguments
        return self

    def act(self, state, h):
        return 0

    def observe(self, *step):
        self.log.append(step)

    def end_episode(self, length, observed):
        self.ends.append((length, observed))


def play(env, law, episodes=1, reward_range=(0, 1)):
    recorder = Recorder()
    run = sj.learn(recorder, env, law, episodes=episodes, reward_range=reward_range)
    assert recorder.ends == list(zip(run.lengths, run.observed, strict=True))
    return recorder


def sea():
    return without_table(TabularEnv(sj.mdps.deep_sea(4)))  # ends by itself after 4 steps


@pytest.mark.parametrize(
    ("make", "length", "end", "terminated"),
    [
        (sea, 3, (3, True), False),
        (sea, 5, (4, False), True),
        (sea, 4, (4, False), True),  # on the same step, the length is not seen
        (lambda: TimeLimit(sea(), 2), 3, (2, False), False),
        (lambda: TimeLimit(sea(), 2), 2, (2, False), False),
    ],
)
def test_ends_and_limits_censor_the_length(make, length, end, terminated):
    recorder = play(make(), sj.Fixed(length), reward_range=(-1, 1))
    assert recorder.ends == [end]
    assert recorder.log[-1][-1] == terminated
    assert not any(step[-1] for step in recorder.log[:-1])


def test_a_learner_is_started_with_all_that_is_known():
    recorder = play("Blackjack-v1", LAW, 30, reward_range=(-1, 1))
    assert recorder.started_with["n_states"] == 705  # 32 · 11 · 2 observations, and the end
    assert recorder.started_with["n_actions"] == 2
    assert recorder.started_with["terminal_reward"] == 0.5
    assert {step[2] for step in recorder.log} <= {0.0, 0.5, 1.0}
    assert recorder.started_with.get("rewards") is None


@pytest.mark.parametrize(
    ("given", "terminal_reward", "seen"),
    [
        ((0, 1), 0.0, 0.5),
        ((0, 0.5), 0.0, 1.0),
        ((0.25, 1), 0.0, 0.5),
        ((-1, 1), 0.5, 0.75),
        ((-2, 0.5), 0.8, 1.0),
    ],
)
def test_rewards_and_the_reward_after_the_end_are_mapped_to_the_unit_interval(given, terminal_reward, seen):
    env = without_table(TabularEnv(sj.TabularMDP(np.ones((1, 1, 1)), [[0.5]])))
    recorder = play(env, sj.Fixed(1), reward_range=given)
    assert recorder.started_with["terminal_reward"] == terminal_reward
    assert recorder.log[0][2] == seen


def test_the_step_can_be_a_part_of_the_state():
    env = StepIndex(TabularEnv(sj.mdps.two_paths()), 5)
    run = sj.learn(sj.RandomPlayer(), env, sj.Fixed(4), episodes=50, reward_range=(0, 1))
    assert {tuple(observation) for observation in run.observations} == {
        (0, 0),
        *((state, h) for state in (1, 2) for h in range(1, 5)),
    }


class ManyObservations(gymnasium.Env):
    """Has more possible observations than can be counted."""

    observation_space, action_space = spaces.Text(9), spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return str(self.np_random.integers(4)), {}

    def step(self, action):
        return str(self.np_random.integers(4)), float(action), False, False, {}


def test_an_uncountable_space_needs_a_number_of_states_in_the_settings():
    settings = {"episodes": 200, "reward_range": (0, 1)}
    with pytest.raises(ValueError, match=r"^n_states must be given.*Write UCBVI\(\.\.\., n_states=1_000\)"):
        sj.learn(BOLD, ManyObservations(), LAW, **settings)
    run = sj.learn(dataclasses.replace(BOLD, n_states=5), ManyObservations(), LAW, **settings)
    assert sorted(run.observations) == ["0", "1", "2", "3"]
    late = slice(150, None)
    assert run.rewards[late].sum() > 0.8 * run.lengths[late].sum()  # action 1 pays 1


def test_a_number_of_states_in_the_settings_replaces_that_of_the_spaces():
    agent = Recorder()
    agent.n_states = 400
    sj.learn(agent, "Blackjack-v1", LAW, episodes=1, reward_range=(-1, 1))
    assert agent.started_with["n_states"] is None


def test_progress_is_reported():
    shares = []
    sj.learn(
        sj.RandomPlayer(), "Blackjack-v1", LAW, episodes=50, reward_range=(-1, 1), progress=shares.append
    )
    assert shares == [k / 50 for k in range(1, 51)]


RANGE = r"reward_range must be two finite numbers, the lower first; got"


@pytest.mark.parametrize(
    ("env", "settings", "error", "message"),
    [
        (
            "Blackjack-v1",
            {},
            ValueError,
            r"reward_range must be given for Blackjack-v1, which has no .*\(low, high\)",
        ),
        ("Blackjack-v1", {"reward_range": (1, -1)}, ValueError, rf"{RANGE} \(1, -1\)\."),
        ("Blackjack-v1", {"reward_range": (0, np.nan)}, ValueError, rf"{RANGE} \(0, nan\)\."),
        ("Blackjack-v1", {"reward_range": (-1e308, 1e308)}, ValueError, rf"{RANGE}"),
        ("Blackjack-v1", {"reward_range": 1}, TypeError, rf"{RANGE} 1\."),
        ("Blackjack-v1", {"reward_range": (0, 1, 2)}, TypeError, rf"{RANGE} \(0, 1, 2\)\."),
        (
            "Blackjack-v1",
            {"reward_range": (0, 1)},
            ValueError,
            r"reward_range must hold every reward; got -1.0 in episode \d+, outside \(0.0, 1.0\)\.",
        ),
        (
            "Taxi-v4",
            {"reward_range": (-10, 20)},
            ValueError,
            r"reward_range must be left out: the rewards are known",
        ),
        (
            "CartPole-v1",
            {"reward_range": (0, 1)},
            ValueError,
            r"env must have discrete observations; got Box.*bins",
        ),
        (
            "Blackjakc-v1",
            {},
            ValueError,
            r"Unknown environment 'Blackjakc-v1'\. Did you mean 'Blackjack-v1'\?",
        ),
        (3, {}, TypeError, r"mdp must be a TabularMDP, or a Gymnasium id or environment; got 3\."),
    ],
)
def test_bad_input_raises_a_one_line_error(env, settings, error, message):
    with pytest.raises(error, match=f"^{message}") as caught:
        sj.learn(sj.RandomPlayer(), env, LAW, episodes=50, **settings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("wrap", [RandomLength, LawDiscount])
def test_a_law_may_not_count_twice(wrap):
    env = StepIndex(wrap(gymnasium.make("Taxi-v4"), LAW), 5)
    with pytest.raises(
        ValueError, match=f"^env must not have {wrap.__name__} inside: learn draws the lengths"
    ):
        sj.learn(BOLD, env, LAW, episodes=5, reward_range=(-10, 20))


def test_the_optimal_player_needs_a_table():
    plan = sj.plan(sj.mdps.two_paths(), LAW)
    with pytest.raises(
        ValueError, match=r"^agent must learn: Blackjack-v1 has no transition table to plan on"
    ):
        sj.learn(sj.OptimalPlayer(plan), "Blackjack-v1", LAW, episodes=5, reward_range=(-1, 1))


@pytest.mark.parametrize("wrap", [lambda env: StepIndex(env, 5), without_table])
@pytest.mark.parametrize("make", [lambda: gymnasium.make("FrozenLake-v1"), lambda: TabularEnv(LAKE)])
def test_a_wrapper_that_hides_a_table_is_named(make, wrap):
    env = wrap(make())
    name = "StepIndex" if env.observation_space.shape else "TransformReward"
    message = f"FrozenLake-v1, whose transition table does not hold what {name} around it does; write"
    with pytest.raises(ValueError, match=f"^reward_range must be given for {message}"):
        sj.learn(BOLD, env, LAW, episodes=5)
    best = sj.OptimalPlayer(sj.plan(LAKE, LAW))
    message = f"agent must learn: FrozenLake-v1 has {name} around its table, and none to plan on"
    with pytest.raises(ValueError, match=f"^{message}"):
        sj.learn(best, env, LAW, episodes=5)


def test_a_time_limit_around_a_table_has_no_effect():
    env = TimeLimit(TabularEnv(sj.mdps.river_swim(4)), 2)
    run = sj.learn(BOLD, env, sj.Fixed(6), episodes=20)
    assert run.lengths.tolist() == [6] * 20
    assert_same(
        run, sj.learn(BOLD, sj.mdps.river_swim(4), sj.Fixed(6), episodes=20), but=("seconds", "problem")
    )


def test_vector_environments_are_refused():
    envs = gymnasium.make_vec("Taxi-v4", num_envs=2)
    with pytest.raises(TypeError, match="must be a Gymnasium id or environment; got"):
        sj.learn(BOLD, envs, LAW, episodes=5, reward_range=(-10, 20))


def test_an_invalid_action_is_refused():
    class Wrong(Recorder):
        def act(self, state, h):
            return 2

    with pytest.raises(ValueError, match=r"^act must return an action in 0 … 1; got 2\.$"):
        sj.learn(Wrong(), "Blackjack-v1", LAW, episodes=1, reward_range=(-1, 1))


def test_agents_are_compared_on_environments():
    agents = {"chance": sj.RandomPlayer(), "bold": BOLD}
    read = sj.compare(agents, "FrozenLake-v1", LAW, episodes=50, seeds=2)
    expected = sj.compare(agents, sj.TabularMDP.from_env("FrozenLake-v1"), LAW, episodes=50, seeds=2)
    assert np.array_equal(read.cumulative_regret, expected.cumulative_regret)
    played = sj.compare(agents, "Blackjack-v1", LAW, episodes=1_000, seeds=3, reward_range=(-1, 1))
    assert np.isnan(played.cumulative_regret).all()
    assert (played.rewards[1] > played.rewards[0]).all()
    assert "reward per episode" in str(played)
