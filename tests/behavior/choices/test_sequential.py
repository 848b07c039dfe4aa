"""Decision makers fitted to sequential choices."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

import sojourn as sj
from sojourn import behavior

TASK, LAW = behavior.tasks.coupon([3, 5, 8, 13]), partial(behavior.beta_delta, steps=4)


def test_the_likelihood_is_the_product_of_choice_probabilities():
    agent = behavior.naive(TASK, LAW(0.5), deadline=4, sensitivity=0.5)
    # On the third Saturday: going pays 8 now, waiting ½·13 next week.
    chance = 1 / (1 + np.exp(-0.5 * (8 - 6.5)))
    data = {"step": [3, 3, 3], "state": [2, 2, 2], "action": [0, 1, 0]}
    expected = 2 * np.log(chance) + np.log(1 - chance)
    assert behavior.sequential_log_likelihood(agent, data) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", ["naive", "sophisticated"])
def test_parameters_and_kind_are_recovered(kind):
    # A cheap way to commit tells the kinds apart: only those who foresee their weakness pay for it.
    task = behavior.tasks.sooner_later(1.0, 1.5, delay=3, front_end_delay=2, commitment_cost=0.05)
    law = partial(behavior.beta_delta, delta=0.97)
    solve = {"naive": behavior.naive, "sophisticated": behavior.sophisticated}[kind]
    truth = solve(task, law(0.6), deadline=7, sensitivity=10.0)
    data = behavior.simulate_choices(truth, 300, seed=1)
    kinds = ("naive", "sophisticated")
    fits = behavior.compare_kinds(data, task, law, {"beta": 0.8}, kinds=kinds, deadline=7)
    assert fits[0].kind == kind
    assert fits[1].bic - fits[0].bic > 2.0
    beta, error = fits[0].parameters["beta"], fits[0].standard_errors["beta"]
    assert abs(beta - 0.6) < 3 * error
    assert fits[0].log_likelihood >= behavior.sequential_log_likelihood(truth, data) - 1e-6


def test_partial_naivete_is_recovered():
    # Costs that go up and down tell what the agent expects of its later selves.
    task, law = behavior.tasks.report([5, 2, 6, 4, 9, 7, 13]), partial(behavior.beta_delta, steps=7)
    truth = behavior.partially_naive(task, law(0.5), law(0.75), deadline=7, sensitivity=1.0)
    data = behavior.simulate_choices(truth, 500, seed=1)
    fit = behavior.fit_sequential(
        data, task, law, {"beta": 0.8}, kind="partially_naive", perceived={"beta": 0.9}, deadline=7
    )
    assert abs(fit.parameters["beta"] - 0.5) < 3 * fit.standard_errors["beta"] < 0.1
    assert abs(fit.perceived["beta"] - 0.75) < 3 * fit.perceived_errors["beta"] < 0.3
    assert abs(fit.parameters["sensitivity"] - 1.0) < 3 * fit.standard_errors["sensitivity"] < 0.5
    assert fit.log_likelihood >= behavior.sequential_log_likelihood(truth, data)
    assert fit.aic == pytest.approx(6 - 2 * fit.log_likelihood)
    assert fit.decisions.kind == "partially naive"


def test_parameters_above_one_agree_with_a_grid():
    truth = behavior.naive(TASK, sj.Polynomial(1.4), deadline=4, sensitivity=1.0)
    data = behavior.simulate_choices(truth, 200, seed=0)
    fit = behavior.fit_sequential(
        data, TASK, sj.Polynomial, {"p": 2.0}, bounds={"p": (1.0, math.inf)}, deadline=4
    )
    grid = [
        behavior.sequential_log_likelihood(
            behavior.naive(TASK, sj.Polynomial(p), deadline=4, sensitivity=float(mu)), data
        )
        for p in np.linspace(1.02, 6.0, 16)
        for mu in np.geomspace(0.1, 5.0, 16)
    ]
    assert max(grid) <= fit.log_likelihood <= max(grid) + 0.2
    assert fit.parameters["p"] > 1.0


def test_an_estimate_at_its_bound_has_no_standard_error():
    # All wait on the third Saturday, but not on the first, where it is better still: β would exceed 1.
    data = {
        "step": [1] * 30 + [3] * 30,
        "state": [0] * 30 + [2] * 30,
        "action": [0] * 10 + [1] * 50,
    }
    fit = behavior.fit_sequential(data, TASK, LAW, {"beta": 0.8}, deadline=4)
    assert fit.parameters["beta"] > 0.999
    assert math.isnan(fit.standard_errors["beta"])
    assert fit.standard_errors["sensitivity"] > 0.0


def test_forced_states_do_not_count_and_copies_are_one_option():
    task = behavior.tasks.sooner_later(1.0, 1.5, delay=3, front_end_delay=2, commitment_cost=0.05)
    law = partial(behavior.beta_delta, delta=0.97)
    truth = behavior.sophisticated(task, law(0.6), deadline=7, sensitivity=10.0)
    data = behavior.simulate_choices(truth, 40, seed=1)
    table = task.transitions.toarray().reshape(task.n_states, task.n_actions, task.n_states)
    keys = [
        [(reward, *row) for reward, row in zip(*pair, strict=True)]
        for pair in zip(task.rewards, table, strict=True)
    ]
    # By hand: rows in states with one option are left out, and copies are mapped to the lowest.
    steps, states, actions = (data[name].tolist() for name in ("step", "state", "action"))
    kept = [i for i, state in enumerate(states) if len(set(keys[state])) > 1]
    assert 0 < len(kept) < len(states)
    lowest = [keys[s].index(keys[s][a]) for s, a in zip(states, actions, strict=True)]
    total = sum(np.log(truth.policy[steps[i] - 1, states[i], lowest[i]]) for i in kept)
    assert behavior.sequential_log_likelihood(truth, data) == pytest.approx(total, abs=1e-9)
    highest = [
        max(b for b, key in enumerate(keys[s]) if key == keys[s][a])
        for s, a in zip(states, actions, strict=True)
    ]
    copied = data | {"action": np.array(highest)}
    assert behavior.sequential_log_likelihood(truth, copied) == pytest.approx(total, abs=1e-9)
    assert behavior.fit_sequential(data, task, law, {"beta": 0.8}, deadline=7).n_choices == len(kept)


def test_wrong_data_are_refused():
    agent = behavior.naive(TASK, LAW(0.5), deadline=4, sensitivity=1.0)
    with pytest.raises(ValueError, match="agent must have a sensitivity"):
        behavior.sequential_log_likelihood(behavior.naive(TASK, LAW(0.5), deadline=4), {})
    with pytest.raises(ValueError, match="'action' is missing"):
        behavior.sequential_log_likelihood(agent, {"step": [1], "state": [0]})
    with pytest.raises(ValueError, match="steps up to the deadline, 4; got 5"):
        behavior.sequential_log_likelihood(agent, {"step": [5], "state": [0], "action": [0]})
    with pytest.raises(ValueError, match=r"kind must be one of 'committed', .*; got 'x'"):
        behavior.fit_sequential({}, TASK, LAW, {"beta": 0.5}, kind="x")
    for message, options in {
        r"start\['beta'\] must be in \(0, 1\); got 1.2": {"start": {"beta": 1.2}},
        "perceived must be given for 'partially_naive' agents": {"kind": "partially_naive"},
        "perceived must be one of 'beta'; got 'delta'": {
            "kind": "partially_naive",
            "perceived": {"delta": 0.5},
        },
        r"bounds\['beta'\] must be two numbers, the lower first": {"bounds": {"beta": (1.0, 0.0)}},
        "bounds must be one of 'beta'; got 'p'": {"bounds": {"p": (1.0, 2.0)}},
    }.items():
        with pytest.raises(ValueError, match=message):
            behavior.fit_sequential({}, TASK, LAW, **{"start": {"beta": 0.5}} | options)
