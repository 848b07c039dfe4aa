"""The confidence bound of an estimated law, and the number of layers chosen from an estimate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sojourn as sj
from sojourn.theory import estimated_horizon, survival_upper_bound

rows = st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=40)


def seen_at(lengths, last):
    """Return the number of lengths that are at least 1 … last."""
    return (np.asarray(lengths)[:, None] >= np.arange(1, last + 1)).sum(axis=0)


def coverage(law, cut, *, n, runs, delta):
    """Return the share of samples whose bound is above the true survival at every step up to the longest."""
    rng, held = np.random.default_rng(3), 0
    for _ in range(runs):
        lengths, cuts = law.sample(rng, n), cut.sample(rng, n)
        seen, observed = np.minimum(lengths, cuts), lengths < cuts
        h = np.arange(1, int(seen.max()) + 1)
        estimate = sj.KaplanMeier(seen, observed, tail="end").survival(h)
        counts = np.cumsum(np.bincount(seen, minlength=h.size + 1)[::-1])[::-1][1:]
        held += bool(np.all(law.survival(h) <= survival_upper_bound(estimate, counts, delta=delta)))
    return held / runs


@pytest.mark.parametrize(
    ("law", "cut", "n"),
    [
        (sj.Geometric(0.9), sj.Fixed(10**6), 20),
        (sj.Geometric(0.9), sj.Fixed(10**6), 1_000),
        (sj.Polynomial(2.0), sj.Fixed(10**6), 200),
        (sj.Uniform(1, 6), sj.Fixed(10**6), 200),
        (sj.Geometric(0.9), sj.Geometric(0.93), 200),
        (sj.Polynomial(1.4), sj.Geometric(0.9), 200),
        (sj.Uniform(1, 6), sj.Uniform(1, 8), 100),
    ],
    ids=repr,
)
def test_the_bound_holds_at_all_steps_as_often_as_stated(law, cut, n):
    # With 300 runs, a coverage of 80% is estimated below 0.72 about once in two thousand cases.
    assert coverage(law, cut, n=n, runs=300, delta=0.2) >= 0.72


def test_the_bound_is_not_much_wider_than_needed():
    # Geometric(0.5) at step 2, where ι = ln(6/δ).
    rng, missed, runs = np.random.default_rng(0), 0, 4_000
    for alive in rng.binomial(10_000, 0.5, runs):
        upper = survival_upper_bound([1.0, alive / 10_000], [10_000, alive], delta=0.9)
        missed += upper[1] < 0.5
    # Chernoff's inequality promises at most δ/6 = 0.15; it is 0.003, for a normal deviate above 2.75.
    assert 0.0005 < missed / runs < 0.15


@given(st.integers(1, 10_000), st.integers(1, 10_000), st.floats(0.01, 0.99))
def test_the_bound_solves_chernoffs_inequality(alive, dead, delta):
    n = alive + dead
    estimate, iota = alive / n, math.log(6.0 / delta)
    upper = survival_upper_bound([1.0, estimate], [n, alive], delta=delta)[1]
    if upper < 1.0:
        assert upper - math.sqrt(2.0 * upper * iota / n) == pytest.approx(estimate, abs=1e-9)
    assert upper <= estimate + math.sqrt(2.0 * estimate * iota / n) + 2.0 * iota / n + 1e-12


@settings(max_examples=200, deadline=None)
@given(rows)
def test_greenwoods_relative_variance_is_at_most_one_over_the_number_seen(data):
    lengths, observed = np.array([n for n, _ in data]), np.array([seen for _, seen in data])
    spread = 0.0
    for h in range(1, int(lengths.max()) + 1):
        seen = int((lengths >= h).sum())
        assert spread <= 1.0 / seen - 1.0 / lengths.size + 1e-12
        ended = int(((lengths == h) & observed).sum())
        at_risk = seen - int(((lengths == h) & ~observed).sum())
        if at_risk == ended:
            break
        spread += ended / (at_risk * (at_risk - ended))


def plain_costs(law, lengths, episodes, bonus, delta):
    """Return the cost of every number of layers, by plain sums."""
    last = max(lengths)
    steps = np.arange(1, last + 2)
    survival, tail = law.survival(steps).tolist(), law.tail(steps).tolist()
    upper = [0.0] * last
    if delta is not None:
        upper = survival_upper_bound(survival[:-1], seen_at(lengths, last), delta=delta).tolist()
    costs = []
    for n in range(1, last + 1):
        left_out = tail[n] if delta is None else math.fsum(upper[n:])
        if bonus == "monotone_bernstein":
            spread = math.fsum((2 * h - 3) * survival[h - 1] for h in range(2, n + 1))
            rest = max(tail[h - 1] / survival[h - 1] for h in range(1, n + 1))
        else:
            spread, rest = math.fsum(tail[h] ** 2 / survival[h - 1] for h in range(1, n + 1)), 0.0
        costs.append(episodes * left_out + math.sqrt(episodes * spread) + rest)
    return costs


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=40),
    st.sampled_from([1, 10, 1_000, 10**6]),
    st.sampled_from(["paper", "hoeffding", "monotone_bernstein"]),
    st.sampled_from([None, 0.1, 0.9]),
)
def test_the_choice_minimizes_the_cost_over_all_layers(lengths, episodes, bonus, delta):
    law = sj.Empirical(lengths)
    found = estimated_horizon(law, lengths, episodes, bonus=bonus, delta=delta)
    costs = plain_costs(law, lengths, episodes, bonus, delta)
    assert costs[found - 1] <= min(costs) * (1.0 + 1e-9) + 1e-9


@pytest.mark.parametrize(
    ("p", "bonus", "power"),
    [(1.4, "paper", 1 / 2.4), (2.0, "paper", 1 / 3), (1.4, "monotone_bernstein", 1 / 1.4)],
)
def test_with_the_true_polynomial_law_layers_grow_as_in_the_proven_rule(p, bonus, power):
    counts = np.array([10**5, 10**6, 10**7])
    layers = [estimated_horizon(sj.Polynomial(p), [10**5 + 10**4], int(n), bonus=bonus) for n in counts]
    slope = np.polyfit(np.log(counts), np.log(layers), 1)[0]
    assert slope == pytest.approx(power, abs=0.03)


def test_all_steps_of_a_geometric_law_are_planned():
    # T·γ(N+1) is always more than the growth of the second term, so that the longest length decides.
    assert estimated_horizon(sj.Geometric(0.9), [200], 10_000) == 200


def test_layers_end_with_the_law_and_with_the_data():
    assert estimated_horizon(sj.Fixed(5), [9, 9], 1_000) == 5
    assert estimated_horizon(sj.Geometric(0.9), [3, 7], 1_000) == 7


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: survival_upper_bound([1.0], [3], delta=2), "delta must be in (0, 1); got 2."),
        (lambda: estimated_horizon(None, [3], 10), "law must be a LengthLaw"),
        (lambda: estimated_horizon(sj.Fixed(3), [3], 0), "episodes must be a whole number ≥ 1; got 0."),
        (lambda: estimated_horizon(sj.Fixed(3), [3], 9, bonus="none"), "bonus must be one of"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(call, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert message in str(caught.value)


def test_masked_lengths_are_refused():
    masked = np.ma.masked_array([3, 4, 100_000, 2], mask=[0, 0, 1, 0])
    with pytest.raises(ValueError, match=r"^lengths must have no masked entries"):
        estimated_horizon(sj.Geometric(0.9), masked, 100)
    with pytest.raises(ValueError, match=r"^survival must have no masked entries"):
        survival_upper_bound(np.ma.masked_array([1.0, 0.5], mask=[0, 1]), [10, 5])
