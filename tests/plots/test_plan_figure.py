"""The figure of a plan: strips on small problems, arrows on maps."""

from __future__ import annotations

from matplotlib.patches import Rectangle

import sojourn as sj
from sojourn.plots import plan_figure
from sojourn.plots.policies._strips import ActionColors

CASH = sj.mdps.cash_or_invest(5)


def test_every_policy_has_a_strip_with_its_actions() -> None:
    figure = sj.plan(CASH, sj.Polynomial(1.4)).plot({"always cash": [0] * 6})
    strips, earnings = figure.axes
    assert strips.get_yticklabels()[0].get_text() == "plan for Polynomial(1.4)"
    assert len([one for one in strips.patches if isinstance(one, Rectangle)]) == 4  # cash, invest; cash; cash
    words = {text.get_text() for text in strips.texts}
    assert words == {"cash", "invest"}
    assert "0.3638" in {text.get_text() for text in earnings.texts}


def test_names_are_not_parsed_as_formulas() -> None:
    mdp = sj.TabularMDP(CASH.transitions, CASH.rewards, action_names=["$cash$", "_in^vest"], name="a$b$")
    figure = plan_figure(sj.plan(mdp, sj.Uniform(1, 30)), single_gamma=False)
    figure.canvas.draw()
    assert "$cash$" in {text.get_text() for text in figure.axes[0].texts}


def test_a_map_is_drawn_at_the_steps_at_which_it_changes() -> None:
    lake = sj.TabularMDP.from_env("FrozenLake-v1")
    figure = plan_figure(sj.plan(lake, sj.Fixed(20)), single_gamma=False)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[0] == "Step 1"
    assert titles[-1] == "Step 20"
    still = plan_figure(sj.plan(lake, sj.Geometric(0.9)))
    assert [axes.get_title(loc="left") for axes in still.axes] == ["Every step"]


def test_a_notebook_shows_the_strip() -> None:
    card = sj.plan(CASH, sj.Polynomial(1.4))._repr_html_()
    assert "<svg" in card
    assert "cash: steps 1–6" in card
    hostile = sj.TabularMDP(CASH.transitions, CASH.rewards, action_names=["<b>", "&"], name="<script>")
    assert "<script" not in sj.plan(hostile, sj.Polynomial(1.4))._repr_html_()


def test_a_legend_names_a_limited_number_of_actions() -> None:
    patches, words = ActionColors({a: f"a{a}" for a in range(100)}).legend()
    assert len(patches) == len(words) == 24
    assert words[-1] == "77 others"
    assert ActionColors({0: "stay", 1: "go"}).legend()[1] == ["stay", "go"]
