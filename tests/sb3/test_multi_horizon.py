"""The multi-horizon agents: exact on tables in the corrected form, and their updates."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import sojourn as sj
from sojourn import sb3
from sojourn.envs import TabularEnv
from sojourn.sb3._multi_horizon import _heads

MDP = sj.mdps.cash_or_invest(3, payoff=1.2)
LAW = sj.Mixture([0.5, 0.3, 0.2], [sj.Geometric(0.2), sj.Geometric(0.6), sj.Geometric(0.95)])
SMALL = {"learning_starts": 10, "buffer_size": 100, "batch_size": 16, "device": "cpu", "seed": 0}


def agent(**settings):
    env, kwargs = sb3.prepare(TabularEnv(MDP), LAW, sb3.MultiHorizonDQN, last=6, normalize=False)
    kwargs = {} if settings.get("published") else kwargs
    env = TabularEnv(MDP) if settings.get("published") else env
    return sb3.MultiHorizonDQN("MlpPolicy", env, LAW, **{**kwargs, **SMALL, **settings}), env


def test_heads_that_share_the_greedy_policy_sum_to_the_plan():
    """Backward induction over heads with posterior weights gives the value under the law."""
    n = 400  # 0.95^400 is negligible
    heads = _heads(LAW, np.zeros(n))
    table = MDP.transitions.toarray().reshape(MDP.n_states, MDP.n_actions, MDP.n_states)
    values = np.zeros((3, MDP.n_states))
    for h in range(n, 0, -1):
        following = np.einsum("xay,iy->ixa", table, values)
        parts = heads["scales"][:, None, None] * MDP.rewards + heads["gammas"][:, None, None] * following
        best = np.einsum("i,ixa->xa", heads["weights"][h - 1], parts).argmax(axis=1)
        values = parts[:, np.arange(MDP.n_states), best]
    expected = sj.plan(MDP, LAW, tolerance=1e-9).value
    np.testing.assert_allclose(heads["weights"][0] @ values, expected, atol=1e-6)


@pytest.mark.parametrize("published", [True, False])
def test_targets_follow_the_form(published):
    model, _ = agent(published=published)
    model.learn(20)
    data = model.replay_buffer.sample(16)
    net = model.q_net_target
    with torch.no_grad():
        following = net.heads(data.next_observations).numpy()
    gammas = np.array([0.2, 0.6, 0.95])
    np.testing.assert_allclose(net.gammas.numpy(), gammas, rtol=1e-6)
    if published:
        values = following.max(axis=2)
        weights = np.full((16, 3), LAW.weights)
    else:
        shown = data.next_observations[:, -1].numpy()
        h = np.abs(shown[:, None] - np.log(np.arange(1, 8)) / np.log(7)).argmin(axis=1) + 1
        weights = np.array(LAW.weights) * gammas ** (h[:, None] - 1)
        weights /= weights.sum(axis=1, keepdims=True) * (1 - gammas)  # heads hold (1 − λ_i) Q_i
        played = np.einsum("bi,bia->ba", weights, following).argmax(axis=1)
        values = following[np.arange(16), :, played]
    with torch.no_grad():
        mixed = net(data.next_observations).numpy()
        np.testing.assert_allclose(mixed, np.einsum("bi,bia->ba", weights, following), rtol=1e-4, atol=1e-6)
    scales = 1.0 if published else 1 - gammas
    targets = scales * data.rewards.numpy() + (1 - data.dones.numpy()) * gammas * values
    current = model.q_net.heads(data.observations)[torch.arange(16), :, data.actions.flatten().long()]
    expected = torch.nn.functional.smooth_l1_loss(
        current, torch.as_tensor(targets, dtype=torch.float32)
    ).item()
    model.replay_buffer.sample = lambda *_, **__: data
    model.train(1, 16)
    assert model.logger.name_to_value["train/loss"] == pytest.approx(expected, rel=1e-5)


def test_saved_agents_play_as_before(tmp_path):
    model, env = agent()
    model.learn(30)
    model.save(tmp_path / "agent.zip")
    again = sb3.MultiHorizonDQN.load(tmp_path / "agent.zip", env=env)
    np.testing.assert_array_equal(sb3.tabulate(again, env), sb3.tabulate(model, env))
    assert again.published is False
    again.learn(12)


def test_bad_settings_raise_a_one_line_error():
    for settings in ({"normalize": True}, {"normalize": False, "n_steps": 3}):
        env, kwargs = sb3.prepare(TabularEnv(MDP), LAW, sb3.MultiHorizonDQN, last=6, **settings)
        with pytest.raises(ValueError, match=r"^replay_buffer_kwargs must leave rewards as they are, .*\.$"):
            sb3.MultiHorizonDQN("MlpPolicy", env, LAW, **kwargs)
    with pytest.raises(ValueError, match=r"^replay_buffer_kwargs must hold the features .*\.$"):
        sb3.MultiHorizonDQN("MlpPolicy", TabularEnv(MDP), LAW)
    with pytest.raises(TypeError, match=r"^mixture must be a Mixture of Geometric laws, .*\.$"):
        sb3.MultiHorizonDQN("MlpPolicy", TabularEnv(MDP), sj.Geometric(0.9), published=True)
