"""The conformance suite of agents and their learners."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sojourn._typing import FloatArray, PolicyArray
from sojourn._validation import check_whole
from sojourn.laws import LengthLaw, Uniform
from sojourn.learning import learn
from sojourn.mdps import TabularMDP

__all__ = ["check_learner"]

_MOST_COMPARED = 1_000
"""Number of (state, step) pairs for which `act` is compared with the policy, twice per episode."""
_MOST_STEPS = 200
"""Longest episode that goes past the last row of a policy."""


def check_learner(
    agent: Any,
    *,
    problems: Iterable[TabularMDP] | None = None,
    law: LengthLaw | None = None,
    episodes: int = 12,
    seed: int = 0,
) -> None:
    """Check that an agent's learners do what `learn` and all comparisons rely on.

    Call it in the tests of your own agent. It plays tiny problems step by step: with and without a terminal
    state, with one state, with one action, with known and unknown rewards. Its seeds are fixed, so it always
    gives the same result. Rules about policies apply only to learners with a method `policy`. Unknown rewards
    are left out if `start` refuses them by a `ValueError` that mentions "rewards".

    Args:
        agent: The agent's settings: any object with a method `start`.
        problems: The problems to play, for an agent that cannot play any problem, such as `OptimalPlayer`.
        law: The law that lengths are drawn from.
        episodes: Number of episodes per trial, at least 6.
        seed: Seed of all random numbers.

    Raises:
        AssertionError: If a learner breaks a rule; one line names the rule and the place.
        TypeError: If the agent has no method `start`.

    Example:
        >>> from sojourn.agents import UCBVI
        >>> from sojourn.laws import Geometric
        >>> check_learner(UCBVI(Geometric(0.8)))
    """
    if isinstance(agent, type) or not callable(getattr(agent, "start", None)):
        raise TypeError(f"agent must have a method start, such as UCBVI(Geometric(0.95)); got {agent!r}.")
    episodes, seed = check_whole("episodes", episodes, least=6), check_whole("seed", seed, least=0)
    law = law if law is not None else Uniform(1, 8)
    for mdp in _tiny_problems() if problems is None else problems:
        before = _snapshot(agent)
        for knows_rewards in (True, False):
            trial = _Trial(agent, mdp, law, episodes, seed, knows_rewards)
            if knows_rewards or not _needs_known_rewards(trial):
                _check_play(trial)
        _check_regret(trial)
        trial.require(_snapshot(agent) == before, "playing must not change the settings", agent)


def _needs_known_rewards(trial: _Trial) -> bool:
    """Whether the agent refuses to start without knowing the rewards, and says so."""
    try:
        trial.start()
    except AssertionError as error:
        return isinstance(error.__cause__, ValueError) and "rewards" in str(error.__cause__)
    return False


def _check_play(trial: _Trial) -> None:
    """Play the same trial again, with extra calls of `act`, and with another learner; compare the results."""
    alone = trial.play(trial.start())
    rule = "the same seed must give the same actions and policies"
    trial.require_same(trial.play(trial.start()), alone, rule)
    if alone.is_deterministic:
        rule = "calling act must not change what is played"
        trial.require_same(trial.play(trial.start(), asks=True), alone, rule)
    one, other = trial.start(), trial.start(seed=trial.seed + 1)
    rule = "a learner must not be changed by another that plays beside it"
    trial.require_same(trial.play(one, beside=other), alone, rule)


def _check_regret(trial: _Trial) -> None:
    """Check that regret is not negative, since it is measured against the best policy."""
    run = trial.guard(
        "learn", learn, trial.agent, trial.mdp, trial.law, episodes=trial.episodes, seed=trial.seed
    )
    if run.regret is not None:
        worst = int(np.argmin(run.regret + run.regret_width))
        is_kept = bool(run.regret[worst] >= -run.regret_width[worst])
        trial.require(is_kept, f"regret must be ≥ 0 in episode {worst + 1}", float(run.regret[worst]))


@dataclass
class _Record:
    """The actions that were played, and the policies shown before each episode."""

    actions: list[int] = field(default_factory=list)
    policies: list[PolicyArray | None] = field(default_factory=list)

    @property
    def is_deterministic(self) -> bool:
        """Whether policies were shown, with one action per state and step."""
        return all(policy is not None and policy.ndim == 2 for policy in self.policies)


@dataclass(frozen=True)
class _Trial:
    """One agent on one problem; all random numbers come from the seed."""

    agent: Any
    mdp: TabularMDP
    law: LengthLaw
    episodes: int
    seed: int
    knows_rewards: bool

    @property
    def rewards(self) -> FloatArray:
        """`(S, A)` rewards as the learner sees them."""
        return self.mdp.normalized().rewards if self.knows_rewards else self.mdp.rewards

    @property
    def place(self) -> str:
        """The agent and the problem, for messages."""
        return f"{_line(self.agent)} on {self.mdp.name or 'the problem'}"

    def require(self, holds: bool, rule: str, got: object) -> None:
        if not holds:
            raise AssertionError(f"{self.place}: {rule}; got {_line(got)}.")

    def require_same(self, record: _Record, expected: _Record, rule: str) -> None:
        for step, (one, other) in enumerate(zip(record.actions, expected.actions, strict=False), start=1):
            self.require(one == other, f"{rule}, action {other} at the {step}th step played", one)
        for k, (shown, before) in enumerate(zip(record.policies, expected.policies, strict=True), start=1):
            self.require(np.array_equal(shown, before), f"{rule} in episode {k}", shown)  # type: ignore[arg-type]

    def guard(self, called: str, function: Callable[..., Any], *arguments: Any, **settings: Any) -> Any:
        """Call a method of the learner; an exception counts as a broken rule."""
        try:
            return function(*arguments, **settings)
        except Exception as error:
            text = " ".join(f"{type(error).__name__}: {error}".split())
            raise AssertionError(f"{self.place}: {called} must not fail; got {text}") from error

    def start(self, seed: int | None = None) -> Any:
        """Return a learner that was started with the documented keywords."""
        mdp, normalized = self.mdp, self.mdp.normalized()
        known = {"rewards": normalized.rewards, "terminal_reward": normalized.terminal_reward}
        low, high = float(mdp.rewards.min()), float(mdp.rewards.max())
        learned = {"reward_range": (low, max(high, low + 1.0)), "terminal_reward": mdp.terminal_reward}
        learner = self.guard(
            "start",
            self.agent.start,
            n_states=mdp.n_states,
            n_actions=mdp.n_actions,
            episodes=self.episodes,
            rng=np.random.default_rng(self.seed if seed is None else seed),
            **{"rewards": None, "reward_range": (0.0, 1.0), **(known if self.knows_rewards else learned)},
        )
        for name in ("act", "observe", "end_episode"):
            rule = "start must return a learner with act, observe and end_episode"
            self.require(callable(getattr(learner, name, None)), rule, learner)
        return learner

    def play(self, learner: Any, *, asks: bool = False, beside: Any = None) -> _Record:
        """Play all episodes; `asks` adds calls of `act` in all states, `beside` is another learner."""
        record, rng, other = (
            _Record(),
            np.random.default_rng([self.seed, 1]),
            np.random.default_rng(self.seed),
        )
        drawn = np.asarray(self.law.sample(rng, self.episodes))
        for k in range(self.episodes):
            policy = self.shown(learner, k)
            kept = None if policy is None else policy.copy()
            record.policies.append(kept)
            length, is_cut = int(drawn[k]), False
            if k == 0:
                length = 1
            elif k == 1:
                length, is_cut = 2, True
            elif k == 2:
                length = min((0 if policy is None else len(policy)) + 3, _MOST_STEPS)
            self.play_episode(learner, length, is_cut, rng, policy=kept, asks=asks, record=record)
            if beside is not None:
                self.play_episode(beside, 4, k % 2 == 0, other, policy=None, asks=False, record=_Record())
            same = policy is None or np.array_equal(policy, kept)  # type: ignore[arg-type]
            rule = f"the array that policy returned before episode {k + 1} must not be changed by playing"
            self.require(same, rule, policy)
        return record

    def play_episode(
        self,
        learner: Any,
        length: int,
        is_cut: bool,
        rng: np.random.Generator,
        *,
        policy: PolicyArray | None,
        asks: bool,
        record: _Record,
    ) -> None:
        mdp, ended, h = self.mdp, False, 0
        state = int(rng.choice(mdp.n_states, p=mdp.start))
        while h < length and not ended:
            h += 1
            if asks and policy is not None and h in (1, length):
                self.ask_everywhere(learner, policy, h)
            action = self.act(learner, state, h)
            record.actions.append(action)
            if policy is not None:
                self.require_agreement(learner, policy, state, h, action, what="the policy shown before")
            successors, chances = mdp.successors(state, action)
            following = int(rng.choice(successors, p=chances / chances.sum()))
            ended = following in mdp.terminal
            reward = float(self.rewards[state, action])
            step = (state, action, reward, following, ended)
            self.guard(f"observe{step}", learner.observe, *step)
            state = following
        end = (h, not (ended or is_cut))
        self.guard(f"end_episode{end}", learner.end_episode, *end)

    def act(self, learner: Any, state: int, h: int) -> int:
        """Return the learner's action, checked."""
        action = self.guard(f"act({state}, {h})", learner.act, state, h)
        is_action = isinstance(action, numbers.Integral) and not isinstance(action, bool)
        rule = f"act({state}, {h}) must return a whole number in 0 … {self.mdp.n_actions - 1}"
        self.require(is_action and 0 <= action < self.mdp.n_actions, rule, action)
        return int(action)

    def shown(self, learner: Any, k: int) -> PolicyArray | None:
        """Return the policy of the coming episode, checked, or None if the learner does not show one."""
        if not callable(getattr(learner, "policy", None)):
            return None
        after = getattr(learner, "after", "hold")
        self.require(after in ("hold", "restart"), "after must be 'hold' or 'restart'", after)
        policy = np.asarray(self.guard("policy()", learner.policy))
        again = np.asarray(self.guard("policy()", learner.policy))
        self.require(np.array_equal(policy, again), "policy() called twice must be the same", again)
        n_states, n_actions, place = self.mdp.n_states, self.mdp.n_actions, f"before episode {k + 1}"
        shape = policy.shape
        is_shaped = (len(shape) in (2, 3) and shape[0] > 0) and shape[1:] in (
            (n_states,),
            (n_states, n_actions),
        )
        rule = f"policy() must have shape (N, {n_states}) or (N, {n_states}, {n_actions}) {place}"
        self.require(is_shaped, rule, shape)
        if policy.ndim == 2:
            is_valid = policy.dtype.kind in "iu" and bool(((policy >= 0) & (policy < n_actions)).all())
            rule = f"policy() must hold whole numbers in 0 … {n_actions - 1} {place}"
        else:
            is_number = policy.dtype.kind in "iuf"
            is_valid = is_number and bool(
                (policy >= 0.0).all() and (np.abs(policy.sum(axis=2) - 1.0) <= 1e-9).all()
            )
            rule = f"policy() must hold probabilities that sum to 1 {place}"
        self.require(is_valid, rule, policy)
        return policy

    def ask_everywhere(self, learner: Any, policy: PolicyArray, now: int) -> None:
        """Compare `act` with a deterministic policy in all states and steps, even past its last row."""
        n_layers = len(policy)
        live = [state for state in range(self.mdp.n_states) if state not in self.mdp.terminal]
        most = max(2, _MOST_COMPARED // max(1, len(live)))
        steps = {*range(1, min(n_layers, most) + 1), n_layers, n_layers + 1, n_layers + 2, 2 * n_layers + 1}
        for h in sorted(steps):
            for state in live:
                action = self.act(learner, state, h)
                when = f"policy() when called at step {now} of the episode"
                self.require_agreement(learner, policy, state, h, action, what=when)
                again = self.act(learner, state, h)
                self.require(again == action, f"act({state}, {h}) called twice must be {action}", again)

    def require_agreement(
        self, learner: Any, policy: PolicyArray, state: int, h: int, action: int, *, what: str
    ) -> None:
        """Require that the policy takes an action, or takes it with positive probability."""
        n_layers = len(policy)
        restarts = getattr(learner, "after", "hold") == "restart"
        row = policy[(h - 1) % n_layers if restarts else min(h, n_layers) - 1, state]
        if policy.ndim == 2:
            self.require(action == row, f"act({state}, {h}) must be {row}, as in {what}", action)
        else:
            rule = f"act({state}, {h}) must have a probability > 0 in {what}"
            self.require(row[action] > 0.0, rule, action)


def _tiny_problems() -> list[TabularMDP]:
    """Return problems with and without a terminal state, with one state, with one action, and so on."""
    turning = [[[0.7, 0.3, 0.0], [0.2, 0.8, 0.0]], [[0.0, 0.5, 0.5], [0.6, 0.4, 0.0]], [[1.0, 0.0, 0.0]] * 2]
    ending = [[[0.0, 1.0, 0.0], [0.5, 0.3, 0.2]], [[0.6, 0.0, 0.4], [0.0, 0.0, 1.0]], [[0.0, 0.0, 1.0]] * 2]
    at_once = [[[0.0, 1.0]] * 2] * 2
    alone, forced = [[[1.0]] * 3], [[[0.5, 0.5]], [[1.0, 0.0]]]
    return [
        TabularMDP(turning, [[0.0, 0.3], [1.0, 0.1], [0.5, 0.5]], start=[0.5, 0.5, 0.0], name="no end"),
        TabularMDP(ending, [[-1.0, 0.5], [2.0, 0.0], [0.0, 0.0]], start=0, terminal=[2], name="an end"),
        TabularMDP(at_once, [[0.2, 1.0], [0.0, 0.0]], start=0, terminal=[1], name="an end at once"),
        TabularMDP(alone, [[0.1, 0.9, 0.4]], name="one state"),
        TabularMDP(forced, [[0.0], [1.0]], start=0, name="one action"),
    ]


def _line(value: object) -> str:
    """Return the text of a value in one line of at most 120 characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 120 else f"{text[:119]}…"


def _snapshot(value: Any, seen: frozenset[int] = frozenset()) -> Any:
    """Return the content of a value as a copy that compares by content."""
    if id(value) in seen:
        return "…"
    seen = seen | {id(value)}
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.random.Generator):
        return repr(value.bit_generator.state)
    if isinstance(value, (LengthLaw, type)):
        return repr(value)
    if isinstance(value, dict):
        return [(_snapshot(key, seen), _snapshot(item, seen)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [_snapshot(item, seen) for item in value]
    if dataclasses.is_dataclass(value):
        return [(part.name, _snapshot(getattr(value, part.name), seen)) for part in dataclasses.fields(value)]
    if hasattr(value, "__dict__") and not callable(value):
        return type(value).__name__, _snapshot(vars(value), seen)
    return repr(value)
