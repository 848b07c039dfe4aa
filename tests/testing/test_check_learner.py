"""The conformance suite must catch what it promises to catch: each learner here is broken in one way."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

import sojourn as sj
from sojourn.testing import check_learner

LAW = sj.Geometric(0.8)


class Learner:
    """Mean reward of each (layer, state, action), untried ones first; the policy is made between episodes."""

    after = "hold"

    def __init__(self, n_states, n_actions, rng, settings):
        self.shape = (3, n_states, n_actions)
        self.sums, self.counts = np.zeros(self.shape), np.zeros(self.shape)
        self.rng, self.settings = rng, settings
        self.table = rng.integers(n_actions, size=self.shape[:2])
        self.h = 0

    def act(self, state, h):
        self.h = h
        return int(self.table[min(h, 3) - 1, state])

    def observe(self, state, action, reward, next_state, terminated):
        self.sums[min(self.h, 3) - 1, state, action] += reward
        self.counts[min(self.h, 3) - 1, state, action] += 1

    def end_episode(self, length, observed):
        self.table = self.best()

    def best(self):
        mean = np.where(self.counts > 0, self.sums / np.maximum(self.counts, 1), np.inf)
        return mean.argmax(axis=2)

    def policy(self):
        return self.table.copy()


def settings_of(kind):
    """Return settings that start this kind of learner."""

    @dataclass(frozen=True)
    class Settings:
        log: list = field(default_factory=list)

        def start(self, *, n_states, n_actions, rng, **_):
            return kind(n_states, n_actions, rng, self)

        def __repr__(self):
            return kind.__name__

    return Settings()


class Silent(Learner):
    policy = None


class Mixed(Learner):
    """Plays at random and shows it."""

    def act(self, state, h):
        return int(self.rng.integers(self.shape[2]))

    def policy(self):
        return np.full(self.shape, 1.0 / self.shape[2])


class Restarting(Learner):
    after = "restart"

    def act(self, state, h):
        self.h = h
        return int(self.table[(h - 1) % 3, state])


@pytest.mark.parametrize("kind", [Learner, Silent, Mixed, Restarting])
def test_correct_learners_pass(kind):
    check_learner(settings_of(kind))


@pytest.mark.parametrize(
    "agent",
    [
        sj.UCBVI(LAW),
        sj.UCBVI(LAW, sj.PaperBonus(0.01), ties="first"),
        sj.UCBVI(LAW, sj.PaperBonus(0.01), horizon=3, after="hold"),
        sj.UCBVI(LAW, sj.PaperBonus(0.01), horizon=3, after="restart", count="first"),
        sj.UCBVI(LAW, sj.PaperBonus(0.01), replan="doubling"),
        sj.UCBVI(sj.Polynomial(p=1.6, offset=3), sj.PaperBonus(0.01)),
        sj.UCBVI(sj.Fixed(5), sj.Hoeffding(0.01)),
        sj.UCBVI(sj.Fixed(5), sj.Bernstein(0.01)),
        sj.UCBVI(LAW, sj.GeneralBernstein(0.001)),
        sj.RandomPlayer(),
    ],
    ids=repr,
)
def test_our_learners_pass(agent):
    check_learner(agent)


@pytest.mark.parametrize("mdp", [sj.mdps.river_swim(4), sj.mdps.deep_sea(3)], ids=lambda mdp: mdp.name)
@pytest.mark.parametrize("law", [sj.Fixed(4), LAW], ids=repr)
def test_the_optimal_player_passes_on_its_problem(mdp, law):
    check_learner(sj.OptimalPlayer(sj.plan(mdp, law)), problems=[mdp], law=law)


class OutOfRange(Learner):
    def act(self, state, h):
        return super().act(state, h) + (h > 2) * self.shape[2]


class NotWhole(Silent):
    def act(self, state, h):
        return float(super().act(state, h))


class TrueOrFalse(Silent):
    def act(self, state, h):
        return super().act(state, h) > 0


class Wavering(Learner):
    """Answers differently when it is asked the same again."""

    asked = None

    def act(self, state, h):
        is_again, self.asked = self.asked == (state, h), (state, h)
        return (super().act(state, h) + is_again) % self.shape[2]


class ChangingWithinAnEpisode(Learner):
    def observe(self, *step):
        super().observe(*step)
        self.table = self.best()


class ShowingAnother(Learner):
    def policy(self):
        return (self.table + 1) % self.shape[2]


class HoldingWhileSayingRestart(Learner):
    after = "restart"


class SayingNonsense(Learner):
    after = "stop"


class Transposed(Learner):
    def policy(self):
        return np.zeros((7, self.shape[1] + 1), dtype=int)


class Empty(Learner):
    def policy(self):
        return self.table[:0]


class FloatActions(Learner):
    def policy(self):
        return self.table.astype(float)


class TooLargeActions(Learner):
    def policy(self):
        return self.table + self.shape[2]


class NotSummingToOne(Mixed):
    def policy(self):
        return np.full(self.shape, 0.9 / self.shape[2])


class NegativeChances(Mixed):
    def policy(self):
        policy = np.zeros(self.shape)
        policy[..., 0], policy[..., -1] = 2.0, policy[..., -1] - 1.0
        return policy


class NeverPlayed(Mixed):
    """Says that it plays action 0 only."""

    def policy(self):
        policy = np.zeros(self.shape)
        policy[..., 0] = 1.0
        return policy


class Moody(Learner):
    def policy(self):
        self.table = (self.table + 1) % self.shape[2]
        return self.table.copy()


class SharingItsTable(Learner):
    """Gives its own array away and changes it in place."""

    def end_episode(self, length, observed):
        self.table[:] = self.best()

    def policy(self):
        return self.table


class RefusingCensored(Learner):
    def end_episode(self, length, observed):
        if not observed:
            raise ValueError("length must be\nseen.")
        super().end_episode(length, observed)


class RefusingToEndAtOnce(Learner):
    def end_episode(self, length, observed):
        if self.shape[1] == 2 and length == 1 and not observed:
            raise RuntimeError("too short")
        super().end_episode(length, observed)


class RefusingLongEpisodes(Learner):
    def act(self, state, h):
        return int(self.table[h - 1, state])


class Unseeded(Silent):
    def __init__(self, n_states, n_actions, rng, settings):
        super().__init__(n_states, n_actions, np.random.default_rng(), settings)

    def act(self, state, h):
        return int(self.rng.integers(self.shape[2]))


class CountingQuestions(Learner):
    """Learns from being asked."""

    def act(self, state, h):
        action = super().act(state, h)
        self.counts[min(h, 3) - 1, state, action] += 1
        return action


class CountingTogether(Silent):
    """All that are in play fill one table, which every start clears."""

    together = None

    def __init__(self, *settings):
        super().__init__(*settings)
        self.table = np.zeros_like(self.table)
        type(self).together = np.zeros(self.shape)

    def observe(self, *step):
        self.sums, self.counts = self.together, self.together
        super().observe(*step)

    def best(self):
        return self.together.argmin(axis=2)


class WritingOnSettings(Learner):
    def end_episode(self, length, observed):
        super().end_episode(length, observed)
        self.settings.log.append(length)


class WithoutObserve(Learner):
    observe = None


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (OutOfRange, r"act\(\d, 3\) must return a whole number in 0 … 1; got [23]"),
        (NotWhole, r"act\(\d, 1\) must return a whole number in 0 … 1; got [01].0"),
        (TrueOrFalse, r"must return a whole number in 0 … 1; got (np\.)?(True|False)"),
        (Wavering, r"act\(0, 1\) called twice must be [01]; got [01]"),
        (ChangingWithinAnEpisode, r"act\(\d, \d+\) must be [01], as in "),
        (ShowingAnother, r"act\(\d, 1\) must be [01], as in the policy shown before; got [01]"),
        (HoldingWhileSayingRestart, r"act\(\d, \d\) must be [01], as in "),
        (SayingNonsense, "after must be 'hold' or 'restart'; got 'stop'"),
        (Transposed, r"policy\(\) must have shape \(N, 3\) or \(N, 3, 2\) before episode 1; got \(7, 4\)"),
        (Empty, r"policy\(\) must have shape \(N, 3\) or .*; got \(0, 3\)"),
        (FloatActions, r"policy\(\) must hold whole numbers in 0 … 1 before episode 1; got array"),
        (TooLargeActions, r"policy\(\) must hold whole numbers in 0 … 1 before episode 1; got array"),
        (NotSummingToOne, r"policy\(\) must hold probabilities that sum to 1 before episode 1"),
        (NegativeChances, r"policy\(\) must hold probabilities that sum to 1 before episode 1"),
        (NeverPlayed, r"act\(\d, \d\) must have a probability > 0 in the policy shown before; got 1"),
        (Moody, r"policy\(\) called twice must be the same"),
        (SharingItsTable, "the array that policy returned before episode . must not be changed by playing"),
        (RefusingCensored, r"end_episode\(2, False\) must not fail; got ValueError: length must be seen."),
        (RefusingToEndAtOnce, r"an end at once: end_episode\(1, False\) must not fail; got RuntimeError"),
        (RefusingLongEpisodes, r"act\(\d, 4\) must not fail; got IndexError"),
        (Unseeded, "the same seed must give the same actions and policies"),
        (CountingQuestions, "calling act must not change what is played"),
        (CountingTogether, "a learner must not be changed by another that plays beside it"),
        (WritingOnSettings, "playing must not change the settings; got WritingOnSettings"),
        (WithoutObserve, "start must return a learner with act, observe and end_episode"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_a_broken_learner_is_caught(kind, message):
    with pytest.raises(AssertionError, match=f"^{kind.__name__} on .*{message}") as caught:
        check_learner(settings_of(kind))
    assert "\n" not in str(caught.value)


def test_a_start_method_with_other_keywords_is_caught():
    class Demanding:
        def start(self, *, n_states, n_actions, horizon, rng, **_):
            raise NotImplementedError

    with pytest.raises(AssertionError, match=r"start must not fail; got TypeError: .*'horizon'"):
        check_learner(Demanding())


def test_a_negative_regret_is_caught(monkeypatch):
    # Only a wrong valuation can make a policy better than the best.
    from sojourn.testing import _learners

    def wrong(*arguments, **settings):
        run = sj.learn(*arguments, **settings)
        run.regret[3] = -1.0
        return run

    monkeypatch.setattr(_learners, "learn", wrong)
    with pytest.raises(AssertionError, match=r"regret must be ≥ 0 in episode 4; got -1.0.$"):
        check_learner(sj.RandomPlayer())


@pytest.mark.parametrize("agent", [None, "UCBVI", sj.UCBVI, sj.RandomPlayer])
def test_an_object_that_is_no_agent_is_refused_in_one_line(agent):
    with pytest.raises(TypeError, match=r"^agent must have a method start, such as UCBVI\(.*\); got .*\.$"):
        check_learner(agent)


def test_too_few_episodes_are_refused():
    with pytest.raises(ValueError, match=r"^episodes must be a whole number ≥ 6; got 2.$"):
        check_learner(sj.RandomPlayer(), episodes=2)


@dataclass(frozen=True)
class KnownRewards:
    """An agent that needs the rewards."""

    message: str

    def start(self, *, rewards=None, **problem):
        if rewards is None:
            raise ValueError(self.message)
        return sj.RandomPlayer().start(rewards=rewards, **problem)


def test_agents_may_refuse_unknown_rewards_if_they_say_so():
    check_learner(KnownRewards("rewards must be known"))
    with pytest.raises(AssertionError, match="start must not fail; got ValueError: no idea"):
        check_learner(KnownRewards("no idea"))
