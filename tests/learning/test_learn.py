"""Trials: two ways with one result, exact regret, and reproducibility."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import sojourn as sj
from sojourn.agents import EpisodeBatch
from sojourn.learning import _learn
from sojourn.learning._reference_arrays import drift_losses

GEOMETRIC, HEAVY = sj.Geometric(0.9), sj.Polynomial(p=1.4, offset=5)
PROBLEMS = [
    sj.mdps.river_swim(6),
    sj.mdps.garnet(15, 3, 3, seed=2),
    sj.TabularMDP.from_env("FrozenLake-v1"),
    sj.TabularMDP.from_env("Taxi-v4"),
    sj.mdps.cash_or_invest(delay=3),
]


@pytest.mark.parametrize("mdp", PROBLEMS, ids=lambda mdp: mdp.name)
@pytest.mark.parametrize(
    "settings",
    [{}, {"ties": "first"}, {"after": "hold", "count": "first", "horizon": 6}, {"horizon": 3}],
    ids=str,
)
def test_both_ways_of_playing_give_the_same_bits(mdp, settings, monkeypatch):
    agent = sj.UCBVI(GEOMETRIC, sj.PaperBonus(0.003), **settings)
    fast = sj.learn(agent, mdp, GEOMETRIC, episodes=60, seed=3)
    monkeypatch.setattr(_learn, "play_compiled", _learn.play_by_protocol)
    slow = sj.learn(agent, mdp, GEOMETRIC, episodes=60, seed=3)
    for name in ("regret", "regret_width", "rewards", "lengths", "observed", "starts"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name), err_msg=name)


@pytest.mark.parametrize("mdp", PROBLEMS, ids=lambda mdp: mdp.name)
@pytest.mark.parametrize(
    "agent",
    [
        sj.UCBVI(sj.Fixed(10), sj.Hoeffding(0.001)),
        sj.UCBVI(sj.Fixed(10), sj.Bernstein(0.001)),
        sj.UCBVI(GEOMETRIC, sj.GeneralBernstein(0.001), horizon=12),
    ],
    ids=lambda agent: type(agent.bonus).__name__,
)
def test_other_agents_play_the_same_both_ways(mdp, agent, monkeypatch):
    fast = sj.learn(agent, mdp, GEOMETRIC, episodes=25, seed=1)
    monkeypatch.setattr(_learn, "play_compiled", _learn.play_by_protocol)
    slow = sj.learn(agent, mdp, GEOMETRIC, episodes=25, seed=1)
    np.testing.assert_array_equal(fast.regret, slow.regret)
    np.testing.assert_array_equal(fast.rewards, slow.rewards)


@pytest.mark.parametrize("mdp", PROBLEMS, ids=lambda mdp: mdp.name)
def test_both_ways_of_playing_learn_the_same(mdp):
    normalized = mdp.normalized()
    learners = []
    for player in (_learn.play_compiled, _learn.play_by_protocol):
        learner = sj.UCBVI(GEOMETRIC, sj.PaperBonus(0.003)).start(
            n_states=mdp.n_states,
            n_actions=mdp.n_actions,
            episodes=40,
            rewards=normalized.rewards,
            terminal_reward=normalized.terminal_reward,
            rng=np.random.default_rng(1),
        )
        drawn = GEOMETRIC.sample(np.random.default_rng(2), 40)
        starts = np.random.default_rng(3).choice(mdp.n_states, size=40, p=mdp.start)
        reference = _learn.Reference(mdp, GEOMETRIC)
        player(learner, reference, starts, drawn, rng=np.random.default_rng(4), progress=lambda share: None)
        learners.append(learner)
    fast, slow = learners
    assert fast.transition_counts == slow.transition_counts
    np.testing.assert_array_equal(fast.states, slow.states)
    np.testing.assert_array_equal(fast.q_values(), slow.q_values())


@pytest.mark.parametrize("after", ["restart", "hold"])
@pytest.mark.parametrize("ties", ["random", "first"])
@pytest.mark.parametrize(
    "law",
    [sj.NegativeBinomial(r=2.0, gamma=0.8), sj.Polynomial(1.4, offset=20), sj.BetaGeometric(2.5, 10.0)],
    ids=repr,
)
@pytest.mark.parametrize(
    "mdp",
    [
        sj.mdps.garnet(10, 3, 3, seed=7),
        sj.mdps.cash_or_invest(3),
        sj.TabularMDP.from_env("FrozenLake-v1", is_slippery=False),
        sj.TabularMDP.from_env("CliffWalking-v1"),
    ],
    ids=lambda mdp: mdp.name,
)
def test_regret_is_that_of_the_policy_played(mdp, law, ties, after):
    # The forward valuation against `evaluate` of the policy as a table, a different algorithm.
    agent = sj.UCBVI(sj.Geometric(0.9), sj.PaperBonus(0.001), horizon=7, after=after, ties=ties)
    reference, problem, normalized = _learn.Reference(mdp, law), _learn.problem_arrays(mdp), mdp.normalized()
    learner = agent.start(
        n_states=mdp.n_states,
        n_actions=mdp.n_actions,
        episodes=30,
        rewards=normalized.rewards,
        terminal_reward=normalized.terminal_reward,
        rng=np.random.default_rng(0),
    )
    rng, n_forward = np.random.default_rng(1), 0
    live = np.setdiff1d(np.arange(mdp.n_states), mdp.terminal)
    for _ in range(8):
        exact = sj.evaluate(mdp, law, learner.policy(), after=after, tolerance=reference.tolerance / 10)
        for start in live[:10]:
            n_forward += not np.isnan(learner.policy_value(problem, reference.arrays, start)[0])
            value, width = reference.value(learner, problem, start)
            assert width <= reference.tolerance
            assert value == pytest.approx(exact.value[start], abs=width + exact.width)
        learner.play(
            EpisodeBatch(
                problem, reference.arrays, rng, rng.choice(live, size=2), law.sample(rng, 2).clip(max=50)
            ),
            value_of=reference.value_of_table,
        )
    assert n_forward == 8 * live[:10].size


def test_a_policy_that_cannot_be_followed_forward_is_evaluated_as_a_table(monkeypatch):
    # A heavy tail and a chain that mixes: rounding alone is more than the bracket allows.
    mdp, law, agent = sj.mdps.river_swim(4), sj.Polynomial(1.3), sj.UCBVI(sj.Fixed(6), sj.PaperBonus(0.01))
    run = sj.learn(agent, mdp, law, episodes=5)
    asked = []
    monkeypatch.setattr(
        _learn.Reference,
        "value",
        lambda reference, learner, problem, start: (
            asked.append(start) or reference.value_of_table(learner, start)
        ),
    )
    monkeypatch.setattr(_learn, "play_compiled", _learn.play_by_protocol)
    np.testing.assert_array_equal(sj.learn(agent, mdp, law, episodes=5).regret, run.regret)
    assert asked


@pytest.mark.parametrize("law", [sj.Polynomial(1.4), sj.BetaGeometric(2.5, 10.0)], ids=repr)
def test_the_loss_of_a_drift_is_bounded_from_above(law):
    # Against the sum itself up to a million steps; what comes after is at most 2 Γ.
    drifts, h = np.array([0.0, 1e-6, 1e-4, 1e-2]), np.arange(1, 1_000_001)
    direct = [(law.survival(h) * np.minimum(2.0, drift * h)).sum() for drift in drifts]
    found = drift_losses(law, drifts)
    assert found[0] == 0.0
    assert (found >= direct).all()
    assert (found[1:] <= 3.0 * (np.array(direct[1:]) + 2.0 * law.tail(1_000_001))).all()


@pytest.mark.parametrize("after", ["restart", "hold"])
@pytest.mark.parametrize("ties", ["random", "first"])
@pytest.mark.parametrize("horizon", [4, 30])
@pytest.mark.parametrize(
    "mdp", [sj.mdps.river_swim(5), sj.TabularMDP.from_env("FrozenLake-v1")], ids=lambda mdp: mdp.name
)
def test_the_value_cache_does_not_change_values(mdp, horizon, ties, after):
    # With one start state the last valuation is reused. A fresh one must give the same bits, and `evaluate`
    # the same value. Where the clock starts again, early layers are played late by states reached late.
    law = sj.Geometric(0.85)
    agent = sj.UCBVI(law, sj.PaperBonus(0.003), horizon=horizon, after=after, ties=ties)
    reference, problem, start = (
        _learn.Reference(mdp, law),
        _learn.problem_arrays(mdp),
        int(mdp.start.argmax()),
    )
    learner = agent.start(
        n_states=mdp.n_states,
        n_actions=mdp.n_actions,
        episodes=400,
        rewards=mdp.rewards,
        rng=np.random.default_rng(0),
    )
    rng = np.random.default_rng(1)
    for _ in range(300):
        kept, width = reference.value(learner, problem, start)
        exact = sj.evaluate(mdp, law, learner.policy(), after=after, tolerance=1e-10)
        assert kept == pytest.approx(exact.value[start], abs=width + exact.width)
        learner._valuation = None
        assert reference.value(learner, problem, start)[0] == kept
        learner.play(EpisodeBatch(problem, reference.arrays, rng, np.array([start]), law.sample(rng, 1)))


def test_probabilities_that_underflow_are_dropped():
    # Two hundred states in a row, each reached with a chance of 1e-9 from the last: far ones underflow to 0.
    n_states = 200
    transitions = np.zeros((n_states, 1, n_states))
    for s in range(n_states):
        transitions[s, 0, s] = 1.0 - 1e-9
        transitions[s, 0, min(s + 1, n_states - 1)] += 1e-9
    mdp, law = sj.TabularMDP(transitions, np.ones((n_states, 1))), sj.Geometric(0.99)
    run = sj.learn(sj.UCBVI(law, horizon=5), mdp, law, episodes=3)
    np.testing.assert_allclose(run.regret, 0.0, atol=1e-6)


@pytest.mark.parametrize(
    ("law", "tolerance"),
    [(GEOMETRIC, 1e-3), (GEOMETRIC, 1e-6), (GEOMETRIC, 1e-9), (HEAVY, 1e-3), (HEAVY, 1e-6)],
)
def test_regret_is_certified_to_its_tolerance(law, tolerance):
    agent, mdp = sj.UCBVI(law, sj.PaperBonus(0.01)), sj.mdps.river_swim(6)
    run = sj.learn(agent, mdp, law, episodes=20, regret_tolerance=tolerance)
    unit = float(sj.plan(mdp, law).value[0]) if law is GEOMETRIC else law.mean
    assert (run.regret_width <= tolerance * unit).all()
    assert (run.regret >= -run.regret_width).all()
    exact = sj.learn(agent, mdp, law, episodes=20, regret_tolerance=1e-10)
    assert (np.abs(run.regret - exact.regret) <= run.regret_width + exact.regret_width).all()
    np.testing.assert_array_equal(run.rewards, exact.rewards)


def test_the_default_tolerance_of_regret_is_a_millionth():
    agent, mdp = sj.UCBVI(GEOMETRIC, sj.PaperBonus(0.01)), sj.mdps.river_swim(6)
    runs = [
        sj.learn(agent, mdp, GEOMETRIC, episodes=20, **given) for given in ({}, {"regret_tolerance": 1e-6})
    ]
    np.testing.assert_array_equal(runs[0].regret, runs[1].regret)


@pytest.mark.parametrize("value", [0.0, -1e-6, 1.0, np.nan, "small", None])
def test_an_impossible_tolerance_of_regret_is_refused(value):
    with pytest.raises(
        (TypeError, ValueError), match=r"^regret_tolerance must be a number from 1e-12 to 0.01; got"
    ):
        sj.learn(sj.UCBVI(GEOMETRIC), sj.mdps.river_swim(3), GEOMETRIC, episodes=2, regret_tolerance=value)


def test_a_tolerance_of_regret_needs_a_table():
    with pytest.raises(
        ValueError, match=r"^regret_tolerance must be left out: regret needs a transition table"
    ):
        sj.learn(
            sj.UCBVI(GEOMETRIC),
            "Blackjack-v1",
            GEOMETRIC,
            episodes=2,
            regret_tolerance=1e-9,
            reward_range=(-1, 1),
        )


def test_the_optimal_player_has_no_regret_and_random_play_has_much():
    mdp, law = sj.mdps.river_swim(6), GEOMETRIC
    best = sj.learn(sj.OptimalPlayer(sj.plan(mdp, law, tolerance=1e-9)), mdp, law, episodes=50)
    chance = sj.learn(sj.RandomPlayer(), mdp, law, episodes=50)
    assert np.abs(best.regret).max() < 1e-8
    assert chance.regret.min() > 1.0
    np.testing.assert_array_equal(best.starts, chance.starts)


def test_regret_falls_as_the_learner_learns():
    agent = sj.UCBVI(GEOMETRIC, sj.PaperBonus(0.01))
    run = sj.learn(agent, sj.mdps.river_swim(6), GEOMETRIC, episodes=2_000)
    assert run.regret[-200:].mean() < 0.05 * run.regret[:20].mean()


def test_at_the_papers_constants_nothing_is_learned_in_a_hundred_episodes_of_taxi():
    # No Q value leaves its cap, so with the lowest action on ties all learners coincide.
    mdp, law = sj.TabularMDP.from_env("Taxi-v4"), sj.Geometric(0.95)
    agents = [sj.UCBVI(law, ties="first")]
    for bonus in (sj.Hoeffding(), sj.Bernstein()):
        agents += [sj.UCBVI(sj.Fixed(h), bonus, ties="first") for h in (10, 20, 30)]
    runs = [sj.learn(agent, mdp, law, episodes=100) for agent in agents]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.regret, runs[0].regret)


def test_a_trial_is_a_function_of_its_settings_and_seed():
    mdp, agent = sj.mdps.river_swim(5), sj.UCBVI(GEOMETRIC, sj.PaperBonus(0.01))
    first, again = (sj.learn(agent, mdp, GEOMETRIC, episodes=80, seed=9) for _ in range(2))
    np.testing.assert_array_equal(first.regret, again.regret)
    other = sj.learn(agent, mdp, GEOMETRIC, episodes=80, seed=10)
    assert (other.lengths != first.lengths).any()


def test_all_learners_meet_the_same_lengths_and_starts():
    mdp, law = sj.TabularMDP.from_env("FrozenLake-v1", is_slippery=False), sj.Geometric(0.8)
    agents = (sj.RandomPlayer(), sj.UCBVI(law), sj.OptimalPlayer(sj.plan(mdp, law)))
    runs = [sj.learn(agent, mdp, law, episodes=50, seed=4) for agent in agents]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.starts, runs[0].starts)
        both = run.observed & runs[0].observed
        np.testing.assert_array_equal(run.lengths[both], runs[0].lengths[both])


@pytest.mark.parametrize("length", [10, 3])
def test_a_length_hidden_by_a_terminal_state_is_not_observed(length):
    # DeepSea(3) ends after three steps; also where the length falls on the same step it is not seen.
    run = sj.learn(sj.RandomPlayer(), sj.mdps.deep_sea(3), sj.Fixed(length), episodes=5)
    assert not run.observed.any()
    assert (run.lengths == 3).all()


def test_rewards_are_in_the_environments_own_units():
    # The lowest action is up: seven steps at −1 each.
    mdp = sj.TabularMDP.from_env("CliffWalking-v1")
    run = sj.learn(sj.UCBVI(sj.Fixed(7), ties="first"), mdp, sj.Fixed(7), episodes=1)
    np.testing.assert_allclose(run.rewards, -7.0)


def test_clairvoyant_regret_is_the_regret_plus_the_price():
    mdp, law = sj.mdps.two_paths(), sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)])
    run = sj.learn(sj.OptimalPlayer(sj.plan(mdp, law)), mdp, law, episodes=4)
    np.testing.assert_allclose(run.price, 0.5, atol=1e-9)
    np.testing.assert_allclose(run.clairvoyant_regret, 0.5, atol=1e-8)


class Mine:
    """A learner with three methods, and its own settings."""

    def __init__(self, action):
        self.action = action

    def start(self, **_):
        return self

    def act(self, state, h):
        return self.action

    def observe(self, state, action, reward, next_state, terminated):
        pass

    def end_episode(self, length, observed):
        pass


def test_a_custom_learner_needs_three_methods():
    run = sj.learn(Mine(1), sj.mdps.river_swim(4), GEOMETRIC, episodes=10)
    assert run.regret is None
    assert run.clairvoyant_regret is None
    assert run.rewards.shape == (10,)


def test_a_learner_with_invalid_actions_gets_an_error():
    with pytest.raises(ValueError, match=r"^act must return an action in 0 … 1; got 7.$"):
        sj.learn(Mine(7), sj.mdps.river_swim(4), GEOMETRIC, episodes=10)


def test_progress_is_reported():
    shares = []
    sj.learn(sj.UCBVI(GEOMETRIC), sj.mdps.river_swim(4), GEOMETRIC, episodes=250, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_run_prints_a_summary():
    run = sj.learn(sj.RandomPlayer(), sj.mdps.river_swim(4), GEOMETRIC, episodes=10)
    assert repr(run).startswith("Run(RandomPlayer on 'RiverSwim(4)', 10 episodes, mean reward ")
    assert "RiverSwim(4)" in run._repr_html_()


@pytest.mark.parametrize(
    "law",
    [
        sj.Polynomial(1.4, offset=500),
        sj.Mixture([0.9, 0.1], [sj.Fixed(7), sj.Polynomial(1.35)]),
        sj.Mixture([0.999, 0.001], [sj.Geometric(0.9), sj.Polynomial(1.2)]),
    ],
    ids=repr,
)
def test_heavy_tailed_laws_can_be_played(law):
    # Tails that begin late, or are rare: what comes after any number of steps is never next to nothing.
    run = sj.learn(sj.UCBVI(sj.Fixed(9), sj.PaperBonus(0.01)), sj.mdps.cash_or_invest(3), law, episodes=5)
    assert (run.regret >= -run.regret_width).all()
    assert (run.regret_width <= 1e-6 * law.mean).all()


def test_rewards_and_regret_are_in_the_units_of_the_problem_given():
    taxi = sj.TabularMDP.from_env("Taxi-v4")
    agent, law = sj.UCBVI(sj.Geometric(0.8)), sj.Geometric(0.8)
    own, mapped = (
        sj.learn(agent, mdp, law, episodes=50, regret_tolerance=1e-9) for mdp in (taxi, taxi.normalized())
    )
    np.testing.assert_array_equal(own.rewards, np.round(own.rewards))  # sums of whole numbers
    np.testing.assert_allclose(own.rewards, 30.0 * mapped.rewards - 10.0 * mapped.lengths)
    np.testing.assert_allclose(own.regret, 30.0 * mapped.regret, atol=1e-6)


def test_a_policy_array_changed_in_place_is_evaluated_again():
    class Writes:
        def __init__(self):
            self._policy, self._episode = np.zeros((1, 4), dtype=np.int64), 0

        def act(self, state, h):
            return int(self._policy[0, state])

        def observe(self, *step):
            pass

        def end_episode(self, length, observed):
            self._episode += 1
            self._policy[:] = self._episode % 2

        def policy(self):
            return self._policy

    class Agent:
        def start(self, **_):
            return Writes()

    run = sj.learn(Agent(), sj.mdps.river_swim(4), GEOMETRIC, episodes=4)
    assert run.regret[0] == run.regret[2] != run.regret[1] == run.regret[3]


def test_long_episodes_need_memory_only_for_what_they_visit():
    # 100,000 states of which one is ever seen, in episodes that could see half of them.
    n_states = 100_000
    indices = np.arange(n_states)
    table = sparse.csr_array((np.ones(n_states), (indices, indices)), shape=(n_states, n_states))
    start = np.zeros(n_states)
    start[3] = 1.0
    mdp, law = sj.TabularMDP(table, np.ones((n_states, 1)), start=start), sj.Fixed(5_000)
    run = sj.learn(sj.UCBVI(sj.Fixed(200)), mdp, law, episodes=3)
    assert sum(array.nbytes for array in run.learner._tables) < 2**20
    assert run.lengths.tolist() == [5_000] * 3


def test_an_object_that_is_no_agent_is_refused():
    for agent in (None, sj.UCBVI, GEOMETRIC):
        with pytest.raises(TypeError, match="agent must be an agent's settings, such as UCBVI"):
            sj.learn(agent, sj.mdps.river_swim(3), GEOMETRIC, episodes=2)


class OddLaw(sj.Geometric):
    """A law of a user whose `sample` returns whatever it is given."""

    drawn = None

    def sample(self, rng, size=None):
        return self.drawn


@pytest.mark.parametrize(
    ("drawn", "got"),
    [
        (np.array([3, -5, 2]), "-5"),
        (np.array([3.0, 2.5, 2.0]), "2.5"),
        (np.array([3.0, np.nan, 2.0]), "nan"),
        (np.array([3.0, np.inf, 2.0]), "inf"),
        (np.array([0, 1, 2]), "0"),
        (np.array([1, 2]), "shape (2,)"),
        (7, "shape ()"),
    ],
)
def test_lengths_that_a_law_cannot_draw_are_refused(drawn, got, monkeypatch):
    monkeypatch.setattr(OddLaw, "drawn", drawn)
    with pytest.raises(ValueError) as caught:
        sj.learn(sj.UCBVI(GEOMETRIC), sj.mdps.river_swim(3), OddLaw(0.9), episodes=3)
    assert str(caught.value) == f"OddLaw.sample(rng, 3) must return 3 whole numbers ≥ 1; got {got}."


def test_lengths_must_be_numbers(monkeypatch):
    monkeypatch.setattr(OddLaw, "drawn", ["a", "b", "c"])
    with pytest.raises(
        TypeError, match=r"^OddLaw.sample\(rng, 3\) must return 3 whole numbers ≥ 1; got dtype"
    ):
        sj.learn(sj.UCBVI(GEOMETRIC), "Blackjack-v1", OddLaw(0.9), episodes=3, reward_range=(-1, 1))


def test_whole_numbers_as_floats_are_lengths(monkeypatch):
    monkeypatch.setattr(OddLaw, "drawn", np.array([3.0, 1.0, 2.0]))
    run = sj.learn(sj.UCBVI(GEOMETRIC), sj.mdps.river_swim(3), OddLaw(0.9), episodes=3)
    assert run.lengths.tolist() == [3, 1, 2]
