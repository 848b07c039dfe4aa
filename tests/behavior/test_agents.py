"""Committed, naive, sophisticated and partially naive agents, against brute force and plain references."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.behavior import (
    ALWAYS_BEST,
    Tree,
    naive,
    selves_by_delay,
    selves_by_heads,
)

import sojourn as sj
from sojourn import behavior
from sojourn.behavior._selves import Table, find_heads
from sojourn.errors import UnsettledWarning


def random_table(seed, n_states=4, n_actions=2):
    rng = np.random.default_rng(seed)
    transitions = rng.dirichlet(np.full(n_states, 0.5), size=(n_states, n_actions))
    return sj.TabularMDP(transitions, rng.normal(size=(n_states, n_actions)))


def first_action_day(found, n):
    return next(day + 1 for day in range(n) if found.action(day, day + 1) == 0)


def test_examples_of_odonoghue_and_rabin():
    # O'Donoghue and Rabin (1999), American Economic Review 89, examples 1 and 2: β = ½, δ = 1.
    half, one = behavior.beta_delta(0.5, steps=4), behavior.beta_delta(1.0, steps=4)
    report, coupon = behavior.tasks.report([3, 5, 8, 13]), behavior.tasks.coupon([3, 5, 8, 13])
    kinds = (behavior.naive, behavior.sophisticated)
    assert [first_action_day(kind(report, half, deadline=4), 4) for kind in kinds] == [4, 2]
    assert [first_action_day(kind(coupon, half, deadline=4), 4) for kind in kinds] == [3, 1]
    assert first_action_day(behavior.committed(report, one, deadline=4), 4) == 1
    assert first_action_day(behavior.committed(coupon, one, deadline=4), 4) == 4
    # Long-run utilities as in their section on welfare: the film that is missed, or seen.
    assert behavior.naive(report, half, deadline=4).long_run_value[0] == -13.0
    assert behavior.sophisticated(coupon, half, deadline=4).long_run_value[0] == 3.0


def test_restaurants_of_agentmodels():
    mdp, law = behavior.tasks.restaurants(), sj.Tabulated(1.0 / (1.0 + np.arange(11.0)))

    def path(found):
        state, visited = int(mdp.start.argmax()), []
        for h in range(1, 12):
            visited.append(mdp.state_label(state).split(" going")[0])
            state = int(mdp.successors(state, found.action(state, h))[0][0])
        return visited

    walked = path(behavior.naive(mdp, law, deadline=11))
    assert walked[:6] == ["(3, 1)", "(3, 2)", "(3, 3)", "(3, 4)", "(3, 5)", "Donut North"]
    round_way = path(behavior.sophisticated(mdp, law, deadline=11))
    assert round_way[3:] == [
        "(4, 3)",
        "(5, 3)",
        "(5, 4)",
        "(5, 5)",
        "(5, 6)",
        "(4, 6)",
        "Veg",
        "after Veg",
    ]
    assert "Veg" in path(behavior.committed(mdp, law, deadline=11))


def test_brute_force_on_random_trees():
    rng = np.random.default_rng(20)
    n_reversals = 0
    for k in range(200):
        tree = Tree(3, rng)
        transitions, rewards = tree.tables()
        mdp = sj.TabularMDP(transitions, rewards, terminal=tree.n)
        if k % 2:
            law = behavior.beta_delta(rng.uniform(0.2, 0.9), rng.uniform(0.5, 1.0), steps=3)
        else:
            law = sj.Tabulated(np.append(1.0, np.sort(rng.random(2))[::-1]))
        discount = law.survival([1, 2, 3])
        perfect = tree.perfect_strategies(discount)
        found = behavior.sophisticated(mdp, law, deadline=3)
        levels = [int(np.log2(i + 1)) for i in range(tree.n)]
        assert tuple(found.action(i, level + 1) for i, level in enumerate(levels)) in perfect
        assert len(perfect) == 1 or found.ties.any()
        if k < 60:
            impulsive = behavior.naive(mdp, law, deadline=3)
            for i, level in enumerate(levels):
                assert impulsive.action(i, level + 1) == tree.best_first_action(i, discount)
            best = max(tree.flows(strategy)[0] @ discount for strategy in tree.strategies())
            assert behavior.committed(mdp, law, deadline=3).value[0] == pytest.approx(best, abs=1e-12)
            n_reversals += found.cost > 1e-9
    assert n_reversals > 5


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), sensitivity=st.sampled_from([None, 0.7, 5.0]), gamma=st.floats(0.0, 0.9))
def test_without_present_bias_all_agents_coincide(seed, sensitivity, gamma):
    mdp, law = random_table(seed), sj.Geometric(gamma)
    for deadline in (7, None):
        found = [
            kind(mdp, law, deadline=deadline, sensitivity=sensitivity)
            for kind in (behavior.committed, behavior.naive, behavior.sophisticated)
        ]
        found.append(behavior.partially_naive(mdp, law, law, deadline=deadline, sensitivity=sensitivity))
        for one in found:
            n = 1 if deadline is None else deadline
            assert np.allclose(one.policy[:n], found[0].policy[:n], atol=1e-9)
            assert one.value == pytest.approx(found[0].value, abs=1e-6)
            assert abs(one.cost) <= 2e-6
            assert abs(one.demand_for_commitment) <= 2e-6


@pytest.mark.parametrize("sensitivity", [None, 2.0])
def test_mixtures_and_the_definition_agree(sensitivity):
    for seed in range(2):
        mdp = random_table(seed)
        table = Table(mdp, sensitivity)
        for law, n_steps in (
            (sj.QuasiHyperbolic(0.6, 0.9), 40),
            (sj.Mixture([0.5, 0.5], [sj.Geometric(0.5), sj.Geometric(0.95)]), 40),
            (sj.Polynomial(1.4), 300),
            (sj.BetaGeometric(2.0, 6.0), 300),
        ):
            by_heads = table.play_selves(law, law, n_steps)
            by_delay = table.play_selves(law, law, n_steps, direct=True)
            assert np.abs(by_heads.policy - by_delay.policy).max() <= 1e-10
            if n_steps < 100:
                ours = behavior.sophisticated(mdp, law, deadline=n_steps, sensitivity=sensitivity)
                assert np.abs(ours.value - table_value(mdp, law, by_delay, n_steps)).max() <= 1e-10
            values = [table_value(mdp, law, one, n_steps) for one in (by_heads, by_delay)]
            assert np.abs(values[0] - values[1]).max() <= 1e-10


def table_value(mdp, law, choices, n_steps):
    """The value of choices by step, summed with dense matrices."""
    dense = mdp.transitions.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    here, total = np.eye(mdp.n_states), np.zeros(mdp.n_states)
    for h in range(1, n_steps + 1):
        row = choices.policy[h - 1]
        chances = row if row.ndim == 2 else np.eye(mdp.n_actions)[row]
        total += law.survival(h) * here @ (chances * mdp.rewards).sum(axis=1)
        here = here @ np.einsum("sa,sat->st", chances, dense)
    return total


@pytest.mark.parametrize("sensitivity", [None, 1.5])
def test_kernels_equal_their_plain_references_bit_for_bit(sensitivity):
    for seed in range(4):
        mdp, n = random_table(seed, 3, 3), 6
        if seed % 2:  # with a state in which an action is a copy
            dense, rewards = mdp.transitions.toarray().reshape(3, 3, 3), mdp.rewards.copy()
            dense[1, 2], rewards[1, 2] = dense[1, 0], rewards[1, 0]
            mdp = sj.TabularMDP(dense, rewards)
        table, own, other = (
            Table(mdp, sensitivity),
            sj.QuasiHyperbolic(0.5, 0.9),
            sj.QuasiHyperbolic(0.8, 0.9),
        )
        rule = (
            ALWAYS_BEST if sensitivity is None else sensitivity,
            table.rule(own, n).slack,
            np.array([[True] * 3, [True, True, not seed % 2], [True] * 3]),
        )
        heads = find_heads(own, other, n)
        assert heads is not None
        cases = (
            (
                table.play_selves(own, other, n),
                selves_by_heads(mdp, heads.factors, heads.own, heads.other, n, rule),
            ),
            (
                table.play_selves(own, other, n, direct=True),
                selves_by_delay(
                    mdp, own.survival(np.arange(2, n + 1)), other.survival(np.arange(2, n + 1)), n, rule
                ),
            ),
            (table.play_restarting(own, n), naive(mdp, own.continuation(np.arange(1, n + 1)), n, rule)),
        )
        for ours, plain in cases:
            assert np.array_equal(ours.actions, [row[1] for row in plain])
            assert np.array_equal(ours.is_tie, [row[2] for row in plain])
            if sensitivity is not None:
                assert np.array_equal(ours.chances, [row[0] for row in plain])


def test_copies_of_an_action_are_one_option():
    # Two options that are worth 1 and 0 now; padding with copies changes nothing.
    end = [[0.0, 1.0]] * 3
    mdp = sj.TabularMDP([end, end], [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], terminal=1)
    for kind in (behavior.committed, behavior.naive, behavior.sophisticated):
        for deadline in (2, None):
            policy = kind(mdp, sj.QuasiHyperbolic(0.5, 0.9), deadline=deadline, sensitivity=2.0).policy
            chance = 1 / (1 + np.exp(-2.0))
            assert policy[0, 0] == pytest.approx([chance, 1 - chance, 0.0])
            assert policy[0, 1].tolist() == [1.0, 0.0, 0.0]


def test_partial_naivete_lies_between_the_two_extremes():
    mdp = behavior.tasks.report([3, 5, 8, 13])
    own = behavior.beta_delta(0.5, steps=4)
    with_one = behavior.partially_naive(mdp, own, behavior.beta_delta(1.0, steps=4), deadline=4)
    with_own = behavior.partially_naive(mdp, own, own, deadline=4)
    assert np.array_equal(with_one.policy, behavior.naive(mdp, own, deadline=4).policy)
    assert np.array_equal(with_own.policy, behavior.sophisticated(mdp, own, deadline=4).policy)
    days = [
        first_action_day(behavior.partially_naive(mdp, own, behavior.beta_delta(b, steps=4), deadline=4), 4)
        for b in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    ]
    assert days[0] == 2
    assert days[-1] == 4
    assert days == sorted(days)
    assert with_one.demand_for_commitment == 0.0  # it does not foresee any change of mind


def test_what_agents_expect():
    mdp, law = behavior.tasks.coupon([3, 5, 8, 13]), behavior.beta_delta(0.5, steps=4)
    found = behavior.naive(mdp, law, deadline=4)
    # At each Saturday the naive person plans to wait for the last one, until the third comes.
    assert [int(row[day]) for day, row in enumerate(found.expects(1))] == [1, 1, 1, 0]
    assert int(found.expects(3)[0][2]) == 0
    aware = behavior.sophisticated(mdp, law, deadline=4)
    assert np.array_equal(aware.expects(2), aware.policy[1:])
    with pytest.raises(ValueError, match="step must be at most the deadline, 4; got 5"):
        found.expects(5)


def test_long_deadlines_approach_no_deadline():
    for seed in (1, 2, 5):
        mdp, law = random_table(seed), sj.QuasiHyperbolic(0.9, 0.8)
        endless = behavior.sophisticated(mdp, law)
        assert endless.outcome == "stationary"
        late = behavior.sophisticated(mdp, law, deadline=200)
        assert np.array_equal(late.policy[0], endless.policy[0])
        assert late.value == pytest.approx(endless.value, abs=1e-5)
        assert endless.best_deviation <= 1e-6
        assert np.array_equal(
            behavior.naive(mdp, law).policy[0], behavior.naive(mdp, law, deadline=200).policy[0]
        )
        milder = sj.QuasiHyperbolic(0.95, 0.8)
        ours = behavior.partially_naive(mdp, law, milder)
        assert np.array_equal(
            ours.policy[0], behavior.partially_naive(mdp, law, milder, deadline=200).policy[0]
        )
        assert ours.expected_value == pytest.approx(
            behavior.partially_naive(mdp, law, milder, deadline=200).expected_value, abs=1e-5
        )


def test_laws_without_heads_and_without_a_deadline():
    mdp = behavior.tasks.tempting_good()
    for law in (sj.Uniform(2, 9), sj.NegativeBinomial(2.0, 0.8), sj.Tabulated([1.0, 0.4, 0.3, 0.3])):
        found = behavior.sophisticated(mdp, law)
        assert found.outcome in ("stationary", "cycle")
        assert found.best_deviation <= 1e-6
        late = behavior.sophisticated(mdp, law, deadline=150)
        assert any(np.array_equal(late.policy[0], row) for row in found.policy)


def test_cycles_and_several_equilibria_are_reported():
    # METHODS: a pure stationary equilibrium may not exist, and several may.
    n_cycles = n_none = n_several = 0
    law = sj.QuasiHyperbolic(0.3, 0.9)
    for seed in range(120):
        mdp = random_table(seed)
        equilibria = behavior.all_equilibria(mdp, law)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnsettledWarning)
            found = behavior.sophisticated(mdp, law, max_layers=3_000)
        n_none += not equilibria
        n_several += len(equilibria) > 1
        assert found.n_equilibria == len(equilibria)
        noted = any(f"There are {len(equilibria)} stationary equilibria" in note for note in found.notes())
        assert noted == (len(equilibria) > 1)
        n_cycles += found.outcome == "cycle"
        if found.outcome == "stationary":
            assert any(np.array_equal(one.policy, found.policy) for one in equilibria)
        else:
            assert found.notes()
        if not equilibria:
            assert found.outcome != "stationary"
    assert n_none > 0
    assert n_several > 0
    assert n_cycles > 0


def test_a_cycle_is_an_equilibrium_of_every_self():
    law = sj.QuasiHyperbolic(0.3, 0.9)
    for seed in range(200):
        mdp = random_table(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnsettledWarning)
            found = behavior.sophisticated(mdp, law, max_layers=2_000)
        if found.outcome == "cycle":
            break
    period = len(found.policy)
    assert found.best_deviation <= 1e-6
    # A deadline that is many periods away plays the same rows, in the same order.
    late = behavior.sophisticated(mdp, law, deadline=40 * period).policy[: 2 * period]
    starts = [np.array_equal(late[:period], np.roll(found.policy, -k, axis=0)) for k in range(period)]
    assert any(starts)
    assert np.array_equal(late[:period], late[period:])


def test_a_tie_is_reported():
    mdp = sj.TabularMDP(
        [[[0, 1, 0], [0, 0, 1]], [[0, 1, 0]] * 2, [[0, 0, 1]] * 2], [[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]
    )
    found = behavior.sophisticated(mdp, sj.QuasiHyperbolic(0.5, 0.9), deadline=3)
    assert found.ties[0].tolist() == [True, False, False]
    assert found.action(0, 1) == 0
    assert "At step 1 in state 0 several actions are equally good" in found.notes()[0]
    assert "may lead to other equilibria" in found.notes()[0]
    unaware = behavior.naive(mdp, sj.QuasiHyperbolic(0.5, 0.9), deadline=3)
    assert "the lowest is taken, and another one may lead elsewhere." in unaware.notes()[0]
    # Agents who err mix tied actions evenly.
    assert (
        behavior.sophisticated(mdp, sj.QuasiHyperbolic(0.5, 0.9), deadline=3, sensitivity=2.0).notes() == []
    )


@pytest.mark.parametrize(
    ("survival", "expected"),
    [
        ((1.0, 0.5, 0.4), None),
        ((1.0, 0.5, 0.4, 0.32), 0.8),
        ((1.0, 0.9, 0.72, 0.576), None),
        ((1.0, 0.9), None),
    ],
)
def test_the_long_run_view_needs_four_steps_and_no_future_bias(survival, expected):
    # 1, βδ, βδ²: any three weights have this form. With β = 1.125 there is no beta-delta law.
    law = sj.Tabulated(survival)
    found = behavior.naive(random_table(0), law, deadline=len(survival)).long_run_discount
    assert found == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda mdp, law: behavior.naive(law, mdp), "mdp must be a TabularMDP; got QuasiHyperbolic"),
        (lambda mdp, law: behavior.naive(mdp, 0.9), "law must be a length law; got 0.9."),
        (
            lambda mdp, law: behavior.naive(mdp, law, deadline=0),
            "deadline must be a whole number ≥ 1; got 0.",
        ),
        (
            lambda mdp, law: behavior.naive(mdp, law, sensitivity=0),
            "sensitivity must be a finite number > 0; got 0.",
        ),
        (
            lambda mdp, law: behavior.sophisticated(mdp, sj.Polynomial(1.2, offset=3)),
            "deadline must be given for Polynomial(p=1.2, offset=3): no finite mixture of geometric laws",
        ),
        (
            lambda mdp, law: behavior.committed(mdp, sj.Polynomial(1.2), sensitivity=1.0),
            "deadline must be given with a sensitivity for Polynomial",
        ),
        (lambda mdp, law: behavior.beta_delta(0.5), "delta must be < 1 without a last step; got 1."),
        (
            lambda mdp, law: behavior.partially_naive(mdp, law, 0.9),
            "perceived must be a length law; got 0.9.",
        ),
        (
            lambda mdp, law: behavior.all_equilibria(mdp, law, max_policies=3),
            "max_policies must be at least 16 for 4 states, 2 actions; got 3.",
        ),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(call, message):
    with pytest.raises((TypeError, ValueError)) as error:
        call(random_table(0), sj.QuasiHyperbolic(0.5, 0.9))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
