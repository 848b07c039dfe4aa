"""Vector wrappers give the same results as the single wrappers."""

from __future__ import annotations

import functools

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

import sojourn as sj
from sojourn.envs import LawDiscount, RandomLength, StepIndex, vector

LAW = sj.Polynomial(p=1.4, offset=1)
# Deterministic problems, in which a discarded step leaves no trace.
IDS = ("sojourn/CashOrInvest-v0", "sojourn/DeepSea-v0")

RANDOM = (functools.partial(RandomLength, law=LAW), functools.partial(vector.RandomLength, law=LAW))
WEIGHTS = (
    functools.partial(LawDiscount, law=LAW, max_steps=6),
    functools.partial(vector.LawDiscount, law=LAW, max_steps=6),
)
DISCOUNTS = (
    functools.partial(LawDiscount, law=sj.Fixed(5), emit="discount"),
    functools.partial(vector.LawDiscount, law=sj.Fixed(5), emit="discount"),
)
LIMITED = {"law": LAW, "max_steps": 6, "emit": "discount"}
LIMITED_DISCOUNTS = (
    functools.partial(LawDiscount, **LIMITED),
    functools.partial(vector.LawDiscount, **LIMITED),
)
CUT = (
    functools.partial(LawDiscount, cut_off="truncated", **LIMITED),
    functools.partial(vector.LawDiscount, cut_off="truncated", **LIMITED),
)
STEPS = (functools.partial(StepIndex, max_steps=4), functools.partial(vector.StepIndex, max_steps=4))
STACKS = {
    "lengths": [RANDOM],
    "weights": [WEIGHTS],
    "discounts": [DISCOUNTS],
    "discounts to a limit": [LIMITED_DISCOUNTS],
    "discounts to a cut-off": [CUT],
    "steps": [STEPS],
    "lengths, then steps": [RANDOM, STEPS],
    "steps, then lengths": [STEPS, RANDOM],
    "weights, then steps": [WEIGHTS, STEPS],
    "steps, then weights": [STEPS, WEIGHTS],
}


def sides(name, stack, **settings):
    """Return the same environments twice: with single wrappers, and with one vector wrapper."""
    each = gymnasium.make_vec(
        name, num_envs=3, max_episode_steps=9, wrappers=[one for one, _ in stack], **settings
    )
    at_once = gymnasium.make_vec(name, num_envs=3, max_episode_steps=9, **settings)
    for _, many in stack:
        at_once = many(at_once)
    return each, at_once


def infos_set(infos):
    """Return the infos that are set for at least one sub-environment."""
    return {key: value for key, value in infos.items() if np.any(infos.get(f"_{key}", value))}


def assert_equal_infos(left, right):
    left, right = infos_set(left), infos_set(right)
    assert set(left) == set(right)
    for key, value in left.items():
        mask = left.get(f"_{key}", slice(None))
        np.testing.assert_array_equal(value[mask], right[key][mask])


@pytest.mark.parametrize("stack", STACKS.values(), ids=list(STACKS))
@pytest.mark.parametrize("name", IDS)
def test_vector_wrappers_equal_single_wrappers(name, stack):
    each, at_once = sides(name, stack)
    assert at_once.single_observation_space == each.single_observation_space
    assert at_once.observation_space == each.observation_space
    left, right = each.reset(seed=3), at_once.reset(seed=3)
    np.testing.assert_array_equal(left[0], right[0])
    rng, ends = np.random.default_rng(0), 0
    for _ in range(200):
        actions = rng.integers(2, size=3)
        left, right = each.step(actions), at_once.step(actions)
        assert right[0] in at_once.observation_space
        for one, many in zip(left[:4], right[:4], strict=True):
            np.testing.assert_array_equal(one, many)
            assert one.dtype == many.dtype
        assert_equal_infos(left[4], right[4])
        ends += int((left[2] | left[3]).sum())
    assert ends > 30


@pytest.mark.parametrize("mode", ["NextStep", "Disabled"])
def test_lengths_equal_those_of_single_wrappers_on_random_problems(mode):
    """RiverSwim is random, so states differ; lengths do not."""
    law = sj.Uniform(1, 5)
    envs = gymnasium.make_vec(
        "sojourn/RiverSwim-v0", num_envs=2, vector_kwargs={"autoreset_mode": AutoresetMode(mode)}
    )
    envs = vector.RandomLength(envs, law)
    envs.reset(seed=5)
    found, taken = [[], []], np.zeros(2, dtype=int)
    while min(len(lengths) for lengths in found) < 40:
        *_, terminated, truncated, infos = envs.step(np.array([1, 1]))
        assert not truncated.any()
        taken += 1
        for i in np.flatnonzero(terminated):
            assert infos["ended_by"][i] == "law"
            found[i].append(taken[i])
            taken[i] = -1 if mode == "NextStep" else 0  # the next step only begins
        if mode == "Disabled" and terminated.any():
            envs.reset(options={"reset_mask": terminated})
    for i, lengths in enumerate(found):
        rng = np.random.default_rng(np.random.SeedSequence(5 + i).spawn(1)[0])
        assert lengths[:40] == law.sample(rng, 40).tolist()


def test_without_autoreset_a_step_after_the_end_is_refused():
    envs = gymnasium.make_vec(IDS[0], num_envs=2, vector_kwargs={"autoreset_mode": AutoresetMode.DISABLED})
    envs = vector.StepIndex(vector.LawDiscount(envs, LAW, 2), 9)
    envs.reset(seed=0)
    envs.step(np.zeros(2, dtype=int))
    options = {"reset_mask": np.array([False, True])}
    envs.reset(options=options)
    assert list(options) == ["reset_mask"]  # Gymnasium alone would have removed it
    observations, rewards, terminated, truncated, infos = envs.step(np.zeros(2, dtype=int))
    assert observations[:, 1].tolist() == [2, 1]
    np.testing.assert_allclose(rewards, 0.1 * LAW.survival([2, 1]))
    assert (terminated.tolist(), truncated.tolist()) == ([True, False], [False, False])
    assert infos["ended_by"].tolist() == ["limit", None]
    with pytest.raises(
        gymnasium.error.ResetNeeded, match=r"^reset must come first in sub-environments \[0\]"
    ):
        envs.step(np.zeros(2, dtype=int))


@pytest.mark.parametrize(
    ("seed", "error", "got"),
    [
        (-1, ValueError, "-1"),
        ([3, -1], ValueError, "-1"),
        (0.5, ValueError, "0.5"),
        ("ab", TypeError, "'ab'"),
    ],
)
def test_bad_seeds_raise_a_one_line_error(seed, error, got):
    envs = vector.RandomLength(gymnasium.make_vec(IDS[0], num_envs=2), LAW)
    with pytest.raises(error, match=rf"^seed must be a whole number ≥ 0; got {got}\.$"):
        envs.reset(seed=seed)


def test_seeds_may_be_given_one_by_one():
    law = sj.Uniform(1, 1_000)

    def first(seed, settings):
        envs = vector.RandomLength(gymnasium.make_vec(IDS[0], num_envs=2), law, reveal=True, **settings)
        return envs.reset(seed=seed)[1]["length"].tolist()

    assert first([4, 5], {}) == first(4, {}) == first(None, {"seed": 4})
    assert first(np.int64(4), {}) == first(np.array([4, 5]), {}) == first(4, {})
    assert first([5, 4], {}) == first(4, {})[::-1]
    mixed = vector.RandomLength(gymnasium.make_vec(IDS[0], num_envs=2), law, seed=4, reveal=True)
    assert mixed.reset(seed=[None, 9])[1]["length"][0] == first(4, {})[0]
    before = mixed.reset(seed=4)[1]["length"]
    after = mixed.reset(seed=8, options={"reset_mask": np.array([False, True])})[1]["length"]
    assert after.tolist() == [before[0], first(8, {})[1]]
    again = mixed.reset()[1]["length"]  # and its stream goes on where it was
    both = vector.RandomLength(gymnasium.make_vec(IDS[0], num_envs=2), law, seed=4, reveal=True)
    assert again[0] == [both.reset()[1]["length"][0] for _ in range(2)][1]
    with pytest.raises((ValueError, AssertionError), match="length must match num_envs=2"):
        mixed.reset(seed=[1, 2, 3])


class Informing(gymnasium.Wrapper):
    """Has numbers, texts and nested dictionaries in its infos."""

    def __init__(self, env):
        super().__init__(env)
        self.taken = 0

    def reset(self, **settings):
        observation, _ = self.env.reset(**settings)
        self.taken = 0
        return observation, {"begun": "yes", "all": {"taken": 0}}

    def step(self, action):
        *result, _ = self.env.step(action)
        self.taken += 1
        return (*result, {"taken": self.taken, "all": {"taken": self.taken}})


def test_infos_of_the_discarded_step_are_not_shown():
    def inform(env):
        return Informing(env)

    each = gymnasium.make_vec(IDS[0], num_envs=3, wrappers=[inform, RANDOM[0]])
    at_once = RANDOM[1](gymnasium.make_vec(IDS[0], num_envs=3, wrappers=[inform]))
    _, _ = each.reset(seed=1), at_once.reset(seed=1)
    for _ in range(100):
        left, right = each.step(np.zeros(3, dtype=int))[4], at_once.step(np.zeros(3, dtype=int))[4]
        inner = left.pop("all"), right.pop("all")
        assert_equal_infos(*inner)
        assert_equal_infos(left, right)


class Resets(gymnasium.Env):
    """Shows how often it was reset, and ends after three steps."""

    observation_space, action_space = spaces.Discrete(10_000), spaces.Discrete(2)
    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(self):
        self.resets = self.taken = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.resets, self.taken = self.resets + 1, 0
        return self.resets, {}

    def step(self, action):
        self.taken += 1
        return self.resets, 1.0, self.taken == 3, False, {}


def test_each_episode_is_reset_once():
    law = sj.Uniform(1, 5)
    each = gymnasium.vector.SyncVectorEnv([lambda: RandomLength(Resets(), law)] * 3)
    at_once = vector.RandomLength(gymnasium.vector.SyncVectorEnv([Resets] * 3), law)
    _, _ = each.reset(seed=1), at_once.reset(seed=1)
    for _ in range(100):
        left, right = each.step(np.zeros(3, dtype=int)), at_once.step(np.zeros(3, dtype=int))
        for one, many in zip(left[:4], right[:4], strict=True):
            np.testing.assert_array_equal(one, many)
        assert_equal_infos(left[4], right[4])
    at_once.reset(options={"reset_mask": np.array([True, False, False])})
    assert not at_once.step(np.zeros(3, dtype=int))[0][0] > left[0][0] + 1  # reset by hand, and not again


@pytest.mark.parametrize("outer", ["RandomLength", "LawDiscount"])
@pytest.mark.parametrize("inner", ["RandomLength", "LawDiscount"])
def test_a_law_may_not_count_twice(inner, outer):
    message = f"^env must not have {inner} inside, or with {outer} a law counts twice"
    one = {"RandomLength": RANDOM[0], "LawDiscount": WEIGHTS[0]}[inner]
    many = {"RandomLength": RANDOM[1], "LawDiscount": WEIGHTS[1]}
    with pytest.raises(ValueError, match=message):
        many[outer](vector.StepIndex(many[inner](gymnasium.make_vec(IDS[0], num_envs=2)), 3))
    with pytest.raises(ValueError, match=message):
        many[outer](gymnasium.make_vec(IDS[0], num_envs=2, wrappers=[one, STEPS[0]]))


def test_vector_wrappers_work_with_subprocesses():
    settings = {"vectorization_mode": "async", "vector_kwargs": {"context": "spawn"}}
    each, at_once = sides(IDS[0], [STEPS, RANDOM], **settings)
    try:
        with pytest.raises(ValueError, match=r"^env must not have RandomLength inside"):
            vector.LawDiscount(each, LAW)
        _, _ = each.reset(seed=3), at_once.reset(seed=3)
        for _ in range(20):
            left, right = each.step(np.zeros(3, dtype=int)), at_once.step(np.zeros(3, dtype=int))
            for one, many in zip(left[:4], right[:4], strict=True):
                np.testing.assert_array_equal(one, many)
            assert_equal_infos(left[4], right[4])
    finally:
        each.close()
        at_once.close()


def test_unsupported_vector_environments_are_refused_with_a_remedy():
    same_step = gymnasium.make_vec(
        IDS[0], num_envs=2, vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP}
    )
    for wrap in (RANDOM[1], WEIGHTS[1], STEPS[1]):
        with pytest.raises(
            ValueError, match=r"^autoreset_mode must be NEXT_STEP or DISABLED; got .*wrappers="
        ):
            wrap(same_step)
    with pytest.raises(ValueError, match=r"^env must be a SyncVectorEnv or AsyncVectorEnv.*mode='sync'\)\.$"):
        RANDOM[1](gymnasium.make_vec("CartPole-v1", num_envs=2))
    steps = STEPS[1](gymnasium.make_vec("CartPole-v1", num_envs=2))  # which ends nothing
    assert steps.reset(seed=0)[0] in steps.observation_space


@pytest.mark.parametrize(
    "inner",
    [
        spaces.Discrete(3, start=2),
        spaces.Box(0.0, 1.0, (2,), np.float32),
        spaces.Box(0, 9, (2, 2), np.int16),
        spaces.Tuple([spaces.Discrete(2), spaces.Box(0.0, 1.0, (2,))]),
        spaces.Dict({"a": spaces.MultiBinary(2)}),
        spaces.MultiDiscrete([3, 4]),
    ],
)
def test_batches_of_every_space_get_the_step(inner):
    class Showing(gymnasium.Env):
        observation_space, action_space = inner, spaces.Discrete(2)
        metadata = {"render_modes": []}  # noqa: RUF012

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return self.observation_space.sample(), {}

        def step(self, action):
            return self.observation_space.sample(), 0.0, False, False, {}

    def both(wrap_each):
        envs = gymnasium.vector.SyncVectorEnv([lambda: wrap_each(Showing())] * 2)
        envs = envs if wrap_each is STEPS[0] else STEPS[1](envs)
        inner.seed(0)
        found = [envs.reset()[0], *(envs.step(np.zeros(2, dtype=int))[0] for _ in range(5))]
        assert all(batch in envs.observation_space for batch in found)
        return envs.observation_space, found

    (left_space, left), (right_space, right) = both(STEPS[0]), both(lambda env: env)
    assert left_space == right_space
    np.testing.assert_equal(left, right)
