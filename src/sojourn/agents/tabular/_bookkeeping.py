"""Settings of a tabular learner: which data it records, and how often it plays random actions."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Bookkeeping", "Exploration"]


@dataclass(frozen=True)
class Bookkeeping:
    """Which data a learner must record for its update.

    Attributes:
        counts_successors: Count the successors of each pair, to estimate a model.
        counts_layers: Count the visits of each state per layer at every step.
        has_layer_visits: Keep a table of visits per layer, which the update itself fills if `counts_layers`
            is False.
        has_incumbents: Keep the tables that incremental replanning needs.
        has_all_actions: Allocate entries for all actions of a state, including those never played.
        keeps_steps: Keep the steps of an episode in their order.
        caches_values: Cache the last valuation, which saves time if successive policies are often similar.
    """

    counts_successors: bool = True
    counts_layers: bool = False
    has_layer_visits: bool = False
    has_incumbents: bool = False
    has_all_actions: bool = False
    keeps_steps: bool = False
    caches_values: bool = False


@dataclass(frozen=True)
class Exploration:
    """Probability of a uniformly random action: epsilon · k^−decay in episode k."""

    epsilon: float = 0.0
    decay: float = 0.0
