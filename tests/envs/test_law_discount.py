"""A law as weights: the same objective as a law as lengths."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit
from hypothesis import given, settings
from hypothesis import strategies as st

import sojourn as sj
from sojourn.envs import LawDiscount, RandomLength, StepIndex, TabularEnv

LAW = sj.Polynomial(p=1.4)


def returns(env, actions, seed=0):
    """Return the sum of one episode's rewards, playing these actions."""
    env.reset(seed=seed)
    total = 0.0
    for action in actions:
        _, reward, terminated, truncated, _ = env.step(action)
        total += reward
        if terminated or truncated:
            break
    return total


PROBLEMS = [sj.mdps.two_paths(), sj.mdps.cash_or_invest(2), sj.mdps.deep_sea(3)]


@settings(deadline=None, max_examples=50)
@given(
    problem=st.sampled_from(PROBLEMS),
    weights=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8).filter(lambda ws: ws[-1] > 1e-3),
    actions=st.lists(st.integers(0, 1), min_size=8, max_size=8),
)
def test_weights_and_lengths_give_the_same_mean_return(problem, weights, actions):
    """Σ_ℓ P(H = ℓ) Σ_{h ≤ ℓ} r_h, over every length, against Σ_h γ(h) r_h: both played."""
    sums = np.cumsum(weights[::-1])[::-1]
    law = sj.Tabulated(sums / sums[0])
    env = TabularEnv(problem)
    by_lengths = sum(
        float(law.pmf(length)) * returns(RandomLength(env, sj.Fixed(length)), actions)
        for length in range(1, law.longest + 1)
    )
    assert returns(LawDiscount(env, law), actions) == pytest.approx(by_lengths, abs=1e-12)


@pytest.mark.parametrize("law", [LAW, sj.Geometric(0.9), sj.QuasiHyperbolic(0.7, 0.95), sj.Uniform(2, 5)])
def test_rewards_are_multiplied_by_survival_and_discounts_multiply_to_it(law):
    env = TabularEnv(sj.mdps.two_paths())
    weighed, emitting = LawDiscount(env, law, 300), LawDiscount(env, law, 300, emit="discount")
    _, _ = weighed.reset(), emitting.reset()
    steps = min(law.longest or 200, 200)
    rewards = [weighed.step(1)[1] for _ in range(steps)]
    assert rewards == [0.0, *law.survival(np.arange(2, steps + 1)).tolist()]
    emitting.reset()
    plain, discounts = zip(
        *((step[1], step[-1]["discount"]) for step in _steps(emitting, steps)), strict=True
    )
    assert plain == (0.0, *[1.0] * (steps - 1))
    np.testing.assert_allclose(
        np.cumprod(discounts), law.survival(np.arange(2, steps + 2)), rtol=1e-10, atol=1e-300
    )


def _steps(env, n):
    return [env.step(1) for _ in range(n)]


def test_tables_by_step_grow_and_far_steps_are_computed():
    env = LawDiscount(TabularEnv(sj.mdps.two_paths()), LAW)
    env.reset()
    assert [step[1] for step in _steps(env, 500)][-1] == float(LAW.survival(500))
    env._taken = 2**20 + 4
    assert env.step(0)[1] == float(LAW.survival(2**20 + 5))


@pytest.mark.parametrize(
    ("law", "max_steps", "steps", "expected"),
    [
        (LAW, 4, 4, (True, False, "limit")),
        (sj.Fixed(4), None, 4, (True, False, "law")),  # nothing can come after it
        (sj.Fixed(4), 4, 4, (True, False, "law")),
        (sj.Fixed(4), 9, 4, (True, False, "law")),
        (sj.Fixed(4), 3, 3, (True, False, "limit")),
    ],
)
def test_flags_at_the_ends_of_the_wrapper(law, max_steps, steps, expected):
    env = LawDiscount(TabularEnv(sj.mdps.river_swim(4)), law, max_steps)
    env.reset(seed=0)
    found = [env.step(0) for _ in range(steps)]
    assert not any(step[2] or step[3] or step[4] for step in found[:-1])
    *_, terminated, truncated, info = found[-1]
    assert (terminated, truncated, info["ended_by"]) == expected


@pytest.mark.parametrize(
    ("law", "cut_off", "expected"),
    [
        (LAW, "terminated", (True, False, {"discount": 0.0, "ended_by": "limit"})),
        (LAW, "truncated", (False, True, {"discount": float(LAW.continuation(2)), "ended_by": "limit"})),
        (sj.Fixed(2), "truncated", (True, False, {"discount": 0.0, "ended_by": "law"})),
    ],
)
def test_the_end_after_max_steps_can_be_truncated(law, cut_off, expected):
    env = LawDiscount(TabularEnv(sj.mdps.river_swim(4)), law, 2, emit="discount", cut_off=cut_off)
    env.reset(seed=0)
    assert env.step(0)[4] == {"discount": float(law.continuation(1))}
    assert env.step(0)[2:] == expected


def test_an_agent_that_bootstraps_unless_terminated_learns_the_best_policy():
    """A table comes to the value of the first N steps, which planning knows.

    Also where a cut-off is `truncated`: the index after the last step is its own, and nothing is added there.
    """
    problem, steps = sj.mdps.cash_or_invest(delay=3, payoff=1.2), 12
    objective = sj.Tabulated(LAW.survival(np.arange(1, steps + 1)))
    best = sj.plan(problem, objective).value[0]
    assert best > 1.001 * max(
        sj.evaluate(problem, objective, np.full((1, problem.n_states), action)).value[0] for action in (0, 1)
    )
    for env in (
        LawDiscount(StepIndex(TabularEnv(problem), steps), LAW, steps),
        LawDiscount(StepIndex(TabularEnv(problem), steps), LAW, steps, cut_off="truncated"),
        LawDiscount(StepIndex(TimeLimit(TabularEnv(problem), steps), steps), LAW),
    ):
        values = q_learning(env, problem.n_actions, episodes=2_000)
        assert values[0, 0].max() == pytest.approx(best, abs=1e-9)


def q_learning(env, n_actions, episodes):
    """Return a table of values; the problem is deterministic, so each update replaces the last."""
    values = np.zeros((*env.observation_space.nvec, n_actions))
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    for _ in range(episodes):
        seen, over = tuple(env.reset()[0]), False
        while not over:
            action = int(rng.integers(n_actions)) if rng.random() < 0.3 else int(values[seen].argmax())
            following, reward, terminated, truncated, _ = env.step(action)
            values[seen][action] = reward + (0.0 if terminated else values[tuple(following)].max())
            seen, over = tuple(following), terminated or truncated
    return values


def test_ends_of_the_environment_are_passed_on():
    sea = TabularEnv(sj.mdps.deep_sea(3))
    env = LawDiscount(sea, LAW, 3, emit="discount")
    env.reset()
    *_, terminated, truncated, info = [env.step(0) for _ in range(3)][-1]
    assert (terminated, truncated, info) == (True, False, {"discount": 0.0, "ended_by": "env"})
    cut = LawDiscount(TimeLimit(sea, 2), LAW, 3)
    cut.reset()
    *_, terminated, truncated, info = [cut.step(0) for _ in range(2)][-1]
    assert (terminated, truncated, info) == (False, True, {"ended_by": "limit"})
    both = LawDiscount(TimeLimit(sea, 2), sj.Fixed(2))
    both.reset()
    *_, terminated, truncated, info = [both.step(0) for _ in range(2)][-1]
    assert (terminated, truncated, info) == (True, True, {"ended_by": "limit"})


@pytest.mark.parametrize(
    ("law", "settings"),
    [(LAW, {"max_steps": 2}), (LAW, {"max_steps": 2, "cut_off": "truncated"}), (sj.Fixed(2), {})],
)
def test_a_step_after_the_end_is_refused(law, settings):
    env = LawDiscount(TabularEnv(sj.mdps.river_swim(4)), law, **settings)
    message = r"^step must follow reset: the episode is over, or never began\.$"
    for _ in range(2):
        with pytest.raises(gymnasium.error.ResetNeeded, match=message):
            env.step(0)
        env.reset(seed=0)
        _steps(env, 2)
    for inner, steps in ((TabularEnv(sj.mdps.deep_sea(3)), 3), (TimeLimit(env.unwrapped, 1), 1)):
        ended = LawDiscount(inner, LAW)
        ended.reset(seed=0)
        _steps(ended, steps)
        with pytest.raises(gymnasium.error.ResetNeeded, match=message):
            ended.step(0)


def test_without_a_limit_episodes_go_on():
    env = LawDiscount(TabularEnv(sj.mdps.river_swim(4)), sj.Geometric(0.5))
    env.reset()
    assert not any(step[2] or step[3] for step in _steps(env, 2_000))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_steps": 0}, r"max_steps must be a whole number ≥ 1; got 0\."),
        ({"cut_off": "both"}, r"cut_off must be one of 'terminated', 'truncated'; got 'both'\."),
        (
            {"emit": "rewards"},
            r"emit must be one of 'reward', 'discount'; got 'rewards'. Did you mean 'reward'\?",
        ),
    ],
)
def test_bad_settings_raise_a_one_line_error(settings, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        LawDiscount(gymnasium.make("Taxi-v4"), LAW, **settings)
