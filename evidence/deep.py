"""Train deep agents under a law with and without sojourn.sb3, and value what they learned.

    python evidence/deep.py measure [NAME …]    train the agents that are not stored yet, ten seeds of each;
                                                before that, choose the tuned γ of a setting on other seeds
    python evidence/deep.py limits              what each way earns on tables if it learns without error
    python evidence/deep.py heads               numbers of heads and errors of law.as_mixture
    python evidence/deep.py tables              write the tables in docs/deep-agents.md

`measure` needs stable-baselines3 (`pip install 'sojourn[sb3]'`). Values are kept in deep.json beside this
file, one curve per trial with its value at ten equally spaced numbers of training steps, and trials in it are
not repeated: stop `measure` at any time and start it again. All trials take about an hour on one idle core.
Values are exact where the problem has a table; on CartPole they are means over twenty games. `python
docs/figures.py` draws the figures.
"""

from __future__ import annotations

import functools
import json
import os
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from scipy.special import gammaln
from tuned import paragraph, table, write_part

import sojourn as sj
from sojourn.laws import distance, label
from sojourn.learning import Interval, bootstrap_interval, interquartile_mean

HERE = Path(__file__).parent
PAGE, STORED = HERE.parent / "docs" / "deep-agents.md", HERE / "deep.json"
HEADS, LIMITS, GAMMAS = HERE / "heads.json", HERE / "limits.json", HERE / "gammas.json"
SEEDS, CHECKPOINTS = range(100, 110), 10
TUNING = range(2)
"""Seeds on which the tuned γ is chosen; other settings were chosen on seeds 0 to 11."""

GRID = (0.8, 0.9, 0.95, 0.99)
"""Discounts among which the tuned γ is chosen, with that of the same mean length."""

HEAVY, LONG = sj.Polynomial(1.4), sj.Polynomial(1.4, offset=20)
FITTED = sj.BetaGeometric(2.375, 5.530)  # `analyze` of the shipped sample log "streaming", rounded
NETWORK = {"net_arch": [64]}
HEAD_SETTINGS = {"tolerance": 0.1, "last": 100}
"""The mixture of geometric laws behind the heads: four of them under `HEAVY`."""

EPISODE, LAST = 32, 16
"""Steps per training episode on tables without an end, and steps that `sojourn.sb3` distinguishes there."""


def two_goals(near: int = 1, far: int = 6, small: float = 0.1, large: float = 2.0, slip: float = 0.1) -> Any:
    """Return a grid of three rows: a small goal to the left of the start, and a large goal far to the right.

    A move goes in another direction with chance `slip`. Reaching a goal pays and leads back to the start.
    """
    width = near + far + 1
    start, goals = width + near, {width: small, 2 * width - 1: large}
    transitions, rewards = np.zeros((3 * width, 4, 3 * width)), np.zeros((3 * width, 4))
    moves = [(0, -1), (0, 1), (-1, 0), (1, 0)]
    for state in range(3 * width):
        row, column = divmod(state, width)
        for action in range(4):
            for taken, (down, right) in enumerate(moves):
                chance = 1.0 - slip if taken == action else slip / 3
                after = min(max(row + down, 0), 2) * width + min(max(column + right, 0), width - 1)
                rewards[state, action] += chance * goals.get(after, 0.0)
                transitions[state, action, start if after in goals else after] += chance
    first = np.eye(3 * width)[start]
    names = ["left", "right", "up", "down"]
    return sj.TabularMDP(transitions, rewards, start=first, action_names=names, name="two goals")


@dataclass(frozen=True)
class Setting:
    """A problem, a law, an agent and a number of training steps."""

    title: str
    agent: str
    law: sj.LengthLaw
    steps: int
    ways: tuple[str, ...]
    mdp: Callable[[], Any] | None = None
    env_id: str | None = None
    env_settings: tuple[tuple[str, Any], ...] = ()
    n_steps: int = 3  # number of successive rewards in the targets of DQN; heads have one

    @functools.cached_property
    def table(self) -> Any:
        """The table of the problem, or None."""
        if self.mdp is not None:
            return self.mdp()
        if self.env_id == "CartPole-v1":
            return None
        return sj.TabularMDP.from_env(self.env_id, **dict(self.env_settings))

    @functools.cached_property
    def best(self) -> float:
        """The value of the best policy; on CartPole, that of never falling in 500 steps."""
        if self.table is None:
            return float(self.law.survival(np.arange(1, 501)).sum())
        return float(self.table.start @ sj.plan(self.table, self.law).value)

    @property
    def same_mean(self) -> float:
        """The γ of the same mean length."""
        return 1.0 - 1.0 / self.law.mean

    @functools.cached_property
    def planned_gamma(self) -> float:
        """The γ whose best policy loses least, by planning on the table."""
        grid = np.unique([self.same_mean, *(1.0 - np.geomspace(0.5, 0.005, 25))])
        values = [self._planned_for(gamma) for gamma in grid]
        return float(grid[int(np.argmax(np.round(values, 9)))])

    def _planned_for(self, gamma: float) -> float:
        row = sj.plan(self.table, sj.Geometric(gamma)).policy[:1]
        return float(self.table.start @ sj.evaluate(self.table, self.law, row).value)

    def plain(self) -> Any:
        """Return the environment without a limit of ours."""
        from sojourn.envs import TabularEnv  # noqa: PLC0415

        if self.mdp is not None:
            return TabularEnv(self.table)
        return gymnasium.make(self.env_id, **dict(self.env_settings))


SAME, TUNED, WEIGHTED, OURS = "γ of the same mean", "tuned γ", "weighted rewards", "sojourn.sb3"
PUBLISHED, CORRECTED = "heads as published", "heads, corrected"
LAST_HELD = "weighted rewards, last action held"  # only as a limit
ALL = (OURS, WEIGHTED, SAME, TUNED, PUBLISHED, CORRECTED)
CONSTANT = (OURS, SAME, TUNED)
CASH = functools.partial(sj.mdps.cash_or_invest, delay=8, payoff=3.0)
LAKE = (("reward_schedule", (20, 0, 0)),)  # a goal that pays 1 is small next to a new network's outputs
SETTINGS = {
    "cash, DQN": Setting("cash or invest", "DQN", HEAVY, 12_000, ALL, mdp=CASH),
    "cash, PPO": Setting("cash or invest", "PPO", HEAVY, 30_000, ALL[:4], mdp=CASH),
    "grid, DQN": Setting("two goals", "DQN", HEAVY, 12_000, ALL, mdp=two_goals),
    "CartPole, PPO": Setting("CartPole", "PPO", LONG, 12_000, CONSTANT, env_id="CartPole-v1"),
    "lake, DQN": Setting(
        "FrozenLake", "DQN", FITTED, 16_000, CONSTANT, env_id="FrozenLake-v1", env_settings=LAKE, n_steps=1
    ),
    "lake, heavy": Setting(
        "FrozenLake", "DQN", HEAVY, 16_000, CONSTANT, env_id="FrozenLake-v1", env_settings=LAKE, n_steps=1
    ),
}


def load() -> dict[str, dict[str, list[list[float]]]]:
    """Return the stored curves: for each setting and way of training, one list per seed."""
    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}


def save(stored: dict[str, dict[str, list[list[float]]]]) -> None:
    """Write the curves, one line per way of training."""
    parts = []
    for name, ways in stored.items():
        lines = [
            f"{json.dumps(way, ensure_ascii=False)}: {json.dumps(curves)}" for way, curves in ways.items()
        ]
        parts.append(f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "}")
    write(STORED, "{" + ",\n".join(parts) + "}\n")


def write(path: Path, text: str) -> None:
    """Replace a file, never leaving half of it."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def load_gammas() -> dict[str, dict[str, list[float]]]:
    """Return the values of agents with constant discounts: for each setting and γ, one per tuning seed."""
    return json.loads(GAMMAS.read_text(encoding="utf-8")) if GAMMAS.exists() else {}


def tuned_gamma(name: str) -> float:
    """Return the γ of the largest mean value; the middle one if several are equal."""
    found = load_gammas()[name]
    means = np.array([np.mean(values) for values in found.values()])
    best = np.flatnonzero(means >= means.max() - 1e-9)
    return float(list(found)[best[len(best) // 2]])


def tune(name: str) -> None:
    """Train agents with each constant discount on the tuning seeds, where they are not stored yet."""
    setting = SETTINGS[name]
    for gamma in sorted({round(setting.same_mean, 6), *GRID}):
        for seed in TUNING:
            stored = load_gammas()
            values = stored.setdefault(name, {}).setdefault(f"{gamma:g}", [])
            if len(values) == seed:
                values.append(train(setting, TUNED, seed, gamma)[-1])
                lines = [f"{json.dumps(one)}: {json.dumps(values)}" for one, values in stored.items()]
                write(GAMMAS, "{" + ",\n".join(lines) + "}\n")


def measure(names: list[str]) -> None:
    """Train the agents that are not stored yet."""
    import torch  # noqa: PLC0415

    torch.set_num_threads(1)
    for name in names or SETTINGS:
        setting = SETTINGS[name]
        gammas = {SAME: setting.same_mean}
        if TUNED in setting.ways:
            tune(name)
            gammas[TUNED] = tuned_gamma(name)
        for n_done, seed in enumerate(SEEDS):
            for way in setting.ways:
                stored = load()
                curves = stored.setdefault(name, {}).setdefault(way, [])
                if len(curves) != n_done:
                    continue
                curves.append(train(setting, way, seed, gammas.get(way)))
                save(stored)
                share = curves[-1][-1] / setting.best
                print(f"{name}, {way}, seed {seed}: {share:.4f}", file=sys.stderr, flush=True)


def train(setting: Setting, way: str, seed: int, gamma: float | None = None) -> list[float]:
    """Train one agent, with a constant discount if one is given; return its value at equal distances."""
    from stable_baselines3.common.callbacks import BaseCallback  # noqa: PLC0415

    env, arguments = environment(setting, way, seed)
    if gamma is not None:
        arguments["gamma"] = gamma
    model = agent(setting, way, env, arguments, seed)
    values: list[float] = []

    class Record(BaseCallback):  # type: ignore[misc]
        def _on_step(self) -> bool:
            while len(values) < CHECKPOINTS and self.num_timesteps >= next_checkpoint():
                values.append(value(setting, way, model, env))
            return True

    def next_checkpoint() -> float:
        return setting.steps * (len(values) + 1) / CHECKPOINTS

    model.learn(setting.steps, callback=Record())
    while len(values) < CHECKPOINTS:
        values.append(value(setting, way, model, env))
    values[-1] = value(setting, way, model, env)  # after the last update
    return [round(one, 6) for one in values]


def environment(
    setting: Setting, way: str, seed: int, n_envs: int | None = None
) -> tuple[Any, dict[str, Any]]:
    """Return the training environment and the arguments that go with it, without a constant discount."""
    from gymnasium.wrappers import TimeLimit  # noqa: PLC0415
    from stable_baselines3.common.env_util import make_vec_env  # noqa: PLC0415

    from sojourn import sb3  # noqa: PLC0415
    from sojourn.envs import LawDiscount, StepIndex  # noqa: PLC0415

    several = n_envs or (None if setting.agent == "DQN" else 8 if setting.mdp is None else 16)
    has_one_step = setting.agent == "PPO" or way in (PUBLISHED, CORRECTED)
    n_step = {} if has_one_step else {"n_steps": setting.n_steps}
    if way in (OURS, CORRECTED):
        limits = {"last": LAST, "max_steps": EPISODE} if setting.mdp is not None else {}
        scaling = {"normalize": way == OURS}
        several_envs = {"n_envs": several, "seed": seed}
        return sb3.prepare(
            setting.plain, setting.law, setting.agent, **several_envs, **scaling, **limits, **n_step
        )

    def make() -> Any:
        if way == WEIGHTED:
            return LawDiscount(StepIndex(setting.plain(), EPISODE), setting.law, EPISODE)
        return TimeLimit(setting.plain(), EPISODE) if setting.mdp is not None else setting.plain()

    arguments = {**({"gamma": 1.0} if way == WEIGHTED else {}), **n_step}
    return make() if several is None else make_vec_env(make, several, seed=seed), arguments


def agent(setting: Setting, way: str, env: Any, arguments: dict[str, Any], seed: int) -> Any:
    """Return an untrained agent; all ways of training have the same settings."""
    from stable_baselines3 import DQN, PPO  # noqa: PLC0415

    from sojourn import sb3  # noqa: PLC0415

    common = {"policy_kwargs": dict(NETWORK), "seed": seed, "device": "cpu", **arguments}
    if setting.agent == "PPO":
        rollout = {"n_steps": 2 * EPISODE, "batch_size": 256, "n_epochs": 6, "gae_lambda": 1.0}
        if setting.mdp is None:
            rollout = {"n_steps": 128, "batch_size": 256, "n_epochs": 10, "gae_lambda": 0.95}
        return PPO("MlpPolicy", env, learning_rate=lambda left: 2e-3 * left, **rollout, **common)
    replay = {
        "learning_rate": lambda left: 2e-3 * left,
        "buffer_size": 30_000,
        "learning_starts": 500,
        "batch_size": 128,
        "target_update_interval": 200,
        "exploration_fraction": 0.5,
        "exploration_final_eps": 0.1,
    }
    if way in (PUBLISHED, CORRECTED):
        mixture = setting.law.as_mixture(**HEAD_SETTINGS)
        return sb3.MultiHorizonDQN("MlpPolicy", env, mixture, published=way == PUBLISHED, **replay, **common)
    return DQN("MlpPolicy", env, **replay, **common)


def value(setting: Setting, way: str, model: Any, env: Any) -> float:
    """Return the value of the agent's greedy policy under the law: exact, or on CartPole a mean of games."""
    from sojourn import sb3  # noqa: PLC0415

    if setting.table is None:
        return pole_value(setting, way, model)
    if way == WEIGHTED:
        policy = weighted_policy(setting, model)
    else:
        policy = sb3.tabulate(model, env if way in (OURS, CORRECTED) else setting.plain())
    return float(setting.table.start @ sj.evaluate(setting.table, setting.law, policy).value)


def pole_value(setting: Setting, way: str, model: Any, games: int = 20) -> float:
    """Return the mean of Σ_h γ(h) over games of CartPole, which pays 1 per step until the pole falls."""
    env = pole_games(setting, way == OURS, games)
    env.seed(1)
    lasts, shown = np.full(games, 500), env.reset()
    for h in range(1, 501):
        shown, _, dones, _ = env.step(model.predict(shown, deterministic=True)[0])
        lasts[dones] = np.minimum(lasts[dones], h)
        if lasts.max() <= h:
            break
    total = np.cumsum(setting.law.survival(np.arange(1, 501)))
    return float(total[lasts - 1].mean())


@functools.cache
def pole_games(setting: Setting, is_ours: bool, games: int) -> Any:
    """Return parallel games of CartPole, with the step in observations or without."""
    return environment(setting, OURS if is_ours else SAME, seed=1, n_envs=games)[0]


def weighted_policy(setting: Setting, model: Any) -> Any:
    """Return the policy of an agent trained on weighted rewards, held after its last choice."""
    states = np.arange(setting.table.n_states)
    rows = []
    for taken in range(EPISODE // 2):
        seen = np.stack([states, np.full_like(states, taken)], axis=1)
        rows.append(model.predict(seen, deterministic=True)[0])
    return held(setting.table, rows)


def held(mdp: Any, rows: Any) -> Any:
    """Return a policy up to the last step at which its most likely path is in the start state.

    Near the end of training episodes nothing later counts, so only their first half is used, and an action is
    held after it: that of the last step with a choice.
    """
    start = state = int(mdp.start.argmax())
    last = 1
    for h, actions in enumerate(rows[: EPISODE // 2], start=1):
        last = h if state == start else last
        after, chances = mdp.successors(state, int(actions[state]))
        state = int(after[int(np.argmax(chances))])
    return np.array(rows[:last])


def limit(setting: Setting, way: str) -> float:
    """Return the share of the best value that a way of training earns if it learns without error."""
    mdp, law = setting.table, setting.law
    if way in (SAME, TUNED):
        gamma = setting.same_mean if way == SAME else setting.planned_gamma
        policy = sj.plan(mdp, sj.Geometric(gamma)).policy[:1]
    elif way in (WEIGHTED, LAST_HELD):
        rows = sj.plan(mdp, sj.Tabulated(law.survival(np.arange(1, EPISODE + 1)))).policy
        policy = held(mdp, rows) if way == WEIGHTED else rows
    else:
        policy = head_policy(setting, way)
    return float(mdp.start @ sj.evaluate(mdp, law, policy).value) / setting.best


def measure_limits() -> None:
    """Store the limits of all ways on the problems with a table."""
    found = {}
    for name in ("cash, DQN", "grid, DQN"):
        setting = SETTINGS[name]
        ways = (OURS, WEIGHTED, LAST_HELD, *ALL[2:])
        found[setting.title] = {way: round(limit(setting, way), 6) for way in ways}
    text = json.dumps(found, indent=1, ensure_ascii=False)
    LIMITS.write_text(text + "\n", encoding="utf-8")


def limits_table() -> str:
    """Return the limits as a Markdown table."""
    found = json.loads(LIMITS.read_text(encoding="utf-8"))
    ways = next(iter(found.values()))
    rows = [[way, *(f"{100 * shares[way]:.1f}%" for shares in found.values())] for way in ways]
    return table(["", *found], rows)


def head_policy(setting: Setting, way: str) -> Any:
    """Return the greedy policy at the fixed point of the heads' targets, or of the single clocked value."""
    mdp, law, n = setting.table, setting.law, 1 if way == PUBLISHED else LAST + 1
    table = mdp.transitions.toarray().reshape(mdp.n_states, mdp.n_actions, mdp.n_states)
    h = np.arange(1, n + 1)
    if way == OURS:  # one head whose discount depends on the step
        gammas = (1.0 - 1.0 / law.remaining(h))[:, np.newaxis]
        scales, weights = 1.0 - gammas, np.ones((n, 1))
    else:
        mixture = law.as_mixture(**HEAD_SETTINGS)
        gammas = np.array([[part.gamma for part in mixture.laws]] * n)
        scales, weights = 1.0 - gammas, np.array(mixture.weights) / (1.0 - gammas)
        if way == CORRECTED:
            weights = weights * gammas ** (h[:, np.newaxis] - 1)
    values = np.zeros((n, gammas.shape[1], mdp.n_states, mdp.n_actions))
    following = np.minimum(h, n - 1)
    for _ in range(20_000):
        if way == PUBLISHED:
            next_values = values.max(axis=3)
        else:
            played = np.einsum("nk,nksa->nsa", weights, values).argmax(axis=2)
            next_values = np.take_along_axis(values, played[:, np.newaxis, :, np.newaxis], axis=3)[..., 0]
        ahead = np.einsum("xay,nky->nkxa", table, next_values[following])
        new = scales[..., np.newaxis, np.newaxis] * mdp.rewards + gammas[..., np.newaxis, np.newaxis] * ahead
        if np.abs(new - values).max() < 1e-10:
            break
        values = new
    return np.einsum("nk,nksa->nsa", weights, values).argmax(axis=2)


def summary(name: str) -> dict[str, Interval]:
    """Return, for each way, the IQM over seeds of the final share of the best value, with its interval."""
    best, found = SETTINGS[name].best, {}
    for way, curves in load().get(name, {}).items():
        found[way] = bootstrap_interval([curve[-1] / best for curve in curves])
    return found


def curves(name: str) -> dict[str, Any]:
    """Return, for each way with all seeds, the IQM of the share of the best value at each checkpoint."""
    setting, found = SETTINGS[name], {}
    for way, stored in load().get(name, {}).items():
        if len(stored) >= len(SEEDS):
            found[way] = interquartile_mean(np.array(stored).T / setting.best)
    return found


def steps_needed(name: str, way: str, share: float = 0.99) -> list[int | None]:
    """Return, for each seed, the first checkpoint from which on the share is reached, or None."""
    setting, found = SETTINGS[name], []
    for curve in load()[name][way]:
        below = np.flatnonzero(np.array(curve) / setting.best < share)
        first = int(below[-1]) + 1 if below.size else 0
        found.append(None if first == CHECKPOINTS else (first + 1) * setting.steps // CHECKPOINTS)
    return found


def tables() -> dict[str, str]:
    """Return the parts of the page by their names; ways without all seeds are left out."""
    found = {}
    for name, ways in load().items():
        whole = {way: result for way, result in summary(name).items() if len(ways[way]) >= len(SEEDS)}
        if whole:
            found[name] = whole
    with_limits = [name for name in SETTINGS if name in found and SETTINGS[name].mdp is not None]
    standard = [name for name in SETTINGS if name in found and SETTINGS[name].mdp is None]
    return {
        "limits": limits_table(),
        "results": results_table(found, with_limits),
        "steps": steps_table({name: tuple(found[name]) for name in with_limits}),
        "standard": results_table(found, standard),
        "gammas": paragraph(gammas_text([*with_limits, *standard])),
    }


def results_table(found: dict[str, dict[str, Interval]], names: list[str]) -> str:
    """Return the final shares of the best value as a Markdown table, one column per setting."""
    rows = []
    for way in ALL:
        cells = [found[name][way].texts()[0] if way in found[name] else "" for name in names]
        if any(cells):
            rows.append([way, *cells])
    shown = [SETTINGS[name] for name in names]
    heads = [f"{one.title}, {label(one.law)}, {one.agent}, {one.steps:,} steps" for one in shown]
    return table(["", *heads], rows)


def steps_table(shown: dict[str, tuple[str, ...]], share: float = 0.99) -> str:
    """Return how many seeds come close to the best value, and after how many steps, as a Markdown table."""
    rows = []
    for name, ways in shown.items():
        setting = SETTINGS[name]
        for way in ways:
            needed = steps_needed(name, way, share)
            reached = sorted(steps for steps in needed if steps is not None)
            if not reached:
                continue
            worst = min(curve[-1] for curve in load()[name][way]) / setting.best
            middle = f"{statistics.median(reached):,.0f}" if 2 * len(reached) > len(needed) else ""
            counted = f"{len(reached)} of {len(needed)}"
            trained = f"{setting.title}, {setting.agent}, {setting.steps:,} steps"
            rows.append([trained, way, counted, f"{worst:.3f}", middle])
    heads = ["agent", "", "seeds within 1%", "worst seed", "median steps until then"]
    return table(heads, rows)


def gammas_text(names: list[str]) -> str:
    """Return the chosen discounts in words."""
    chosen = [
        f"{tuned_gamma(name):g} ({SETTINGS[name].title}, {SETTINGS[name].agent}, {label(SETTINGS[name].law)})"
        for name in names
    ]
    return f"Chosen discounts: {', '.join(chosen)}."


def measure_heads() -> None:
    """Store the numbers of heads and errors of mixtures: ours, and the sum of Fedus et al. (2019)."""
    laws = (sj.Polynomial(1.4), sj.Polynomial(2.0), sj.BetaGeometric(2, 6), sj.DiscreteWeibull(0.9, 0.7))
    found: dict[str, list[tuple[int, float]]] = {}
    for law in laws:
        mixtures = [law.as_mixture(law.mean * 10.0**-k, last=1_000) for k in (0, 0.5, 1, 1.5, 2, 2.5, 3, 4)]
        pairs = [(len(one.laws), distance(law, one, last=1_000) / law.mean) for one in mixtures]
        found[label(law)] = sorted(set(pairs))
    found["Polynomial(1.4), Riemann sum"] = [
        (n, riemann_error(HEAVY, n)) for n in (5, 10, 20, 50, 100, 300, 1_000)
    ]
    lines = [f"{json.dumps(name)}: {json.dumps(pairs)}" for name, pairs in found.items()]
    HEADS.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


def riemann_error(law: sj.Polynomial, n: int) -> float:
    """Return the smallest error of the published sum with n discounts, over several largest discounts.

    γ(h) = ∫ λ^(h−1) f(λ) dλ, where −ln λ has the Gamma(p) distribution. The sum has the nodes u_i = 1 − b^i,
    i = 0 … n, with u_n the largest discount, and the weights (u_{i+1} − u_i) f(u_i).
    """
    h, errors = np.arange(1, 1_001), []
    for largest in (0.9, 0.99, 0.999, 0.9999):
        nodes = 1.0 - (1.0 - largest) ** (np.arange(n + 1) / n)
        left = nodes[:-1]
        with np.errstate(divide="ignore"):
            density = np.where(left > 0, (-np.log(left)) ** (law.p - 1), 0.0) / np.exp(gammaln(law.p))
        survival = (np.diff(nodes) * density) @ left[:, np.newaxis] ** (h - 1)
        errors.append(float(np.abs(survival - law.survival(h)).sum() / law.mean))
    return min(errors)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["measure", *names]:
            measure(names)
        case ["limits"]:
            measure_limits()
        case ["heads"]:
            measure_heads()
        case ["tables"]:
            for part, text in tables().items():
                write_part(PAGE, part, text)
        case _:
            raise SystemExit(__doc__)
