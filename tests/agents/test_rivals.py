"""Agents from other papers: conformance, both ways of playing, their updates in NumPy, known answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from reference import rivals as reference
from reference.playing import count_violations, play, start
from reference.problems import SMALL, costly_end, live

import sojourn as sj
from sojourn.agents import EpisodeBatch
from sojourn.agents._bonuses import ProblemSize
from sojourn.agents.tabular import _compiled_play
from sojourn.learning import _learn
from sojourn.testing import check_learner

GEOMETRIC, SHAPED = sj.Geometric(0.9), sj.Polynomial(p=1.6, offset=3)
AGENTS = [
    sj.PSRL(GEOMETRIC, unseen="each"),
    sj.PSRL(GEOMETRIC),
    sj.PSRL(GEOMETRIC, 0.1, unseen="together"),
    sj.PSRL(SHAPED, 3.0, horizon=8, after="hold", count="first"),
    sj.QLearning(GEOMETRIC, 0.01),
    sj.QLearning(SHAPED, 0.001, horizon=8, after="hold", count="first", ties="first"),
    sj.QLearning(sj.Fixed(9), 0.01, form="literal"),
    sj.UCBVIGamma(GEOMETRIC, 1e-4),
    sj.UCBVIGamma(GEOMETRIC, 1e-4, backups="step", count="first", horizon=6),
    sj.UCBVIGamma(SHAPED, 1e-6, gamma=0.8, after="hold", count="first", horizon=8),
    sj.EpsilonGreedy(GEOMETRIC),
    sj.EpsilonGreedy(SHAPED, 0.4, horizon=8, decay=0.5, rate="mean", initial=1.0, after="hold"),
    sj.EpsilonGreedy(GEOMETRIC, 0.3, form="stationary", gamma=0.8, ties="first", count="first"),
    sj.UCBVI(GEOMETRIC, sj.SimpleBernstein(0.01)),
    sj.UCBVI(GEOMETRIC, sj.MonotoneBernstein(0.01)),
    sj.UCBVI(SHAPED, sj.MonotoneBernstein(0.003), horizon=12, count="first", after="hold"),
    sj.UCBVI(SHAPED, sj.EQO(0.01), horizon=12),
]
PROBLEMS = [
    sj.mdps.river_swim(6),
    sj.mdps.garnet(15, 3, 3, seed=2),
    sj.TabularMDP.from_env("FrozenLake-v1"),
    sj.TabularMDP.from_env("Taxi-v4"),
]


# Sparse and dense, with ends and costs and several starts, under tails that outlast every learner's layers.
KINDS = [(mdp, GEOMETRIC) for mdp in PROBLEMS] + [
    (costly_end(), SHAPED),
    (sj.mdps.cash_or_invest(5), sj.Polynomial(p=1.6, offset=10)),
    (sj.TabularMDP.from_env("CliffWalking-v1"), sj.Uniform(1, 30)),  # the absorbing state is paid
]


def name(agent):
    bonus = f" {type(agent.bonus).__name__}" if hasattr(agent, "bonus") else ""
    return f"{type(agent).__name__}{bonus} {type(agent.law).__name__}"


@pytest.mark.parametrize("agent", AGENTS, ids=name)
def test_its_learners_pass_the_conformance_suite(agent):
    check_learner(agent, episodes=8)


@pytest.mark.parametrize(("mdp", "law"), KINDS, ids=lambda kind: getattr(kind, "name", ""))
@pytest.mark.parametrize("agent", AGENTS, ids=name)
def test_both_ways_of_playing_give_the_same_bits(agent, mdp, law, monkeypatch):
    fast = sj.learn(agent, mdp, law, episodes=40, seed=3)
    monkeypatch.setattr(_learn, "play_compiled", _learn.play_by_protocol)
    slow = sj.learn(agent, mdp, law, episodes=40, seed=3)
    for part in ("regret", "regret_width", "rewards", "lengths", "observed", "starts"):
        np.testing.assert_array_equal(getattr(fast, part), getattr(slow, part), err_msg=part)
    np.testing.assert_array_equal(fast.learner.q_values(), slow.learner.q_values())
    np.testing.assert_array_equal(fast.learner.visits.toarray(), slow.learner.visits.toarray())


@pytest.mark.parametrize("law", [GEOMETRIC, sj.Polynomial(p=1.4, offset=5)], ids=repr)
@pytest.mark.parametrize("agent", AGENTS, ids=name)
def test_regret_is_that_of_the_policy_played(agent, law):
    # The forward valuation against `evaluate` of the policy as a table, also with random exploration.
    mdp = sj.mdps.garnet(8, 3, 2, seed=7)
    reference, problem = _learn.Reference(mdp, law), _learn.problem_arrays(mdp)
    learner = start(agent, mdp, 30)
    rng = np.random.default_rng(1)
    for _ in range(4):
        exact = sj.evaluate(
            mdp, law, learner.policy(), after=learner.after, tolerance=reference.tolerance / 10
        )
        value, width = reference.value(learner, problem, 2)
        assert value == pytest.approx(exact.value[2], abs=width + exact.width)
        learner.play(
            EpisodeBatch(problem, reference.arrays, rng, np.array([2, 2]), law.sample(rng, 2).clip(max=40))
        )


def layer_of(h, n_layers, options):
    """The layer, counted from 1, that plays step h, or None if it is not counted."""
    if h > n_layers and options.get("count") == "first":
        return None
    return min(h, n_layers) if options.get("after") == "hold" else (h - 1) % n_layers + 1


OPTIONS = [{}, {"after": "hold"}, {"count": "first"}]
"""Settings of what is played past the last layer and what is learned from it."""


@pytest.mark.parametrize(
    ("longest", "options"),
    [(6, {}), (6, {"form": "literal"}), *((15, options) for options in OPTIONS)],
    ids=str,
)
@pytest.mark.parametrize("belief", [sj.Fixed(6), GEOMETRIC, SHAPED], ids=repr)
@pytest.mark.parametrize("mdp", SMALL, ids=lambda mdp: mdp.name)
def test_q_learning_is_that_of_jin_and_others(mdp, belief, options, longest):
    # In episodes no longer than N its updates at the end are those made step by step, as here; in longer ones
    # they are made at the end, in the order of the steps.
    mdp, episodes = mdp.normalized(), 60
    agent = sj.QLearning(belief, 0.003, horizon=6, **options)
    n_layers, truncation = agent.layers(episodes)
    reach = float(belief.survival(n_layers + 1))
    dense = reference.DenseQLearning(
        belief,
        (mdp.n_states, mdp.n_actions),
        episodes,
        n_layers,
        truncation / reach if reach > 0 else 0.0,
        scale=0.003,
        delta=0.1,
        terminal=mdp.terminal,
        terminal_reward=mdp.terminal_reward,
        is_literal="form" in options,
    )
    steps = []

    def watch(h, state, action, following):
        steps.append((layer_of(h, n_layers, options), state, action, following))
        if longest == 6:
            learn_all()

    def learn_all():
        for layer, state, action, following in steps:
            if layer is not None:
                dense.step(layer, state, action, mdp.rewards[state, action], following)
        steps.clear()

    learner = start(agent, mdp, episodes)
    for _ in play(learner, mdp, sj.Uniform(1, longest), episodes, 1, watch):
        learn_all()
        found = learner.q_values(live(mdp))
        np.testing.assert_allclose(found, dense.q[:, live(mdp)], atol=1e-10, rtol=0)
    assert (dense.counts > 3).any()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("form", ["layered", "stationary"])
@pytest.mark.parametrize("rate", [0.3, "mean"])
@pytest.mark.parametrize("mdp", SMALL, ids=lambda mdp: mdp.name)
def test_epsilon_greedy_is_watkins(mdp, rate, form, options):
    mdp, episodes = mdp.normalized(), 60
    agent = sj.EpsilonGreedy(SHAPED, 0.3, rate=rate, form=form, horizon=7, **options)
    is_stationary, shape = form == "stationary", (mdp.n_states, mdp.n_actions)
    gamma = 1 - 1 / SHAPED.mean
    h = np.arange(1, 9)
    worth = np.full(2, 1 / (1 - gamma)) if is_stationary else SHAPED.remaining(h)
    ratios = np.array([gamma]) if is_stationary else SHAPED.continuation(h[:-1])
    values = mdp.terminal_reward * worth
    dense = reference.DenseWatkins(ratios, values[:-1], values, mdp.terminal, shape, rate)
    steps = []
    learner = start(agent, mdp, episodes)
    law = sj.Uniform(1, 16)
    for _ in play(learner, mdp, law, episodes, 1, lambda *step: steps.append(step)):
        for h, state, action, following in steps:
            layer = layer_of(h, 7, options)
            if layer is not None:
                dense.step(layer, state, action, mdp.rewards[state, action], following)
        steps.clear()
        np.testing.assert_allclose(learner.q_values(live(mdp)), dense.q[:, live(mdp)], atol=1e-10, rtol=0)


@pytest.mark.parametrize(
    ("scale", "backups"), [(1.0, "episode"), (1e-4, "episode"), (1e-7, "episode"), (1e-6, "step")]
)
@pytest.mark.parametrize("mdp", SMALL, ids=lambda mdp: mdp.name)
def test_ucbvi_gamma_is_that_of_he_and_others(mdp, scale, backups):
    mdp, episodes = mdp.normalized(), 60
    agent, law = sj.UCBVIGamma(SHAPED, scale, backups=backups), sj.Uniform(1, 12)
    assert agent.discount == pytest.approx(1 - 1 / SHAPED.mean)
    dense = reference.DenseGamma(
        agent.discount,
        (mdp.n_states, mdp.n_actions),
        episodes * SHAPED.mean,
        scale=scale,
        delta=0.1,
        terminal=mdp.terminal,
        terminal_reward=mdp.terminal_reward,
    )

    steps = []

    def watch(h, state, action, following):
        dense.counts[state, action, following] += 1
        steps.append(h)

    learner = start(agent, mdp, episodes)
    for _ in play(learner, mdp, law, episodes, 1, watch):
        for _ in steps if backups == "step" else [1]:
            dense.update(mdp.rewards)
        steps.clear()
        found = learner.q_values(live(mdp))
        np.testing.assert_allclose(found, dense.q[np.newaxis, live(mdp)], atol=1e-10, rtol=0)
    if scale < 1e-5:
        assert (dense.q < 1 / (1 - agent.discount) - 1e-3).any()


def test_bonuses_equal_their_formulas():
    size = ProblemSize(n_states=3, n_actions=2, episodes=10, horizon=4, delta=0.1)
    log = math.log(3 * 2 * 10 * 4 / 0.1)
    left = np.array([3.0, 2.0, 1.0, 0.0])  # Γ(h+1)/γ(h) of Fixed(4)
    np.testing.assert_allclose(sj.EQO(0.5).of_one_visit(sj.Fixed(4), size), 0.5 * log * left)
    spread = sj.SimpleBernstein(0.5).bernstein_terms(sj.Fixed(4), size)
    np.testing.assert_allclose(spread.factor, [0.5, 0.5, 0.5, 0.0])
    np.testing.assert_allclose(spread.linear, log * left)
    assert spread.variance == pytest.approx(log)


@pytest.mark.parametrize("bonus", [sj.EQO(0.01), sj.SimpleBernstein(0.01)], ids=repr)
@pytest.mark.parametrize("mdp", SMALL, ids=lambda mdp: mdp.name)
def test_practical_bonuses_equal_a_dense_sweep(mdp, bonus):
    mdp, episodes = mdp.normalized(), 40
    agent = sj.UCBVI(SHAPED, bonus, horizon=7)
    n_layers, truncation = agent.layers(episodes)
    h, shape = np.arange(1, 9), (mdp.n_states, mdp.n_actions)
    caps, ratios = SHAPED.remaining(h), SHAPED.continuation(h)
    log = math.log(mdp.n_states * mdp.n_actions * episodes * n_layers / 0.1)
    q = np.ones((n_layers, *shape)) * caps[:-1, np.newaxis, np.newaxis]
    counts = np.zeros((*shape, mdp.n_states))

    def watch(h, state, action, following):
        counts[state, action, following] += 1

    learner = start(agent, mdp, episodes)
    for _ in play(learner, mdp, sj.Uniform(1, 9), episodes, 1, watch):
        value = np.full(mdp.n_states, truncation / float(SHAPED.survival(n_layers + 1)))
        value[list(mdp.terminal)] = mdp.terminal_reward * caps[-1]
        for i in reversed(range(n_layers)):
            for s, a in np.argwhere(counts.sum(axis=2) > 0):
                n = counts[s, a].sum()
                chances = counts[s, a] / n
                mean = chances @ value
                extra = caps[i + 1] * log / n
                if isinstance(bonus, sj.SimpleBernstein):
                    extra += np.sqrt(log * (chances @ (value - mean) ** 2) / n)
                backup = mdp.rewards[s, a] + ratios[i] * mean + bonus.scale * ratios[i] * extra
                q[i, s, a] = min(q[i, s, a], backup)
            value = q[i].max(axis=1)
            value[list(mdp.terminal)] = mdp.terminal_reward * caps[i]
        np.testing.assert_allclose(learner.q_values(live(mdp)), q[:, live(mdp)], atol=1e-10, rtol=0)
    assert (q < caps[:-1, np.newaxis, np.newaxis] - 1e-6).any()


@pytest.mark.parametrize("kind", [sj.SimpleBernstein, sj.EQO])
@pytest.mark.parametrize(
    ("mdp", "law"),
    [(sj.mdps.garnet(3, 2, 2, seed=3), sj.Geometric(0.6)), (sj.mdps.river_swim(4), sj.Geometric(0.8))],
    ids=lambda kind: getattr(kind, "name", ""),
)
def test_practical_bonuses_are_optimistic_at_their_scale_and_not_at_a_hundredth(mdp, law, kind):
    # Q ≥ Q* on every pair at the end of eight trials, while all Q values lie below their caps.
    n_states, n_actions = mdp.n_states, mdp.n_actions
    chances = mdp.transitions.toarray().reshape(n_states, n_actions, n_states)
    q_star = mdp.rewards + law.gamma * chances @ sj.plan(mdp, law, tolerance=1e-9).value

    def played(scale):
        agent = sj.UCBVI(law, kind(scale))
        return (sj.learn(agent, mdp, law, episodes=3_000, seed=seed).learner for seed in range(8))

    violated, below = count_violations(played(1.0), q_star)
    assert violated == 0
    assert below > 0.9
    assert count_violations(played(0.01), q_star)[0] > 4


TWO_ARMS = sj.TabularMDP(
    [[[0.7, 0.3], [0.3, 0.7]], [[0.7, 0.3], [0.3, 0.7]]], [[0.0, 0.0], [1.0, 1.0]], start=0
)


@pytest.mark.parametrize(
    "agent",
    [
        sj.PSRL(sj.Fixed(6)),
        sj.QLearning(sj.Fixed(6), 0.02),
        sj.UCBVIGamma(sj.Fixed(6), 1e-3),
        sj.EpsilonGreedy(sj.Fixed(6), 1.0, decay=0.5, rate="mean"),
        sj.EpsilonGreedy(sj.Fixed(6), 1.0, decay=0.5, rate="mean", form="stationary"),
        sj.UCBVI(sj.Fixed(6), sj.EQO(0.1)),
        sj.UCBVI(sj.Fixed(6), sj.SimpleBernstein(0.1)),
        sj.UCBVI(sj.Fixed(6), sj.MonotoneBernstein(0.1)),
    ],
    ids=lambda agent: type(getattr(agent, "bonus", agent)).__name__,
)
def test_the_better_of_two_arms_is_found(agent):
    # Arm 1 leads to the state that pays with chance 0.7, arm 0 with 0.3, wherever one is. Whoever always
    # plays arm 1 earns 0.7 in each of the steps 2 … 6 from the state that pays nothing: 3.5 in all.
    law = sj.Fixed(6)
    run = sj.learn(agent, TWO_ARMS, law, episodes=6_000, seed=1)
    best = sj.plan(TWO_ARMS, law, tolerance=1e-9)
    assert best.value[0] == pytest.approx(3.5)
    loss = run.regret[-1_000:].mean() / (run.regret[:5].mean() + 1e-12)
    assert loss < 0.1
    assert run.learner.q_values(np.array([0]))[0, 0].argmax() == 1


def test_the_better_arm_is_found_with_learned_rewards_too():
    # One state, three arms that pay 0.1, 0.9 and 0.4.
    for agent in (
        sj.PSRL(sj.Fixed(2), noise=0.3),
        sj.QLearning(sj.Fixed(2), 0.05),
        sj.UCBVIGamma(sj.Fixed(2), 0.01),
        sj.EpsilonGreedy(sj.Fixed(2), 0.2),
    ):
        learner = agent.start(n_states=1, n_actions=3, episodes=400, rng=np.random.default_rng(0))
        for _ in range(400):
            for h in (1, 2):
                action = learner.act(0, h)
                learner.observe(0, action, (0.1, 0.9, 0.4)[action], 0, False)
            learner.end_episode(2, True)
        assert learner.visits.toarray()[0].argmax() == 1, agent


def test_epsilon_greedy_explores_with_the_stated_probability():
    mdp = sj.mdps.garnet(40, 4, 2, seed=0)
    for agent, share in (
        (sj.EpsilonGreedy(GEOMETRIC, 0.4, ties="first"), 0.4),
        (sj.EpsilonGreedy(GEOMETRIC, 0.4, decay=1.0, ties="first"), 0.1),
    ):
        learner = start(agent, mdp, 100)
        for _ in range(3):
            learner.end_episode(0, True)
        policy = learner.policy()  # nothing was learned: the greedy action is 0, in the fourth episode
        assert (policy != 0).mean() == pytest.approx(share * 3 / 4, abs=0.02)
        assert np.bincount(policy[policy > 0])[1:].min() > 0.2 * (policy > 0).sum()


def test_memory_grows_with_what_was_seen():
    for agent in (
        sj.PSRL(GEOMETRIC, horizon=9),
        sj.QLearning(GEOMETRIC, horizon=9),
        sj.UCBVIGamma(GEOMETRIC),
    ):
        learner = agent.start(n_states=10**6, n_actions=2, episodes=9, rng=np.random.default_rng(0))
        for k in range(40):
            for h in range(1, 10):
                state, following = 1_000 * k + h, 1_000 * k + h + 1
                learner.observe(state, learner.act(state, h), 0.5, following, False)
            learner.end_episode(9, True)
        assert len(learner.states) == 400
        assert sum(array.nbytes for array in learner._tables) < 500_000


def test_episodes_too_long_to_keep_are_played_step_by_step_with_the_same_bits(monkeypatch):
    # Under heavy tails a length may be astronomic while a terminal state ends the episode soon.
    agent, mdp = sj.QLearning(GEOMETRIC, 0.001), PROBLEMS[2]
    whole = sj.learn(agent, mdp, GEOMETRIC, episodes=60, seed=2)
    monkeypatch.setattr(_compiled_play, "_MOST_STEPS", 6)
    assert (whole.lengths > 6).any()
    parts = sj.learn(agent, mdp, GEOMETRIC, episodes=60, seed=2)
    np.testing.assert_array_equal(parts.regret, whole.regret)
    np.testing.assert_array_equal(parts.learner.q_values(), whole.learner.q_values())
    monkeypatch.undo()
    learner, reference, problem = (
        start(agent, mdp, 3),
        _learn.Reference(mdp, GEOMETRIC),
        _learn.problem_arrays(mdp),
    )
    played = learner.play(
        EpisodeBatch(problem, reference.arrays, np.random.default_rng(0), np.array([0]), np.array([10**12]))
    )
    assert not played.observed[0]


@pytest.mark.parametrize(
    "bonus", [sj.EQO(0.01), sj.SimpleBernstein(0.01), sj.MonotoneBernstein(0.01)], ids=repr
)
def test_saved_learners_with_practical_bonuses_continue_bit_for_bit(bonus, tmp_path):
    mdp = PROBLEMS[1]
    learner = start(sj.UCBVI(GEOMETRIC, bonus), mdp, 60)
    for _ in play(learner, mdp, GEOMETRIC, 20, 1):
        pass
    again = sj.load_learner(learner.save(tmp_path / "learner.npz"))
    for _ in zip(play(learner, mdp, GEOMETRIC, 20, 2), play(again, mdp, GEOMETRIC, 20, 2), strict=True):
        np.testing.assert_array_equal(again.q_values(), learner.q_values())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sj.PSRL(3), "law must be a LengthLaw, such as Geometric(0.95); got 3."),
        (lambda: sj.PSRL(GEOMETRIC, 0.0), "prior must be a finite number > 0; got 0.0."),
        (lambda: sj.PSRL(GEOMETRIC, noise=-1), "noise must be a finite number ≥ 0; got -1."),
        (
            lambda: sj.PSRL(GEOMETRIC, unseen="apar"),
            "unseen must be one of 'default', 'apart', 'together', 'each'; got 'apar'.",
        ),
        (
            lambda: sj.PSRL(GEOMETRIC, unseen="apart", n_states=9).start(
                n_states=None, n_actions=2, episodes=3, rng=np.random.default_rng(0)
            ),
            "unseen must be 'together' if the number of states is not known; got 'apart'.",
        ),
        (lambda: sj.PSRL(GEOMETRIC, ties="last"), "ties must be one of 'random', 'first'; got 'last'."),
        (lambda: sj.QLearning(GEOMETRIC, -1), "scale must be a finite number ≥ 0; got -1."),
        (
            lambda: sj.QLearning(GEOMETRIC, form="loose"),
            "form must be one of 'tight', 'literal'; got 'loose'.",
        ),
        (lambda: sj.PSRL(GEOMETRIC, 0.05, unseen="each"), "prior must be at least 0.1 if unseen is 'each'"),
        (lambda: sj.QLearning(GEOMETRIC, delta=2), "delta must be in (0, 1); got 2."),
        (
            lambda: sj.UCBVIGamma(GEOMETRIC, backups="layer"),
            "backups must be one of 'episode', 'step'; got 'layer'.",
        ),
        (lambda: sj.UCBVIGamma(GEOMETRIC, gamma=1.0), "gamma must be in [0, 1); got 1.0."),
        (lambda: sj.EpsilonGreedy(GEOMETRIC, 1.5), "epsilon must be in [0, 1]; got 1.5."),
        (lambda: sj.EpsilonGreedy(GEOMETRIC, rate=2.0), 'rate must be in (0, 1], or "mean"; got 2.0.'),
        (lambda: sj.EpsilonGreedy(GEOMETRIC, rate="slow"), "rate must be one of 'mean'; got 'slow'."),
        (lambda: sj.EpsilonGreedy(GEOMETRIC, initial=7), "initial must be in [0, 1]; got 7."),
        (
            lambda: sj.EpsilonGreedy(GEOMETRIC, gamma=0.5),
            "gamma must be left out unless the form is stationary; got 0.5.",
        ),
        (lambda: sj.EQO(-1), "scale must be a finite number ≥ 0; got -1."),
        (
            lambda: sj.PSRL(GEOMETRIC).start(
                n_states=None, n_actions=2, episodes=3, rng=np.random.default_rng(0)
            ),
            "n_states must be given, by the problem or in the settings; got None. Write PSRL(",
        ),
    ],
)
def test_bad_settings_raise_a_one_line_error(make, message):
    with pytest.raises((ValueError, TypeError)) as caught:
        make()
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "agent",
    [kind(GEOMETRIC) for kind in (sj.PSRL, sj.QLearning, sj.UCBVIGamma, sj.EpsilonGreedy, sj.UCBVI)],
    ids=lambda agent: type(agent).__name__,
)
@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [("n_states", 0, "a whole number ≥ 1"), ("n_states", "x", "a whole number ≥ 1")]
    + [("terminal_reward", value, "a finite number") for value in ("x", None, math.inf)],
)
def test_bad_problems_raise_a_one_line_error(agent, name, value, rule):
    problem = {"n_states": 3, "n_actions": 2, "episodes": 4, "rng": np.random.default_rng(0), name: value}
    with pytest.raises((ValueError, TypeError)) as caught:
        agent.start(**problem)
    assert str(caught.value) == f"{name} must be {rule}; got {value!r}."


def test_a_single_layer_is_not_its_own_successor():
    # One state that pays 1: r + ρ V_2 with V_2 = 0 is 1, not 1/(1 − γ).
    mdp = sj.TabularMDP(np.ones((1, 1, 1)), np.ones((1, 1)))
    agent = sj.EpsilonGreedy(sj.Geometric(0.9), 0.0, rate="mean", horizon=1)
    run = sj.learn(agent, mdp, sj.Geometric(0.9), episodes=50)
    assert run.learner.q_values()[0, 0, 0] == pytest.approx(1.0)
