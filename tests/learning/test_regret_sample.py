"""Regret at chosen episodes: an unbiased estimate with an unbiased variance, and nothing else changes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import sojourn as sj
from sojourn.learning import _learn, draw_valued_episodes, estimate_regret, fits_strata
from sojourn.learning._regret_sample import _edges, default_regret_episodes

LAW, RIVER = sj.Geometric(0.9), sj.mdps.river_swim(6)
AGENT = sj.UCBVI(LAW, sj.PaperBonus(0.01))


def all_draws(episodes, n):
    """Every possible draw: all pairs in each stratum, and triples in the last one if n is odd."""
    edges = _edges(episodes, n)
    counts = [2] * (edges.size - 2) + [2 + n % 2]
    strata = [
        list(itertools.combinations(range(first, last), count))
        for (first, last), count in zip(itertools.pairwise(edges.tolist()), counts, strict=True)
    ]
    return [np.array(sum(parts, ())) for parts in itertools.product(*strata)]


@pytest.mark.parametrize(("episodes", "n"), [(9, 4), (11, 5), (4, 3), (12, 6)])
def test_the_estimate_and_its_variance_are_unbiased_at_every_episode(episodes, n):
    # All draws are equally likely, so their plain averages are the expectations.
    regret = np.random.default_rng(0).normal(size=episodes)
    found = [estimate_regret(regret[drawn], drawn, episodes) for drawn in all_draws(episodes, n)]
    estimates = np.array([one.cumulative for one in found])
    np.testing.assert_allclose(estimates.mean(axis=0), np.cumsum(regret), atol=1e-12)
    variances = np.array([one.error for one in found]) ** 2
    np.testing.assert_allclose(variances.mean(axis=0), estimates.var(axis=0), atol=1e-12)


@pytest.mark.parametrize(
    ("episodes", "n"), [(2, 2), (3, 3), (10, 9), (1_000, 999), (5_000, 200), (10**6, 1_000)]
)
def test_drawn_episodes_are_different_in_order_and_denser_at_the_beginning(episodes, n):
    drawn = draw_valued_episodes(episodes, n, np.random.default_rng(1))
    assert drawn.size == n
    assert (np.diff(drawn) > 0).all()
    assert 0 <= drawn[0] <= drawn[-1] < episodes
    assert (np.diff(_edges(episodes, n)) >= 2).all()
    assert fits_strata(drawn, episodes)
    if n < episodes // 4:
        assert (drawn < episodes // 2).sum() > 0.55 * n
        assert not fits_strata(np.arange(n), episodes)


def test_every_episode_of_a_stratum_is_drawn_equally_often():
    rng, counts = np.random.default_rng(2), np.zeros(11)
    for _ in range(2_000):
        counts[draw_valued_episodes(11, 5, rng)] += 1
    edges = _edges(11, 5)
    for first, last, count in zip(edges[:-1], edges[1:], (2, 3), strict=True):
        expected = 2_000 * count / (last - first)
        np.testing.assert_allclose(counts[first:last], expected, atol=4.5 * np.sqrt(expected))


@pytest.mark.parametrize(
    "agent",
    [AGENT, sj.HorizonSelection(sj.UnknownLaw(12)), sj.UnknownLaw(12)],
    ids=lambda a: type(a).__name__,
)
def test_only_the_choice_of_valued_episodes_changes(agent, monkeypatch):
    full = sj.learn(agent, RIVER, LAW, episodes=120, seed=3)
    some = sj.learn(agent, RIVER, LAW, episodes=120, seed=3, regret_episodes=31)
    monkeypatch.setattr(_learn, "play_compiled", _learn.play_by_protocol)
    slow = sj.learn(agent, RIVER, LAW, episodes=120, seed=3, regret_episodes=31)
    assert some.regret_episodes == 31
    np.testing.assert_array_equal(np.flatnonzero(~np.isnan(some.regret)), some.valued)
    np.testing.assert_array_equal(some.regret[some.valued], full.regret[some.valued])
    for name in ("rewards", "lengths", "observed", "starts"):
        np.testing.assert_array_equal(getattr(some, name), getattr(full, name))
    for name in ("regret", "regret_width", "valued", "cumulative_regret", "regret_error"):
        np.testing.assert_array_equal(getattr(some, name), getattr(slow, name))


def test_valuing_all_episodes_is_the_plain_sum_without_error():
    full = sj.learn(AGENT, RIVER, LAW, episodes=40)
    for run in (full, sj.learn(AGENT, RIVER, LAW, episodes=40, regret_episodes=1_000)):
        assert run.valued is None
        assert run.regret_episodes == 40
        np.testing.assert_array_equal(run.cumulative_regret, np.cumsum(full.regret))
        assert not run.regret_error.any()


def test_agents_on_one_seed_are_valued_at_the_same_episodes():
    runs = [
        sj.learn(agent, RIVER, LAW, episodes=90, regret_episodes=10) for agent in (AGENT, sj.RandomPlayer())
    ]
    np.testing.assert_array_equal(runs[0].valued, runs[1].valued)


def test_results_say_that_regret_is_estimated():
    run = sj.learn(AGENT, RIVER, LAW, episodes=400, regret_episodes=20)
    assert "± " in repr(run)
    assert repr(run).endswith("(standard error), estimated from 20 episodes, seed 0)")
    found = sj.compare([AGENT, sj.RandomPlayer()], RIVER, LAW, episodes=400, seeds=2, regret_episodes=20)
    assert found.regret_episodes == 20
    np.testing.assert_array_equal(found.cumulative_regret[0, 0], run.cumulative_regret)
    np.testing.assert_array_equal(found.regret_error[0, 0], run.regret_error)
    assert "Regret is estimated from 20 of 400 episodes per trial" in repr(found)
    assert found.to_pandas()["regret_error"].tolist() == found.regret_error.ravel().tolist()
    exact = sj.compare([AGENT], RIVER, LAW, episodes=5, seeds=1)
    assert exact.regret_error is None
    assert "estimated" not in repr(exact)


@pytest.mark.parametrize(
    ("mdp", "law", "episodes", "expected"),
    [
        (RIVER, sj.Geometric(0.9), 1_000_000, 1_000_000),  # 6 states × 198 steps
        (RIVER, sj.Polynomial(1.4), 1_000_000, 1_000_000),  # 6 × 2,000, a heavy tail
        (sj.mdps.garnet(2_000, 2, 2, seed=0), sj.Fixed(100), 10**6, 100_000),  # 2·10¹⁰ / (2,000 × 100)
        (sj.mdps.garnet(2_000, 2, 2, seed=0), sj.Fixed(100), 10**5, 10**5),
    ],
    ids=str,
)
def test_the_default_follows_the_documented_formula(mdp, law, episodes, expected):
    assert default_regret_episodes(mdp, law, episodes) == expected


@pytest.mark.parametrize("number", [1, 0, 2.5, "ten"])
def test_bad_numbers_of_episodes_are_refused(number):
    with pytest.raises((TypeError, ValueError), match=r"^regret_episodes must be a whole number ≥ 2; got "):
        sj.learn(AGENT, RIVER, LAW, episodes=10, regret_episodes=number)


def test_without_a_table_there_is_no_regret_to_estimate():
    with pytest.raises(ValueError, match=r"^regret_episodes must be left out: regret needs"):
        sj.learn(AGENT, "Blackjack-v1", LAW, episodes=5, regret_episodes=3, reward_range=(-1, 1))


def test_figures_draw_the_interval_of_the_estimate():
    run = sj.learn(AGENT, RIVER, LAW, episodes=400, regret_episodes=40)
    from sojourn.plots import comparison_curves, run_curves

    curves = run_curves(run)
    np.testing.assert_array_equal(curves.error, run.regret_error[curves.k - 1])
    assert not np.isnan(curves.single[:-1]).any()
    (left, right) = run.plot().axes
    assert "from 40 episodes" in left.get_legend().get_texts()[0].get_text()
    assert right.get_legend() is not None
    one = sj.compare([AGENT], RIVER, LAW, episodes=400, seeds=1, regret_episodes=40)
    band = comparison_curves(one)
    shown = np.searchsorted(one.checkpoints, band.k)
    np.testing.assert_allclose(band.high - band.low, 2 * 1.96 * one.regret_error[:, 0, shown])
    assert "regret estimated from 40 of 400 episodes" in one.plot().legends[0].get_title().get_text()
