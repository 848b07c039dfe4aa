from __future__ import annotations

import json
import math
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lifelines.datasets import load_dd, load_lung, load_rossi

import sojourn as sj
from sojourn.laws import (
    FAMILIES,
    band_of_sample,
    closest_geometric,
    distance,
    fit_sample,
    take_sample,
)
from sojourn.sessions import (
    GroupTest,
    SessionLog,
    analyze,
    compare_groups,
    gamma_words,
    group_words,
    law_words,
    price_geometric,
)
from sojourn.sessions.advice._law import _fit_words, mean_words
from sojourn.sessions.analysis._bootstrap import _remaining
from sojourn.sessions.analysis._coverage import Unknown, data_quantile, find_hole, step_ranges
from sojourn.sessions.analysis._fit_check import FitCheck
from sojourn.sessions.analysis._hazard_test import compare_hazards, matters
from sojourn.sessions.analysis._mean_test import MeanTest, compare_means


def draw(law, n, *, seed=0, open_after=3.0, groups=None):
    """Return n sessions, censored by a geometric law whose mean is `open_after` times theirs."""
    rng = np.random.default_rng(seed)
    lengths = law.sample(rng, n)
    cuts = sj.Geometric(1.0 - 1.0 / (open_after * law.mean)).sample(rng, n)
    names = None if groups is None else rng.choice(groups, n).tolist()
    return SessionLog.from_columns(np.minimum(lengths, cuts), lengths < cuts, group=names, name="drawn.csv")


def advice_on(analysis, heading):
    return dict(analysis.advice())[heading]


def test_every_family_is_ranked_by_bic_and_compared_with_the_band():
    found = analyze(draw(sj.NegativeBinomial(3.0, 0.8), 5_000))
    assert {one.fit.family for one in found.fits} == set(FAMILIES)
    bics = [one.fit.bic for one in found.fits]
    assert bics == sorted(bics)
    assert found.best.fit.family == "negative_binomial"
    assert found.best.bic_gap == 0.0
    assert min(one.aic_gap for one in found.fits) == 0.0
    for one in found.fits:
        assert one.in_band == found.band.holds(one.fit.law)
    assert found.best.in_band
    assert not found.ranked("geometric").in_band


def test_the_mean_agrees_with_kaplan_meier():
    found = analyze(draw(sj.DiscreteWeibull(0.9, 0.8), 20_000))
    assert found.law.mean == pytest.approx(found.kaplan_meier.mean, rel=0.05)
    assert found.unseen == pytest.approx(
        float(found.law.tail(found.log.sample.longest + 1)) / found.law.mean, rel=1e-12
    )


def test_the_shares_that_end_at_a_step_are_those_of_the_data():
    # By hand: 12 of 60 end at step 1, 12 of 48 at step 2, 12 in 36 + 24 steps at risk, 12 in the last 12 + 4.
    lengths = np.repeat([1, 2, 3, 4, 5, 6], [12, 12, 12, 12, 8, 4])
    ranges = step_ranges(take_sample(lengths))
    assert [(one.first, one.last) for one in ranges] == [(1, 2), (3, 3), (4, 4), (5, None)]
    shares = [24 / (60 + 48), 12 / 36, 12 / 24, 12 / (12 + 4)]
    assert [one.share for one in ranges] == pytest.approx(shares, rel=1e-12)
    text = advice_on(analyze(SessionLog.from_columns(lengths)), "The data")
    assert "22% at steps 1–2, 33% at step 3, 50% at step 4 and 75% from step 5 on." in text
    # An open session of n steps is not at risk at step n.
    censored = take_sample([1, 2, 2, 3], [True, True, False, True])
    assert [one.share for one in step_ranges(censored)] == pytest.approx([3 / (4 + 2 + 1)])


@pytest.mark.parametrize(
    ("law", "is_ruled_out"),
    [
        (sj.BetaGeometric(2.2, 4.0), True),
        (sj.NegativeBinomial(3.0, 0.8), True),
        (sj.Geometric(0.9), False),
        (sj.Polynomial(1.6, offset=5), True),
    ],
    ids=repr,
)
def test_the_advice_says_whether_the_chance_of_leaving_changes(law, is_ruled_out):
    text = advice_on(analyze(draw(law, 6_000)), "The data")
    assert ("The log rules out, at the 1% level, that this share is the same" in text) == is_ruled_out
    assert ("The log does not settle whether this share is the same" in text) != is_ruled_out
    assert ("No session ended before step 6." in text) == isinstance(law, sj.Polynomial)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=40))
def test_quantiles_of_the_data_leave_at_most_the_share(rows):
    lengths, observed = (np.array(column) for column in zip(*rows, strict=True))
    if not observed.any():
        return
    band = band_of_sample(take_sample(lengths, observed))
    longest = int(lengths.max())
    for share in (0.5, 0.1):
        step = data_quantile(band, share, last=longest)
        after = float(band.of(step + 1)) if step < longest else 0.0
        assert after <= share * (1.0 + 1e-9)
        assert step == 1 or float(band.of(step)) > share
        assert data_quantile(band, share, last=step - 1) is None


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (sj.Geometric(0.9), "One discount is enough by the best fit: γ = 0.9"),
        (sj.Polynomial(1.4, offset=20), "Use a discount that changes with the step, ρ(h) of the law"),
    ],
    ids=repr,
)
def test_the_advice_says_whether_a_single_gamma_is_enough(law, words):
    assert advice_on(analyze(draw(law, 6_000)), "In short").startswith(words)


def test_a_single_gamma_is_good_enough_where_the_law_is_almost_geometric():
    found = analyze(draw(sj.QuasiHyperbolic(0.98, 0.95), 200_000, open_after=10.0))
    assert found.best.fit.family == "quasi_hyperbolic"
    assert advice_on(found, "In short").startswith("One discount is enough by the best fit")


def test_the_advice_says_when_no_family_fits():
    lengths = np.repeat([2, 9, 30], 2_000)
    found = analyze(SessionLog.from_columns(lengths))
    assert min(one.bic_gap for one in found.fits[1:]) > 6.0
    assert "No other family is within ΔBIC 6." in advice_on(found, "The law")
    data = found.as_dict()  # its numbers are those of the advice: of the data
    assert data["described_by"] == "data"
    assert f"The best single γ is {data['single_gamma']['gamma']:.4f}." in advice_on(found, "A single γ")
    assert data["effective_horizons"][-1]["horizon"] == found.kaplan_meier.effective_horizon(0.01)


def test_effective_horizons_are_those_of_the_best_law():
    found = analyze(draw(sj.Geometric(0.9), 4_000), truncations=(0.5, 1e-3))
    assert [found.horizon(left) for left in (0.5, 1e-3)] == [
        found.law.effective_horizon(left) for left in (0.5, 1e-3)
    ]
    assert f"{found.horizon(0.5)} for Δ = 0.5" in advice_on(found, "How far to plan")


@pytest.mark.parametrize(
    "law", [sj.Polynomial(1.4), sj.BetaGeometric(2.0, 3.0), sj.NegativeBinomial(4.0, 0.7)]
)
@pytest.mark.parametrize("mdp", [sj.mdps.cash_or_invest(5), sj.mdps.river_swim(4), sj.mdps.two_paths()])
def test_a_wrong_discount_costs_no_more_than_its_distance_times_the_range_of_rewards(law, mdp):
    for gamma in (0.5, 0.9):
        price = price_geometric(mdp, law, sj.Geometric(gamma))
        reach = max(float(mdp.rewards.max()), 0.0) - min(float(mdp.rewards.min()), 0.0)
        assert -price.width <= price.loss <= distance(law, sj.Geometric(gamma)) * reach + price.width


def test_the_price_on_a_problem_is_that_of_plans_evaluated_under_the_law():
    mdp = sj.mdps.cash_or_invest(5)
    found = analyze(draw(sj.BetaGeometric(2.2, 4.0), 4_000), problem=mdp)
    best = sj.plan(mdp, found.law)
    other = sj.plan(mdp, found.geometric)
    value = sj.evaluate(mdp, found.law, other.policy, after=other.after).value @ mdp.start
    assert found.price.best == pytest.approx(best.value @ mdp.start, rel=1e-12)
    assert found.price.loss == pytest.approx(best.value @ mdp.start - value, rel=1e-9)
    assert found.price.loss > 0.01
    assert advice_on(found, "In short").startswith("Use a discount that changes with the step, ρ(h)")
    one_action = sj.TabularMDP(np.ones((1, 1, 1)), np.ones((1, 1)))
    free = analyze(found.log, problem=one_action, resamples=0)
    assert advice_on(free, "In short").startswith("On the problem of the log one discount is enough: γ = ")
    assert "the geometric assumption costs" in advice_on(found, "On the problem")


def test_the_price_by_a_law_that_does_not_fit_is_said_to_be_that():
    lengths = np.repeat([1, 2, 3, 6, 9, 12], [90, 10, 90, 10, 90, 10])
    group = ["long" if n > 3 else "short" for n in lengths]
    log = SessionLog.from_columns(lengths, group=group)
    found = analyze(log, problem=sj.mdps.cash_or_invest(5), resamples=0)
    assert found.best_is_contradicted
    text = advice_on(found, "On the problem")
    assert text.startswith("By the best fit, which the data contradict, on CashOrInvest(5) the")
    assert text.endswith("pass their table to sojourn plan: --law 'tabulated(\"FILE\")'.")
    assert "in group 1, whose law does not fit its data" in text
    assert "gains -" not in text


def test_groups_are_compared_as_lifelines_compares_them():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 900)
    lengths, cuts = rng.geometric(0.1 + 0.02 * group), rng.geometric(0.05, 900)
    observed, seen = lengths < cuts, np.minimum(lengths, cuts)
    test = compare_groups(SessionLog.from_columns(seen, observed, group=group.tolist()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from lifelines.statistics import multivariate_logrank_test

        # lifelines keeps a censored subject at risk at its time: a censored n is n − 1 there.
        theirs = multivariate_logrank_test(np.where(observed, seen, seen - 1), group, observed)
    assert test.statistic == pytest.approx(theirs.test_statistic, rel=1e-10)
    assert test.p_value == pytest.approx(theirs.p_value, rel=1e-8)
    assert test.freedom == 2
    assert sum(test.expected) == pytest.approx(sum(test.ended))
    assert test.depends
    assert "make leaving part of the problem's transitions" in group_words(test)


def test_the_log_rank_test_does_not_depend_on_the_block_size(monkeypatch):
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 400, 900)
    entry = rng.integers(1, lengths + 1)
    log = SessionLog.from_columns(
        lengths, rng.random(900) < 0.6, entry=entry, group=rng.integers(0, 3, 900).tolist()
    )
    whole = compare_groups(log)
    # By hand: how many of a group are at risk, and how many of all end, at every step.
    at_risk = np.zeros((3, 400))
    for n, seen, e, g, times in zip(log.lengths, log.observed, log.entry, log.group, log.counts, strict=True):
        at_risk[g, e : n + 1 if seen else n] += times
    ended = np.bincount(log.lengths[log.observed], log.counts[log.observed], minlength=400)
    total = at_risk.sum(axis=0)
    expected = (at_risk * np.divide(ended, total, out=np.zeros(400), where=total > 0)).sum(axis=1)
    np.testing.assert_allclose(whole.expected, expected, rtol=1e-12)
    monkeypatch.setattr("sojourn.sessions.analysis._groups._MAX_CELLS", 20)
    pieces = compare_groups(log)
    assert pieces.statistic == pytest.approx(whole.statistic, rel=1e-12)
    assert pieces.expected == pytest.approx(whole.expected, rel=1e-12)
    assert (pieces.ended, pieces.sizes) == (whole.ended, whole.sizes)


def test_groups_with_the_same_law_are_not_found_to_differ():
    p_values = [
        compare_groups(draw(sj.Geometric(0.9), 400, seed=seed, groups=["a", "b"])).p_value
        for seed in range(200)
    ]
    # Under the null hypothesis p-values are uniform: of 200, 20 ± 4.2 are below 0.1.
    assert 8 <= sum(p < 0.1 for p in p_values) <= 34
    test = compare_groups(draw(sj.Geometric(0.9), 4000, seed=1, groups=["a", "b"]))
    assert "shows no difference between the groups' rates of leaving at the 5% level" in group_words(test)
    assert "does not show that there is none" in group_words(test)


def test_the_smallest_of_many_groups_are_pooled():
    log = draw(sj.Geometric(0.9), 5_000, groups=[f"g{i}" for i in range(200)])
    test = compare_groups(log)
    assert len(test.sizes) == 30
    assert sum(test.sizes) == 5_000
    assert test.pooled == 171


def test_each_group_has_its_own_best_fit():
    rng = np.random.default_rng(3)
    parts = {
        "long": sj.NegativeBinomial(4.0, 0.8).sample(rng, 900),
        "short": sj.Geometric(0.5).sample(rng, 500),
    }
    lengths = np.concatenate(list(parts.values()))
    found = analyze(SessionLog.from_columns(lengths, group=np.repeat(list(parts), [900, 500]).tolist()))
    assert found.log.labels == ("long", "short")
    for own, (name, data) in zip(found.group_laws, parts.items(), strict=True):
        alone = analyze(SessionLog.from_columns(data)).best.fit
        assert own.fit == alone, name
    assert analyze(SessionLog.from_columns(lengths)).group_laws == ()


def test_the_advice_says_which_discounts_a_schedule_has():
    law = sj.Mixture([0.6, 0.4], [sj.Geometric(0.5), sj.Geometric(0.98)])
    plain, grouped = (
        advice_on(analyze(draw(law, 5_000, groups=groups)), "In short") for groups in (None, ["a", "b"])
    )
    assert "ρ(h) of the law at the end (--schedule FILE writes it)" in plain
    assert "(--schedule FILE writes one per group, and with --group none this one)" in grouped


def test_groups_whose_law_does_not_fit_or_that_are_too_small_are_marked():
    parts = {
        "two": np.repeat([2, 30], 300),
        "one": np.random.default_rng(0).geometric(0.5, 200),
        "few": [4] * 9,
    }
    groups = [name for name, data in parts.items() for _ in data]
    found = analyze(SessionLog.from_columns(np.concatenate(list(parts.values())), group=groups))
    assert [law.is_contradicted for law in found.group_laws] == [True, False, False]
    assert found.group_laws[0].mean == pytest.approx(16.0)
    assert found.group_laws[2].fit is None


def test_a_single_group_is_not_tested():
    assert compare_groups(draw(sj.Geometric(0.9), 100, groups=["a"])) is None
    assert compare_groups(draw(sj.Geometric(0.9), 100)) is None


def test_as_dict_is_plain_data_without_the_labels_of_groups():
    log = draw(sj.Geometric(0.9), 500, groups=["alice@example.com", "bob"])
    found = analyze(log, problem=sj.mdps.two_paths())
    text = json.dumps(found.as_dict())
    assert "alice" not in text
    assert "alice@example.com" in json.dumps(found.as_dict(labels=True))
    data = json.loads(text)
    assert sj.parse_law(data["law"]) == found.law
    assert data["rows"]["read"] == data["rows"]["used"] == 500
    assert data["problem"]["loss"] == found.price.loss


def test_the_advice_counts_late_entries():
    log = SessionLog.from_columns([5, 9, 3, 4] * 50, entry=[2, 1, 1, 1] * 50)
    assert "50 came under observation after their first step" in advice_on(analyze(log), "The sessions")


def test_a_log_of_open_sessions_only_is_refused():
    with pytest.raises(
        ValueError, match=r"^open.csv must have a session that was seen to end: all 2 are open"
    ):
        analyze(SessionLog.from_columns([3, 4], [False, False], name="open.csv"))


@pytest.mark.parametrize("lengths", [[1], [5], [1] * 50, [1, 2], [10**9, 3]])
def test_tiny_logs_have_an_answer(lengths):
    found = analyze(SessionLog.from_columns(lengths))
    assert all(text for _, text in found.advice())
    json.dumps(found.as_dict())


def test_laws_are_compared_with_late_data_given_the_first_step_seen():
    lengths = sj.Geometric(0.9).sample(np.random.default_rng(1), 20_000)
    lengths = lengths[lengths >= 3]
    found = analyze(SessionLog.from_columns(lengths, entry=np.full(lengths.size, 3)))
    geometric = found.ranked("geometric")
    assert geometric.fit.law.gamma == pytest.approx(0.9, abs=0.003)
    assert geometric.in_band
    assert found.first == found.as_dict()["band"]["given_step"] == 3
    assert found.as_dict()["kaplan_meier_mean"] is None
    # By hand: P(H ≥ h | H ≥ 3).
    steps = np.array([1, 3, 4, 10, 30])
    np.testing.assert_allclose(
        found.band.of_law(sj.Geometric(0.9), steps), 0.9 ** np.maximum(steps - 3, 0), rtol=1e-12
    )
    off, place = found.band.excess(sj.Geometric(0.5))
    assert off == pytest.approx(
        max(found.band.lower - 0.5 ** (np.maximum(found.band.steps, 3) - 3)), rel=1e-9
    )
    assert place > 3
    assert "No session was seen before step 3" in advice_on(found, "The sessions")
    assert "No session was seen before" not in advice_on(
        analyze(draw(sj.Geometric(0.9), 200)), "The sessions"
    )


def test_a_mean_that_the_log_does_not_determine_is_not_claimed():
    early = np.minimum(np.random.default_rng(0).geometric(0.3, 60), 8)
    lengths = np.concatenate((early, np.full(40, 20)))
    found = analyze(SessionLog.from_columns(lengths, np.arange(100) < 60))
    assert found.unseen > 0.5
    assert not found.determines_mean
    # No session is censored before the longest, so the mean up to there is the mean of the lengths.
    assert found.seen_mean == pytest.approx(lengths.mean(), rel=1e-12)
    assert advice_on(found, "The mean length").startswith("The log does not determine it")
    # The last step at which 10 sessions could be seen to end is 19.
    assert f"counted up to step 20, sessions last {lengths.mean():.3g} steps on average" in advice_on(
        found, "The data"
    )
    assert "it expects" not in advice_on(found, "The discount")
    single = advice_on(found, "A single γ")
    assert single.startswith("The log does not determine whether a single γ is good enough, nor which one")
    horizon = advice_on(found, "How far to plan")
    assert not any(sign.isdigit() for sign in single + horizon.partition("(the data reach")[0])
    assert found.as_dict()["mean_is_determined"] is False
    assert found.as_dict()["mean_from_first_step_seen"] is None


def test_a_mean_that_the_log_determines_comes_first():
    found = analyze(draw(sj.Geometric(0.9), 2_000))
    assert found.determines_mean
    assert advice_on(found, "The mean length").startswith(f"{found.law.mean:.3g} steps by the law (95%")
    assert found.seen_mean == pytest.approx(found.law.mean, rel=0.1)


def test_a_log_with_few_ends_gives_no_law():
    found = analyze(SessionLog.from_columns([1, 2, 3] * 3), resamples=5)
    assert found.is_too_small
    assert found.unknown is Unknown.TOO_SMALL
    assert found.bootstrap is None
    assert found.as_dict()["law"] is None
    assert advice_on(found, "In short") == (
        "The log is too small for advice: 9 sessions were seen to end, and with fewer than 10 one law cannot "
        "be told from another."
    )
    assert [heading for heading, _ in found.advice()] == ["In short", "The sessions", "The data"]
    assert "1 session was seen" in advice_on(analyze(SessionLog.from_columns([1])), "In short")
    assert not analyze(SessionLog.from_columns([1, 2, 3] * 4)).is_too_small


def test_sessions_of_one_length_have_a_fixed_length():
    found = analyze(
        SessionLog.from_columns([7] * 50 + [3] * 9, [True] * 50 + [False] * 9),
        problem=sj.mdps.river_swim(4),
        resamples=5,
    )
    assert found.law == sj.Fixed(7)
    assert found.described_law is found.law
    assert found.bootstrap is None
    assert found.as_dict()["mean"] == 7.0
    assert found.price.best == pytest.approx(sj.plan(sj.mdps.river_swim(4), sj.Fixed(7)).value[0])
    assert found.schedule()["survival"].tolist() == [1.0] * 7
    assert advice_on(found, "In short") == (
        "All sessions that were seen to end have 7 steps. If that is how they end, plan for so many steps "
        "and do not discount: the law is fixed(7)."
    )
    one = analyze(SessionLog.from_columns([1] * 20))
    assert advice_on(one, "In short") == "All sessions have one step, so there is nothing to discount."
    # One that got further, still open, leaves the lengths unknown.
    assert not analyze(SessionLog.from_columns([7] * 50 + [8], [True] * 50 + [False])).is_constant


def test_among_tied_families_one_at_no_edge_is_preferred():
    lengths = sj.Polynomial(1.05).sample(np.random.default_rng(15), 60)
    found = analyze(SessionLog.from_columns(lengths))
    least = min(found.fits, key=lambda one: one.bic_gap)
    assert (least.fit.family, least.fit.edge, least.bic_gap) == ("polynomial", ("p",), 0.0)
    assert not found.best.fit.edge
    assert 0.0 < found.best.bic_gap <= 2.0
    assert found.best.bic_gap == found.best.fit.bic - least.fit.bic
    assert "(not Polynomial(1.001), whose BIC is 0.63 smaller but" in advice_on(found, "The law")
    # If all other families are far behind, the best fit stays at its edge and says so.
    heavy = analyze(SessionLog.from_columns(sj.Polynomial(1.05).sample(np.random.default_rng(0), 500)))
    assert heavy.best.fit.edge == ("p",)
    assert heavy.fits[1].bic_gap > 2.0


def test_an_edge_that_does_not_touch_the_tail_leaves_the_mean_determined():
    rng = np.random.default_rng(0)
    lengths = rng.poisson(20, 10_000) + 1
    found = analyze(SessionLog.from_columns(lengths))
    assert found.best.fit.edge == ("r",)  # the negative binomial approaches a Poisson law there
    assert found.determines_mean
    text = advice_on(found, "The mean length")
    assert text.startswith("21 steps by the law")
    assert "The law is at the edge of its family (parameter r)." in text
    assert not advice_on(found, "How far to plan").startswith("The log does not")
    # The same lengths, but one in six is still open at step 26 and its end is unknown.
    cut = analyze(SessionLog.from_columns(np.minimum(lengths, 26), lengths < 26))
    assert cut.best.fit.edge == ("r",)
    assert cut.still_open == pytest.approx((lengths >= 26).mean())
    assert not cut.determines_mean


def test_late_data_determine_only_what_follows_the_first_step_seen():
    law = sj.Mixture([0.6, 0.4], [sj.Geometric(0.3), sj.Geometric(0.95)])
    lengths = law.sample(np.random.default_rng(0), 50_000)
    far = lengths[lengths >= 10]
    found = analyze(SessionLog.from_columns(far, entry=np.full(far.size, 10)))
    assert found.determines_remaining
    assert not found.determines_mean
    assert found.remaining == pytest.approx(float((far - 9).mean()), rel=0.01)  # all were seen to their end
    text = advice_on(found, "The mean length")
    assert text.startswith("The log does not determine it, because no session was seen before step 10.")
    assert f"reach step 10 last {found.remaining:.3g} steps by the law (95% interval" in text
    # By hand: of those who get to step 10, half have ended by the median of their lengths.
    assert f"at least half of them end by step {int(np.median(far))}" in advice_on(found, "The data")
    for heading in ("A single γ", "How far to plan"):
        assert advice_on(found, heading).startswith("The log does not determine")
        assert "depends on steps before step 10" in advice_on(found, heading)
    data = found.as_dict()
    assert data["mean_is_determined"] is False
    assert data["mean_from_first_step_seen"] == found.remaining


def test_steps_that_hardly_any_session_shows_are_left_out():
    rng = np.random.default_rng(0)
    late = 9 + sj.Geometric(0.95).sample(rng, 500)
    lengths = np.concatenate([[3, 4, 30], late])
    found = analyze(SessionLog.from_columns(lengths, entry=[1, 1, 1] + [10] * 500))
    assert (found.first, found.n_left_out, len(found.log)) == (10, 2, 501)
    assert not found.determines_mean
    assert not found.has_table
    assert found.remaining == pytest.approx(20.0, rel=0.15)
    text = advice_on(found, "The sessions")
    assert (
        "Too few sessions were seen before step 10. Earlier steps are left out, with 2 sessions that" in text
    )
    assert "because too few sessions were seen before step 10" in advice_on(found, "The mean length")
    # 100 sessions from step 1 on are enough, and so is a log without late entries.
    many = SessionLog.from_columns(np.append(np.full(100, 12), late), entry=[1] * 100 + [10] * 500)
    assert analyze(many).first == 1
    assert analyze(SessionLog.from_columns([1, 2, 3])).n_left_out is None


def test_sessions_that_are_left_out_may_have_ended_before_the_first_end():
    lengths = np.concatenate([[3, 4], np.arange(12, 112)])
    found = analyze(SessionLog.from_columns(lengths, entry=[1, 1] + [10] * 100))
    assert found.n_left_out == 2
    assert "No session that reached step 10 ended before step 12." in advice_on(found, "The data")
    whole = analyze(SessionLog.from_columns(np.arange(12, 112)))
    assert "No session ended before step 12." in advice_on(whole, "The data")


@pytest.mark.parametrize(("n", "gamma", "latest"), [(400, 0.95, 40), (60, 0.95, 14)])
def test_late_entries_do_not_make_geometric_logs_look_otherwise(n, gamma, latest):
    rng, ruled_out = np.random.default_rng(5), 0
    for _ in range(60):
        entry = rng.integers(1, latest + 1, n)
        lengths = entry - 1 + sj.Geometric(gamma).sample(rng, n)
        ruled_out += analyze(SessionLog.from_columns(lengths, entry=entry)).rules_out_geometric
    assert ruled_out <= 4  # of 60, at a level of about 1%


def test_late_and_open_data_determine_no_mean():
    lengths = np.concatenate((np.full(60, 6), np.full(40, 30)))
    found = analyze(SessionLog.from_columns(lengths, np.arange(100) < 60, entry=np.full(100, 5)))
    assert not found.determines_remaining
    text = advice_on(found, "The mean length")
    assert text.startswith("The log does not determine it from step 5 on")
    # 60 last steps 5 and 6, and 40 the 26 steps from 5 to 30.
    assert "sessions that reach step 5 last 11.6 steps on average from there on" in advice_on(
        found, "The data"
    )


def test_sessions_that_all_entered_at_their_last_step_are_refused():
    with pytest.raises(
        ValueError, match=r"^late.csv must have a session that was seen to survive a step: all 3"
    ):
        analyze(SessionLog.from_columns([4, 9, 2], entry=[4, 9, 2], name="late.csv"))
    assert analyze(SessionLog.from_columns([1, 1, 1])).law == sj.Geometric(0.0)


def test_the_mean_is_that_of_the_data_where_no_family_fits():
    lengths = np.repeat([2, 9, 30], 2_000)
    text = advice_on(analyze(SessionLog.from_columns(lengths)), "The mean length")
    assert text.startswith("13.7 steps by the data (Kaplan–Meier), because the law does not fit.")
    assert "by the data" not in advice_on(analyze(draw(sj.Geometric(0.9), 500)), "The mean length")
    text = advice_on(analyze(SessionLog.from_columns(np.append(lengths, 10**6))), "The mean length")
    # (10⁶ − 30) / 6,001 = 167 of the mean of 180 steps come from one session.
    assert "92% of that mean comes from steps after 30, which fewer than 10 sessions show" in text


def test_very_long_sessions_take_no_memory():
    found = analyze(SessionLog.from_columns([3] * 50 + [10**11] * 5 + [10**12] * 20))
    assert "20 of them (27%) have the largest length, 1,000,000,000,000" in advice_on(found, "The sessions")


def test_a_law_with_a_single_length_is_not_called_constant():
    fixed = advice_on(analyze(SessionLog.from_columns([20] * 500)), "The data")
    assert fixed.endswith("No session ended before step 20. There all end.")
    partly = analyze(SessionLog.from_columns([20] * 500, np.arange(500) < 50))
    assert advice_on(partly, "The data").endswith("There 50 were seen to end; the others are open.")
    none_goes_on = "No session was seen to go on after step 1."
    assert advice_on(analyze(SessionLog.from_columns([1] * 500)), "The data") == none_goes_on
    some_open = analyze(SessionLog.from_columns([1] * 30, np.arange(30) >= 10))  # they may last longer
    assert advice_on(some_open, "The data") == none_goes_on
    assert some_open.unknown is Unknown.MOST_OPEN
    one_open = analyze(SessionLog.from_columns([1] * 99, np.arange(99) > 0))
    assert advice_on(one_open, "In short").startswith("If the open sessions have one step, as all others,")
    assert "The discount" not in dict(one_open.advice())


def test_hazards_are_compared_with_the_law():
    # By hand: 100 sessions, 30 end at step 1, 20 at step 2, and 50 are open after it.
    log = SessionLog.from_columns([1] * 30 + [2] * 20 + [3] * 50, [True] * 50 + [False] * 50)
    test = compare_hazards(log.sample, sj.Geometric(0.75), n_parameters=1)
    assert test.statistic == pytest.approx(5**2 / (100 * 0.25 * 0.75) + 2.5**2 / (70 * 0.25 * 0.75))
    assert test.freedom == 1
    assert (test.first, test.last, test.observed, test.expected) == (1, 1, 0.3, 0.25)
    assert compare_hazards(log.sample, sj.Geometric(0.75), n_parameters=2) is None


def test_p_values_of_the_hazard_test_are_uniform_under_the_law():
    rng = np.random.default_rng(5)
    found = []
    for _ in range(200):
        lengths, limits = sj.Geometric(0.9).sample(rng, 300), rng.integers(1, 40, 300)
        sample = take_sample(np.minimum(lengths, limits), lengths < limits)
        law = fit_sample(sample, "geometric").law
        found.append(compare_hazards(sample, law, n_parameters=1).p_value)
    assert 8 <= sum(p < 0.1 for p in found) <= 34  # 20 ± 4.2 are expected
    assert np.mean(found) == pytest.approx(0.5, abs=0.07)


def test_a_law_inside_the_band_whose_hazards_are_wrong_is_not_said_to_fit():
    # Terms of four and five years: survival stays inside the band, and the chances of leaving do not fit.
    data = load_dd()
    found = analyze(SessionLog.from_columns(data.duration, data.observed == 1))
    assert found.best.in_band
    assert found.hazard_test.p_value < 1e-6
    text = advice_on(found, "The law")
    assert "the chances of leaving at each step reject it" in text
    assert "Nor does any other family within ΔBIC 6" in text


def test_leaving_is_never_called_constant_and_not_constant_at_once():
    data = load_rossi()
    found = analyze(SessionLog.from_columns(data.week, data.arrest == 1))
    assert "The log does not settle whether this share" in advice_on(found, "The data")
    assert "Use a discount that changes" not in advice_on(found, "In short")
    assert "mark these as open" not in advice_on(found, "The sessions")
    blind = analyze(SessionLog.from_columns(data.week))
    assert "322 of them (75%) have the largest length, 52" in advice_on(blind, "The sessions")


def test_a_code_for_unknown_lengths_is_pointed_out():
    lengths, counts = [1, 2, 3, 12, 40, 60, 99], [9_000, 4_000, 2_000, 500, 30, 10, 50]
    coded = analyze(SessionLog.from_columns(np.repeat(lengths, counts)), resamples=0)
    assert "50 of them (0.32%) have the largest length, 99" in advice_on(coded, "The sessions")
    counts[-1] = 15
    found = analyze(SessionLog.from_columns(np.repeat(lengths, counts)), resamples=0)
    assert "largest length" not in advice_on(found, "The sessions")


def test_open_sessions_with_the_largest_length_are_counted_among_those():
    lengths = np.repeat([1, 2, 3, 30, 30], [40, 30, 30, 40, 40])
    found = analyze(SessionLog.from_columns(lengths, np.arange(180) < 140))
    assert (
        "80 of them (44%) have the largest length, 30, and 40 of these were seen to end: if the log or the "
        "sessions were cut off there, mark all as open" in advice_on(found, "The sessions")
    )


@pytest.mark.parametrize(("n_last", "is_said"), [(21, True), (20, False)])
def test_lengths_of_so_many_steps_or_more_are_pointed_out(n_last, is_said):
    lengths = np.repeat(np.arange(1, 11), [100, 80, 60, 40, 30, 10, 10, 9, 8, n_last])
    text = advice_on(analyze(SessionLog.from_columns(lengths)), "The sessions")
    assert (f"{n_last} of them" in text) == is_said


def test_a_last_step_that_weighs_more_than_the_truncation_is_no_horizon():
    found = analyze(SessionLog.from_columns(np.repeat([2, 9, 30], 2_000)))
    assert found.horizon(0.01) == 30
    text = advice_on(found, "How far to plan")
    assert "it is 28 for Δ = 1; for Δ = 0.1 and 0.01, plan every step (" in text  # step 30 weighs 1/3


def test_textbook_differences_between_groups_are_not_denied():
    data = load_lung()
    log = SessionLog.from_columns(data.time, data.status == 1, group=list(data.sex))
    text = group_words(compare_groups(log))
    assert text.startswith("Leaving depends on the group at the 5% level (log-rank χ² = 10.33")


@pytest.mark.parametrize(
    ("gamma", "words"),
    [
        *[(0.9, "0.9"), (0.83234, "0.8323"), (0.99987, "0.99987"), (0.9999123456, "0.9999123"), (1.0, "1")],
        *[(0.0, "0"), (1e-5, "1e-05"), (0.001, "0.001")],
        (1.0 - 2.0**-40, "1 − 9.09e-13"),
    ],
)
def test_gamma_is_shown_with_the_digits_of_its_distance_from_one(gamma, words):
    assert gamma_words(gamma) == words


def test_a_discount_that_is_1_up_to_rounding_errors_is_not_called_1():
    assert gamma_words(1.0, 2e-20) == "1 − 2e-20"
    lengths = np.random.default_rng(0).lognormal(7.0, 0.7, 300).round()
    found = analyze(SessionLog.from_columns(lengths))
    assert found.law.continuation(1) == 1.0
    assert f"ρ(h), is 1 − {found.law.hazard(1):.3g} at step 1," in advice_on(found, "The discount")


def test_discounts_are_given_for_steps_at_which_the_log_shows_them():
    lengths, observed = np.repeat([1, 2, 3, 4], [300, 180, 100, 420]), np.repeat([True, False], [580, 420])
    found = analyze(SessionLog.from_columns(lengths, observed))
    # A session that is open after step 4 does not show whether it ended there.
    assert re.findall(r"at step (\d)", advice_on(found, "The discount")) == ["1", "3"]


def test_a_problem_is_not_priced_if_the_log_does_not_determine_the_mean():
    log = SessionLog.from_columns(np.repeat([1, 2], [50, 100]), np.repeat([True, False], [50, 100]))
    found = analyze(log, problem=sj.mdps.cash_or_invest(5))
    assert found.price is None
    assert dict(found.advice())["On the problem"].startswith(
        "The log does not determine what a single γ costs"
    )


def test_intervals_from_resampled_logs_include_the_choice_of_the_family():
    log = SessionLog.from_columns(sj.BetaGeometric(2.5, 6.0).sample(np.random.default_rng(0), 400))
    found = analyze(log, resamples=10, seed=3)
    assert repr(analyze(log, resamples=10, seed=3).bootstrap) == repr(found.bootstrap)
    assert sum(found.bootstrap.families.values()) == 10
    # The same by hand: draw sessions one by one, fit every family, and take the one with the smallest BIC.
    rng, lengths, means = np.random.default_rng(0), np.repeat(log.lengths, log.counts), []
    for _ in range(10):
        sample = take_sample(rng.choice(lengths, lengths.size))
        fits = [fit_sample(sample, family) for family in FAMILIES]
        means.append(min(fits, key=lambda fit: fit.bic).law.mean)
    assert found.bootstrap.remaining == pytest.approx(np.percentile(means, (2.5, 97.5)), rel=0.2)
    low, high = found.bootstrap.remaining
    text = dict(found.advice())["The mean length"]
    assert f"(95% interval from {low:.3g} to {high:.3g}, with the choice" in text
    schedule = found.schedule()
    assert (schedule["discount_low"] <= schedule["discount_high"] + 1e-12)[: log.longest].all()


def test_a_beta_geometric_case_without_a_mean_is_named():
    # Fader and Hardie's regular customers (2007): they publish a = 0.704, b = 1.182.
    alive = np.array([1000, 631, 468, 382, 326, 289, 262, 241])
    log = SessionLog.from_columns(
        np.repeat([1, 2, 3, 4, 5, 6, 7, 8], [*-np.diff(alive), 241]), np.repeat([True, False], [759, 241])
    )
    found = analyze(log)
    named = found.ranked("beta_geometric").fit.without_mean
    assert named == "BetaGeometric(a=0.704, b=1.18)"
    assert found.best.fit.without_mean in ("", named)


def test_a_change_that_is_too_small_to_tell_is_not_acted_upon():
    lengths = sj.BetaGeometric(3.5, 100.0).sample(np.random.default_rng(7), 140)[:130]
    advice = dict(analyze(SessionLog.from_columns(lengths)).advice())
    assert "The log does not settle whether this share" in advice["The data"]
    assert "does not settle whether one discount is enough" in advice["In short"]


def test_a_log_that_contradicts_a_single_gamma_is_not_called_too_small():
    advice = dict(analyze(SessionLog.from_columns(np.repeat([1, 3, 5, 7, 10], [51, 33, 32, 25, 2]))).advice())
    assert "It does not fit: " in advice["The law"]
    assert "Nor does any other family" in advice["The law"]
    assert "The log rules out" in advice["The data"]


def test_a_small_change_that_is_certain_is_not_denied():
    log = SessionLog.from_columns(np.repeat(range(1, 7), [88_000, 9_900, 1_750, 280, 60, 10]))
    assert "The log rules out" in dict(analyze(log).advice())["The data"]


@pytest.mark.parametrize("length", [1, 7])
def test_sessions_of_one_length_are_pointed_out(length):
    advice = dict(analyze(SessionLog.from_columns([length] * 20)).advice())
    assert "All have the same length" in advice["The sessions"]
    assert ("nothing to discount" in advice["In short"]) == (length == 1)


def test_a_mixture_with_a_component_that_the_data_hardly_show_is_marked():
    lengths = np.append(np.random.default_rng(0).geometric(0.4, 400), [900, 1000, 1100])
    found = analyze(SessionLog.from_columns(lengths))
    assert found.best.fit.family == "mixture"
    assert (
        "a degenerate mixture (the data hardly show its component of 0.75%" in dict(found.advice())["The law"]
    )


def test_a_mixture_of_components_that_are_alike_is_marked():
    lengths = np.random.default_rng(0).geometric(0.4, 400)
    found = analyze(SessionLog.from_columns(lengths))
    fit = found.ranked("mixture").fit
    alike = replace(fit, parameters=dict(zip(fit.parameters, (0.145, 0.94789, 0.94791), strict=True)))
    words = "Mixture(0.145 of Geometric(0.9479), 0.855 of Geometric(0.9479)), a degenerate mixture (both"
    assert _fit_words(found, alike).startswith(words)
    apart = replace(fit, parameters=dict(zip(fit.parameters, (0.145, 0.9477, 0.9479), strict=True)))
    assert "degenerate" not in _fit_words(found, apart)


def test_where_the_best_family_does_not_fit_the_advice_describes_the_data():
    # Visits end at step 2, 9 or 30: the sum of what remains, by hand.
    lengths = np.repeat([2, 9, 30], [1_000, 2_500, 500])
    found = analyze(SessionLog.from_columns(lengths))
    assert found.best_is_contradicted
    assert not found.others_that_fit
    advice = dict(found.advice())
    assert "No session ended before step 2. Of the sessions at a step, these shares end" in advice["The data"]
    assert advice["The discount"].startswith("The law does not fit, so its discounts are not shown.")
    steps = np.arange(1, 31)
    survival = (lengths[:, None] >= steps).mean(axis=0)
    gamma = closest_geometric(found.kaplan_meier).gamma
    gap = np.abs(survival - gamma ** (steps - 1)).sum() + gamma**30 / (1.0 - gamma)
    assert f"off from the data by Σ|γ − γ'| = {gap:.3g} steps" in advice["A single γ"]
    assert "at least one in ten get to step 30" in advice["The data"]


def test_the_mean_is_not_determined_where_the_data_hardly_show_when_most_sessions_end():
    # A log-normal law that falls soon after the data: by it most of the mean is in them, but 88% are open.
    law = sj.LogNormal(3.0, 0.25)
    ends = law.sample(np.random.default_rng(0), 5_000)
    found = analyze(SessionLog.from_columns(np.minimum(ends, 16), ends < 16))
    share = np.mean(ends >= 16)
    assert found.unseen < 0.5 < share
    assert found.unended == pytest.approx(share, rel=1e-12)
    assert not found.determines_mean
    assert found.unknown is Unknown.MOST_OPEN
    assert f"{100 * share:.0f}% of the sessions reach the longest length" in advice_on(
        found, "The mean length"
    )
    # The longest session ended, but only 2 were seen beyond step 5: Kaplan–Meier's last half rests on them.
    times = [500, 498, 1, 1]
    few = SessionLog.from_columns(
        np.repeat([3, 5, 9, 12], times), np.repeat([True, False, True, True], times)
    )
    assert analyze(few).unended == pytest.approx(0.5 - 2 / 1_000, rel=1e-12)
    assert analyze(SessionLog.from_columns(ends)).unended == pytest.approx(0.0, abs=1e-12)
    # What rests on fewer than 10 sessions is left out of the mean.
    times[1] = 520
    fewer = SessionLog.from_columns(
        np.repeat([3, 5, 9, 12], times), np.repeat([True, False, True, True], times)
    )
    text = advice_on(analyze(fewer, resamples=0), "The data")
    assert (
        "counted up to step 5, from which on fewer than 10 sessions are at risk, sessions last 4.02" in text
    )
    assert "51% get to step 5" in text
    # Almost all sessions that get to the last step are seen to end there.
    course = SessionLog.from_columns(np.repeat([3, 12], [300, 503]), np.repeat([True, False], [800, 3]))
    assert analyze(course, resamples=0).unended == pytest.approx(3 / 803, rel=1e-12)


def test_a_law_of_small_hazards_is_contradicted_by_a_factor_of_2():
    # 0.5% leave per step, but only 0.1% at the first 100 steps; no difference is as large as 2 points.
    rng = np.random.default_rng(0)
    early, late = rng.geometric(0.001, 5_000), 100 + rng.geometric(0.005, 5_000)
    sample = take_sample(np.where(early <= 100, early, late))
    test = compare_hazards(sample, fit_sample(sample, "geometric").law, n_parameters=1)
    assert test.p_value < 0.01
    assert abs(test.observed - test.expected) < 0.02
    assert FitCheck(0.0, 1, test, None, None).is_contradicted


def test_the_mean_is_not_determined_where_no_family_fits_and_many_are_open():
    found = analyze(
        SessionLog.from_columns(np.repeat([2, 9, 10], 1_000), np.repeat([True, True, False], 1_000))
    )
    assert not found.determines_mean
    assert repr(found).count("not determined by this log") == 2  # the mean and the single γ
    assert "the data contradict it" in repr(found)
    assert found.unknown is Unknown.NO_FIT
    text = dict(found.advice())["The mean length"]
    assert "the law does not fit, and the data hardly show when 33% of the sessions end" in text
    assert "33% at step 2" in dict(found.advice())["The data"]
    most = analyze(
        SessionLog.from_columns(
            np.repeat([2, 9, 10], [500, 500, 2_000]), np.repeat([True, False], [1_000, 2_000])
        )
    )
    assert "67% get to step 10" in dict(most.advice())["The data"]


def test_logs_in_which_all_end_at_once_can_be_resampled():
    found = analyze(SessionLog.from_columns([1] * 20, [True] * 12 + [False] * 8), resamples=3)
    assert found.bootstrap.remaining == (1.0, 1.0)


def test_other_laws_that_fit_unsettle_a_single_discount():
    lengths = sj.Geometric(0.9).sample(np.random.default_rng(3), 15)  # so few hardly tell laws apart
    found = analyze(SessionLog.from_columns(lengths))
    laws = [one.fit.law for one in found.others_that_fit]
    worst = max(distance(law, closest_geometric(law)) / law.mean for law in laws)
    assert found.gap / found.law.mean <= 0.1 < worst
    assert advice_on(found, "In short").endswith("the log does not settle it.")
    assert advice_on(found, "A single γ").endswith(f"a single γ is off by {100 * worst:.2g}%.")
    many = analyze(SessionLog.from_columns(sj.Geometric(0.9).sample(np.random.default_rng(0), 3_000)))
    assert advice_on(many, "In short").startswith("One discount is enough by the best fit: γ = ")


def test_a_single_discount_that_loses_some_percent_is_nearly_enough():
    lengths = [2, 2, 2, 3, 3, 3, 3, 4, 6, 6, 7, 7, 8, 9, 9, 12, 13, 13, 21, 27]
    found = analyze(SessionLog.from_columns(lengths))
    assert 0.02 < found.gap / found.law.mean <= 0.1
    assert "is nearly enough by the best fit, but not by others" in advice_on(found, "In short")


def test_no_single_discount_loses_more_than_the_mean_length():
    law = sj.Mixture([0.9, 0.1], [sj.Geometric(0.5), sj.Geometric(0.9995)])
    found = analyze(SessionLog.from_columns(law.sample(np.random.default_rng(0), 300)))
    assert found.gap < found.law.mean < found.usual_gap
    assert f"has the same mean length, at most {found.law.mean:.0f})" in advice_on(found, "A single γ")


def test_effect_sizes_come_from_groups_with_enough_ends():
    test = GroupTest((142, 43, 1), (95, 38, 0), (120.0, 17.4, 0.2), 47.9, 2, 1e-9)
    text = group_words(test)
    assert "group 2 ends 2.18 times as often" in text
    assert "group 1 0.79 times" in text


def test_a_mean_whose_interval_has_no_upper_end_is_not_determined():
    log = SessionLog.from_columns(sj.Geometric(0.8).sample(np.random.default_rng(0), 300))
    found = analyze(log, resamples=3)
    assert found.determines_mean
    unbounded = replace(found.bootstrap, remaining=(found.bootstrap.remaining[0], math.inf))
    advice = dict(replace(found, bootstrap=unbounded).advice())
    assert "its 95% interval, from resampled logs, has no upper limit" in advice["The mean length"]
    assert "does not determine" in advice["A single γ"]


def test_a_law_is_not_recommended_that_the_data_contradict_more_than_the_rejected_one():
    # All end at steps 1 or 2, or late: the runner-up has a much smaller likelihood.
    lengths = np.repeat([1, 2, 40, 41, 42, 43], [26, 8, 2, 3, 3, 2])
    found = analyze(SessionLog.from_columns(lengths))
    assert found.best_is_contradicted
    for one in found.others_that_fit:
        assert one.bic_gap < 6.0
    named = [one for one in found.fits[1:] if law_words(one.fit) in advice_on(found, "In short")]
    assert all(one in found.others_that_fit for one in named)


def test_the_interval_of_a_mean_does_not_come_from_the_edge_of_a_family():
    # All ten ends are seen. A polynomial law at its edge p = 1.001 has a mean above 1,000.
    lengths = np.array([3, 5, 5, 8, 17, 20, 23, 30, 33, 49])
    found = analyze(SessionLog.from_columns(lengths), resamples=100)
    low, high = found.bootstrap.remaining
    assert 8.0 < low < lengths.mean() < high < 40.0  # a plain bootstrap of the mean gives about 10 to 29


def test_a_resampled_log_at_an_edge_that_is_cut_off_determines_no_mean():
    lengths = np.array([1, 1, 1, 1, 2, 2, 5, 30, 50, 50])
    cut, whole = (take_sample(lengths, lengths < limit) for limit in (50, 51))
    for sample, mean in ((cut, math.inf), (whole, lengths.mean())):
        fit = fit_sample(sample, "polynomial")
        assert fit.edge == ("p",)
        assert _remaining(fit, sample, 1) == pytest.approx(mean)


def test_shares_of_sessions_are_those_of_the_data():
    # The fit is limited by the range of its family: 11 would be its median.
    lengths = np.array([12, 12, 12, 11, 12, 12, 10, 12, 12, 12, 12, 9])
    text = advice_on(analyze(SessionLog.from_columns(lengths)), "The data")
    assert f"Sessions last {lengths.mean():.3g} steps on average" in text
    assert "at least half of them end by step 12 and at least one in ten get to step 12" in text


def test_ends_where_the_law_expects_none_contradict_it():
    lengths = np.repeat([1, 5, 6], [1, 6, 16])
    found = analyze(SessionLog.from_columns(lengths))
    # 1 of 23 left at step 1, and 1 − (1 − h)^23 is the chance of this
    surprise = found.check.surprise
    assert surprise.step == 1
    assert surprise.observed == pytest.approx(1 / 23)
    assert 1.0 - (1.0 - surprise.expected) ** 23 < 1e-3
    assert "at step 1, where 23 sessions were at risk, 4.35% left" in advice_on(found, "The law")


def test_a_cut_off_is_no_surprise():
    # 300 of 304 sessions are open at step 52, and 4 end there: as many as at every other step.
    lengths = np.concatenate([np.repeat(np.arange(1, 53), 4), np.full(300, 52)])
    found = analyze(SessionLog.from_columns(lengths, np.arange(lengths.size) < 208))
    assert found.check.surprise is None


def test_no_interval_of_the_discount_is_given_for_a_law_that_is_rejected():
    lengths = np.repeat([2, 9, 30], [1_000, 2_500, 500])
    found = analyze(SessionLog.from_columns(lengths), resamples=5)
    assert found.check.is_rejected
    assert "interval" not in advice_on(found, "The discount")
    assert "discount_low" not in found.schedule()


def test_a_small_difference_over_many_steps_is_found_in_wide_cells():
    rng = np.random.default_rng(0)
    hazard = np.where(np.arange(80) < 40, 0.020, 0.014)
    draws = rng.random((1_500, 80)) < hazard
    lengths = np.where(draws.any(axis=1), draws.argmax(axis=1) + 1, 81)
    sample = take_sample(lengths, draws.any(axis=1))
    test = compare_hazards(sample, fit_sample(sample, "geometric").law, n_parameters=1)
    assert test.is_wide
    assert test.p_value < 0.01


def test_a_law_that_hardly_fits_better_does_not_replace_a_rejected_one():
    # 2.3% leave per step, but only 0.8% from step 66 to 90; what bends little more passes the tests just so.
    rng = np.random.default_rng(12)
    hazard = np.full(400, 0.023)
    hazard[65:90] = 0.008
    draws = rng.random((566, 400)) < hazard
    found = analyze(SessionLog.from_columns(np.where(draws.any(axis=1), draws.argmax(axis=1) + 1, 400)))
    assert found.best_is_contradicted
    assert found.others_that_fit
    assert not found.replacements
    assert " hardly fit better. Use the table" in advice_on(found, "The law")
    assert "which the data do not contradict" not in advice_on(found, "In short")


def test_hazards_may_matter_that_are_close_to_each_other():
    assert not matters(0.010, 0.014)  # at a single step, 0.4 points
    assert matters(0.010, 0.014, 200)  # after 50 steps, 60% and 49% are left
    assert not matters(0.300, 0.310, 200)
    assert matters(0.300, 0.321)
    assert matters(0.001, 0.002)


def test_lengths_that_were_cut_off_do_not_fit_a_law_with_a_long_tail():
    # Log-normal lengths of which those above 300 are missing: nothing is censored, and the mean is below 11.
    lengths = sj.LogNormal(0.82, 1.88).sample(np.random.default_rng(3), 10_000)
    found = analyze(SessionLog.from_columns(lengths[lengths <= 300]), resamples=2)
    assert found.best.fit.family == "log_normal"
    assert found.best_is_contradicted
    assert found.described_law.mean == pytest.approx(lengths[lengths <= 300].mean())


def test_the_mean_up_to_a_step_is_compared_with_the_law():
    # By hand: P(H ≥ 2) = 0.5 and P(H ≥ 3) = 0.25 by the law; 40 of 100 sessions end at step 1, 30 at step 2.
    sample = take_sample([1] * 40 + [2] * 30 + [3] * 30)
    test = compare_means(sample, band_of_sample(sample), sj.Geometric(0.5))
    assert (test.last, test.observed, test.expected) == (3, pytest.approx(1.9), 1.75)
    # Σ A² q / ((1 − q) n): A = 0.75 after step 1 with 100 at risk, and 0.25 after step 2 with 60
    assert test.error**2 == pytest.approx(0.75**2 / 100 + 0.25**2 / 60)
    assert not test.is_rejected
    many = take_sample([1] * 4_000 + [2] * 3_000 + [3] * 3_000)
    assert compare_means(many, band_of_sample(many), sj.Geometric(0.5)).contradicts


def test_a_law_can_be_rejected_by_its_mean_alone(monkeypatch):
    log = SessionLog.from_columns(sj.Geometric(0.9).sample(np.random.default_rng(0), 2_000))
    found = analyze(log, resamples=2)
    wrong = MeanTest(last=60, observed=11.0, expected=10.0, error=0.1)
    monkeypatch.setattr("sojourn.sessions.analysis._fit_check.compare_means", lambda *_: wrong)
    assert "up to step 60 sessions last 11 steps on average, and the law says 10 (" in advice_on(
        found, "The law"
    )
    little = replace(wrong, observed=10.4, error=0.01, expected=10.3)
    monkeypatch.setattr("sojourn.sessions.analysis._fit_check.compare_means", lambda *_: little)
    text = advice_on(analyze(log, resamples=2), "The law")
    assert "less than 2% apart, so it counts as a fit" in text


@pytest.mark.parametrize(("n", "mean"), [(20, 3_000), (20, 500), (100, 5_000)])
def test_a_single_end_at_a_late_step_is_no_surprise(n, mean):
    rng = np.random.default_rng(1)
    logs = [SessionLog.from_columns(sj.Geometric(1.0 - 1.0 / mean).sample(rng, n)) for _ in range(20)]
    found = [analyze(log) for log in logs]
    assert sum(one.check.surprise is not None for one in found) <= 1


def test_a_table_that_cannot_be_written_is_not_advised():
    lengths = np.random.default_rng(0).geometric(0.05, 400) + 20
    found = analyze(SessionLog.from_columns(lengths, entry=np.full(400, 15)))
    assert not found.has_table
    assert not any("--table" in text for _, text in found.advice())


def test_the_reason_why_chances_of_leaving_are_not_tested_is_given():
    two = analyze(SessionLog.from_columns([1, 2] * 500))
    assert "could not be tested: too few steps have enough ends" in advice_on(two, "The law")
    lengths = np.ceil(np.random.default_rng(7).exponential(1e5, 3_000)).astype(int)
    long = analyze(SessionLog.from_columns(lengths))
    assert "could not be tested: there are more than 262,144 steps" in advice_on(long, "The law")


def test_resampled_logs_in_which_all_end_at_once_count():
    # A third of the resamples of twelve ones and a 40 have only ones: (12/13)^13 = 0.35.
    found = analyze(SessionLog.from_columns([1] * 12 + [40]), resamples=60)
    assert found.bootstrap.remaining[0] == pytest.approx(1.0)


def test_lengths_that_no_session_reached_are_not_claimed():
    law = sj.DiscreteWeibull(0.9999, 2.0)
    lengths = law.sample(np.random.default_rng(0), 300)
    found = analyze(SessionLog.from_columns(np.minimum(lengths, 100), lengths < 100))
    share = np.mean(lengths >= 100)
    assert share > 0.1
    assert f"; at least half of them end by step {int(np.sort(lengths)[149])} and {100 * share:.2g}% get" in (
        advice_on(found, "The data")
    )


def test_groups_that_leave_early_and_late_are_found_to_differ():
    rng = np.random.default_rng(3)
    early = np.where(rng.random(600) < 0.5, 1 + rng.binomial(4, 0.2, 600), 14 + rng.binomial(8, 0.5, 600))
    late = 5 + rng.binomial(10, 0.5, 600)
    log = SessionLog.from_columns(np.append(early, late), group=["a"] * 600 + ["b"] * 600)
    test = analyze(log).groups
    assert test.by_range.p_value < 1e-6
    assert test.by_range.freedom == 3  # in the last range only one group is left
    text = group_words(replace(test, p_value=0.3))  # as if the rates were the same over all steps
    assert "But in some ranges of steps the groups differ" in text
    # One range is the log-rank test itself.
    halves = analyze(SessionLog.from_columns(early, group=["a", "b"] * 300)).groups
    assert halves.by_range.p_value > 0.01
    assert not halves.crosses


def test_a_contradicted_fit_does_not_make_a_single_discount_good_enough():
    lengths = np.repeat([2, 9, 30], [1_000, 2_500, 500])
    found = analyze(SessionLog.from_columns(lengths), problem=sj.mdps.cash_or_invest(3, cash=0.9))
    assert found.best_is_contradicted
    assert found.price.is_free  # by the fit: cash is always best
    assert not advice_on(found, "In short").startswith("On ")


def test_a_slight_cost_of_a_single_discount_is_said_to_be_slight():
    law = sj.BetaGeometric(2.2, 4.0)
    found = analyze(draw(law, 6_000), problem=sj.mdps.cash_or_invest(3))
    price = replace(found.price, best=1.0, geometric=0.997, width=0.0)
    advice = dict(replace(found, price=price).advice())
    assert advice["In short"].startswith(f"On {price.problem} one discount costs only 0.3%: γ = ")


@pytest.mark.parametrize(("n_groups", "n"), [(30, 60), (10, 50), (2, 400)])
def test_small_groups_with_the_same_law_are_not_found_to_differ(n_groups, n):
    rng, depends, crosses = np.random.default_rng(0), 0, 0
    for _ in range(200):
        lengths, group = sj.Geometric(0.9).sample(rng, n), rng.integers(0, n_groups, n)
        test = compare_groups(SessionLog.from_columns(lengths, group=group.tolist()))
        depends, crosses = depends + test.depends, crosses + test.crosses
    assert depends <= 22  # of 200; 10 ± 3.1 are expected at the 5% level
    assert crosses <= 8  # 2 ± 1.4 at the 1% level


def test_small_groups_are_pooled_for_the_test():
    lengths, group = [3] * 40 + [5] * 40 + [4] * 4, ["a"] * 40 + ["b"] * 40 + ["c", "c", "d", "d"]
    test = compare_groups(SessionLog.from_columns(lengths, group=group))
    pooled = compare_groups(SessionLog.from_columns(lengths, group=[g if g == "b" else "a" for g in group]))
    assert len(test.sizes) == 4
    assert (
        test.n_tested == 2
    )  # "c" and "d" together expect fewer than 5 ends, and join the smallest other group
    assert test.statistic == pytest.approx(pooled.statistic, rel=1e-12)
    assert test.freedom == 1
    assert "groups with fewer than 10 expected ends are pooled" in group_words(test)


def test_whether_a_law_fits_does_not_depend_on_the_confidence_of_the_band():
    log = SessionLog.from_columns(sj.Geometric(0.9).sample(np.random.default_rng(1), 200))
    wide, narrow = (analyze(log, confidence=level) for level in (0.95, 0.05))
    assert narrow.band.confidence == 0.05
    assert narrow.check == wide.check
    assert narrow.rules_out_geometric == wide.rules_out_geometric


def test_groups_do_not_change_the_interval_of_a_log_that_is_cut_at_its_first_steps():
    lengths = np.concatenate([[4, 5, 30, 31], 9 + np.random.default_rng(0).geometric(0.2, 300)])
    entry = [1, 2, 3, 4] + [10] * 300
    logs = [SessionLog.from_columns(lengths, entry=entry, group=g) for g in (None, ["a", "b"] * 152)]
    plain, grouped = (analyze(log, resamples=10) for log in logs)
    assert plain.n_left_out == grouped.n_left_out == 2
    assert plain.bootstrap.remaining == grouped.bootstrap.remaining
    assert "came under observation after" not in advice_on(plain, "The sessions")


def test_groups_do_not_change_the_interval_of_the_mean():
    lengths = [3, 4, 4, 5, 7, 8, 8, 9, 5, 6, 6, 7]
    plain = analyze(SessionLog.from_columns(lengths), resamples=20)
    grouped = analyze(SessionLog.from_columns(lengths, group=["a", "b"] * 6), resamples=20)
    assert grouped.bootstrap.remaining == plain.bootstrap.remaining


def test_a_mixture_that_hardly_any_session_shows_is_no_rival():
    rng = np.random.default_rng(3)
    lengths = np.append(rng.geometric(0.04, 22), 161)
    found = analyze(SessionLog.from_columns(lengths, lengths < 161))
    far = [one.fit.family for one in found.fits if not found.shows_most_of(one)]
    assert "mixture" in far
    assert not {one.fit.family for one in found.rivals} & set(far)
    assert "more than 99" not in advice_on(found, "A single γ")


def test_few_ends_at_the_longest_length_do_not_end_all_sessions_there():
    # 14 of 15 sessions that reach step 60 are open there.
    lengths = np.concatenate([np.repeat([2, 9], 900), np.full(15, 60)])
    observed = np.arange(lengths.size) < lengths.size - 14
    found = analyze(SessionLog.from_columns(lengths, observed))
    assert found.best_is_contradicted
    law = found.kaplan_meier
    assert float(law.survival(60)) == pytest.approx(15 / 1815)
    assert float(law.tail(61)) > 0.0
    # Hardly any session was seen to end in the last quarter of the steps, so the tail may be long.
    assert "and by Kaplan–Meier 0.77% of the sessions outlast the data" in advice_on(found, "The mean length")
    complete = analyze(SessionLog.from_columns(lengths))
    assert float(complete.kaplan_meier.tail(61)) == 0.0


def test_a_law_without_a_mean_that_fits_as_well_leaves_the_mean_open():
    log = SessionLog.from_columns(sj.Geometric(0.8).sample(np.random.default_rng(0), 300))
    found = analyze(log)
    assert found.determines_mean
    second = replace(found.fits[1].fit, without_mean="BetaGeometric(a=0.7, b=1.2)")
    near = replace(found, fits=(found.fits[0], replace(found.fits[1], fit=second, bic_gap=1.5)))
    assert near.unknown is Unknown.NO_MEAN
    assert "BetaGeometric(a=0.7, b=1.2), which fits about as well, has no mean" in mean_words(near)
    assert replace(near, fits=(near.fits[0], replace(near.fits[1], bic_gap=2.5))).unknown is None


def test_a_law_that_fits_as_well_with_a_mean_beyond_the_data_leaves_the_mean_open():
    # Only P(H = 1) is known, so that Geometric(0.4) and Polynomial(1.38) have the same likelihood.
    found = analyze(SessionLog.from_columns([1] * 30 + [2] * 20, [True] * 30 + [False] * 20))
    assert found.best.fit.family == "geometric"
    assert found.ranked("polynomial").bic_gap < 0.01
    assert found.unknown is Unknown.TIED_BEYOND
    name = law_words(found.ranked("polynomial").fit)
    assert f"{name}, which fits about as well, has most of its mean beyond the longest session" in advice_on(
        found, "The mean length"
    )
    fits = tuple(one for one in found.fits if one.fit.family != "polynomial")
    assert replace(found, fits=fits).unknown is None


def test_where_late_entries_leave_a_gap_no_mean_is_printed():
    lengths = np.concatenate([np.tile([1, 2, 3, 4, 5], 60), 9 + np.random.default_rng(0).geometric(0.1, 200)])
    found = analyze(SessionLog.from_columns(lengths, entry=[1] * 300 + [10] * 200))
    assert (found.hole, found.n_after_hole, len(found.log)) == ((6, 9), 200, 300)
    assert found.unknown is Unknown.HOLE
    # By hand: the lengths 1 to 5 are equally frequent.
    assert advice_on(found, "The data").startswith("Sessions last 3 steps on average")
    assert "Hardly any session was observed at steps 6–9. Later steps are left out, with 200 sessions" in (
        advice_on(found, "The sessions")
    )
    # Without steps that no session shows, all those that were seen from the first step end before others.
    lengths[300:] -= 4
    joined = analyze(SessionLog.from_columns(lengths, entry=[1] * 300 + [6] * 200))
    assert joined.kaplan_meier is joined.hole is None
    assert advice_on(joined, "The data").startswith("Late entries leave open how long sessions last.")


@pytest.mark.parametrize(
    ("at_risk", "hole"),
    [
        ([30, 9, 20], (2, 2)),
        ([30, 9, 5, 19, 20], (2, 3)),
        ([30, 9, 19], None),
        ([30, 9, 10, 9, 10], None),
        ([30, 12, 4, 0, 3], (3, 4)),
        ([30, 0, 0, 12, 3], (2, 3)),
        ([5, 3, 0, 1], (3, 3)),
        ([5, 3, 1], None),
    ],
)
def test_a_hole_is_where_few_sessions_are_at_risk_before_many(at_risk, hole):
    entry = [h for h, n in enumerate(at_risk, start=1) for _ in range(n)]
    log = SessionLog.from_columns(entry, entry=entry)  # every session is seen at one step
    assert find_hole(log.sample) == hole


def test_nothing_that_depends_on_the_steps_of_a_hole_is_printed():
    # The expected numbers at risk of the first 60 sessions are below 10 from step 18 on.
    rng = np.random.default_rng(0)
    lengths = np.concatenate([rng.geometric(0.1, 60), 999 + rng.geometric(0.1, 40)])
    found = analyze(SessionLog.from_columns(lengths, entry=[1] * 60 + [1000] * 40), resamples=3)
    start, end = found.hole
    assert end == 999
    assert (lengths[:60] >= start).sum() < 10 <= (lengths[:60] >= start - 1).sum()
    assert found.last_of_many == start - 1
    assert found.unknown is Unknown.HOLE
    hole = f"steps {start}–999"
    assert advice_on(found, "In short") == (
        "The log does not show enough to choose a discount for all steps. Use the table of the data for the "
        "steps that it covers (--table FILE)."
    )
    assert f"does not determine it: hardly any session was observed at {hole}." in advice_on(
        found, "The mean length"
    )
    mean = float(np.minimum(lengths[:60], start).mean())
    assert f"sessions last {mean:.3g} steps on average" in advice_on(found, "The data")
    for heading in ("A single γ", "How far to plan"):
        assert f"depends on steps from {start} on, at the first of which hardly any session was observed" in (
            advice_on(found, heading)
        )


def test_groups_seen_late_have_no_mean():
    lengths = np.concatenate(
        [sj.Geometric(0.9).sample(np.random.default_rng(0), 300), [1] * 3, [12, 15, 20] * 100]
    )
    entry, group = [1] * 303 + [10] * 300, ["a"] * 300 + ["b"] * 303
    found = analyze(SessionLog.from_columns(lengths, entry=entry, group=group))
    assert found.log.labels == ("b", "a")
    assert found.group_laws[0].mean is None
    assert found.group_laws[0].schedule() is None


def test_a_group_has_no_mean_if_a_tied_law_puts_it_beyond_the_data():
    lengths, ended = np.repeat([1, 2, 1, 2], [30, 20, 40, 60]), np.repeat([1, 0, 1, 1], [30, 20, 40, 60])
    found = analyze(SessionLog.from_columns(lengths, ended, group=["open"] * 50 + ["ended"] * 100))
    means = dict(zip(found.log.labels, (one.mean for one in found.group_laws), strict=True))
    assert means["open"] is None
    assert means["ended"] == pytest.approx(1.6)


def test_of_the_cells_that_reject_a_law_one_where_it_matters_is_named():
    # Step 2 contributes most, 11.9% against 10%; step 1 is off by a factor of 2.2, and rejects the law alone.
    left, ends = 10_000, []
    for share in (0.0055, 0.119, 0.5):
        ends.append(round(left * share))
        left -= ends[-1]
    log = SessionLog.from_columns(np.repeat([1, 2, 3, 4], [*ends, left]))
    law = sj.Tabulated((1.0, 0.988, 0.988 * 0.9, 0.988 * 0.45))
    test = compare_hazards(log.sample, law, n_parameters=1)
    assert (test.first, test.last) == (1, 1)
    assert test.observed == pytest.approx(0.0055)
    assert test.expected == pytest.approx(0.012)


def test_a_session_that_is_far_longer_than_all_others_is_pointed_out():
    lengths = np.random.default_rng(0).geometric(0.1, 200)
    longest = int(lengths.max())
    found = analyze(SessionLog.from_columns([*lengths, 40 * longest]))
    assert f"The longest has {40 * longest:,} steps, the next longest {longest:,}" in advice_on(
        found, "The sessions"
    )
    usual = analyze(SessionLog.from_columns([*lengths, 2 * longest]))
    assert "next longest" not in advice_on(usual, "The sessions")


def test_a_log_without_first_steps_determines_what_remains_by_the_data():
    lengths = np.repeat([5, 6, 30], 300)
    found = analyze(SessionLog.from_columns(lengths, entry=np.full(900, 3)))
    assert found.best_is_contradicted
    assert found.determines_remaining
    assert not found.determines_mean
    mean = float(np.mean(lengths - 2))  # counted from step 3 on
    assert f"last {mean:.3g} steps from there on; the law does not fit." in advice_on(
        found, "The mean length"
    )
    assert found.as_dict()["mean_from_first_step_seen"] == pytest.approx(mean, rel=1e-12)
    early = analyze(SessionLog.from_columns(np.repeat([3, 4, 28], 300)))  # the same, seen from step 1
    assert early.as_dict()["mean_from_first_step_seen"] == early.as_dict()["mean"] == pytest.approx(mean)


def test_no_interval_is_given_where_no_session_was_seen_to_end_so_early():
    rng = np.random.default_rng(0)
    lengths = 5 + rng.negative_binomial(4, 0.3, 300)
    found = analyze(SessionLog.from_columns(lengths), resamples=20)
    assert " at step 1," in advice_on(found, "The discount")
    assert not re.search(r"\) at step 1,", advice_on(found, "The discount"))


def test_a_law_whose_chance_to_reach_the_first_step_underflows_can_be_resampled():
    rng = np.random.default_rng(0)
    entry = np.full(60, 5_000)
    found = analyze(SessionLog.from_columns(entry - 1 + rng.geometric(0.5, 60), entry=entry), resamples=5)
    assert float(sj.Geometric(0.5).survival(5_000)) == 0.0
    assert found.remaining == pytest.approx(2.0, rel=0.2)
    assert found.unseen < 0.1


def test_a_law_that_does_not_fit_is_not_called_a_guess():
    lengths = np.repeat([2, 9, 300_000], [500, 500, 10])  # too long for the test of hazards
    found = analyze(SessionLog.from_columns(lengths))
    assert found.hazard_test is None
    assert found.best_is_contradicted
    assert "could not be tested" not in advice_on(found, "In short")


def test_data_with_too_many_steps_for_a_table_leave_the_mean_open():
    lengths = np.repeat([2, 900_000, 1_100_000], [500, 500, 500])
    found = analyze(SessionLog.from_columns(lengths))
    assert found.unknown is Unknown.TOO_LONG
    assert "too many steps for a table (more than 1,000,000). Longer steps may settle it." in advice_on(
        found, "The mean length"
    )
    assert advice_on(found, "A single γ").endswith(
        "nor which one: no law fits, and the data have too many steps for a table."
    )


def test_quantiles_need_ten_sessions_at_risk():
    # At step 9 six sessions are at risk, of which three end: too few to say that half end by then.
    lengths = np.concatenate([np.full(44, 3), np.full(50, 4), np.full(3, 9), np.full(3, 10)])
    observed = np.concatenate([np.ones(44), np.zeros(50), np.ones(3), np.zeros(3)]).astype(bool)
    found = analyze(SessionLog.from_columns(lengths, observed))
    assert found.last_of_many == 3
    assert "at least half of them end" not in advice_on(found, "The data")
    assert "56% get to step 4" in advice_on(found, "The data")


def test_no_quantiles_are_given_if_ten_sessions_are_never_at_risk():
    entry = np.arange(1, 61, 2)  # at most three sessions at a time
    found = analyze(SessionLog.from_columns(entry + 4, entry=entry))
    text = advice_on(found, "The data")
    assert ", with fewer than 10 sessions at risk at every step, " in text
    assert "at least half" not in text


def test_late_entries_in_json_are_those_of_the_text():
    # Too few sessions show steps 1 and 2: the analysis begins at step 3, for which these are not late.
    entry = np.concatenate([np.ones(30, int), np.full(400, 3), np.full(200, 5)])
    lengths = entry + np.random.default_rng(0).integers(1, 12, entry.size)
    found = analyze(SessionLog.from_columns(lengths, entry=entry), resamples=0)
    assert found.first == 3
    assert found.as_dict()["late_entries"] == 200
    assert " 200 came under observation after step 3" in advice_on(found, "The sessions")
