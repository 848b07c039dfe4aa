import time
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sojourn as sj

samples = st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=40).filter(
    lambda rows: any(seen for _, seen in rows)
)


def plain_kaplan_meier(lengths, observed, last):
    """γ(1 … last) by the definition in plain loops; a length censored at n is at risk at 1 … n − 1."""
    survival = [1.0]
    for h in range(1, last):
        died = sum(1 for n, seen in zip(lengths, observed, strict=True) if seen and n == h)
        at_risk = sum(1 for n, seen in zip(lengths, observed, strict=True) if (n >= h if seen else n > h))
        survival.append(survival[-1] * (1 - died / at_risk) if at_risk else np.nan)
    return np.array(survival)


@settings(max_examples=150, deadline=None)
@given(samples)
def test_kaplan_meier_matches_its_definition(rows):
    lengths, observed = [n for n, _ in rows], [seen for _, seen in rows]
    law = sj.KaplanMeier(lengths, observed)
    last = max(lengths)
    expected = plain_kaplan_meier(lengths, observed, last)
    np.testing.assert_allclose(law.survival(np.arange(1, last + 1)), expected, rtol=1e-14)


@settings(max_examples=40, deadline=None)
@given(samples)
def test_kaplan_meier_agrees_with_lifelines(rows):
    # lifelines keeps a censored subject at risk at its time: a censored n is n − 1 there. S(t) = P(H > t).
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from lifelines import KaplanMeierFitter

        lengths = np.array([n for n, _ in rows])
        observed = np.array([seen for _, seen in rows])
        fitter = KaplanMeierFitter().fit(np.where(observed, lengths, lengths - 1), observed)
    steps = np.arange(1, lengths.max() + 1)
    expected = fitter.survival_function_at_times(steps - 1).to_numpy()
    law = sj.KaplanMeier(lengths, observed, tail="end")
    np.testing.assert_allclose(law.survival(steps), expected, rtol=1e-12, atol=1e-15)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(0, 8), st.booleans()), min_size=4, max_size=40).filter(
        lambda rows: any(seen for _, _, seen in rows)
    )
)
def test_late_entries_are_at_risk_from_their_entry_on(rows):
    entry = np.array([e for e, _, _ in rows])
    lengths = np.array([e + more for e, more, _ in rows])
    observed = np.array([seen for _, _, seen in rows])
    expected = [1.0]
    for h in range(1, lengths.max()):
        last_at_risk = np.where(observed, lengths, lengths - 1)
        at_risk = np.sum((entry <= h) & (h <= last_at_risk))
        ended = np.sum(observed & (lengths == h))
        if ended and at_risk == ended:
            with pytest.raises(ValueError, match=rf"at risk at step {h}, all of which end there"):
                sj.KaplanMeier(lengths, observed, entry=entry)
            return
        expected.append(expected[-1] * (1 - ended / max(at_risk, 1)))
    law = sj.KaplanMeier(lengths, observed, entry=entry)
    np.testing.assert_allclose(law.survival(np.arange(1, lengths.max() + 1)), expected, rtol=1e-13)
    assert sj.parse_law(repr(law)) == law


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(0, 8), st.booleans()), min_size=1, max_size=30),
    st.integers(1, 20),
)
def test_exposure_is_the_sum_of_rows_at_risk(rows, h):
    entry = np.array([e for e, _, _ in rows])
    lengths = np.array([e + more for e, more, _ in rows])
    observed = np.array([seen for _, _, seen in rows])
    sample = sj.laws.take_sample(lengths, observed, entry=entry)
    at_risk = sum(
        sum(
            1 for e, n, seen in zip(entry, lengths, observed, strict=True) if e <= j <= (n if seen else n - 1)
        )
        for j in range(1, h + 1)
    )
    assert sample.exposure(np.array([h])).tolist() == [at_risk]
    assert sample.at_risk(np.arange(1, h + 1)).sum() == at_risk
    assert sample.ended_by(np.array([h])).tolist() == [int(np.sum(observed & (lengths <= h)))]


def test_kaplan_meier_with_late_entries_agrees_with_lifelines():
    rng = np.random.default_rng(5)
    lengths, entry = rng.geometric(0.1, 3000), rng.integers(1, 6, 3000)
    seen = lengths >= entry
    lengths, entry, observed = lengths[seen], entry[seen], rng.random(seen.sum()) < 0.7
    # A subject of lifelines enters after its entry time, and is at risk at its censoring time.
    times = np.where(observed, lengths, lengths - 1)
    known = times >= entry
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from lifelines import KaplanMeierFitter

        fitter = KaplanMeierFitter().fit(times[known], observed[known], entry=entry[known] - 1)
    steps = np.arange(1, 60)
    expected = fitter.survival_function_at_times(steps - 1).to_numpy()
    law = sj.KaplanMeier(lengths, observed, entry=entry)
    np.testing.assert_allclose(law.survival(steps), expected, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 50), min_size=1, max_size=200))
def test_kaplan_meier_of_observed_lengths_is_the_empirical_law(lengths):
    one, other = sj.KaplanMeier(lengths, np.ones(len(lengths), dtype=bool)), sj.Empirical(lengths)
    h = np.arange(1, 52)
    for name in ("survival", "tail", "continuation", "remaining", "hazard", "pmf"):
        np.testing.assert_allclose(getattr(one, name)(h), getattr(other, name)(h), rtol=1e-14, atol=1e-15)
    assert one.longest == other.longest == max(lengths)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 50), min_size=1, max_size=200))
def test_empirical_survival_is_the_share_of_lengths_that_reach_a_step(lengths):
    data, h = np.array(lengths), np.arange(1, 53)
    law = sj.Empirical(lengths)
    np.testing.assert_array_equal(law.survival(h), [(data >= step).sum() / data.size for step in h])
    np.testing.assert_allclose(law.tail(h), [np.maximum(data - step + 1, 0).mean() for step in h], rtol=1e-14)


def test_a_censored_length_is_not_at_risk_at_its_last_step():
    # Two lengths reach step 3: one ends there, and one is censored there, which means only H ≥ 3.
    law = sj.KaplanMeier([3, 3], [True, False])
    assert law.hazard(3) == 1.0
    assert law.longest == 3


def test_geometric_tail_continues_from_the_last_estimate():
    # Hazards 1/4 at step 1 and 1/2 at step 2 (two at risk there): γ(3) = γ(5) = 3/8 and ρ = (3/8)^(1/4).
    law = sj.KaplanMeier([1, 2, 2, 5], [True, True, False, False])
    assert law.survival([1, 2, 3, 5]).tolist() == [1.0, 0.75, 0.375, 0.375]
    ratio = 0.375**0.25
    assert law.survival(105) == pytest.approx(0.375 * ratio**100, rel=1e-13)
    assert law.continuation([4, 5, 10**9]) == pytest.approx([1.0, ratio, ratio], rel=1e-15)
    assert law.mean == pytest.approx(1 + 0.75 + 3 * 0.375 + 0.375 * ratio / (1 - ratio), rel=1e-14)
    assert law.longest is None


def test_tail_rule_end_makes_the_largest_length_the_longest():
    law = sj.KaplanMeier([1, 2, 2, 5], [True, True, False, False], tail="end")
    assert law.longest == 5
    assert law.survival([5, 6]).tolist() == [0.375, 0.0]
    assert law.mean == 1 + 0.75 + 3 * 0.375


def test_the_tail_rule_is_unused_if_the_largest_length_is_observed():
    laws = [sj.KaplanMeier([1, 4, 3], [True, True, False], tail=tail) for tail in ("geometric", "end")]
    h = np.arange(1, 8)
    np.testing.assert_array_equal(laws[0].survival(h), laws[1].survival(h))


def test_fully_censored_data_need_tail_rule_end():
    with pytest.raises(ValueError, match=r"^observed must be True for at least one length: .* tail='end'.$"):
        sj.KaplanMeier([3, 4], [False, False])
    assert sj.KaplanMeier([3, 4], [False, False], tail="end").mean == 4.0


def test_order_and_counts_do_not_matter_for_equality():
    assert (
        sj.Empirical([3, 1, 3])
        == sj.Empirical([1, 3], counts=[1, 2])
        == sj.Empirical([3, 3, 1, 9], counts=[1, 1, 1, 0])
    )
    one = sj.KaplanMeier([5, 2, 5], [False, True, False])
    assert one == sj.KaplanMeier([2, 5], [1, 0], counts=[1, 2])
    assert hash(one) == hash(sj.KaplanMeier([5, 5, 2], [False, False, True]))
    assert one != sj.KaplanMeier([5, 2, 5], [False, True, False], tail="end")


def test_estimates_from_ten_million_rows_take_seconds():
    rng = np.random.default_rng(0)
    lengths = rng.geometric(0.01, 10_000_000)
    began = time.perf_counter()
    law = sj.KaplanMeier(lengths, np.ones(lengths.size, dtype=bool))
    assert law.mean == pytest.approx(lengths.mean(), rel=1e-13)
    assert len(law.lengths) == np.unique(lengths).size
    assert time.perf_counter() - began < 10.0


def test_long_tables_are_accurate():
    import math

    table = np.geomspace(1.0, 1e-5, 200_000)
    law = sj.Tabulated(table)
    assert law.mean == pytest.approx(math.fsum(table), rel=1e-14)
    assert law.tail(100_001) == pytest.approx(math.fsum(table[100_000:]), rel=1e-14)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sj.Tabulated([1, 0.5, 0.6]), "survival[2] must be at most survival[1] = 0.5; got 0.6."),
        (lambda: sj.Tabulated([1, 0.5, 1.6]), "survival[2] must be in [0, 1]; got 1.6."),
        (
            lambda: sj.Tabulated([0.9]),
            "survival[0] must be 1, because every episode has a first step; got 0.9.",
        ),
        (lambda: sj.Tabulated([1, float("nan")]), "survival[1] must be in [0, 1]; got nan."),
        (lambda: sj.Tabulated([]), "survival must be one column of numbers; got an array of shape (0,)."),
        (lambda: sj.Empirical([]), "lengths must not be empty."),
        (lambda: sj.Empirical([3, 0]), "lengths[1] must be a whole number from 1 to 2**53; got 0."),
        (lambda: sj.Empirical([3, 2.5]), "lengths[1] must be a whole number from 1 to 2**53; got 2.5."),
        (lambda: sj.Empirical([1], counts=[0]), "counts must not all be 0."),
        (
            lambda: sj.Empirical([1], counts=[1, 2]),
            "counts must be as many as lengths; got 2 counts for 1 lengths.",
        ),
        (
            lambda: sj.KaplanMeier([1, 2], [1]),
            "observed must be as many as lengths; got 1 flags for 2 lengths.",
        ),
        (lambda: sj.KaplanMeier([1, 2], [1, 2]), "observed[1] must be True or False; got 2."),
        (
            lambda: sj.KaplanMeier([1], [1], tail="ends"),
            "tail must be one of 'geometric', 'end'; got 'ends'. Did you mean 'end'?",
        ),
    ],
)
def test_bad_data_raise_one_line_errors_that_name_the_place(make, message):
    with pytest.raises((ValueError, TypeError)) as caught:
        make()
    assert str(caught.value) == message


def test_masked_lengths_are_refused():
    def fit_geometric(values):
        return sj.fit(values, family="geometric")

    lengths = np.ma.array([3, 500, 4], mask=[False, True, False])
    for build in (sj.Empirical, lambda values: sj.KaplanMeier(values, [True] * 3), fit_geometric):
        with pytest.raises(ValueError, match=r"^lengths must have no masked entries; fill it first"):
            build(lengths)
    with pytest.raises(ValueError, match=r"^survival must have no masked entries; fill it first"):
        sj.Tabulated(np.ma.array([1.0, 0.5, 0.7], mask=[False, False, True]))
