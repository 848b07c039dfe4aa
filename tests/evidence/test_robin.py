"""The round robin's page: marks to read regrets by, and what it says by code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sojourn as sj

EVIDENCE = Path(__file__).parents[2] / "evidence"
LAW = sj.Geometric(0.8)
BOLD = sj.UCBVI(LAW, sj.PaperBonus(0.001))


@pytest.fixture(scope="module")
def robin():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EVIDENCE))
        import robin.duels
        import robin.field
        import robin.idle
        import robin.sections

        yield robin


def make_field(robin, problem, agents, episodes=60, seeds=4):
    found = sj.compare(agents, sj.parse_problem(problem), LAW, episodes=episodes, seeds=seeds)
    return robin.field.Field(tuple(agents), (found,), {found.problem: problem})


@pytest.fixture(scope="module")
def swimmers(robin):
    agents = {"paper": BOLD, "EQO": BOLD, "PSRL": sj.PSRL(LAW), "random": sj.RandomPlayer()}
    return make_field(robin, "river_swim(4)", agents, episodes=300)


def test_the_myopic_players_regret_is_that_of_its_policy(robin):
    # A fifth of the rewards are the largest of their state more than once.
    rng = np.random.default_rng(4)
    mdp = sj.TabularMDP(rng.dirichlet(np.ones(5), size=(5, 4)), rng.integers(0, 3, size=(5, 4)) / 2.0)
    policy = np.zeros((1, 5, 4))
    for s, row in enumerate(mdp.rewards):
        best = [a for a in range(4) if row[a] == max(row)]
        policy[0, s, best] = 1.0 / len(best)
    assert ((policy > 0).sum(axis=2) > 1).any()
    value = sj.evaluate(mdp, LAW, policy, after="hold", tolerance=1e-9).value
    run = sj.learn(robin.idle.Myopic(), mdp, LAW, episodes=400, seed=2)
    best = sj.plan(mdp, LAW, tolerance=1e-9).value
    np.testing.assert_allclose(run.regret, (best - value)[run.starts], atol=1e-7)
    # And it plays that policy: rewards have its mean.
    error = run.rewards.std(ddof=1) / np.sqrt(run.rewards.size)
    assert run.rewards.mean() == pytest.approx(value[run.starts].mean(), abs=5 * error)


def test_idle_players_have_the_seeds_of_the_field(swimmers):
    (found,), (idle,) = swimmers.comparisons, swimmers.idle
    assert idle.names[0] == "chance"
    np.testing.assert_array_equal(idle.seeds, found.seeds)
    np.testing.assert_allclose(idle.cumulative_regret[0], found.cumulative_regret[3])


def test_only_differences_beyond_chance_are_below_a_mark(robin):
    mark = np.array([5.0, 6.0, 7.0, 9.0])
    found = np.array([mark - 1.0, mark + 1.0, mark - [8.0, -7.0, 1.0, 0.0], mark - 1e-9])
    assert robin.duels.is_below(found, mark, 1e-6).tolist() == [True, False, False, False]


def test_where_nobody_beats_the_myopic_player_the_page_says_so(robin, swimmers):
    assert swimmers.pays_to_learn.tolist() == [True]
    told = " ".join(robin.sections.unbeaten(swimmers).split())
    assert told.endswith("Somebody does on every problem under every law.")
    # At the published scale twenty episodes are spent on trying everything.
    mdp = "garnet(4, 3, 4, seed=1)"
    careful = make_field(robin, mdp, {"paper": sj.UCBVI(LAW), "random": sj.RandomPlayer()}, episodes=20)
    assert careful.pays_to_learn.tolist() == [False]
    told = " ".join(robin.sections.unbeaten(careful).split())
    name = careful.comparisons[0].problem
    assert f"**Nobody beats the myopic player on {name} under all laws.** 20 episodes are too few" in told


def test_regrets_end_with_who_never_learns_in_no_bold(robin, swimmers):
    lines = robin.sections.regrets(swimmers).splitlines()
    assert [line.split(" | ")[0] for line in lines[-2:]] == ["| *chance*", "| *myopic, never learns*"]
    assert "**" not in lines[-1] + lines[-2]
    assert sum("**" in line for line in lines) == 2  # twins share the least regret


def test_ranks_are_also_given_without_twins(robin, swimmers):
    found = swimmers.comparisons
    assert robin.duels.mean_ranks(found, range(4)).tolist() == [1.5, 1.5, 3.0, 4.0]
    assert robin.duels.mean_ranks(found, [0, 2, 3]).tolist() == [1.0, 2.0, 3.0]
    told = robin.sections.ranks(swimmers)
    assert "Without the twins paper has the best mean rank" in " ".join(told.split())
    rows = told.splitlines()[2:6]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [(row[0], row[1], row[3]) for row in cells] == [
        ("paper", "1.50", "1.00"),
        ("EQO", "1.50", "–"),
        ("PSRL", "3.00", "2.00"),
        ("random", "4.00", "3.00"),
    ]


def test_duels_with_psrl_are_counted(robin, swimmers):
    means, sure = np.array([[0.0, 3.0, 9.0], [0.0, -2.0, 9.0]]), np.ones((2, 3), dtype=bool)
    assert robin.sections._against_psrl(swimmers, means, sure) == " (1 and 1 of 2 against PSRL alone)"
    assert robin.sections._against_psrl(swimmers, means, ~sure) == " (0 and 0 of 2 against PSRL alone)"


def test_where_nobody_has_any_regret_nobody_is_behind(robin):
    np.testing.assert_allclose(robin.duels.ratios(np.array([[0.0, 0.0], [0.0, 0.99]])), [[1, 1], [1, 100]])
    only_one_action = "garnet(3, 1, 2, seed=0)"
    field = make_field(robin, only_one_action, {"paper": BOLD, "again": BOLD}, episodes=3, seeds=2)
    np.testing.assert_allclose(field.means, 0.0, atol=1e-6)
    told = " ".join(robin.sections.furthest_behind(field).split())
    assert "1.0 times the regret" in told
    assert told.endswith("in 3 episodes nobody beats a player there that never learns.")
