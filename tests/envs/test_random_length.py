"""RandomLength: when episodes end, with which flags, and what is revealed."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit, TransformObservation, TransformReward

import sojourn as sj
from sojourn.envs import LawDiscount, RandomLength, StepIndex, TabularEnv
from sojourn.envs._law import LengthStream

LAW = sj.Polynomial(p=1.4, offset=2)


def river():
    return TabularEnv(sj.mdps.river_swim(6))


def lengths_met(env, choose, episodes, seed=None):
    """Return the length of each episode when actions are chosen by `choose`."""
    found = []
    env.reset(seed=seed)
    for _ in range(episodes):
        taken, over = 0, False
        while not over:
            *_, terminated, truncated, _ = env.step(choose())
            taken, over = taken + 1, terminated or truncated
        found.append(taken)
        env.reset()
    return found


def test_the_same_seed_gives_the_same_lengths_whatever_is_played():
    rng = np.random.default_rng(3)
    ways = [lambda: 0, lambda: 1, lambda: int(rng.integers(2))]
    met = [lengths_met(RandomLength(river(), LAW), way, 300, seed=7) for way in ways]
    assert met[0] == met[1] == met[2]
    assert len(set(met[0])) > 5


def test_other_environments_meet_the_same_lengths():
    on_chain = RandomLength(TabularEnv(sj.mdps.chain(4)), LAW)
    assert lengths_met(on_chain, lambda: 0, 50, seed=7) == lengths_met(
        RandomLength(river(), LAW), lambda: 1, 50, seed=7
    )


def test_learn_meets_the_same_lengths():
    run = sj.learn(sj.RandomPlayer(), sj.mdps.river_swim(6), LAW, episodes=300, seed=7)
    assert lengths_met(RandomLength(river(), LAW, seed=7), lambda: 0, 300) == run.lengths.tolist()


def test_a_block_of_draws_equals_single_draws():
    stream = LengthStream(LAW, 11)
    rng = np.random.default_rng(np.random.SeedSequence(11).spawn(1)[0])
    assert [stream.draw() for _ in range(600)] == [LAW.sample(rng) for _ in range(600)]


def test_reset_with_a_seed_restarts_the_lengths_and_without_one_continues_them():
    env = RandomLength(river(), LAW, seed=7)
    first = lengths_met(env, lambda: 0, 20)
    assert lengths_met(env, lambda: 0, 20) != first  # the stream goes on
    assert lengths_met(env, lambda: 0, 20, seed=7) == first
    assert lengths_met(env, lambda: 0, 20, seed=8) != first


def test_without_any_seed_lengths_differ():
    assert lengths_met(RandomLength(river(), LAW), lambda: 0, 50) != lengths_met(
        RandomLength(river(), LAW), lambda: 0, 50
    )


def test_the_wrapper_does_not_change_the_environments_random_numbers():
    bare, wrapped = river(), RandomLength(river(), sj.Fixed(50))
    assert bare.reset(seed=3)[0] == wrapped.reset(seed=3)[0]
    assert [bare.step(1)[0] for _ in range(50)] == [wrapped.step(1)[0] for _ in range(50)]


def ends(env, length, steps):
    """Return the last flags and info of an episode of a fixed length on an environment."""
    env = RandomLength(env, sj.Fixed(length))
    env.reset(seed=0)
    for _ in range(steps - 1):
        *_, terminated, truncated, info = env.step(0)
        assert not terminated
        assert not truncated
        assert info == {}
    *_, terminated, truncated, info = env.step(0)
    return terminated, truncated, info["ended_by"]


def sea():
    return TabularEnv(sj.mdps.deep_sea(4))  # ends by itself after 4 steps


@pytest.mark.parametrize(
    ("make", "length", "steps", "expected"),
    [
        (sea, 3, 3, (True, False, "law")),
        (sea, 5, 4, (True, False, "env")),
        (sea, 4, 4, (True, False, "env")),  # on the same step: the length is not seen
        (lambda: TimeLimit(river(), 4), 3, 3, (True, False, "law")),
        (lambda: TimeLimit(river(), 4), 5, 4, (False, True, "limit")),
        (lambda: TimeLimit(river(), 4), 4, 4, (True, True, "limit")),  # nothing to bootstrap from, not seen
        (lambda: TimeLimit(sea(), 4), 4, 4, (True, True, "env")),
    ],
)
def test_flags_and_info_say_why_the_episode_ended(make, length, steps, expected):
    assert ends(make(), length, steps) == expected


def test_the_length_is_revealed_only_on_request():
    hidden, revealed = RandomLength(river(), LAW, seed=5), RandomLength(river(), LAW, seed=5, reveal=True)
    for _ in range(30):
        assert hidden.reset()[1] == {}
        length = revealed.reset()[1]["length"]
        for h in range(1, length + 1):
            info, revealed_info = hidden.step(0)[-1], revealed.step(0)[-1]
            assert revealed_info == {**info, "length": length}
            assert info == ({"ended_by": "law"} if h == length else {})


def test_steps_before_reset_or_after_the_end_are_refused():
    env = RandomLength(river(), sj.Fixed(1))
    with pytest.raises(gymnasium.error.ResetNeeded, match="step must follow reset"):
        env.step(0)
    env.reset()
    env.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded, match="the episode is over"):
        env.step(0)


def test_a_law_may_be_written_as_text():
    assert RandomLength(river(), "polynomial(1.4, offset=2)").law == LAW


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (
            {"law": 0.9},
            TypeError,
            r"law must be a LengthLaw, such as Geometric\(0.95\), or its text; got 0.9\.",
        ),
        ({"law": "geometrc(0.9)"}, ValueError, r"Unknown law 'geometrc'. Did you mean 'geometric'\?"),
        ({"law": LAW, "seed": -1}, ValueError, r"seed must be a whole number ≥ 0; got -1\."),
    ],
)
def test_bad_settings_raise_a_one_line_error(settings, error, message):
    with pytest.raises(error, match=f"^{message}$"):
        RandomLength(river(), **settings)


class OwnMetadata(gymnasium.Wrapper):
    """Replaces the metadata of the environment inside."""

    def __init__(self, env):
        super().__init__(env)
        self.metadata = {"render_modes": []}


STACKS = {
    "bare": lambda env: env,
    "deep": lambda env: TransformReward(
        StepIndex(TransformObservation(env, lambda x: x, None), 9), lambda r: r
    ),
    "behind metadata of its own": OwnMetadata,
}
LAWFUL = {
    "RandomLength": lambda env: RandomLength(env, LAW),
    "LawDiscount": lambda env: LawDiscount(env, LAW, 9),
}


@pytest.mark.parametrize("stack", STACKS.values(), ids=list(STACKS))
@pytest.mark.parametrize("outer", LAWFUL)
@pytest.mark.parametrize("inner", LAWFUL)
def test_a_law_may_not_count_twice(inner, outer, stack):
    env = stack(LAWFUL[inner](river()))
    with pytest.raises(ValueError, match=f"^env must not have {inner} inside, or with {outer} a law counts"):
        LAWFUL[outer](env)


def test_wrapping_does_not_change_the_class_or_the_inner_environment():
    env = river()
    RandomLength(env, LAW)
    assert env.metadata == TabularEnv.metadata == {"render_modes": ["ansi"], "render_fps": 4}
    LawDiscount(env, LAW)


def test_seeds_of_resets_may_be_numpy_integers_but_not_negative():
    def first(seed):
        env = RandomLength(gymnasium.make("Taxi-v4"), sj.Uniform(1, 1_000), reveal=True)
        return env.reset(seed=seed)[1]["length"]

    assert first(np.int64(4)) == first(4)
    with pytest.raises(ValueError, match=r"^seed must be a whole number ≥ 0; got -1\.$"):
        first(-1)


class NegativeLengths(sj.Geometric):
    """A user's law that draws impossible lengths."""

    def sample(self, rng, size=None):
        return np.full(size, -5)


def test_impossible_lengths_are_refused():
    env = RandomLength(river(), NegativeLengths(0.9))
    with pytest.raises(ValueError, match=r"^NegativeLengths.sample\(.* whole numbers ≥ 1; got -5\.$"):
        env.reset(seed=0)
