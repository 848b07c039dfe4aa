"""Plans against quantecon, certificates and searches over many numbers of steps."""

import itertools
import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from planning.test_certificate import check_holds
from planning.test_value_of_the_law import best_by_enumeration, start_value
from reference import planning as reference

import sojourn as sj
from sojourn.planning._certificate import certificates, first_bounds
from sojourn.planning._sparse_problem import SparseProblem
from sojourn.planning._stationary import find_stationary_policy


def test_plans_agree_with_quantecon():
    from quantecon.markov import DiscreteDP, backward_induction

    mdp = sj.mdps.garnet(60, 4, 3, seed=3)
    states, actions = np.divmod(np.arange(240), 4)
    rival = DiscreteDP(mdp.rewards.reshape(-1), mdp.transitions, 0.97, states, actions)
    np.testing.assert_allclose(
        sj.plan(mdp, sj.Geometric(0.97), tolerance=1e-9).value,
        rival.solve(method="policy_iteration").v,
        atol=1e-8,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # quantecon warns about β = 1
        undiscounted = DiscreteDP(mdp.rewards.reshape(-1), mdp.transitions, 1.0, states, actions)
        values, policies = backward_induction(undiscounted, 40)
    best = sj.plan(mdp, sj.Fixed(40))
    np.testing.assert_allclose(best.value, values[0], atol=1e-11)
    played = np.array([[best.action(s, h) for s in range(60)] for h in range(1, 41)])
    assert (played == policies).all()


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_states=st.integers(1, 9),
    n_actions=st.integers(1, 3),
    n_successors=st.integers(1, 3),
    low=st.floats(-3.0, 0.5),
)
def test_bounds_hold_for_every_number_of_steps(seed, n_states, n_actions, n_successors, low):
    # One to three successors per pair: several recurrent classes, transient states and cycles all appear.
    transitions, rewards = reference.random_problem(
        np.random.default_rng(seed), n_states, n_actions, low=low, high=1.0, n_successors=n_successors
    )
    problem = SparseProblem.of(sj.TabularMDP(transitions, rewards))
    check_holds(transitions, rewards, first_bounds(problem))
    for _, found in itertools.islice(certificates(problem), 4):
        check_holds(transitions, rewards, found)


def test_a_search_that_is_cut_short_still_bounds_the_best_policy():
    mdp, law = sj.mdps.cash_or_invest(3), sj.Polynomial(p=1.4)
    best = best_by_enumeration(mdp, law)
    policy, bound = find_stationary_policy(mdp, law, tolerance=1e-7, max_plans=1)
    assert start_value(mdp, law, policy[np.newaxis]) <= best + 1e-7
    assert bound >= best - 1e-7
    whole = sj.value_of_the_law(mdp, law)
    cut = sj.value_of_the_law(mdp, law, max_plans=1)
    assert whole.is_exact
    assert whole.stationary.loss > 0.01  # the best policy changes with the step
    assert cut.stationary.least <= whole.stationary.loss + 1e-6 <= cut.stationary.most + 2e-6
    if not cut.is_exact:
        assert "that was found" in cut.table()
