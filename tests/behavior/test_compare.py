"""Agents side by side, tasks from the literature, and the figure."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn import behavior
from sojourn.plots import behavior_cells


def test_the_table_says_who_does_what_at_what_cost():
    law = behavior.beta_delta(0.5, steps=4)
    found = behavior.compare(
        behavior.tasks.report(), law, deadline=4, perceived=behavior.beta_delta(0.9, steps=4)
    )
    rows = {row["agent"]: row for row in found.rows()}
    # By hand: the committed student writes in week 2 for ½·5, the naive one in week 4 for ½·13.
    assert [rows[kind]["value"] for kind in rows] == [-2.5, -2.5, -6.5, -6.5]
    assert rows["naive"]["what it does"] == "1–3 wait"
    assert rows["sophisticated"]["what it does"] == "1 wait, 2 write"
    assert rows["naive"]["cost"] == 4.0
    assert rows["naive"]["demand for commitment"] == 0.0
    assert "1 wait, 2 write" in repr(found)
    assert "committed" in found._repr_html_()


def test_commitment_is_bought_by_the_sophisticated_only():
    mdp = behavior.tasks.sooner_later(1.0, 1.5, delay=3, front_end_delay=3, commitment_cost=0.02)
    found = behavior.compare(mdp, behavior.beta_delta(0.6, 0.95))
    rows = {row["agent"]: str(row["what it does"]) for row in found.rows()}
    assert rows["committed"] == "1–4 wait"
    assert "commit" in rows["sophisticated"]
    assert rows["naive"].endswith("take sooner")
    # Seen from step 1: 1.5 β δ^6 for waiting, 1.0 β δ^3 for giving in.
    assert found.agents[0].value[0] == pytest.approx(1.5 * 0.6 * 0.95**6, abs=1e-6)
    assert found.agents[2].value[0] == pytest.approx(0.6 * 0.95**3, abs=1e-6)


def test_the_tempting_good_is_harmful_in_the_long_run():
    found = behavior.compare(behavior.tasks.tempting_good(), behavior.beta_delta(0.5, 0.95))
    committed, aware, unaware = found.agents
    assert committed.cost == 0.0
    assert 0.0 < aware.cost < unaware.cost
    assert aware.demand_for_commitment == pytest.approx(aware.cost)


def test_savings_keep_probability():
    mdp = behavior.tasks.savings(wealth=6, most=2, shock=0.3, loss=3)
    assert np.allclose(mdp.transitions.sum(axis=1), 1.0)
    found = behavior.compare(mdp, behavior.beta_delta(0.5, 0.9), sensitivity=10.0)
    assert "or more)" in repr(found)
    assert found.agents[1].outcome == "stationary"


def test_the_figure_shows_runs_of_actions():
    law = sj.Tabulated(1.0 / (1.0 + np.arange(11.0)))
    found = behavior.compare(behavior.tasks.restaurants(), law, deadline=11)
    cells = behavior_cells(found)
    assert cells.agents == ("committed", "sophisticated", "naive")
    up, left = 0, 2
    assert cells.runs[2] == ((1, 4, up, 1.0), (5, 5, left, 1.0))
    figure = found.plot()
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts.count("up") == 6
    assert figure.axes[1].get_xlabel() == "value, seen from step 1"


def test_the_figure_says_that_nothing_is_lost():
    patient = behavior.compare(behavior.tasks.report(), behavior.beta_delta(1.0, steps=4), deadline=4)
    costs = patient.plot().axes[1]
    assert [text.get_text().split(":")[0] for text in costs.texts] == ["Nothing"]
    assert not costs.patches


def test_wrong_tasks_are_refused():
    with pytest.raises(ValueError, match=r"costs\[1\] must be a finite number ≥ 0; got -3"):
        behavior.tasks.report([1, -3])
    with pytest.raises(ValueError, match="at least one Saturday"):
        behavior.tasks.report([])
    with pytest.raises(ValueError, match=r"pays must be for Donut North, .*; got 'Pizza'"):
        behavior.tasks.restaurants({"Pizza": (1.0, 0.0)})
