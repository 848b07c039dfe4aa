"""Comparisons: hand-calculated intervals, common random numbers, names, errors."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass, replace

import numpy as np
import pytest

import sojourn as sj
from sojourn.learning import (
    Comparison,
    compare,
    estimate_mean,
    name_agents,
    simultaneous_intervals,
    spread_episodes,
)

LAW, PROBLEM = sj.Geometric(0.8), sj.mdps.river_swim(4)
BOLD = sj.UCBVI(LAW, sj.PaperBonus(0.01))
T_2, T_3 = 4.302652729749464, 3.182446305284263  # 97.5% quantiles of Student's law, from a printed table


class Mine:
    """A learner that does not show its policy."""

    def start(self, **_):
        return self

    def act(self, state, h):
        return 1

    def observe(self, state, action, reward, next_state, terminated):
        pass

    def end_episode(self, length, observed):
        pass


def comparison(total, rewards, names=("a", "b")):
    """A comparison of one episode with these totals, `(agents, seeds)`."""
    total = np.asarray(total, dtype=float)
    return Comparison(
        names=names,
        agents=(sj.RandomPlayer(),) * len(names),
        problem="a <problem>",
        law=sj.Fixed(2),
        seeds=tuple(range(total.shape[1])),
        checkpoints=np.array([1]),
        cumulative_regret=total[:, :, None],
        regret_width=np.full_like(total, 1.5e-7),
        rewards=np.asarray(rewards, dtype=float),
    )


def test_intervals_are_those_of_students_t():
    # s² = ((−1)² + 0² + 1²)/2 = 1, so t·s/√n = t/√3; and s² = (9 + 1 + 1 + 9)/3 for the second.
    found = estimate_mean([10.0, 11.0, 12.0])
    assert found.mean == 11.0
    assert found.half_width == pytest.approx(T_2 / np.sqrt(3.0), rel=1e-12)
    assert found.low == pytest.approx(11.0 - T_2 / np.sqrt(3.0))
    assert found.high == pytest.approx(11.0 + T_2 / np.sqrt(3.0))
    other = estimate_mean([[0.0], [2.0], [4.0], [6.0]], axis=0)
    np.testing.assert_allclose(other.half_width, [T_3 * np.sqrt(20.0 / 3.0) / 2.0])


def test_a_single_value_has_no_interval():
    found = estimate_mean([[3.0], [4.0]])
    assert found.mean.tolist() == [3.0, 4.0]
    assert np.isnan(found.half_width).all()


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([10.0, 11.0, 12.0, 13.0, 14.0], "12.0 ± 2.0"),  # t = 2.776, half width 1.963
        ([1000.0, 2000.0, 3000.0, 4000.0, 5000.0], "3,000 ± 1,963"),
        ([0.010, 0.011, 0.012, 0.013, 0.014], "0.0120 ± 0.0020"),
        ([5.0] * 5, "5.0000"),
        ([0.0] * 5, "0"),
        ([0.1 + 0.2, 0.3, 0.3, 0.3, 0.3], "0.30000"),  # equal up to rounding
        ([5.0], "5.0000"),
        ([10.0, 11.0, 12.0, 13.0], "11.5 (10.0 … 13.0)"),  # fewer than five values have no interval
        ([np.nan, 1.0], "—"),
        ([1e-9, 2e-9, 3e-9, 4e-9, 5e-9], "3e-09 ± 1.96e-09"),
        ([1e15, 2e15, 3e15, 4e15, 5e15], "3e+15 ± 1.96e+15"),
    ],
)
def test_numbers_are_rounded_to_the_width_of_their_interval(values, text):
    assert estimate_mean(values).texts() == [text]


def test_differences_are_paired_by_seed():
    # The seeds differ by much, the learners by 1, 1 and 4 on the same seed: mean 2, s² = 3.
    found = comparison([[10, 20, 30], [11, 21, 34]], [[1, 2, 3], [1, 1, 1]])
    assert found.total_regret.mean.tolist() == [20.0, 22.0]
    np.testing.assert_allclose(found.total_regret.half_width[0], T_2 * 10.0 / np.sqrt(3.0))
    assert found.difference.mean.tolist() == [0.0, 2.0]
    np.testing.assert_allclose(found.difference.half_width, [0.0, T_2 * np.sqrt(3.0) / np.sqrt(3.0)])
    assert found.mean_reward.mean.tolist() == [2.0, 1.0]
    assert found.reward_difference.mean.tolist() == [0.0, -1.0]


def test_the_table_is_written_out():
    # With five seeds the interval of an IQM goes from the smallest to the largest value.
    found = comparison(
        [[10, 20, 30, 40, 80], [11, 21, 34, 41, 81]],
        [[1, 2, 3, 4, 5], [1, 1, 1, 1, 1]],
        names=("first", "the other"),
    )
    assert found.table().splitlines() == [
        "a <problem>, lengths from Fixed(2): 1 episode, 5 seeds, regret certified to 1.5e-07",
        "",
        "agent      mean regret  IQM of regret  difference from the first  reward per episode",
        "first               36    30 [10, 80]                          0      3.0 [1.0, 5.0]",
        "the other           38    32 [11, 81]             1.0 [1.0, 4.0]              1.0000",
        "",
        "IQM: mean of the middle half of the seeds. In brackets: 95% bootstrap intervals of IQMs.",
    ]
    assert repr(found) == str(found) == found.table()


def test_fewer_than_five_seeds_have_no_intervals():
    found = comparison([[10, 20, 30, 40]], [[1, 2, 3, 4]], names=("alone",))
    assert found.rows() == [("alone", "25 (10 … 40)", "25.000", "0", "2.5000")]
    assert found.notes() == [
        "IQM: mean of the middle half of the seeds. In parentheses: the smallest and largest seed. Intervals "
        "need at least 5 seeds.",
    ]


def test_the_intervals_of_several_differences_hold_together_and_need_more_seeds():
    rng = np.random.default_rng(0)
    total = rng.normal(100.0, 10.0, size=(4, 20))
    found = comparison(total, total, names=tuple("abcd"))
    for i in (1, 2, 3):
        alone = simultaneous_intervals(total[i] - total[0])
        together = found.interquartile_difference
        assert together.low[i] < alone.low < alone.value == together.value[i] < alone.high < together.high[i]
    assert found.notes()[0].endswith("intervals of IQMs; those of the 3 differences hold together.")
    few = comparison(total[:, :6], total[:, :6], names=tuple("abcd"))
    assert np.isnan(few.interquartile_difference.low).all()
    assert np.isfinite(few.interquartile_regret.low).all()
    assert few.notes()[0].endswith("intervals of IQMs; those of 3 differences need at least 7 seeds.")


def test_a_note_warns_if_a_few_seeds_dominate_a_mean():
    usual = [100.0] * 10
    failed = [10.0] * 9 + [1_000.0]  # the mean is 109; without the worst seed it is 10
    notes = comparison([usual, failed], [usual, usual], names=("good", "bad")).notes()[1:]
    assert notes == ["A few seeds dominate the mean of bad: without the worst seed it falls from 109 to 10."]
    twice = [10.0] * 18 + [1_000.0] * 2
    (note,) = comparison([twice], [twice], names=("bad",)).notes()[1:]
    assert "without the 2 worst seeds it falls" in note
    assert note in comparison([twice], [twice], names=("bad",))._repr_html_()


def test_html_is_escaped():
    text = comparison([[1, 2], [3, 4]], [[0, 0], [0, 0]], names=("<b>", "b"))._repr_html_()
    assert "a &lt;problem&gt;" in text
    assert "<td style='text-align:left'>&lt;b&gt;</td>" in text
    assert text.count("<tr>") == 3


def test_a_comparison_is_the_trials_side_by_side():
    agents = [BOLD, sj.RandomPlayer()]
    found = compare(agents, PROBLEM, LAW, episodes=40, seeds=3)
    assert found.cumulative_regret.shape == (2, 3, 40)
    assert (found.episodes, found.seeds, found.problem) == (40, (0, 1, 2), "RiverSwim(4)")
    for j, agent in enumerate(agents):
        for i in range(3):
            run = sj.learn(agent, PROBLEM, LAW, episodes=40, seed=i)
            np.testing.assert_array_equal(found.cumulative_regret[j, i], np.cumsum(run.regret))
            assert found.rewards[j, i] == run.rewards.mean()
            assert found.regret_width[j, i] == run.regret_width.sum()


def test_all_agents_have_the_same_random_numbers():
    # Two copies of an agent without random numbers of its own have the same results on every seed.
    plan = sj.plan(PROBLEM, LAW)
    found = compare([sj.OptimalPlayer(plan), sj.OptimalPlayer(plan)], PROBLEM, LAW, episodes=30, seeds=4)
    np.testing.assert_array_equal(found.rewards[0], found.rewards[1])
    assert np.unique(found.rewards[0]).size > 1
    assert found.reward_difference.half_width[1] == 0.0


def test_seeds_may_be_given_one_by_one():
    found = compare([BOLD], PROBLEM, LAW, episodes=5, seeds=[7, 3])
    assert found.seeds == (7, 3)
    run = sj.learn(BOLD, PROBLEM, LAW, episodes=5, seed=3)
    np.testing.assert_array_equal(found.cumulative_regret[0, 1], np.cumsum(run.regret))


def test_a_learner_without_a_policy_has_rewards_but_no_regret():
    found = compare([BOLD, Mine()], PROBLEM, LAW, episodes=10, seeds=3)
    assert np.isnan(found.cumulative_regret[1]).all()
    assert np.isfinite(found.rewards).all()
    assert found.rows()[1][:4] == ("Mine", "—", "—", "—")
    assert compare([Mine(), BOLD], PROBLEM, LAW, episodes=10, seeds=3).rows()[0][:4] == (
        "Mine",
        "—",
        "—",
        "—",
    )
    alone = compare([Mine()], PROBLEM, LAW, episodes=10, seeds=3)
    assert "certified" not in alone.table()


def test_long_trials_are_kept_at_checkpoints(monkeypatch):
    monkeypatch.setattr("sojourn.learning._compare._ALL_KEPT", 50)
    monkeypatch.setattr("sojourn.learning._compare._MOST_CHECKPOINTS", 20)
    found = compare([BOLD], PROBLEM, LAW, episodes=100, seeds=2)
    assert found.checkpoints.size <= 20
    assert found.episodes == 100
    run = sj.learn(BOLD, PROBLEM, LAW, episodes=100, seed=1)
    np.testing.assert_array_equal(found.cumulative_regret[0, 1], np.cumsum(run.regret)[found.checkpoints - 1])


def test_episodes_are_spread_evenly_and_by_ratios():
    assert spread_episodes(5, 10).tolist() == [1, 2, 3, 4, 5]
    some = spread_episodes(10**6, 100)
    assert (some[0], some[-1]) == (1, 10**6)
    assert 60 < some.size <= 100
    assert (np.diff(some) > 0).all()
    assert np.diff(some).max() < 10**6 / 40
    assert (some < 1000).sum() > 15


def test_names_show_the_settings():
    plan = sj.plan(PROBLEM, LAW)
    agents = [
        sj.UCBVI(LAW),
        sj.UCBVI(sj.Fixed(20), sj.Hoeffding(0.5), replan="doubling", delta=0.05),
        sj.UCBVI(LAW, horizon=7, ties="first"),
        sj.RandomPlayer(),
        sj.OptimalPlayer(plan),
        Mine(),
    ]
    assert name_agents(agents) == (
        "UCBVI(Geometric(0.8), PaperBonus(scale=1))",
        "UCBVI(Fixed(20), Hoeffding(scale=0.5), delta=0.05, replan='doubling')",
        "UCBVI(Geometric(0.8), PaperBonus(scale=1), horizon=7, ties='first')",
        "RandomPlayer",
        "OptimalPlayer(Geometric(0.8))",
        "Mine",
    )


@dataclass(frozen=True, eq=False)
class Meta:
    """An agent made of other agents."""

    bases: tuple[object, ...]
    weights: object = None


def test_names_stay_short():
    few = Meta((sj.RandomPlayer(), sj.RandomPlayer()), weights=np.ones(100))
    assert name_agents([few]) == ("Meta(bases=(RandomPlayer, RandomPlayer), weights=ndarray)",)
    assert name_agents([Meta((BOLD,) * 6)]) == ("Meta(bases=6 × UCBVI)",)
    assert name_agents([Meta((BOLD, sj.UCBVI(LAW), Mine()))]) == ("Meta(bases=3 items)",)


def test_names_are_all_different():
    nearly = sj.UCBVI(sj.Geometric(0.8 + 1e-12), sj.PaperBonus(0.01))
    names = compare([BOLD, nearly, BOLD], PROBLEM, LAW, episodes=1, seeds=1).names
    assert names[1:] == (f"{names[0]} (2)", f"{names[0]} (3)")


def test_agents_may_be_given_by_name():
    found = compare({"ours": BOLD, "chance": sj.RandomPlayer()}, PROBLEM, LAW, episodes=2, seeds=1)
    assert found.names == ("ours", "chance")
    assert found.agents == (BOLD, sj.RandomPlayer())


def test_progress_rises_to_one():
    shares = []
    compare([BOLD, sj.RandomPlayer()], PROBLEM, LAW, episodes=7, seeds=3, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert set(np.arange(1, 7) / 6) <= set(shares)


@pytest.mark.parametrize(
    ("agents", "settings", "message"),
    [
        (BOLD, {}, r"agents must be a list, or a mapping from names to agents; got UCBVI\(.*\)\."),
        ([], {}, r"agents must have at least one agent; got none\."),
        ({}, {}, r"agents must have at least one agent; got none\."),
        (
            [BOLD, 3],
            {},
            r"agents\[1\] must be an agent's settings, such as UCBVI\(Geometric\(0\.95\)\); got 3\.",
        ),
        ([sj.RandomPlayer], {}, r"agents\[0\] must be an agent's settings, such as .*; got <class '.*'>\."),
        ({"a": 3}, {}, r"agents\['a'\] must be an agent's settings, such as .*; got 3\."),
        ({1: BOLD}, {}, r"agents must have names that are one line of text; got 1\."),
        ({"a\nb": BOLD}, {}, r"agents must have names that are one line of text; got 'a\\nb'\."),
        ([BOLD], {"seeds": 0}, r"seeds must be a whole number ≥ 1; got 0\."),
        ([BOLD], {"seeds": "20"}, r"seeds must be a whole number ≥ 1; got '20'\."),
        ([BOLD], {"seeds": []}, r"seeds must have at least one seed; got none\."),
        ([BOLD], {"seeds": [1, -1]}, r"seeds\[1\] must be a whole number ≥ 0; got -1\."),
        ([BOLD], {"seeds": [1, 2, 1]}, r"seeds must all be different; got 1 more than once\."),
        ([BOLD], {"episodes": 0}, r"episodes must be a whole number ≥ 1; got 0\."),
    ],
)
def test_bad_input_raises_a_one_line_error(agents, settings, message):
    with pytest.raises((TypeError, ValueError), match=rf"^{message}$") as caught:
        compare(agents, PROBLEM, LAW, **{"episodes": 3, "seeds": 2, **settings})
    assert "\n" not in str(caught.value)


def test_the_problem_and_the_law_are_checked_too():
    with pytest.raises(
        TypeError, match=r"^mdp must be a TabularMDP, or a Gymnasium id or environment; got 3\.$"
    ):
        compare([BOLD], 3, LAW, episodes=3)
    with pytest.raises(TypeError, match=r"^law must be a LengthLaw"):
        compare([BOLD], PROBLEM, 0.9, episodes=3)


def test_results_do_not_depend_on_the_number_of_workers():
    agents = [BOLD, sj.PSRL(LAW), sj.RandomPlayer(), Mine()]
    shares = []
    one = compare(agents, PROBLEM, LAW, episodes=40, seeds=3)
    two = compare(agents, PROBLEM, LAW, episodes=40, seeds=3, workers=2, progress=shares.append)
    assert (one.names, one.problem) == (two.names, two.problem)
    for part in ("cumulative_regret", "regret_width", "rewards"):
        np.testing.assert_array_equal(getattr(one, part), getattr(two, part))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_failure_stops_the_other_workers():
    class Fails:
        def start(self, **_):
            raise ArithmeticError("no start")

    with pytest.raises(ArithmeticError, match="no start"):
        compare([BOLD, Fails()], PROBLEM, LAW, episodes=10, seeds=50, workers=2)


class Presses(Mine):
    """A learner for which someone presses Ctrl-C when it starts; it would need hours."""

    def start(self, **_):
        signal.raise_signal(signal.SIGINT)
        return self

    def act(self, state, h):
        time.sleep(0.001)
        return 1


def test_ctrl_c_ends_all_workers_at_once():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            compare({"a": Presses(), "b": Presses()}, PROBLEM, LAW, episodes=10**6, seeds=50, workers=2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < 60.0  # compiling what plays single steps takes some seconds


def test_environments_without_a_table_have_one_worker():
    with pytest.raises(ValueError, match=r"^workers must be 1 for an environment without a transition table"):
        compare([BOLD], "Blackjack-v1", LAW, episodes=2, seeds=1, workers=2, reward_range=(-1, 1))


def test_progress_is_a_bar_a_function_or_nothing(capfd):
    compare([sj.RandomPlayer()], PROBLEM, LAW, episodes=3, seeds=2, progress=True)
    sj.learn(sj.RandomPlayer(), PROBLEM, LAW, episodes=3, progress=True)
    assert capfd.readouterr().out == ""  # the bar is on stderr
    with pytest.raises(TypeError, match=r"^progress must be True, False, a function or None; got 3\.$"):
        sj.learn(sj.RandomPlayer(), PROBLEM, LAW, episodes=3, progress=3)


def test_a_data_frame_has_one_row_per_agent_seed_and_checkpoint():
    found = compare([BOLD, sj.RandomPlayer()], PROBLEM, LAW, episodes=7, seeds=[4, 9])
    frame = found.to_pandas()
    assert list(frame.columns) == ["agent", "seed", "episode", "cumulative_regret", "reward"]
    assert len(frame) == 2 * 2 * 7
    table = frame.pivot_table("cumulative_regret", ["agent", "seed"], "episode", sort=False).to_numpy()
    np.testing.assert_array_equal(table.reshape(2, 2, 7), found.cumulative_regret)
    last = frame[(frame.agent == found.names[1]) & (frame.seed == 9)]
    assert set(last.reward) == {found.rewards[1, 1]}


def test_latex_has_the_cells_of_the_table():
    found = comparison([[1.0, 2.0, 3.0, 4.0, 5.0]] * 2, [[0.5] * 5] * 2, names=("a_b & 50%", "γ"))
    text = found.to_latex()
    assert r"a\_b \& 50\% & 3" in text
    assert r"$\gamma$ & 3" in text
    assert text.count(r"\\") == 3
    assert text.isascii()
    assert "\n{}[x] &" in replace(found, names=("[x]", "b")).to_latex()  # not an argument of the line before
