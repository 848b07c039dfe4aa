"""DQN with one value per geometric part of a law: as published by Fedus et al. (2019), and corrected."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from stable_baselines3 import DQN
from stable_baselines3.common.torch_layers import create_mlp
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork
from torch import nn
from torch.nn import functional

from sojourn._typing import FloatArray
from sojourn._validation import check_flag
from sojourn.laws import Geometric, Mixture

__all__ = ["MultiHorizonDQN", "MultiHorizonPolicy"]


class MultiHorizonDQN(DQN):
    """DQN for a law γ(h) = Σ_i w_i λ_i^(h−1), with one head Q_i per discount λ_i.

    The corrected form is exact on tables. At step h the agent plays argmax_a Σ_i w_i(h) Q_i(s, a), with the
    posterior weights w_i(h) = w_i λ_i^(h−1) / γ(h), and every head values this one policy: its target is r +
    λ_i Q_i(s', a'), where a' is the action that the agent plays next. Heads hold (1 − λ_i) Q_i, which has the
    size of a reward. It needs the environment and keyword arguments of `prepare(env, law, MultiHorizonDQN,
    normalize=False)`.

    The published form (Fedus, Gelada, Bengio, Bellemare and Larochelle, 2019, "Hyperbolic discounting and
    learning over multiple horizons") keeps the weights w_i at every step, so that the agent's clock restarts
    at every step, and each head takes its own maximum, max_a Q_i(s', a), so that no policy earns the sum. It
    needs no step in observations: give it the plain environment.

    `VecNormalize` and `Dict` observations are not supported by the corrected form.

    Args:
        policy: "MlpPolicy".
        env: The environment.
        mixture: The law as a mixture of geometric laws, as from `law.as_mixture`.
        published: Whether to use the published form.
        **settings: As in SB3's `DQN`, with the keyword arguments of `prepare` for the corrected form.
    """

    def __init__(
        self,
        policy: Any,
        env: Any,
        mixture: Mixture | None = None,
        *,
        published: bool = False,
        **settings: Any,
    ) -> None:
        self.published = check_flag("published", published)
        if mixture is not None:  # None where SB3 loads a saved agent, which restores its settings
            replay = settings.get("replay_buffer_kwargs") or {}
            features, clock = replay.get("features"), replay.get("clock")
            if not published and features is None:
                raise ValueError(
                    "replay_buffer_kwargs must hold the features of the step: use the keyword arguments of "
                    "prepare, or published=True."
                )
            if clock is not None and (clock.normalize or replay.get("n_steps", 1) != 1):
                raise ValueError(
                    "replay_buffer_kwargs must leave rewards as they are, because each head has its own "
                    "discount: call prepare with normalize=False and n_steps=1."
                )
            heads = _heads(mixture, None if published else features)
            settings["policy_kwargs"] = {**(settings.get("policy_kwargs") or {}), "heads": heads}
        super().__init__(policy, env, **settings)

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """Update all heads on minibatches of the replay buffer."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        losses = []
        for _ in range(gradient_steps):
            data = self.replay_buffer.sample(batch_size, env=self._vec_normalize_env)
            with torch.no_grad():
                following = self.q_net_target.heads(data.next_observations)
                if self.published:
                    values = following.max(dim=2).values
                else:
                    played = self.q_net_target.mix(following, data.next_observations).argmax(dim=1)
                    values = _take(following, played)
                net = self.q_net_target
                targets = net.scales * data.rewards + (1 - data.dones) * net.gammas * values
            current = _take(self.q_net.heads(data.observations), data.actions.long().flatten())
            loss = functional.smooth_l1_loss(current, targets)
            losses.append(loss.item())
            self.policy.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
        self._n_updates += gradient_steps
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        self.logger.record("train/loss", np.mean(losses))


class MultiHorizonQNetwork(QNetwork):
    """A Q-network with several heads; its output is their weighted sum."""

    def __init__(self, *args: Any, heads: dict[str, FloatArray], **settings: Any) -> None:
        super().__init__(*args, **settings)
        n_values = int(self.action_space.n) * len(heads["gammas"])
        layers = create_mlp(self.features_dim, n_values, self.net_arch, self.activation_fn)
        self.q_net = nn.Sequential(*layers)
        for name, values in heads.items():
            self.register_buffer(name, torch.as_tensor(values, dtype=torch.float32))

    def heads(self, obs: torch.Tensor) -> torch.Tensor:
        """Return the values of all heads, `(B, K, A)`."""
        values = self.q_net(self.extract_features(obs, self.features_extractor))
        return values.view(len(values), len(self.gammas), -1)

    def mix(self, heads: torch.Tensor, obs: torch.Tensor) -> torch.Tensor:
        """Return Σ_i w_i(h) Q_i, `(B, A)`, with the step h that the observation shows."""
        weights = self.weights
        if len(weights) > 1:
            weights = weights[(obs[:, -1:].float() - self.shown).abs().argmin(dim=1)]
        return (weights.unsqueeze(-1) * heads).sum(dim=1)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """Return the values on which the agent acts, `(B, A)`."""
        return self.mix(self.heads(obs), obs)


class MultiHorizonPolicy(DQNPolicy):
    """SB3's DQN policy with a `MultiHorizonQNetwork`.

    Args:
        *args: As in SB3's `DQNPolicy`.
        heads: Arrays that describe the K heads: "gammas", `(K,)` discounts; "scales", `(K,)` factors on
            rewards; "weights", `(N + 1, K)` weights by step, or `(1, K)` for all steps; "shown", `(N + 1,)`
            what the last entry of observations holds at each step.
        **settings: As in SB3's `DQNPolicy`.
    """

    def __init__(self, *args: Any, heads: dict[str, FloatArray], **settings: Any) -> None:
        self._heads = heads
        super().__init__(*args, **settings)

    def make_q_net(self) -> Any:
        """Return a Q-network with several heads."""
        arguments = self._update_features_extractor(self.net_args, features_extractor=None)
        return MultiHorizonQNetwork(**arguments, heads=self._heads).to(self.device)


MultiHorizonDQN.policy_aliases = {"MlpPolicy": MultiHorizonPolicy}


def _heads(mixture: Mixture, features: FloatArray | None) -> dict[str, FloatArray]:
    """Return what describes the heads; without features, that of the published form."""
    parts = mixture.laws if isinstance(mixture, Mixture) else ()
    gammas = np.array([part.gamma for part in parts if isinstance(part, Geometric)])
    if not gammas.size or gammas.size < len(parts):
        raise TypeError(f"mixture must be a Mixture of Geometric laws, as from as_mixture; got {mixture!r}.")
    weights = np.array(mixture.weights)
    if features is None:
        scales = np.ones(gammas.size)
        return {"gammas": gammas, "scales": scales, "weights": weights[np.newaxis], "shown": np.zeros(1)}
    h = np.arange(1, len(features) + 1)[:, np.newaxis]
    posterior = weights * gammas ** (h - 1) / mixture.survival(h)
    return {"gammas": gammas, "scales": 1 - gammas, "weights": posterior / (1 - gammas), "shown": features}


def _take(heads: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """Return the values of one action per row, `(B, K)`."""
    return heads[torch.arange(len(heads)), :, actions]
