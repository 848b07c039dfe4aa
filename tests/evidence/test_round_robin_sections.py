"""Sections of the round-robin page, and its baselines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sojourn as sj

EVIDENCE = Path(__file__).parents[2] / "evidence"
LAW = sj.Geometric(0.8)
BOLD = sj.UCBVI(LAW, sj.PaperBonus(0.001))


@pytest.fixture(scope="module")
def parts():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EVIDENCE))
        import round_robin_parts.baselines
        import round_robin_parts.results
        import round_robin_parts.sections
        import round_robin_parts.statistics

        yield round_robin_parts


def make_results(parts, problem, agents, episodes=60, seeds=4):
    found = sj.compare(agents, sj.parse_problem(problem), LAW, episodes=episodes, seeds=seeds)
    return parts.results.RoundRobin(tuple(agents), (found,), {found.problem: problem})


@pytest.fixture(scope="module")
def river_swim_results(parts):
    agents = {"paper": BOLD, "EQO": BOLD, "PSRL": sj.PSRL(LAW), "random": sj.RandomPlayer()}
    return make_results(parts, "river_swim(4)", agents, episodes=300)


def test_the_myopic_player_has_the_regret_of_its_policy(parts):
    # In some states several actions have the largest reward.
    rng = np.random.default_rng(4)
    mdp = sj.TabularMDP(rng.dirichlet(np.ones(5), size=(5, 4)), rng.integers(0, 3, size=(5, 4)) / 2.0)
    policy = np.zeros((1, 5, 4))
    for s, row in enumerate(mdp.rewards):
        best = [a for a in range(4) if row[a] == max(row)]
        policy[0, s, best] = 1.0 / len(best)
    assert ((policy > 0).sum(axis=2) > 1).any()
    value = sj.evaluate(mdp, LAW, policy, after="hold", tolerance=1e-9).value
    run = sj.learn(parts.baselines.Myopic(), mdp, LAW, episodes=400, seed=2)
    best = sj.plan(mdp, LAW, tolerance=1e-9).value
    np.testing.assert_allclose(run.regret, (best - value)[run.starts], atol=1e-7)
    # It also plays that policy: the mean of the rewards is its value.
    error = run.rewards.std(ddof=1) / np.sqrt(run.rewards.size)
    assert run.rewards.mean() == pytest.approx(value[run.starts].mean(), abs=5 * error)


def test_baselines_have_the_seeds_of_the_learners(river_swim_results):
    (found,), (baselines,) = river_swim_results.comparisons, river_swim_results.baselines
    assert baselines.names[0] == "chance"
    np.testing.assert_array_equal(baselines.seeds, found.seeds)
    np.testing.assert_allclose(baselines.cumulative_regret[0], found.cumulative_regret[3])


def test_only_significant_differences_count_as_below(parts):
    baseline = np.array([5.0, 6.0, 7.0, 9.0])
    found = np.array([baseline - 1.0, baseline + 1.0, baseline - [8.0, -7.0, 1.0, 0.0], baseline - 1e-9])
    assert parts.statistics.is_significantly_below(found, baseline, 1e-6).tolist() == [
        True,
        False,
        False,
        False,
    ]


def test_the_page_says_where_no_learner_beats_the_myopic_player(parts, river_swim_results):
    assert river_swim_results.learning_pays.tolist() == [True]
    text = " ".join(parts.sections.where_learning_fails(river_swim_results).split())
    assert text.endswith("On every problem and under every law, some learner does.")
    # At bonus scale 1, all twenty episodes are spent on exploration.
    mdp = "garnet(4, 3, 4, seed=1)"
    careful = make_results(parts, mdp, {"paper": sj.UCBVI(LAW), "random": sj.RandomPlayer()}, episodes=20)
    assert careful.learning_pays.tolist() == [False]
    text = " ".join(parts.sections.where_learning_fails(careful).split())
    name = careful.comparisons[0].problem
    assert f"**No learner beats the myopic player on {name} under all laws.** 20 episodes are too few" in text


def test_tables_end_with_the_baselines_which_are_not_bold(parts, river_swim_results):
    lines = parts.sections.regrets(river_swim_results).splitlines()
    assert [line.split(" | ")[0] for line in lines[-2:]] == ["| *chance*", "| *myopic, never learns*"]
    assert "**" not in lines[-1] + lines[-2]
    assert sum("**" in line for line in lines) == 2  # equal learners share the least regret


def test_ranks_are_also_given_without_variants(parts, river_swim_results):
    found = river_swim_results.comparisons
    assert parts.statistics.mean_ranks(found, range(4)).tolist() == [1.5, 1.5, 3.0, 4.0]
    assert parts.statistics.mean_ranks(found, [0, 2, 3]).tolist() == [1.0, 2.0, 3.0]
    text = parts.sections.ranks(river_swim_results)
    assert "Without these variants, paper has the best mean rank" in " ".join(text.split())
    rows = text.splitlines()[2:6]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [(row[0], row[1], row[3]) for row in cells] == [
        ("paper", "1.50", "1.00"),
        ("EQO", "1.50", "–"),
        ("PSRL", "3.00", "2.00"),
        ("random", "4.00", "3.00"),
    ]


def test_paired_tests_with_psrl_are_counted(parts, river_swim_results):
    means, sure = np.array([[0.0, 3.0, 9.0], [0.0, -2.0, 9.0]]), np.ones((2, 3), dtype=bool)
    assert (
        parts.sections._against_psrl(river_swim_results, means, sure) == " (1 and 1 of 2 against PSRL alone)"
    )
    assert (
        parts.sections._against_psrl(river_swim_results, means, ~sure) == " (0 and 0 of 2 against PSRL alone)"
    )


def test_no_learner_is_behind_if_all_have_zero_regret(parts):
    np.testing.assert_allclose(
        parts.statistics.regret_ratios(np.array([[0.0, 0.0], [0.0, 0.99]])), [[1, 1], [1, 100]]
    )
    only_one_action = "garnet(3, 1, 2, seed=0)"
    results = make_results(parts, only_one_action, {"paper": BOLD, "again": BOLD}, episodes=3, seeds=2)
    np.testing.assert_allclose(results.means, 0.0, atol=1e-6)
    text = " ".join(parts.sections.furthest_behind(results).split())
    assert "1.0 times the regret" in text
    assert text.endswith("in 3 episodes, no learner beats the myopic player there.")
