"""The planner against closed forms, brute force, long truncations and an independent library."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import planning as reference

import sojourn as sj
from sojourn.errors import MemoryLimitError, WideBracketWarning

HALF_AND_HALF = sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)])
HEAVY = sj.Polynomial(p=1.4, offset=20)


def mean_over_starts(mdp, values):
    return float(mdp.start @ values)


def as_mdp(transitions, rewards):
    return sj.TabularMDP(transitions, rewards)


@pytest.mark.parametrize("law", [sj.Fixed(30), HEAVY, HALF_AND_HALF, sj.NegativeBinomial(2.0, 0.1)])
def test_parts_of_sweeps_give_the_same_bits(law, monkeypatch):
    mdp = sj.mdps.garnet(20, 3, 4, seed=1)
    whole = sj.plan(mdp, law, tolerance=1e-2)
    value = sj.evaluate(mdp, law, whole.policy[::-1], after="hold", tolerance=1e-2)
    monkeypatch.setattr("sojourn.planning._threads._TRANSITIONS_PER_CALL", 500)  # two layers
    parts = sj.plan(mdp, law, tolerance=1e-2)
    assert parts.policy.tobytes() == whole.policy.tobytes()
    assert (parts.lower.tobytes(), parts.upper.tobytes()) == (whole.lower.tobytes(), whole.upper.tobytes())
    again = sj.evaluate(mdp, law, whole.policy[::-1], after="hold", tolerance=1e-2)
    assert again.value.tobytes() == value.value.tobytes()


def test_parts_of_a_cycle_give_the_same_bits(monkeypatch):
    mdp = sj.mdps.garnet(10, 3, 4, seed=1)
    policy = np.random.default_rng(0).integers(0, 3, (7, 10))
    found = []
    for most in (1 << 29, 500, 900):  # all layers of the cycle together, one, or two
        monkeypatch.setattr("sojourn.planning._threads._TRANSITIONS_PER_CALL", most)
        found.append(sj.evaluate(mdp, HEAVY, policy, after="restart"))
    assert len({one.lower.tobytes() + one.upper.tobytes() for one in found}) == 1


@pytest.fixture(scope="module")
def taxi():
    return sj.TabularMDP.from_env("Taxi-v4").normalized()


def test_two_paths_has_blind_value_4_5():
    # PAPER_NOTES 4.1: B pays nothing, then 1 per step: ½·0 + ½·9 = 4.5; A pays 1.
    best = sj.plan(sj.mdps.two_paths(), HALF_AND_HALF)
    assert best.value[0] == pytest.approx(4.5, abs=1e-12)
    assert best.action(0, 1) == 1


def test_river_swim_under_a_geometric_law_has_the_known_value():
    best = sj.plan(sj.mdps.river_swim(6), sj.Geometric(0.9), tolerance=1e-8)
    assert mean_over_starts(sj.mdps.river_swim(6), best.value) == pytest.approx(1.30448, abs=5e-6)


def test_taxi_under_a_geometric_law_has_the_known_value(taxi):
    best = sj.plan(taxi, sj.Geometric(0.95))
    assert mean_over_starts(taxi, best.value) == pytest.approx(6.72433, abs=5e-6)


def test_a_plan_of_the_normalized_problem_maps_back_to_original_units(taxi):
    own = sj.plan(sj.TabularMDP.from_env("Taxi-v4"), sj.Geometric(0.95), tolerance=1e-8)
    scaled = sj.plan(taxi, sj.Geometric(0.95), tolerance=1e-8)
    np.testing.assert_allclose(
        own.value, scaled.value * taxi.reward_scale + taxi.reward_shift * 20.0, atol=1e-6
    )


@pytest.mark.parametrize(
    "name", ["taxi", "FrozenLake-v1", "FrozenLake8x8-v1", "CliffWalking-v1", "two_paths"]
)
def test_heavy_tails_are_solved_to_a_millionth(name, taxi):
    if name == "taxi":
        mdp = taxi
    elif name == "two_paths":
        mdp = sj.mdps.two_paths()
    else:
        mdp = sj.TabularMDP.from_env(name)
    best = sj.plan(mdp, HEAVY)
    assert 0.0 < best.width <= 1e-6
    again = sj.evaluate(mdp, HEAVY, best.policy)
    assert (again.upper >= best.lower).all()
    assert (again.lower <= best.upper).all()


def test_two_paths_under_a_heavy_tail_earns_the_mean_minus_one():
    # B pays 1 at every step but the first: Γ(2) = Γ(1) − 1, the Hurwitz zeta of the law.
    best = sj.plan(sj.mdps.two_paths(), HEAVY)
    assert best.lower[0] <= HEAVY.mean - 1.0 <= best.upper[0]


def test_a_geometric_plan_agrees_with_discounted_value_iteration():
    rng = np.random.default_rng(0)
    for gamma in (0.0, 0.5, 0.9, 0.99):
        transitions, rewards = reference.random_problem(rng, 7, 3)
        best = sj.plan(as_mdp(transitions, rewards), sj.Geometric(gamma), tolerance=1e-9)
        expected = reference.discounted_value(transitions, rewards, gamma)
        np.testing.assert_allclose(best.value, expected, atol=1e-9)
        assert (best.lower - 1e-10 <= expected).all()
        assert (expected <= best.upper + 1e-10).all()
        assert best.policy.shape == (1, 7)


def test_a_geometric_law_close_to_one_is_solved_by_policy_iteration():
    # 10⁶ steps on average: value iteration alone would take 10⁷ sweeps. Compared with a dense linear solve.
    mdp = sj.mdps.river_swim(6)
    law = sj.Geometric(1.0 - 1e-6)
    best = sj.plan(mdp, law, tolerance=1e-3)
    transitions, rewards = reference.dense(mdp)
    states, actions = np.arange(6), best.policy[0]
    chain = transitions[states, actions]
    expected = np.linalg.solve(np.eye(6) - law.gamma * chain, rewards[states, actions])
    assert best.width <= 1e-3
    np.testing.assert_allclose(best.value, expected, atol=1e-3)
    # Greedy in its own value, so no policy is better.
    assert ((rewards + law.gamma * transitions @ expected).max(axis=1) <= expected + 1e-6).all()


@pytest.mark.parametrize("gamma", [0.0, 0.6, 0.99, 1.0 - 1e-5])
def test_geometric_brackets_contain_the_exact_value_of_the_policy(gamma):
    # Rewards of any size and sign, several classes and cycles. The policy's value comes from a dense linear
    # solve, and no action improves it.
    for seed in range(25):
        transitions, rewards, scale = any_problem(np.random.default_rng(2_000 + seed))
        tolerance = 1e-7 * scale / (1.0 - gamma)
        best = sj.plan(as_mdp(transitions, rewards), sj.Geometric(gamma), tolerance=tolerance)
        check_in_order(best, tolerance)
        states, actions = np.arange(len(rewards)), best.policy[0]
        exact = np.linalg.solve(
            np.eye(len(rewards)) - gamma * transitions[states, actions], rewards[states, actions]
        )
        slack = 1e-11 * scale / (1.0 - gamma)  # of the dense solve
        assert (best.lower - slack <= exact).all()
        assert (exact <= best.upper + slack).all()
        gain = (rewards + gamma * transitions @ exact).max(axis=1) - exact
        assert gain.max() <= (1.0 - gamma) * best.width + slack * (1.0 + gamma)


def test_a_fixed_plan_is_finite_horizon_induction():
    transitions, rewards = reference.random_problem(np.random.default_rng(1), 6, 3)
    best = sj.plan(as_mdp(transitions, rewards), sj.Fixed(25))
    np.testing.assert_allclose(best.value, reference.horizon_values(transitions, rewards, 25)[-1], atol=1e-12)
    assert best.width < 1e-11


def test_a_quasi_hyperbolic_plan_has_two_rows():
    # The law is memoryless from step 2 on: a first row, and one that is held.
    transitions, rewards = reference.random_problem(np.random.default_rng(2), 8, 3)
    law = sj.QuasiHyperbolic(beta=0.3, gamma=0.95)
    best = sj.plan(as_mdp(transitions, rewards), law, tolerance=1e-9)
    assert best.policy.shape[0] <= 2
    low, high = reference.truncated_bracket(
        transitions, rewards, law.survival(np.arange(1, 901)), law.tail(901)
    )
    assert (best.lower <= high).all()
    assert (low <= best.upper).all()
    np.testing.assert_allclose(best.value, low, atol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_small_problems_agree_with_enumeration_of_all_policies(seed):
    rng = np.random.default_rng(seed)
    transitions, rewards = reference.random_problem(rng, 2, 2)
    law = sj.Tabulated(np.sort(np.append(rng.uniform(size=3), 1.0))[::-1])
    best = sj.plan(as_mdp(transitions, rewards), law)
    expected = reference.best_by_enumeration(transitions, rewards, law.survival(np.arange(1, 5)))
    np.testing.assert_allclose(best.value, expected, atol=1e-12)


LIGHT = [
    sj.Polynomial(p=4.5),
    sj.BetaGeometric(a=6.0, b=8.0),
    sj.NegativeBinomial(r=2.5, gamma=0.9),
    sj.DiscreteWeibull(q=0.6, shape=0.5),
    sj.Mixture([0.3, 0.7], [sj.Fixed(40), sj.Geometric(0.95)]),
]
HEAVY_ONES = [sj.Polynomial(p=1.4, offset=5), sj.Polynomial(p=1.1), sj.BetaGeometric(a=1.5, b=4.0)]


def any_problem(rng):
    """Rewards of any sign and size; one to three successors per pair, so that classes and cycles appear."""
    n_states, n_actions = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    scale = 10.0 ** rng.integers(-2, 3)
    transitions, rewards = reference.random_problem(
        rng,
        n_states,
        n_actions,
        low=-scale,
        high=scale * rng.uniform(-0.5, 1.0),
        n_successors=int(rng.integers(1, 4)),
    )
    return transitions, rewards, scale


def check_in_order(best, tolerance):
    assert best.width <= tolerance
    assert (best.lower <= best.value).all()
    assert (best.value <= best.upper).all()


@pytest.mark.parametrize("seed", range(200))
def test_brackets_contain_a_long_truncation_on_random_problems(seed):
    # A light tail: the plain truncation after 3,000 layers is so narrow that ours must contain it.
    rng = np.random.default_rng(seed)
    transitions, rewards, scale = any_problem(rng)
    law = LIGHT[seed % len(LIGHT)]
    steps = np.arange(1, 3_001)
    low, high = reference.truncated_bracket(transitions, rewards, law.survival(steps), law.tail(3_001))
    best = sj.plan(as_mdp(transitions, rewards), law, tolerance=1e-3 * scale)
    check_in_order(best, 1e-3 * scale)
    slack = 2e-8 * scale  # the reference's own width and rounding
    assert (high - low).max() <= slack
    assert (best.lower <= low + slack).all()
    assert (high - slack <= best.upper).all()
    rows = best.policy[np.minimum(steps, len(best.policy)) - 1]
    earned = reference.policy_value(transitions, rewards, law.survival(steps), rows)
    assert (np.abs(earned - best.value) <= best.width + slack).all()


@pytest.mark.parametrize("seed", range(60))
def test_heavy_brackets_contain_the_truth_on_random_problems(seed):
    # A heavy tail, where certificates are needed. Steps after 20,000 cannot be ignored: what they can still
    # add is bracketed by the reference's own n-step values, extrapolated with their least and largest growth
    # over a stretch of 60 steps (a multiple of all periods that so few states have, but 7).
    rng = np.random.default_rng(1_000 + seed)
    transitions, rewards, scale = any_problem(rng)
    law = HEAVY_ONES[seed % len(HEAVY_ONES)]
    mdp = as_mdp(transitions, rewards)
    best = sj.plan(mdp, law, tolerance=1e-4 * scale)
    check_in_order(best, 1e-4 * scale)
    told = sj.clairvoyant_value(mdp, law, tolerance=1e-4 * scale)
    assert (told >= best.lower - 1e-4 * scale).all()
    # The policy has the stated value: evaluated by the reference, with its last part in closed form.
    n_steps = 20_000
    rows = best.policy[np.minimum(np.arange(1, n_steps + 1), len(best.policy)) - 1]
    earned = reference.policy_value(transitions, rewards, law.survival(np.arange(1, n_steps + 1)), rows)
    held = best.policy[-1]
    states = np.arange(len(rewards))
    chain, paid = transitions[states, held], rewards[states, held]
    later = reference.chain_tail(chain, paid, law, n_steps)
    reach = np.eye(len(rewards))
    for row in rows[: len(best.policy)]:
        reach = reach @ transitions[states, row]
    reach = reach @ np.linalg.matrix_power(chain, n_steps - min(n_steps, len(best.policy)))
    worth = earned + reach @ later
    slack = 2e-5 * scale
    assert (best.lower - slack <= worth).all()
    assert (worth <= best.upper + slack).all()
    # No other policy is better: try the plan of a slightly different law, and the greedy one.
    for other in (sj.plan(mdp, sj.Geometric(0.97)).policy, rewards.argmax(axis=1)[np.newaxis]):
        assert (sj.evaluate(mdp, law, other, tolerance=1e-4 * scale).lower <= best.upper).all()


@pytest.mark.parametrize("name", ["FrozenLake-v1", "FrozenLake8x8-v1"])
@pytest.mark.parametrize("law", [sj.Polynomial(p=1.01), sj.Polynomial(p=2.0), sj.Fixed(3_000)])
def test_the_value_lies_inside_its_bracket(name, law):
    best = sj.plan(sj.TabularMDP.from_env(name), law, tolerance=1e-5)
    check_in_order(best, 1e-5)


@pytest.mark.parametrize(
    ("build", "law"),
    [
        (sj.mdps.two_paths, sj.NegativeBinomial(r=2.0, gamma=0.9)),
        (sj.mdps.cash_or_invest, sj.DiscreteWeibull(q=0.5, shape=0.5)),
        (sj.mdps.river_swim, sj.Polynomial(p=4.5)),
    ],
)
def test_the_held_row_is_not_an_end_effect(build, law):
    # At step 2,000 the plan plays like a plan for the law conditional on survival to that step.
    mdp = build()
    best = sj.plan(mdp, law)

    class Later(sj.LengthLaw):
        def log_survival(self, h):
            return law.log_survival(np.asarray(h) + 1_999) - law.log_survival(2_000)

        def survival(self, h):
            return np.exp(self.log_survival(h))

        def remaining(self, h):
            return law.remaining(np.asarray(h) + 1_999)

    later = sj.plan(mdp, Later())
    assert [best.action(s, 2_000) for s in range(mdp.n_states)] == later.policy[0].tolist()
    assert len(best.policy) < 100


def test_progress_is_reported_and_changes_nothing():
    shares = []
    mdp = sj.mdps.cash_or_invest(delay=5)
    watched = sj.plan(mdp, HEAVY, progress=shares.append)
    assert shares == sorted(shares)
    assert len(shares) >= 50
    assert shares[-1] == 1.0
    alone = sj.plan(mdp, HEAVY)
    assert (watched.policy == alone.policy).all()
    assert (watched.upper == alone.upper).all()


@pytest.mark.parametrize("law", [sj.Fixed(30), sj.Polynomial(p=1.6, offset=5), sj.Geometric(0.9)])
def test_threads_change_no_bit(law, monkeypatch):
    monkeypatch.setattr("sojourn.planning._threads._FEWEST_STATES", 100)  # else only large tables are split
    mdp = sj.mdps.garnet(700, 3, 3, seed=2)
    alone = sj.plan(mdp, law, tolerance=1e-3)
    for threads in (2, 5):
        shared = sj.plan(mdp, law, tolerance=1e-3, threads=threads)
        for name in ("policy", "value", "lower", "upper"):
            assert (getattr(shared, name) == getattr(alone, name)).all()


def test_rewards_that_would_overflow_are_refused():
    mdp = as_mdp(np.ones((1, 1, 1)), np.full((1, 1), 1e300))
    with pytest.raises(
        ValueError, match=r"max\|rewards\| times the mean length must be < 1e\+280; got 1e\+301."
    ):
        sj.plan(mdp, sj.Fixed(10))


def test_the_warning_says_if_rounding_is_the_cause():
    with pytest.warns(
        WideBracketWarning, match="is the rounding of floats, so only a larger tolerance helps"
    ):
        sj.plan(sj.mdps.river_swim(6), sj.Fixed(50), tolerance=1e-17)


def test_a_gain_that_is_a_mixture_of_classes_is_certified():
    # From 0, a coin leads to an absorbing state that pays 1 per step, or to one that pays 0; waiting in 0
    # pays 0.1 and keeps the coin. The gain of state 0 is ½, an average, and must be rounded the safe way.
    transitions = np.zeros((3, 2, 3))
    transitions[0, 0, [1, 2]] = 0.5
    transitions[0, 1, [0, 1, 2]] = [0.9, 0.05, 0.05]
    transitions[1, :, 1] = transitions[2, :, 2] = 1.0
    rewards = np.array([[0.0, 0.1], [1.0, 1.0], [0.0, 0.0]])
    mdp = as_mdp(transitions, rewards)
    best = sj.plan(mdp, HEAVY)
    assert best.width <= 1e-6
    # Tossing at once earns ½ Γ(2).
    assert best.upper[0] >= (HEAVY.mean - 1.0) / 2.0
    assert best.lower[1] <= HEAVY.mean <= best.upper[1]


def test_periodic_problems_are_certified():
    # A ring of five states that pays 1 once per cycle: 1 + γ(6) + γ(11) + …, as Hurwitz zeta functions.
    from scipy.special import zeta

    ring = np.roll(np.eye(5), 1, axis=1)[:, np.newaxis, :]
    rewards = np.zeros((5, 1))
    rewards[0] = 1.0
    best = sj.plan(as_mdp(ring, rewards), sj.Polynomial(p=1.4), tolerance=1e-5)
    expected = 5.0**-1.4 * zeta(1.4, 0.2)  # Σ_k (1 + 5k)^−1.4
    assert best.width <= 1e-5
    assert best.lower[0] <= expected <= best.upper[0]


def test_the_best_action_of_cash_or_invest_changes_with_the_step():
    mdp, law = sj.mdps.cash_or_invest(delay=5), sj.Polynomial(p=1.4)
    best = sj.plan(mdp, law)
    actions = {best.action(0, h) for h in range(1, 200)}
    assert actions == {0, 1}
    # The loss of the best stationary policy: only state 0 offers a choice.
    stationary = [
        sj.evaluate(mdp, law, np.full((1, mdp.n_states), action)).upper[0] for action in range(mdp.n_actions)
    ]
    assert best.lower[0] - max(stationary) > 1e-3


def test_policies_are_stored_in_the_smallest_type_and_without_repeats():
    mdp = sj.mdps.river_swim(6)
    best = sj.plan(mdp, HEAVY)
    assert best.policy.dtype == np.uint8
    assert len(best.policy) == 1 or (best.policy[-1] != best.policy[-2]).any()


def test_ties_go_to_the_lowest_action():
    mdp = as_mdp(np.full((2, 3, 2), 0.5), np.ones((2, 3)))
    assert (sj.plan(mdp, sj.Fixed(4)).policy == 0).all()


def test_more_than_256_actions_need_a_wider_type():
    transitions = np.ones((1, 300, 1))
    rewards = np.zeros((1, 300))
    rewards[0, 299] = 1.0
    best = sj.plan(as_mdp(transitions, rewards), sj.Fixed(3))
    assert best.policy.dtype == np.uint16
    assert best.action(0, 1) == 299


def test_trimmed_layers_are_the_held_ones(monkeypatch):
    # Chunks of one layer, so that the search for the first layer that differs crosses chunks.
    import importlib

    module = importlib.import_module("sojourn.planning._plan")
    mdp, law = sj.mdps.cash_or_invest(delay=5), sj.Polynomial(p=1.4)
    whole = sj.plan(mdp, law, tolerance=1e-3)
    monkeypatch.setattr(module, "_CHUNK_BYTES", 1)
    pieces = sj.plan(mdp, law, tolerance=1e-3)
    assert (whole.policy == pieces.policy).all()
    assert (whole.value == pieces.value).all()


def test_a_policy_too_large_for_memory_is_refused_with_its_size():
    mdp = sj.mdps.garnet(100_000, 2, 2, seed=0)
    with pytest.raises(
        MemoryLimitError, match=r"needs [\d,.]+ GiB and [\d,.]+ GiB are free; raise the tolerance"
    ):
        sj.plan(mdp, sj.Uniform(1, 10_000_000), tolerance=1e-12, max_layers=10_000_000)


def test_a_bracket_wider_than_the_tolerance_raises_a_warning():
    with pytest.warns(WideBracketWarning, match="above the tolerance 1e-06; raise max_layers"):
        best = sj.plan(sj.mdps.river_swim(6), HEAVY, max_layers=10)
    exact = sj.plan(sj.mdps.river_swim(6), HEAVY)
    assert (best.lower <= exact.lower + 1e-6).all()
    assert (exact.upper <= best.upper + 1e-6).all()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), low=st.floats(-5, 5), shift=st.floats(-10, 10))
def test_a_constant_added_to_all_rewards_adds_the_mean_length(seed, low, shift):
    transitions, rewards = reference.random_problem(
        np.random.default_rng(seed), 4, 2, low=low, high=low + 1.0, n_successors=2
    )
    law = sj.Polynomial(p=2.0, offset=3)
    base = sj.plan(as_mdp(transitions, rewards), law, tolerance=1e-4)
    moved = sj.plan(as_mdp(transitions, rewards + shift), law, tolerance=1e-4)
    np.testing.assert_allclose(moved.value, base.value + shift * law.mean, atol=1.1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: sj.plan(m, sj.Fixed(3), tolerance=0.0), "tolerance must be a finite number > 0; got 0.0."),
        (lambda m: sj.plan(m, sj.Fixed(3), tolerance=float("nan")), "tolerance must be"),
        (lambda m: sj.plan(m, sj.Fixed(3), max_layers=0), "max_layers must be a whole number ≥ 1; got 0."),
        (lambda m: sj.plan(m, sj.Fixed(3), threads=0), "threads must be a whole number ≥ 1; got 0."),
        (lambda m: sj.plan(m, sj.Fixed(3)).action(6, 1), "state must be < 6; got 6."),
        (lambda m: sj.plan(m, sj.Fixed(3)).action(0, 0), "h must be a whole number ≥ 1; got 0."),
    ],
)
def test_bad_arguments_raise_a_one_line_error(call, message):
    with pytest.raises(ValueError) as caught:
        call(sj.mdps.river_swim(6))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("mdp", "law"), [(None, sj.Fixed(3)), ("x", sj.Fixed(3)), (sj.mdps.two_paths(), 0.9)]
)
def test_a_plan_needs_a_problem_and_a_law(mdp, law):
    with pytest.raises(TypeError, match=r"must be a (TabularMDP|LengthLaw)"):
        sj.plan(mdp, law)


def test_the_html_of_a_plan_is_escaped():
    mdp = sj.TabularMDP(np.ones((1, 1, 1)), np.ones((1, 1)), name="<script>")
    best = sj.plan(mdp, sj.Fixed(3))
    assert "<script>" not in best._repr_html_()
    assert "&lt;script&gt;" in best._repr_html_()
    assert "Fixed(length=3)" in repr(best)
