"""The value of a given policy against plain policy evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import planning as reference

import sojourn as sj
from sojourn.errors import WideBracketWarning

LAWS = [
    sj.Geometric(0.9),
    sj.Fixed(17),
    sj.Polynomial(p=3.0, offset=4),
    sj.QuasiHyperbolic(beta=0.5, gamma=0.9),
    sj.NegativeBinomial(r=3.0, gamma=0.8),
    sj.Mixture([0.5, 0.5], [sj.Uniform(1, 30), sj.Geometric(0.8)]),
]
STEPS = np.arange(1, 2_001)


def played(n_rows, after):
    return np.minimum(STEPS, n_rows) - 1 if after == "hold" else (STEPS - 1) % n_rows


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 6),
    law=st.sampled_from(LAWS),
    after=st.sampled_from(["hold", "restart"]),
    is_stochastic=st.booleans(),
)
def test_values_match_a_plain_policy_evaluation(seed, n_rows, law, after, is_stochastic):
    rng = np.random.default_rng(seed)
    transitions, rewards = reference.random_problem(rng, 5, 3, n_successors=2)
    survival, rest = law.survival(STEPS), law.tail(STEPS[-1] + 1)
    if is_stochastic:
        policy = rng.dirichlet(np.ones(3), size=(n_rows, 5))
        policy /= policy.sum(axis=2, keepdims=True)
        expected = reference.stochastic_value(transitions, rewards, survival, policy[played(n_rows, after)])
    else:
        policy = rng.integers(0, 3, size=(n_rows, 5))
        expected = reference.policy_value(transitions, rewards, survival, policy[played(n_rows, after)])
    found = sj.evaluate(sj.TabularMDP(transitions, rewards), law, policy, after=after)
    assert found.width <= 1e-6
    np.testing.assert_allclose(found.value, expected, atol=1e-6 + rest)
    assert (found.lower <= expected + rest + 1e-12).all()
    assert (expected - rest - 1e-12 <= found.upper).all()


@pytest.mark.parametrize("after", ["hold", "restart"])
@pytest.mark.parametrize("is_stochastic", [False, True])
def test_heavy_tails_are_bracketed_by_the_policys_own_chain(after, is_stochastic):
    # p = 1.4: the chain's certificate is needed. The reference plays 200,000 steps; what remains is little
    # if rewards are measured from their long-run mean, and the same constant is added by the mean length.
    rng = np.random.default_rng(7)
    law = sj.Polynomial(p=1.4)
    transitions, rewards = reference.random_problem(rng, 4, 2)
    policy = rng.integers(0, 2, size=(3, 4))
    if is_stochastic:
        policy = np.eye(2)[policy] * 0.5 + 0.25
    found = sj.evaluate(sj.TabularMDP(transitions, rewards), law, policy, after=after, tolerance=1e-5)
    assert found.width <= 1e-5
    steps = np.arange(1, 200_001)
    rows = np.minimum(steps, 3) - 1 if after == "hold" else (steps - 1) % 3
    value = reference.stochastic_value if is_stochastic else reference.policy_value
    survival = law.survival(steps)
    played_out = value(transitions, rewards, survival, policy[rows])
    gain = (played_out - value(transitions, rewards, survival[:100_000], policy[rows[:100_000]])).mean()
    gain /= survival[100_000:].sum()
    expected = played_out + gain * law.tail(200_001)
    assert (found.lower - 2e-6 <= expected).all()
    assert (expected <= found.upper + 2e-6).all()


@pytest.mark.parametrize("n_rows", [7, 990, 1_500])
def test_long_policies_that_restart_are_bracketed(n_rows):
    # The best policy for a fixed length, started again and again, under a heavy tail.
    mdp, law = sj.mdps.river_swim(6), sj.Polynomial(p=1.4, offset=20)
    fixed = sj.plan(mdp, sj.Fixed(n_rows))
    rows = np.array([[fixed.action(s, h) for s in range(6)] for h in range(1, n_rows + 1)])
    found = sj.evaluate(mdp, law, rows, after="restart", tolerance=1e-5)
    assert found.width <= 1e-5
    best = sj.plan(mdp, law)
    assert (found.lower <= best.upper).all()
    # Repeating the rows of the policy gives the same policy.
    twice = sj.evaluate(mdp, law, np.concatenate([rows, rows]), after="restart", tolerance=1e-5)
    assert (np.abs(twice.value - found.value) <= 1e-5).all()


def test_a_cycle_is_the_same_with_dense_and_sparse_matrices(monkeypatch):
    from sojourn.planning import _policy_cycle

    mdp, law = sj.mdps.garnet(8, 3, 2, seed=3), sj.Polynomial(p=1.5)
    rows = np.random.default_rng(3).integers(0, 3, size=(40, 8))
    full = sj.evaluate(mdp, law, rows, after="restart", tolerance=1e-5)
    monkeypatch.setattr(_policy_cycle, "_DENSE_STATES", 0)
    thin = sj.evaluate(mdp, law, rows, after="restart", tolerance=1e-5)
    assert full.width <= 1e-5
    np.testing.assert_allclose(full.value, thin.value, atol=1e-9)


def test_probabilities_may_sum_to_one_up_to_rounding():
    mdp, law = sj.mdps.river_swim(6), sj.Fixed(1_000)
    even = np.full((1, 6, 2), 0.5)
    off = even * (1.0 + 9e-13)
    exact, found = sj.evaluate(mdp, law, even), sj.evaluate(mdp, law, off)
    assert (found.lower <= exact.value).all()
    assert (exact.value <= found.upper).all()


@pytest.mark.parametrize("kind", [">i4", ">u2", "<i8", np.int8])
def test_actions_may_have_any_integer_type(kind):
    mdp = sj.mdps.river_swim(6)
    policy = np.ones((3, 6), dtype=kind)
    assert (
        sj.evaluate(mdp, sj.Fixed(5), policy).value
        == sj.evaluate(mdp, sj.Fixed(5), np.ones((3, 6), int)).value
    ).all()


def test_a_plan_can_be_evaluated_like_its_policy():
    mdp, law = sj.mdps.cash_or_invest(delay=5), sj.Polynomial(p=1.4)
    best = sj.plan(mdp, law)
    assert (sj.evaluate(mdp, law, best).value == sj.evaluate(mdp, law, best.policy).value).all()


def test_restart_and_hold_differ_past_the_last_row():
    mdp, law = sj.mdps.two_paths(), sj.Fixed(2)
    # In state 0 first B (0, then state 2), and later A. Rows: step 1 plays B everywhere, step 2 plays A.
    policy = [[1, 1, 1], [0, 0, 0]]
    assert sj.evaluate(mdp, law, policy).value[0] == sj.evaluate(mdp, law, policy, after="restart").value[0]
    river, longer = sj.mdps.river_swim(3), sj.Fixed(9)
    rows = np.array([[0, 0, 0], [1, 1, 1]])
    hold = sj.evaluate(river, longer, rows).value
    restart = sj.evaluate(river, longer, rows, after="restart").value
    assert (hold > restart).all()


def test_evaluating_a_plan_reproduces_its_value():
    mdp = sj.mdps.cash_or_invest(delay=5)
    for law in (sj.Polynomial(p=1.4), sj.Geometric(0.97), sj.BetaGeometric(a=2.0, b=3.0)):
        best = sj.plan(mdp, law)
        found = sj.evaluate(mdp, law, best.policy, after=best.after)
        np.testing.assert_allclose(found.value, best.value, atol=2e-6)


def test_more_rows_than_the_longest_length_are_harmless():
    mdp = sj.mdps.river_swim(4)
    policy = np.ones((50, 4), dtype=np.int8)
    assert (
        sj.evaluate(mdp, sj.Fixed(3), policy).value == sj.evaluate(mdp, sj.Fixed(3), policy[:3]).value
    ).all()


def test_a_slowly_mixing_policy_gets_a_wide_bracket_and_a_warning():
    mdp, law = sj.mdps.river_swim(20), sj.Polynomial(p=1.4)
    policy = np.array([[1] * 20] * 20 + [[0] * 20] * 3)
    with pytest.warns(WideBracketWarning, match="evaluate: the certified bracket is"):
        found = sj.evaluate(mdp, law, policy, after="restart", max_layers=20_000)
    assert found.width > 1e-6


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ([[0, 0]], "policy must have shape (N, 3) or (N, 3, 2); got (1, 2)."),
        ([0, 0, 0], "policy must have shape (N, 3) or (N, 3, 2); got (3,)."),
        (np.zeros((0, 3), dtype=int), "policy must have shape (N, 3) or (N, 3, 2); got (0, 3)."),
        ([[0, 2, 0]], "policy[0, 1] must be in 0 … 1; got 2."),
        ([[0, -1, 0]], "policy[0, 1] must be in 0 … 1; got -1."),
        ([[0.0, 1.0, 0.0]], "policy (N, S) must hold whole numbers (actions); got float64."),
        ([[[0.5, 0.5], [1.0, 0.1], [0, 1]]], "policy[0, 1] must be a distribution that sums to 1; got 1.1."),
        ([[[0.5, 0.5], [1.5, -0.5], [0, 1]]], "policy[0, 1, 1] must be ≥ 0; got -0.5."),
        ([[[0.5, 0.5], [np.nan, 1.0], [0, 1]]], "policy[0, 1, 0] must be ≥ 0; got nan."),
        ([[["a", "b"]] * 3], "policy (N, S, A) must hold probabilities; got <U1."),
    ],
)
def test_bad_policies_raise_a_one_line_error(policy, message):
    with pytest.raises((ValueError, TypeError)) as caught:
        sj.evaluate(sj.mdps.two_paths(), sj.Fixed(3), policy)
    assert str(caught.value) == message


def test_an_unknown_after_is_refused():
    with pytest.raises(
        ValueError, match=r"after must be one of 'hold', 'restart'; got 'held'. Did you mean 'hold'?"
    ):
        sj.evaluate(sj.mdps.two_paths(), sj.Fixed(3), [[0, 0, 0]], after="held")
