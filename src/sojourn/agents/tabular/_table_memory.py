"""Allocation of the arrays that kernels work on: tables, scratch arrays, buffers.

Kernels mark "none" by special values. The constructors here take None instead and translate it.
"""

from __future__ import annotations

import numpy as np

from sojourn._kernels import (
    FEWEST_SWEPT,
    MOST_MASKED,
    ActionScratch,
    AssumedLaw,
    Distribution,
    EpisodeBuffer,
    IncrementalScratch,
    MonotoneBernsteinScratch,
    Path,
    ProblemArrays,
    PSRLScratch,
    PSRLUpdate,
    ReferenceArrays,
    SweepScratch,
    Tables,
    UCBVIUpdate,
    Valuation,
    ValueCache,
    ValueScratch,
    number_state,
)
from sojourn._memory import check_fits
from sojourn._typing import FloatArray, PolicyArray

__all__ = [
    "START_ROOM",
    "copied",
    "empty_episode_buffer",
    "empty_monotone_bernstein_scratch",
    "empty_psrl_scratch",
    "empty_tables",
    "empty_ucbvi_update",
    "empty_valuation",
    "make_assumed_law",
    "make_psrl_update",
    "recounted",
    "table_bytes",
]

START_ROOM = 64
"""Number of states, pairs and arcs that the tables of a new learner have room for."""

_PER_LAYER = {"value", "incumbent", "runner_up", "greedy_masks", "visits_at", "q"}
"""Tables whose shape depends on the number of layers."""

_MOST_ROWS = 1 << 25
"""Largest number of layers times states for which the actions of a policy are kept during its valuation."""

_MOST_DENSE = 8
"""Largest number of states for which valuations use a dense table."""

_MOST_CACHED = 200_000
"""Largest number of states times steps for which valuations are cached."""


def make_assumed_law(
    ratios: FloatArray,
    caps: FloatArray,
    final_value: float,
    *,
    bonus: FloatArray | None = None,
    bonus_power: float = 0.5,
    reward_bonus: float | None = None,
    prior_rewards: FloatArray | None = None,
) -> AssumedLaw:
    """Return an assumed law with N layers in the form that kernels take.

    Args:
        ratios: `(N,)` discount ρ(h) from layer h to layer h + 1.
        caps: `(N + 1,)` initial Q of layers 1 … N, and the cap of layer N + 1.
        final_value: V_{N+1}, the value of all steps after the last layer.
        bonus: `(N,)` bonus of a pair with a single visit; None for no bonus.
        bonus_power: The bonus of n visits is `bonus`/n^power; ½ or 1.
        reward_bonus: Bonus of one visit for an estimated reward; None if rewards are known.
        prior_rewards: `(S, A)` added to the caps for pairs never played; None for nothing.
    """
    return AssumedLaw(
        ratios=ratios,
        caps=caps,
        final_value=final_value,
        bonus=np.zeros(ratios.size) if bonus is None else bonus,
        bonus_power=bonus_power,
        reward_bonus=-1.0 if reward_bonus is None else reward_bonus,
        prior_rewards=np.zeros((0, 0)) if prior_rewards is None else np.ascontiguousarray(prior_rewards),
    )


def table_bytes(n_layers: int, states: int, pairs: int, *, has_incumbents: bool = True) -> int:
    """Return the size of the tables that grow with the number of layers."""
    return (states * (21 if has_incumbents else 12) + pairs * 8) * (n_layers + 1)


def empty_tables(
    assumed: AssumedLaw,
    n_actions: int,
    *,
    states: int,
    pairs: int,
    arcs: int,
    has_incumbents: bool,
    has_layer_visits: bool,
) -> Tables:
    """Allocate empty tables: no state has a number, and all values are at their caps.

    Args:
        assumed: The assumed law.
        n_actions: Number of actions.
        states: Number of states that there is room for.
        pairs: Number of pairs that there is room for.
        arcs: Number of arcs that there is room for.
        has_incumbents: Allocate what `replan_incrementally` keeps per state.
        has_layer_visits: Allocate visits of states per layer.
    """
    n_layers, caps = assumed.ratios.size, assumed.caps
    value = np.repeat(caps[np.newaxis], states, axis=0)
    value[:, n_layers] = assumed.final_value
    incumbent_layers = n_layers if has_incumbents else 0

    def numbers(shape: int | tuple[int, int], fill: int = -1) -> PolicyArray:
        return np.full(shape, fill, dtype=np.int32)

    return Tables(
        sizes=np.zeros(3, dtype=np.int64),
        slots=numbers(2 << (states - 1).bit_length()),
        names=np.zeros(states, dtype=np.int64),
        tried=numbers(states, 0),
        pair_of=numbers((states, n_actions)),
        value=value,
        incumbent=numbers((states, incumbent_layers)),
        runner_up=np.zeros((states, incumbent_layers)),
        visits_at=numbers((states, n_layers + 1 if has_layer_visits else 0), 0),
        greedy_masks=np.zeros((states, incumbent_layers if n_actions <= MOST_MASKED else 0), dtype=np.uint8),
        last_arc_into=numbers(states),
        state_of=numbers(pairs),
        action_of=numbers(pairs),
        visits=np.zeros(pairs, dtype=np.int64),
        reward_total=np.zeros(pairs),
        reward_estimate=np.zeros(pairs),
        bonus_share=np.zeros(pairs),
        q=np.repeat(caps[np.newaxis, :n_layers], pairs, axis=0),
        first_arc=numbers(pairs),
        last_arc=numbers(pairs),
        arc_from=numbers(arcs),
        arc_to=numbers(arcs),
        arc_count=np.zeros(arcs),
        arc_weight=np.zeros(arcs),
        arc_next=numbers(arcs),
        arc_next_into=numbers(arcs),
    )


def copied(old: Tables, new: Tables) -> Tables:
    """Copy the contents of `old` into `new`, which is larger and empty, and return `new`."""
    for name in Tables._fields:
        if name not in {"slots", "sizes"}:
            array = getattr(old, name)
            getattr(new, name)[: len(array)] = array
    for state in old.names[: old.sizes[0]]:
        number_state(new, int(state))
    new.sizes[:] = old.sizes
    return new


def recounted(old: Tables, new: Tables) -> Tables:
    """Return tables with the counts of `old`, and with the Q and V of `new`, which is empty.

    Both must have room for the same number of states, pairs and arcs; their layers may differ.
    """
    kept = {name: getattr(old, name) for name in Tables._fields if name not in _PER_LAYER}
    n_layers = min(new.visits_at.shape[1], old.visits_at.shape[1])
    new.visits_at[:, :n_layers] = old.visits_at[:, :n_layers]
    return new._replace(**{name: array.copy() for name, array in kept.items()})


def empty_ucbvi_update(n_layers: int, states: int, pairs: int, arcs: int) -> UCBVIUpdate:
    """Allocate the scratch arrays of `update_ucbvi`."""
    return UCBVIUpdate(
        sweeps=np.zeros(2, dtype=np.int64),
        incremental=_empty_incremental_scratch(n_layers, states, pairs),
        full=_empty_sweep_scratch(states, pairs, arcs),
    )


def empty_monotone_bernstein_scratch(n_layers: int, states: int, pairs: int) -> MonotoneBernsteinScratch:
    """Allocate the scratch arrays of `update_monotone_bernstein`."""
    return MonotoneBernsteinScratch(
        clock=np.zeros(1, dtype=np.int64),
        pair_token=np.full(pairs, -1, dtype=np.int64),
        state_token=np.full(states, -1, dtype=np.int64),
        played_layers=np.empty(pairs, dtype=np.int64),
        changed=_numbers(pairs),
        candidates=_numbers(states),
        fell_above=_numbers(states),
        means=np.empty(n_layers),
        variances=np.empty(n_layers),
    )


def make_psrl_update(
    *,
    rng: np.random.Generator,
    n_states: int,
    is_apart: bool,
    weight: float,
    noise: float | None,
    best_rewards: FloatArray | None,
    scratch: PSRLScratch,
) -> PSRLUpdate:
    """Return the parameters of `update_psrl`.

    Args:
        rng: Random numbers for the draws.
        n_states: Number of states S of the problem.
        is_apart: Whether states that were never seen are drawn one by one.
        weight: Weight of the prior in visits.
        noise: Standard deviation of one reward; None if rewards are known.
        best_rewards: `(S,)` largest reward of each state; None if rewards are estimated.
        scratch: Scratch arrays.
    """
    best = np.zeros(0) if best_rewards is None else best_rewards
    return PSRLUpdate(
        rng=rng,
        n_states=n_states,
        is_apart=is_apart,
        weight=weight,
        noise=-1.0 if noise is None else noise,
        best=best,
        all_best=float(best.sum()),
        scratch=scratch,
    )


def empty_psrl_scratch(states: int, pairs: int) -> PSRLScratch:
    """Allocate the scratch arrays of `update_psrl`."""
    return PSRLScratch(
        even=np.zeros(pairs),
        lump=np.zeros(pairs),
        target=np.zeros(pairs, dtype=np.int64),
        extra=np.zeros(pairs),
        mark=np.full(states, -1, dtype=np.int64),
        above=np.zeros(states),
    )


def empty_episode_buffer(pairs: int, steps: int) -> EpisodeBuffer:
    """Allocate a buffer for an episode that plays at most `pairs` pairs, and for `steps` single steps."""
    check_fits(32 * steps, f"An episode of {steps:,} steps", "give a law with shorter episodes")
    return EpisodeBuffer(
        played=np.empty(pairs, dtype=np.int64),
        last_played=np.full(pairs, -1, dtype=np.int64),
        pairs=np.empty(steps, dtype=np.int64),
        layers=np.empty(steps, dtype=np.int64),
        successors=np.empty(steps, dtype=np.int64),
        rewards=np.empty(steps),
    )


def empty_valuation(
    problem: ProblemArrays, reference: ReferenceArrays, n_layers: int, *, is_cached: bool
) -> Valuation:
    """Allocate the scratch arrays and the cache with which policies of `n_layers` layers are valued.

    There is no cache if the problem is large, has several start states, or the law has a heavy tail.
    """
    n_states, n_steps = problem.is_terminal.size, reference.survival.size
    is_small = n_states < FEWEST_SWEPT and n_states * max(n_steps, n_layers) <= _MOST_CACHED
    has_cache = is_cached and is_small and reference.start >= 0 and not reference.is_heavy
    keeps_rows = not has_cache and n_layers * n_states <= _MOST_ROWS
    scratch = ValueScratch(
        now=Distribution(np.zeros(n_states), np.zeros(n_states, dtype=np.int64)),
        following=Distribution(np.zeros(n_states), np.zeros(n_states, dtype=np.int64)),
        saved_chance=np.zeros(n_states),
        earned=np.zeros(n_steps),
        state_numbers=np.zeros(n_states, dtype=np.int64),
        ties=ActionScratch(
            layer_hashes=np.zeros(n_layers, dtype=np.uint64),
            state_hashes=np.zeros(n_layers, dtype=np.uint64),
            highest=np.zeros(n_layers, dtype=np.uint64),
            best=np.zeros(n_layers),
        ),
        actions=np.zeros(n_layers, dtype=np.int64),
        path=Path(
            states=np.full(n_layers, -1, dtype=np.int64),
            successors=np.zeros(n_layers, dtype=np.int64),
            chances=np.zeros(n_layers),
            rewards=np.zeros(n_layers),
        ),
        n_valued=np.zeros(1, dtype=np.int64),
        rows=np.zeros((n_layers, n_states) if keeps_rows else (0, 0), dtype=np.int64),
    )
    cache = _empty_value_cache(problem, n_steps, n_layers) if has_cache else _no_value_cache()
    return Valuation(reference, scratch, cache)


def _empty_value_cache(problem: ProblemArrays, n_steps: int, n_layers: int) -> ValueCache:
    n_states, sizes = problem.is_terminal.size, np.diff(problem.indptr)
    filled = np.arange(sizes.max(initial=0)) < sizes[:, np.newaxis]
    successors = np.repeat(problem.indices[problem.indptr[:-1], np.newaxis], filled.shape[1], axis=1)
    weights = np.zeros(filled.shape)
    successors[filled], weights[filled] = problem.indices, problem.data
    table, absorbed = np.zeros((0, 0)), np.zeros(0)
    if n_states <= _MOST_DENSE:
        table = np.zeros((sizes.size, n_states))
        np.add.at(table, (np.repeat(np.arange(sizes.size), sizes), problem.indices), problem.data)
        absorbed = table[:, problem.is_terminal].sum(axis=1)
        table[:, problem.is_terminal] = 0.0
    return ValueCache(
        rows=np.full((n_states, min(n_layers, n_steps)), -1, dtype=np.int64),
        chances=np.zeros((n_steps + 1, n_states)),
        totals=np.zeros(n_steps + 1),
        first_reached=np.full(n_states, n_steps + 1, dtype=np.int64),
        successors=successors.astype(np.int64),
        weights=weights,
        table=table,
        absorbed=absorbed,
    )


def _no_value_cache() -> ValueCache:
    numbers, chances = np.zeros((0, 0), dtype=np.int64), np.zeros((0, 0))
    sums, steps = np.zeros(0), np.zeros(0, dtype=np.int64)
    return ValueCache(numbers, chances, sums, steps, numbers, chances, chances, sums)


def _empty_incremental_scratch(n_layers: int, states: int, pairs: int) -> IncrementalScratch:
    """Allocate the scratch arrays of `replan_incrementally`."""
    return IncrementalScratch(
        clock=np.zeros(1, dtype=np.int64),
        state_token=np.full(states, -1, dtype=np.int64),
        pair_token=np.full(pairs, -1, dtype=np.int64),
        fallen_token=np.full(states, -1, dtype=np.int64),
        candidates=_numbers(states),
        fell_above=_numbers(states),
        fallen=_numbers(states),
        lowered=_numbers(pairs),
        lowered_layers=np.empty(pairs, dtype=np.int64),
        row=np.empty(n_layers),
    )


def _empty_sweep_scratch(states: int, pairs: int, arcs: int) -> SweepScratch:
    """Allocate the scratch arrays of `replan_fully`."""
    return SweepScratch(
        pairs=_numbers(pairs),
        arc_stops=_numbers(pairs),
        n_pairs=_numbers(states),
        least=np.empty(states),
        successors=_numbers(arcs),
        weights=np.empty(arcs),
        rewards=np.empty(pairs),
        bonus_shares=np.empty(pairs),
        above=np.empty(states),
        here=np.empty(states),
    )


def _numbers(size: int) -> PolicyArray:
    """Allocate unsigned integers: indexing by them needs no check for negative values."""
    return np.empty(size, dtype=np.uint32)
