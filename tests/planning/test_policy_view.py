"""What a plan does at which step: compared with the plan's own actions, and with hand calculations."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn.planning.policy_view import ShownPolicy, Stretch, decisions_on_map, view_plan

CASH = sj.mdps.cash_or_invest(5)
LAW = sj.Polynomial(1.4)


def test_the_docstring_of_cash_or_invest_is_what_the_view_says() -> None:
    view = view_plan(sj.plan(CASH, LAW))
    assert view.state_names == ("choice",)
    assert view.words(view.policies[0], 0) == "1–6 cash, from 7 invest"
    assert view.changes == (7,)
    assert view.summary() == "In 5 other states the action is the same at every step."
    name, loss = view.policies[1].name, view.policies[1].loss
    assert name.startswith("best single γ = ")
    assert loss == pytest.approx(sj.value_of_the_law(CASH, LAW).single_gamma.loss, abs=1e-12)


@pytest.mark.parametrize("law", [sj.Uniform(1, 12), sj.Fixed(7), sj.Geometric(0.9)])
def test_stretches_are_the_actions_of_the_plan(law: sj.LengthLaw) -> None:
    best = sj.plan(sj.mdps.garnet(8, 3, 2, seed=3), law)
    view = view_plan(best, single_gamma=False)
    for i, (state, first) in enumerate(zip(view.states, view.first_steps, strict=True)):
        parts = view.stretches(view.policies[0], i)
        assert parts[0].first == first
        assert parts[-1].last is None
        for h in range(first, view.last + 1):
            (part,) = [one for one in parts if one.first <= h and (one.last is None or h <= one.last)]
            assert part.action == best.action(state, h)


def test_states_that_cannot_be_reached_yet_are_left_out() -> None:
    view = view_plan(sj.plan(sj.mdps.river_swim(6), sj.Uniform(1, 40)), single_gamma=False)
    assert view.first_steps == tuple(state + 1 for state in view.states)


def test_given_policies_are_valued() -> None:
    view = view_plan(sj.plan(CASH, LAW), {"cash": np.zeros(6, dtype=int)}, single_gamma=False)
    given = view.policies[1]
    # Cash pays 0.1 at every step: 0.1 · Γ(1), and Γ(1) of h^−1.4 is ζ(1.4) = 3.105547.
    assert given.value == pytest.approx(0.1 * 3.1055472779775, abs=1e-6)
    assert view.earns(given) == "0.3106, 15% less"
    with pytest.raises(ValueError, match="must be a plan or actions of shape"):
        view_plan(sj.plan(CASH, LAW), {"cash": [0, 0]})


def test_a_policy_that_starts_again_repeats_its_rows() -> None:
    found = sj.value_of_the_law(CASH, sj.Fixed(9)).fixed_horizon
    one = ShownPolicy("H", found.policy, "restart", None, 0.0)
    rows = len(found.policy)
    assert one.actions(0, 3 * rows).tolist() == found.policy[:, 0].tolist() * 3


def test_a_loaded_plan_needs_its_problem_for_names(tmp_path: object) -> None:
    best = sj.plan(CASH, LAW)
    path = best.save(f"{tmp_path}/plan.npz")
    assert view_plan(sj.load_plan(path)).action_names == ("action 0", "action 1")
    assert view_plan(sj.load_plan(path, CASH)).action_names == ("cash", "invest")
    with pytest.raises(ValueError, match="load_plan"):
        view_plan(sj.load_plan(path), single_gamma=True)
    with pytest.raises(ValueError, match="mdp must be the problem of"):
        sj.load_plan(path, sj.mdps.river_swim(6))


def test_a_stretch_in_words() -> None:
    assert Stretch(3, 3, 0).words("wait") == "3 wait"
    assert Stretch(3, 1_500, 0).words("wait") == "3–1,500 wait"
    assert Stretch(7, None, 0).words("wait") == "from 7 wait"


def test_the_map_of_frozen_lake_leaves_out_holes_and_the_goal() -> None:
    lake = sj.TabularMDP.from_env("FrozenLake-v1", is_slippery=False)
    found = decisions_on_map(sj.plan(lake, sj.Fixed(20)))
    desc = ["SFFF", "FHFH", "FFFH", "HFFG"]
    holes = np.array([[cell in "HG" for cell in row] for row in desc])
    assert ((found.actions[0] < 0) == holes).all()
    assert found.detail == ""


def test_the_map_of_taxi_says_where_the_passenger_is() -> None:
    best = sj.plan(sj.TabularMDP.from_env("Taxi-v4"), sj.Uniform(1, 30))
    found = decisions_on_map(best)
    assert found.actions.shape == (len(best.policy), 5, 5)
    assert found.detail.startswith("passenger")
    assert found.changes.sum() == max(
        (best.policy[1:, scene:500:20] != best.policy[:-1, scene:500:20]).sum() for scene in _open_scenes()
    )


def test_the_map_of_taxi_shows_places_that_occur_if_no_action_ever_changes() -> None:
    found = decisions_on_map(sj.plan(sj.TabularMDP.from_env("Taxi-v4"), sj.Geometric(0.9)))
    assert (found.actions >= 0).all()
    assert not found.changes.any()


def _open_scenes() -> list[int]:
    """Scenes that can be reached: the passenger is never at the destination while the taxi is under way."""
    return [place * 4 + goal for place in range(5) for goal in range(4) if place != goal]


@pytest.mark.parametrize(
    ("mdp", "law"),
    [
        (sj.mdps.river_swim(6), sj.Fixed(3)),
        (sj.mdps.chain(5), sj.Uniform(1, 4)),
        (sj.mdps.river_swim(4), sj.Tabulated((1.0, 0.5, 0.2))),
    ],
)
def test_states_that_no_episode_reaches_in_time_are_not_shown(mdp, law):
    plan = sj.plan(mdp, law)
    view = view_plan(plan)
    assert all(first <= law.longest for first in view.first_steps)
    assert plan.describe()
    assert plan.plot() is not None


def _alternating(n_steps: int) -> sj.Plan:
    """Return a plan without its problem whose action in its only state alternates for `n_steps` steps."""
    zero = np.zeros(1)
    policy = (np.arange(n_steps) % 2).astype(np.uint8)[:, None]
    return sj.Plan(policy, zero, zero, zero, sj.Geometric(0.9), "toy")


def test_only_the_first_changes_of_a_state_are_written_out() -> None:
    words = "".join(f"{step} action {1 - step % 2}, " for step in range(1, 21))
    text = _alternating(1_000).describe()
    assert text == f"toy, lengths from Geometric(0.9)\nIn state 0: steps {words}and 980 more changes."
    assert "20 action 1, and 1 more change." in _alternating(21).describe()
    assert _alternating(20).describe().endswith("19 action 0, from 20 action 1.")


def test_only_the_first_changes_of_a_state_are_drawn() -> None:
    best = _alternating(1_000)
    view = view_plan(best)
    parts = view.stretches(view.policies[0], 0)
    assert parts == tuple(Stretch(step, step, 1 - step % 2) for step in range(1, 201))
    assert view.changes == (*range(2, 201), 1_000)
    note = "Strips end after the first 200 changes of a state."
    assert view.drawn() == note
    assert note in best._repr_html_()
    assert note in best.plot().axes[0].get_xlabel()
    assert view_plan(_alternating(200)).drawn() == ""
