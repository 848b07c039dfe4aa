"""Builders give the problems that their docstrings and the paper describe."""

import inspect
import re
import time
import tracemalloc

import numpy as np
import pytest
from scipy.stats import nbinom

from sojourn import mdps
from sojourn.errors import MemoryLimitError
from sojourn.mdps import (
    BUILDERS,
    cash_or_invest,
    chain,
    deep_sea,
    garnet,
    rare_choice,
    river_swim,
    two_paths,
    waiting_bandit,
)
from sojourn.mdps._transitions import table_bytes


def dense(mdp):
    return mdp.transitions.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)


def plan(mdp, continuation):
    """The best first action of every layer and state 0, and V of layer 1, by plain backward induction.

    `continuation[h − 1]` is the chance of step h + 1 given step h; nothing counts after the last layer.
    """
    table, value, actions = dense(mdp), np.zeros(mdp.n_states), []
    for rho in continuation[::-1]:
        q = mdp.rewards + rho * (table @ value)
        actions.append(int(q[0].argmax()))
        value = q.max(axis=1)
    return np.array(actions[::-1]), value


def test_river_swim_of_four_states_is_the_papers():
    mdp = river_swim(4)
    # Written down from PAPER_NOTES section 5.
    right = [[0.4, 0.6, 0, 0], [0.05, 0.6, 0.35, 0], [0, 0.05, 0.6, 0.35], [0, 0, 0.4, 0.6]]
    left = [[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    assert np.array_equal(dense(mdp)[:, 0], left)
    assert np.array_equal(dense(mdp)[:, 1], right)
    assert mdp.rewards.tolist() == [[0.005, 0], [0, 0], [0, 0], [0, 1]]
    assert mdp.start.tolist() == [1, 0, 0, 0]
    assert mdp.terminal == ()


def test_river_swim_of_two_states_has_only_ends():
    assert np.array_equal(dense(river_swim(2))[:, 1], [[0.4, 0.6], [0.4, 0.6]])


def test_river_swim_has_the_papers_values():
    # PAPER_NOTES 4.1: geometric 0.9, best blind value 1.30448. 400 layers truncate 0.9^400 ≈ 5e-19 of it.
    _, value = plan(river_swim(6), [0.9] * 400)
    assert value[0] == pytest.approx(1.30448, abs=5e-6)


def test_two_paths_contradicts_the_lemma():
    # H = 1 or 10 with probability ½: survival 1, then ½ up to step 10.
    _, blind = plan(two_paths(), [0.5] + [1.0] * 8 + [0.0])
    told_1, told_10 = (plan(two_paths(), [1.0] * (length - 1) + [0.0])[1][0] for length in (1, 10))
    assert blind[0] == 4.5
    assert (told_1 + told_10) / 2 == 5.0


def test_two_paths_has_no_terminal_state():
    assert two_paths().n_states == 3
    assert two_paths().terminal == ()


@pytest.mark.parametrize("seed", [None, 3])
def test_deep_sea_pays_099_on_the_one_path_and_at_most_0_elsewhere(seed):
    n = 5
    mdp = deep_sea(n, seed=seed)
    totals = {}
    for path in np.ndindex(*(2,) * n):
        state, total = 0, 0.0
        for action in path:
            total += mdp.rewards[state, action]
            (state,), _ = mdp.successors(state, action)
        assert (state,) == mdp.terminal
        totals[path] = total
    best = max(totals, key=totals.get)
    assert totals.pop(best) == pytest.approx(0.99)
    assert max(totals.values()) <= 0.0
    assert (best == (1,) * n) == (seed is None)


def test_deep_sea_right_costs_a_hundredth_over_the_side_everywhere():
    mdp = deep_sea(4)
    assert mdp.n_states == 17
    assert mdp.rewards[:15, 1] == pytest.approx(-0.0025)
    assert mdp.rewards[15, 1] == pytest.approx(0.9975)
    assert not mdp.rewards[:, 0].any()
    assert not mdp.rewards[16].any()


def test_chain_moves_forward_or_starts_again():
    mdp = chain(3)
    assert dense(mdp).argmax(axis=2).tolist() == [[1, 0], [2, 0], [2, 0]]
    assert mdp.rewards.tolist() == [[0, 0.2], [0, 0.2], [1, 0.2]]


def test_the_classic_chain_slips_into_the_other_action():
    mdp = chain(5, slip=0.2, small=2, large=10)
    assert mdp.successors(1, 0)[1].tolist() == [0.2, 0.8]
    assert mdp.successors(1, 1)[1].tolist() == [0.8, 0.2]
    # By hand: at the end, forward pays 0.8 · 10 + 0.2 · 2; elsewhere 0.2 · 2.
    assert mdp.rewards[[4, 0], 0] == pytest.approx([8.4, 0.4])
    assert mdp.rewards[[4, 0], 1] == pytest.approx([3.6, 1.6])


def test_an_investment_takes_delay_steps_without_pay_and_one_with():
    mdp = cash_or_invest(3, cash=0.2, payoff=0.9)
    state, paid = 0, []
    for _ in range(8):
        paid.append(mdp.rewards[state, 1])
        (state,), _ = mdp.successors(state, 1)
    assert paid == [0, 0, 0, 0.9] * 2
    assert mdp.successors(0, 0)[0].tolist() == [0]
    assert mdp.rewards[0, 0] == 0.2


def test_waiting_cannot_be_cut_short():
    mdp = cash_or_invest(4)
    for state in range(1, 5):
        assert mdp.successors(state, 0)[0].tolist() == mdp.successors(state, 1)[0].tolist()
        assert mdp.rewards[state, 0] == mdp.rewards[state, 1]


@pytest.mark.parametrize(("p", "switch"), [(1.4, 7), (2.0, 10)])
def test_under_a_falling_hazard_cash_is_best_first_and_invest_later(p, switch):
    # γ(h) = h^−p over 20,000 layers. The switch steps were found by an independent loop over six scalars.
    h = np.arange(1.0, 20_001.0)
    actions, _ = plan(cash_or_invest(delay=5), (h / (h + 1.0)) ** p)
    assert actions[: switch - 1].tolist() == [0] * (switch - 1)
    assert actions[switch - 1 : 10_000].all()


@pytest.mark.parametrize(("gamma", "action"), [(0.95, 1), (0.8, 0), (0.678, 0)])
def test_under_a_geometric_law_the_best_choice_never_changes(gamma, action):
    # By hand: invest if 1 · γ⁵ > 0.1 (1 + … + γ⁵). γ = 0.678 has the mean length of Polynomial(1.4), 3.1055.
    assert (gamma**5 > 0.1 * sum(gamma**i for i in range(6))) == bool(action)
    actions, _ = plan(cash_or_invest(delay=5), [gamma] * 1000)
    assert set(actions[:500]) == {action}


@pytest.mark.parametrize("better", [0, 1])
def test_rare_choice_by_hand(better):
    mdp = rare_choice(0.1, better=better)
    assert (mdp.n_states, mdp.n_actions, mdp.terminal, mdp.start.tolist()) == (4, 2, (), [1, 0, 0, 0])
    good, fair = [0, 0, 0.6, 0.4], [0, 0, 0.5, 0.5]
    expected = [[[0, 1, 0, 0]] * 2, [good, fair][:: 1 - 2 * better], [[0, 0, 1, 0]] * 2, [[0, 0, 0, 1]] * 2]
    np.testing.assert_allclose(dense(mdp), expected, atol=1e-15)
    assert mdp.rewards.tolist() == [[0, 0], [0, 0], [1, 1], [0, 0]]


def test_rare_choice_pays_from_step_three():
    # H = 1 or 10, long with probability 0.3: Γ(3) = 8 · 0.3, of which the better arm earns ½ + gap.
    _, value = plan(rare_choice(0.1, better=1), [0.3] + [1.0] * 8 + [0.0])
    assert value[0] == pytest.approx(0.6 * 8 * 0.3, rel=1e-14)
    # Knowing the length is worth nothing: ten steps pay 0.6 · 8, one step pays 0.
    told = [plan(rare_choice(0.1), [1.0] * (length - 1) + [0.0])[1][0] for length in (1, 10)]
    assert 0.7 * told[0] + 0.3 * told[1] == pytest.approx(value[0], rel=1e-14)


def test_waiting_bandit_by_hand():
    # Waiting states 0 and 1, bandits 2 and 3, paying state 4, empty state 5.
    mdp = waiting_bandit(2, 2, leave=0.25, gap=0.1, better=[1, 0])
    good, fair = [0, 0, 0, 0, 0.6, 0.4], [0, 0, 0, 0, 0.5, 0.5]
    expected = [
        [[0.75, 0.25, 0, 0, 0, 0]] * 2,
        [[0, 0.75, 0.125, 0.125, 0, 0]] * 2,
        [fair, good],
        [good, fair],
        [[0, 0, 0, 0, 1, 0]] * 2,
        [[0, 0, 0, 0, 0, 1]] * 2,
    ]
    np.testing.assert_allclose(dense(mdp), expected, atol=1e-15)
    assert mdp.rewards.tolist() == [[0, 0]] * 4 + [[1, 1], [0, 0]]


@pytest.mark.parametrize(("n_waiting", "leave"), [(1, 1.0), (3, 1.0), (2, 0.2), (1, 0.5)])
def test_waiting_bandit_is_worth_the_tail_after_a_negative_binomial_wait(n_waiting, leave):
    # D − n_waiting − 1 extra waiting steps are negative binomial; Γ(h) = γ^(h−1)/(1−γ) for a geometric law.
    gamma, mdp = 0.7, waiting_bandit(3, 4, n_waiting=n_waiting, leave=leave, gap=0.2, better=2)
    extra = np.arange(400)
    chance = nbinom.pmf(extra, n_waiting, leave)
    expected = 0.7 * chance @ (gamma ** (extra + n_waiting + 1) / (1 - gamma))
    assert plan(mdp, [gamma] * 400)[1][0] == pytest.approx(expected, rel=1e-12)


def test_rare_choice_is_the_shortest_waiting_bandit():
    short = waiting_bandit(1, 2, n_waiting=1, leave=1, gap=0.025, better=1)
    assert np.array_equal(dense(short), dense(rare_choice(better=1)))
    assert np.array_equal(short.rewards, rare_choice().rewards)
    assert waiting_bandit(n_waiting=1, leave=1, gap=0.5).successors(1, 0)[0].tolist() == [2]


def test_the_registry_has_every_builder_under_its_name():
    functions = {
        name
        for name, made in inspect.getmembers(mdps, inspect.isfunction)
        if name in mdps.__all__ and made.__annotations__.get("return") == "TabularMDP"
    } - {"parse_problem"}
    assert set(BUILDERS) == functions
    assert all(BUILDERS[name] is getattr(mdps, name) for name in BUILDERS)
    with pytest.raises(TypeError):
        BUILDERS["mine"] = river_swim


@pytest.mark.parametrize("name", sorted(set(BUILDERS) - {"garnet"}))
def test_builders_have_defaults_a_name_and_rewards_that_can_be_normalized(name):
    mdp = BUILDERS[name]()
    assert mdp.name.lower().startswith(name.replace("_", ""))
    assert mdp == BUILDERS[name]()
    assert mdp.normalized().rewards.max() == 1.0


def test_long_chains_and_rivers_are_cheap():
    for mdp in (river_swim(200_000), chain(200_000), cash_or_invest(200_000), deep_sea(400)):
        assert mdp.transitions.nnz <= 4 * mdp.n_states


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: river_swim(1), "n must be a whole number ≥ 2; got 1."),
        (lambda: river_swim(2.5), "n must be a whole number ≥ 2; got 2.5."),
        (lambda: chain(1), "n must be a whole number ≥ 2; got 1."),
        (lambda: chain(slip=1.2), "slip must be in [0, 1]; got 1.2."),
        (lambda: chain(large=float("nan")), "large must be a finite number > 0; got nan."),
        (lambda: chain(small=-1), "small must be a finite number > 0; got -1."),
        (lambda: deep_sea(0), "n must be a whole number ≥ 1; got 0."),
        (lambda: deep_sea(3, seed=-1), "seed must be a whole number ≥ 0; got -1."),
        (lambda: cash_or_invest(0), "delay must be a whole number ≥ 1; got 0."),
        (lambda: cash_or_invest(cash=0.0), "cash must be a finite number > 0; got 0.0."),
        (lambda: cash_or_invest(payoff=float("inf")), "payoff must be a finite number > 0; got inf."),
        (lambda: rare_choice(0.6), "gap must be in [0, 0.5]; got 0.6."),
        (lambda: rare_choice(float("nan")), "gap must be a finite number ≥ 0; got nan."),
        (lambda: rare_choice(better=2), "better must be an arm from 0 to 1; got 2."),
        (lambda: waiting_bandit(0), "n_bandits must be a whole number ≥ 1; got 0."),
        (lambda: waiting_bandit(1, 1), "n_actions must be a whole number ≥ 2; got 1."),
        (lambda: waiting_bandit(leave=0), "leave must be in (0, 1]; got 0."),
        (lambda: waiting_bandit(leave=1.5), "leave must be in (0, 1]; got 1.5."),
        (lambda: waiting_bandit(n_waiting=0), "n_waiting must be a whole number ≥ 1; got 0."),
        (
            lambda: waiting_bandit(3, better=[0, 1]),
            "better must be one arm, or one for each of 3 bandits; got [0, 1].",
        ),
    ],
)
def test_wrong_settings_are_refused(build, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        build()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: deep_sea(100_000),
            r"deep_sea\(100000\), of 10,000,000,001 states, needs 1,564\.6 GiB and 2\.0 GiB are free; "
            r"choose a smaller n\.",
        ),
        (lambda: river_swim(10**9), r"river_swim\(1000000000\), of .* needs .* choose a smaller n\."),
        (lambda: chain(10**9), r"chain\(1000000000\), of .* needs .* choose a smaller n\."),
        (lambda: cash_or_invest(10**9), r"cash_or_invest\(.* needs .* choose a smaller delay\."),
        (
            lambda: waiting_bandit(10**9),
            r"waiting_bandit\(1000000000, 2\), of .* needs .* choose a smaller n_bandits or n_waiting\.",
        ),
        (
            lambda: garnet(10**6, 10, 100),
            r"garnet\(1000000, 10, 100\) needs .* choose fewer states, actions or successors\.",
        ),
    ],
)
def test_problems_too_large_for_memory_are_refused_at_once(build, message, monkeypatch):
    monkeypatch.setattr("sojourn._memory.available_memory", lambda: 2 * 2**30)
    begun = time.perf_counter()
    with pytest.raises(MemoryLimitError, match=f"^{message}$"):
        build()
    assert time.perf_counter() - begun < 0.5


@pytest.mark.parametrize(
    ("build", "n_bytes"),
    [
        (lambda: river_swim(200_000), 3 * table_bytes(400_000, 2)),
        (lambda: chain(200_000, slip=0.1), 3 * table_bytes(400_000, 2)),
        (lambda: deep_sea(500), 3 * table_bytes(500_002, 1)),
        (lambda: garnet(50_000, 5, 5), 2 * table_bytes(250_000, 5)),
    ],
)
def test_the_memory_estimate_of_builders_is_about_right(build, n_bytes):
    tracemalloc.start()
    try:
        build()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.6 * n_bytes <= peak <= 1.4 * n_bytes


@pytest.mark.parametrize("n", ["6", None, True, [6]])
def test_a_size_of_the_wrong_type_is_refused(n):
    with pytest.raises(TypeError, match="n must be a whole number"):
        river_swim(n)
