"""The monotone Bernstein bonus: inequalities of its proof, its update, optimism in play, regret bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import learning as reference
from reference.playing import play, start
from reference.problems import costly_end, live
from scipy import stats

import sojourn as sj
from sojourn._kernels.learning._update_monotone_bernstein import monotone_bonus
from sojourn.agents._bonuses import ProblemSize
from sojourn.experiments.spec._agent_settings import build, resolve
from sojourn.laws import read_law
from sojourn.theory import proven_bound

GEOMETRIC, SHAPED = sj.Geometric(0.8), sj.Polynomial(p=1.6, offset=3)
CONSTANTS = {6.25: 2.08, 8.0: math.log(2.0)}
"""The constant c of the bonus, and the least ι for which it is proven."""


def bracket(chances, value, share, cap):
    """P̂V + max(√(x·Var), x·cap) in plain NumPy, with x = c·ι/n."""
    mean = chances @ value
    return mean + max(np.sqrt(share * (chances @ (value - mean) ** 2)), share * cap)


def sum_form(chances, value, share, cap):
    """The same with a sum, as in other Bernstein bonuses."""
    mean = chances @ value
    return mean + np.sqrt(share * (chances @ (value - mean) ** 2)) + share * cap


unit = st.floats(0.0, 1.0)
cases = st.integers(2, 5).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(1, 1_000), min_size=n, max_size=n),
        st.lists(unit, min_size=n, max_size=n),
        st.lists(unit, min_size=n, max_size=n),
        st.floats(-4.0, 1.0),
        st.floats(1.0, 50.0),
    )
)


@given(cases)
def test_the_bracket_is_monotone_in_the_next_value(case):
    counts, low, rise, log_share, cap = case
    chances, share = np.array(counts) / sum(counts), 10.0**log_share
    lower = cap * np.array(low)
    higher = lower + (cap - lower) * np.array(rise)
    assert bracket(chances, lower, share, cap) <= bracket(chances, higher, share, cap) + 1e-12 * cap


def test_the_maximum_and_the_size_of_the_linear_part_make_it_monotone():
    # Raise the smallest of two values a little: the variance falls. The sum form falls with it, and so does a
    # maximum whose linear part is smaller than that of the proof (c₁² > c₂).
    chances, cap, share = np.array([0.02, 0.98]), 1.0, 0.05
    low, high = np.array([0.0, 1.0]), np.array([0.02, 1.0])
    assert sum_form(chances, low, share, cap) > sum_form(chances, high, share, cap) + 1e-4
    assert bracket(chances, low, 4 * share, cap / 4) > bracket(chances, high, 4 * share, cap / 4) + 1e-4
    assert bracket(chances, low, share, cap) <= bracket(chances, high, share, cap)


def test_the_kernels_bonus_is_the_maximum():
    rng = np.random.default_rng(0)
    for share, variance, cap in rng.random((100, 3)):
        assert monotone_bonus(share, variance, cap) == max(np.sqrt(share * variance), share * cap)


@pytest.mark.parametrize(("constant", "least"), CONSTANTS.items())
def test_the_bonus_covers_the_empirical_bernstein_interval_for_every_n(constant, least):
    # Interval of Maurer and Pontil: √(2u·Var·ι/n) + (7/3)u·B·ι/n with u = n/(n−1), and no more than B. For
    # n ≤ c·ι the bonus is at least B. For larger n its smallest excess is where both parts of the maximum are
    # equal, √(Var·ι/n) = √c·B·ι/n: c ≥ √(2uc) + (7/3)u. The right side falls in n: the smallest n decides.
    for iota in [*np.linspace(least, 40.0, 4_000)]:
        n = max(math.floor(constant * iota) + 1, 2)
        u = n / (n - 1)
        assert constant >= math.sqrt(2 * u * constant) + 7 / 3 * u
    # The same on a grid of variances, without that argument.
    for iota in (least, least + 0.3, 5.0, 26.4):
        n = np.arange(2, 400)[:, np.newaxis]
        x, y, u = np.sqrt(np.linspace(0.0, 0.25, 300) * iota / n), iota / n, n / (n - 1)
        interval = np.minimum(np.sqrt(2 * u) * x + 7 / 3 * u * y, 1.0)
        assert (np.maximum(math.sqrt(constant) * x, constant * y) >= interval).all()
    # A smaller ι than stated is not covered with c = 6.25: the condition on ι is needed.
    if constant == 6.25:
        u = 6 / 5
        assert constant < math.sqrt(2 * u * constant) + 7 / 3 * u  # n = 6 > 6.25 · ln 2


@pytest.mark.parametrize(("constant", "least"), CONSTANTS.items())
def test_optimism_fails_less_often_than_the_proof_allows(constant, least):
    # Exact binomial probabilities that P̂V + bonus < PV for V in {0, 1}: at most 2·exp(−ι).
    chances = np.concatenate([np.geomspace(1e-4, 0.5, 40), 1.0 - np.geomspace(1e-4, 0.5, 40)])
    largest = 0.0
    for iota in (least, 3.0, 4.5):
        for n in [*range(1, 41), 60, 120, 250, 1_000]:
            k = np.arange(n + 1)
            share, mean = constant * iota / n, k / n
            upper = mean + np.maximum(np.sqrt(share * mean * (1 - mean)), share)
            for p in chances:
                failing = stats.binom.pmf(k[upper < p], n, p).sum()
                largest = max(largest, failing / (2 * math.exp(-iota)))
    assert 0.0 < largest < 1.0


@pytest.mark.parametrize("law", [GEOMETRIC, SHAPED, sj.Fixed(7)], ids=repr)
def test_the_terms_are_those_of_the_proof(law):
    h = np.arange(1, 8)
    for counts_all in (True, False):
        size = ProblemSize(4, 3, 50, 7, 0.1, counts_all)
        terms = sj.MonotoneBernstein(0.5).bernstein_terms(law, size)
        np.testing.assert_array_equal(terms.factor, 0.5 * law.continuation(h))
        np.testing.assert_array_equal(terms.caps, law.remaining(h + 1))
        assert terms.weight == 6.25
        n = 13
        iota = math.log(2 * 4 * 3 * 7 * n * (n + 1) / 0.1)  # Σ_n 1/(n(n+1)) = 1
        if not counts_all:
            iota = math.log(2 * 4 * 3 * 50 * 7**2 / 0.1)
        assert terms.log + terms.log_visits * math.log(n * (n + 1)) == pytest.approx(iota, rel=1e-14)


def test_the_larger_constant_is_used_where_the_logarithm_is_small():
    for delta, counts_all, constant in [(0.9, True, 8.0), (0.1, True, 6.25), (0.9, False, 8.0)]:
        size = ProblemSize(1, 1, 2, 1, delta, counts_all)
        terms = sj.MonotoneBernstein().bernstein_terms(GEOMETRIC, size)
        assert terms.weight == constant
        assert (terms.log + terms.log_visits * math.log(2.0) >= 2.08) == (constant == 6.25)


PROBLEMS = [sj.mdps.garnet(12, 3, 3, seed=4), sj.TabularMDP.from_env("FrozenLake-v1"), costly_end()]


@pytest.mark.parametrize("count", ["all", "first"])
@pytest.mark.parametrize("rewards", ["known", "learned"])
@pytest.mark.parametrize("law", [GEOMETRIC, SHAPED], ids=repr)
@pytest.mark.parametrize("mdp", PROBLEMS, ids=lambda mdp: mdp.name)
def test_replanning_gives_the_bits_of_a_full_sweep(mdp, law, rewards, count):
    mdp, rng = mdp.normalized(), np.random.default_rng(0)
    settings = {} if rewards == "known" else {"rewards": None}
    agent = sj.UCBVI(law, sj.MonotoneBernstein(0.003), horizon=12, count=count)
    learner = start(agent, mdp, 60, **settings)
    before, n_moved = learner._tables.q[:0].copy(), 0

    def watch(*step):
        # The order in which played pairs are listed must not matter.
        pairs = rng.permutation(list(learner._played))
        learner._played = dict.fromkeys(int(pair) for pair in pairs)

    for _ in play(learner, mdp, law, 60, 2, watch):
        q, value = reference.full_sweep(learner, before)
        np.testing.assert_array_equal(learner._tables.q[: len(q)], q)
        np.testing.assert_array_equal(learner._tables.value[: len(value)], value)
        n_moved += bool((q[: len(before)] < before).any())
        before = q
    assert n_moved > 10


@pytest.mark.parametrize("scale", [1.0, 0.01])
@pytest.mark.parametrize("count", ["all", "first"])
@pytest.mark.parametrize("law", [GEOMETRIC, SHAPED], ids=repr)
@pytest.mark.parametrize("mdp", [sj.mdps.river_swim(4), costly_end()], ids=lambda mdp: mdp.name)
def test_q_values_are_those_of_a_dense_transcription(mdp, law, count, scale):
    mdp, episodes = mdp.normalized(), 40
    agent = sj.UCBVI(law, sj.MonotoneBernstein(scale), horizon=8, count=count, after="hold")
    pairs = mdp.n_states * mdp.n_actions

    def iota(n):
        return math.log(2 * pairs * 8 * (n * (n + 1) if count == "all" else episodes * 8) / 0.1)

    dense = reference.DenseMonotoneBernstein(
        law,
        (mdp.n_states, mdp.n_actions),
        episodes,
        agent.layers(episodes),
        scale=scale,
        constant=6.25,
        iota=iota,
        terminal=mdp.terminal,
    )

    def watch(h, state, action, following):
        if h <= 8 or count == "all":
            dense.counts[state, action, following] += 1

    learner = start(agent, mdp, episodes)
    for _ in play(learner, mdp, law, episodes, 1, watch):
        dense.update(mdp.rewards, mdp.terminal_reward)
        np.testing.assert_allclose(learner.q_values(live(mdp)), dense.q[:, live(mdp)], atol=1e-10, rtol=0)
    if scale < 1.0:
        assert (dense.q[:, live(mdp)] < dense.rest[:-1, np.newaxis, np.newaxis] - 1e-6).any()


@pytest.mark.parametrize(("count", "seed"), [("all", 0), ("first", 1)])
@pytest.mark.parametrize(
    ("mdp", "law", "horizon"),
    [
        (sj.mdps.river_swim(4), sj.Geometric(0.8), None),
        (sj.mdps.garnet(3, 2, 2, seed=3), sj.Polynomial(p=2.5, offset=4), 12),
    ],
    ids=lambda kind: getattr(kind, "name", ""),
)
def test_every_q_value_is_optimistic_in_every_episode(mdp, law, horizon, count, seed):
    episodes, n_steps = 700, 10_000
    n_layers = sj.UCBVI(law, sj.MonotoneBernstein(), horizon=horizon).layers(episodes)[0]
    # Q* by backward induction over 10,000 steps; what lies beyond them is worth at most 2e-4 in layer N.
    chances = mdp.transitions.toarray().reshape(*mdp.rewards.shape, -1)
    ratios, value, q_star = law.continuation(np.arange(1, n_steps + 1)), np.zeros(mdp.n_states), []
    for h in reversed(range(n_steps)):
        q_star.append(mdp.rewards + ratios[h] * chances @ value)
        value = q_star[-1].max(axis=1)
    q_star = np.array(q_star[: -n_layers - 1 : -1])

    def violations(scale):
        agent = sj.UCBVI(law, sj.MonotoneBernstein(scale), horizon=horizon, count=count)
        learner = start(agent, mdp, episodes)
        found, caps = 0, learner._assumed.caps[:-1, np.newaxis, np.newaxis]
        for _ in play(learner, mdp, law, episodes, seed):
            q = learner.q_values(range(mdp.n_states))
            found += bool((q < q_star - 1e-9).any())
        return found, (q < caps - 1e-6).mean()

    found, learned = violations(1.0)
    assert found == 0
    assert learned > 0.1
    assert violations(0.0)[0] > 50


def test_regret_stays_below_the_proven_bound():
    mdp, law, episodes = sj.mdps.river_swim(4), sj.Geometric(0.8), 3_000
    for count in ("all", "first"):
        agent = sj.UCBVI(law, sj.MonotoneBernstein(), count=count)
        bound = proven_bound(
            law, episodes, n_states=4, n_actions=2, n_successors=3, bonus="monotone_bernstein", count=count
        )
        assert bound.horizon == agent.layers(episodes)[0]
        measured = [sj.learn(agent, mdp, law, episodes=episodes, seed=seed).regret.sum() for seed in range(3)]
        assert min(measured) > 0.0
        assert max(measured) < bound.total


def test_it_can_be_used_with_an_unknown_law_and_lazy_replanning():
    mdp, law = sj.mdps.river_swim(4), sj.Geometric(0.8)
    learned = sj.UnknownLaw(20, sj.MonotoneBernstein(0.01))
    doubling = sj.UCBVI(law, sj.MonotoneBernstein(0.01), replan="doubling")
    chance = sj.learn(sj.RandomPlayer(), mdp, law, episodes=400).regret.sum()
    for agent in (learned, doubling):
        assert sj.learn(agent, mdp, law, episodes=400, seed=1).regret.sum() < 0.5 * chance


def test_polynomial_laws_get_the_layers_of_its_own_bound():
    for p, offset, episodes in [(1.4, 20, 5_000), (2.0, 0, 10_000), (2.5, 3, 777)]:
        law = sj.Polynomial(p, offset=offset)
        n_layers, truncation = sj.UCBVI(law, sj.MonotoneBernstein()).layers(episodes)
        assert n_layers == math.ceil(episodes ** (1 / p) - 1e-9) + offset
        assert truncation == float(law.tail(n_layers + 1))
        assert n_layers > sj.UCBVI(law).layers(episodes)[0]


def test_specs_can_name_it():
    agent = {"type": "ucbvi", "law": "true", "bonus": {"type": "monotone_bernstein"}, "count": "first"}
    found = build(resolve(agent, read_law(repr(GEOMETRIC)), "agents.mine"), lambda: None)
    assert found == sj.UCBVI(GEOMETRIC, sj.MonotoneBernstein(), count="first")
