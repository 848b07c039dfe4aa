"""Replay and rollout buffers against plain sums."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gymnasium import spaces
from stable_baselines3.common.buffers import NStepReplayBuffer, RolloutBuffer

import sojourn as sj
from sojourn.sb3 import (
    LawDictReplayBuffer,
    LawDictRolloutBuffer,
    LawReplayBuffer,
    LawRolloutBuffer,
    StepClock,
)

LAW = sj.Polynomial(1.4)
CLOCK = StepClock(LAW, 4)
FEATURES = np.arange(5) / 4
OBSERVATIONS = spaces.Box(0.0, 1_000.0, (2,), np.float32)
ACTIONS = spaces.Discrete(2)


def fill(buffer, n, *, lengths=(3, 7), terminates=True):
    """Add transitions whose observation and reward are their number, in episodes of the given lengths."""
    n_envs, h = buffer.n_envs, np.ones(buffer.n_envs, dtype=int)
    for t in range(n):
        length = np.array([lengths[(t + j) % 2] for j in range(n_envs)])
        done = h >= length
        index = np.minimum([h - 1, h], 4)
        seen = [np.stack([np.full(n_envs, t + k), FEATURES[index[k]]], axis=1) for k in (0, 1)]
        if isinstance(buffer, LawDictReplayBuffer):
            seen = [{"image": one[:, :1], "step": one[:, 1:]} for one in seen]
        infos = [{"step": int(one), "TimeLimit.truncated": not terminates} for one in h]
        buffer.add(*seen, np.zeros((n_envs, 1)), np.full(n_envs, float(t)), done, infos)
        h = np.where(done, 1, h + 1)
    return buffer


def replay(n_envs=1, size=40, kind=LawReplayBuffer, space=OBSERVATIONS, **settings):
    settings = {"relabel": 0.0, "features": FEATURES, "clock": CLOCK, **settings}
    return kind(size, space, ACTIONS, "cpu", n_envs, **settings)


def split(samples):
    """Return numbers of transitions and indices of steps, before and after, as arrays."""
    seen = []
    for one in (samples.observations, samples.next_observations):
        parts = one.values() if isinstance(one, dict) else one.T
        number, feature = (part.numpy().ravel() for part in parts)
        seen += [number.astype(int), (feature * 4).round().astype(int)]
    return seen


@pytest.mark.parametrize("n_envs", [1, 2])
def test_samples_have_the_weight_and_the_discount_of_their_step(n_envs):
    samples = fill(replay(n_envs), 15).sample(64)
    number, index, following, after = split(samples)
    np.testing.assert_array_equal(following, number + 1)
    np.testing.assert_array_equal(after, np.minimum(index + 1, 4))
    np.testing.assert_allclose(samples.rewards.ravel(), CLOCK.weights[index] * number, rtol=1e-6)
    np.testing.assert_allclose(samples.discounts.ravel(), CLOCK.discounts[index], rtol=1e-6)
    assert samples.dones.sum() > 0
    assert fill(replay(n_envs), 15, terminates=False).sample(64).dones.sum() == 0


def test_random_steps_are_log_uniform_and_keep_the_transition():
    samples = fill(replay(relabel=1.0), 30).sample(20_000)
    number, index, following, after = split(samples)
    np.testing.assert_array_equal(following, number + 1)
    np.testing.assert_array_equal(after, np.minimum(index + 1, 4))
    np.testing.assert_allclose(samples.rewards.ravel(), CLOCK.weights[index] * number, rtol=1e-6)
    np.testing.assert_allclose(samples.discounts.ravel(), CLOCK.discounts[index], rtol=1e-6)
    h = np.arange(1, 6)
    expected = np.log(1 + 1 / h) / np.log(6)
    np.testing.assert_allclose(np.bincount(index) / index.size, expected, atol=0.02)


def test_half_of_the_transitions_keep_their_step_by_default():
    buffer = fill(LawReplayBuffer(40, OBSERVATIONS, ACTIONS, clock=CLOCK, features=FEATURES), 30)
    number, index, _, _ = split(buffer.sample(20_000))
    stored = np.minimum(buffer.indices[number, 0], 4)
    by_chance = np.mean(np.log(1 + 1 / (stored + 1.0)) / np.log(6))
    assert np.mean(index == stored) == pytest.approx(0.5 + 0.5 * by_chance, abs=0.02)


@pytest.mark.parametrize("terminates", [True, False])
@pytest.mark.parametrize("relabel", [0.0, 1.0])
@pytest.mark.parametrize("n", [20, 55])  # the buffer of 40 is full in the second case
def test_n_step_targets_are_plain_sums(n, relabel, terminates):
    buffer = fill(replay(n_steps=3, relabel=relabel), n, terminates=terminates)
    samples = buffer.sample(300)
    for number, i, following, after, summed, discount, done in zip(
        *split(samples), samples.rewards, samples.discounts, samples.dones, strict=True
    ):
        expected, product, t = 0.0, 1.0, number
        for k in range(3):
            j = min(i + k, 4)
            expected += product * CLOCK.weights[j] * t
            product *= CLOCK.discounts[j]
            is_end = bool(buffer.dones[t % 40, 0])
            t += 1
            if is_end or t == n:
                break
        assert following == t
        assert after == min(i + t - number, 4)
        assert summed.item() == pytest.approx(expected, rel=1e-5)
        assert discount.item() == pytest.approx(product, rel=1e-5)
        assert bool(done) == (is_end and terminates)


def test_n_step_targets_of_a_geometric_law_are_those_of_sb3():
    clock = StepClock(sj.Geometric(0.9), 0, normalize=False)
    ours = fill(replay(clock=clock, features=None, n_steps=3), 55)
    theirs = fill(NStepReplayBuffer(40, OBSERVATIONS, ACTIONS, "cpu", n_steps=3, gamma=0.9), 55)
    np.random.seed(1)  # noqa: NPY002 - the stream that SB3 draws from
    expected = theirs.sample(200)
    np.random.seed(1)  # noqa: NPY002
    for got, wanted in zip(ours.sample(200), expected, strict=True):
        torch.testing.assert_close(got, wanted)


def test_dict_observations_give_the_same_targets():
    space = spaces.Dict({"image": spaces.Box(0, 1_000, (1,)), "step": spaces.Box(0, 1, (1,))})
    arrays, dicts = fill(replay(2), 20), fill(replay(2, kind=LawDictReplayBuffer, space=space), 20)
    found = []
    for buffer in (arrays, dicts):
        np.random.seed(2)  # noqa: NPY002
        found.append(buffer.sample(50))
    np.testing.assert_array_equal(split(found[0]), split(found[1]))
    for name in ("actions", "dones", "rewards", "discounts"):
        torch.testing.assert_close(getattr(found[0], name), getattr(found[1], name))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"optimize_memory_usage": True}, r"optimize_memory_usage must be False: .*; got True\."),
        ({"relabel": 1.5}, r"relabel must be in \[0, 1\]; got 1\.5\."),
        ({"n_steps": 0}, r"n_steps must be a whole number ≥ 1; got 0\."),
        ({"features": np.zeros(3)}, r"features must have one entry for each of the 5 steps .*\(3,\)\."),
    ],
)
def test_bad_settings_raise_a_one_line_error(settings, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        replay(**settings)


def test_a_missing_step_raises_an_error_with_the_remedy():
    with pytest.raises(ValueError, match=r"^info must hold the number of the step .* LawClock\.$"):
        replay().add(np.zeros((1, 2)), np.zeros((1, 2)), np.zeros((1, 1)), [0.0], [False], [{}])


def fill_rollout(buffer, seed, first=False):
    """Add random transitions; return starts of episodes, last values and ends."""
    n_steps, n_envs = buffer.rewards.shape
    rng = np.random.default_rng(seed)
    starts = rng.random((n_steps, n_envs)) < 0.3
    starts[0] |= first
    for t in range(n_steps):
        values, log_probs = torch.tensor(rng.normal(size=n_envs)), torch.zeros(n_envs)
        seen = rng.random((n_envs, 2))
        if isinstance(buffer, LawDictRolloutBuffer):
            seen = {"observation": seen}
        buffer.add(seen, np.zeros((n_envs, 1)), rng.normal(size=n_envs), starts[t], values, log_probs)
    return starts, torch.tensor(rng.normal(size=n_envs)), rng.random(n_envs) < 0.5


def gae(buffer, starts, last, dones, index, lambda_):
    """Return advantages as Σ_k Π_{j<k} λ d(h_j) · δ_k, term by term."""
    n_steps, n_envs = buffer.rewards.shape
    values = np.vstack([buffer.values, last.numpy()])
    ends = np.vstack([starts[1:], dones])
    found = np.zeros((n_steps, n_envs))
    for e in range(n_envs):
        for t in range(n_steps):
            product = 1.0
            for k in range(t, n_steps):
                d = CLOCK.discounts[index[k, e]]
                following = 0.0 if ends[k, e] else values[k + 1, e]
                found[t, e] += product * (buffer.rewards[k, e] + d * following - values[k, e])
                product *= lambda_ * d
                if ends[k, e]:
                    break
    return found


@pytest.mark.parametrize("kind", ["array", "dict"])
@pytest.mark.parametrize("lambda_", [0.0, 0.9, 1.0])
def test_advantages_are_the_sums_of_their_definition(kind, lambda_):
    space = OBSERVATIONS if kind == "array" else spaces.Dict({"observation": OBSERVATIONS})
    buffer_class = LawRolloutBuffer if kind == "array" else LawDictRolloutBuffer
    buffer = buffer_class(13, space, ACTIONS, "cpu", lambda_, 0.5, 3, clock=CLOCK)
    index = np.zeros(3, dtype=int)
    for rollout in range(2):  # the second goes on with the episodes of the first
        starts, last, dones = fill_rollout(buffer, rollout, first=rollout == 0)
        indices = []
        for starting in starts:
            index = np.where(starting, 0, np.minimum(index + 1, 4))
            indices.append(index)
        np.testing.assert_array_equal(buffer.indices, indices)
        buffer.compute_returns_and_advantage(last, dones)
        expected = gae(buffer, starts, last, dones, np.array(indices), lambda_)
        np.testing.assert_allclose(buffer.advantages, expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(buffer.returns, expected + buffer.values, rtol=1e-5, atol=1e-6)
        buffer.reset()


def test_advantages_of_a_geometric_law_are_those_of_sb3():
    clock = StepClock(sj.Geometric(0.9), 0, normalize=False)
    ours = LawRolloutBuffer(13, OBSERVATIONS, ACTIONS, "cpu", 0.8, 0.9, 3, clock=clock)
    theirs = RolloutBuffer(13, OBSERVATIONS, ACTIONS, "cpu", 0.8, 0.9, 3)
    for buffer in (ours, theirs):
        _, last, dones = fill_rollout(buffer, 5)
        buffer.compute_returns_and_advantage(last.float(), dones)
    np.testing.assert_array_equal(ours.advantages, theirs.advantages)
    np.testing.assert_array_equal(ours.returns, theirs.returns)
