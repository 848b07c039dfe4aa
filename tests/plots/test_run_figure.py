import numpy as np
import pytest

import sojourn as sj
from sojourn.learning import Run
from sojourn.plots import draw_run, new_figure, run_curves, run_figure


def a_run(regret, rewards=None, problem="a $problem$"):
    n = len(regret if regret is not None else rewards)
    zeros = np.zeros(n)
    return Run(
        agent=sj.RandomPlayer(),
        problem=problem,
        law=sj.Fixed(2),
        seed=5,
        starts=np.zeros(n, dtype=int),
        lengths=np.full(n, 2),
        observed=np.ones(n, dtype=bool),
        rewards=zeros if rewards is None else np.asarray(rewards, dtype=float),
        regret=None if regret is None else np.asarray(regret, dtype=float),
        regret_width=None if regret is None else zeros,
        price=zeros,
    )


def test_few_episodes_are_all_drawn():
    curves = run_curves(a_run([3.0, 1.0, 2.0]))
    assert curves.k.tolist() == [1, 2, 3]
    assert curves.single.tolist() == [3.0, 1.0, 2.0]
    assert curves.cumulative.tolist() == [3.0, 4.0, 6.0]
    assert curves.edges.tolist() == [1, 2, 3, 4]
    assert curves.binned.tolist() == [3.0, 1.0, 2.0]
    assert (curves.learner, curves.setting) == (
        "RandomPlayer",
        "a $problem$, lengths from Fixed(2), seed 5",
    )


def test_bins_widen_and_their_means_add_up_to_the_total():
    regret = np.random.default_rng(0).random(3_000)
    curves = run_curves(a_run(regret))
    widths = np.diff(curves.edges)
    assert (curves.edges[0], curves.edges[-1]) == (1, 3_001)
    assert curves.binned.size <= 30
    assert widths[-1] > 100 * widths[0]
    assert (curves.binned * widths).sum() == pytest.approx(regret.sum())
    last = slice(curves.edges[-2] - 1, curves.edges[-1] - 1)
    assert curves.binned[-1] == pytest.approx(regret[last].mean())
    assert curves.k.size <= 600
    np.testing.assert_allclose(curves.cumulative, np.cumsum(regret)[curves.k - 1])


def test_rewards_are_drawn_if_there_is_no_regret():
    curves = run_curves(a_run(None, rewards=[1.0, -2.0]))
    assert curves.quantity == "reward"
    assert curves.cumulative.tolist() == [1.0, -1.0]
    figure = a_run(None, rewards=[1.0, -2.0]).plot()
    assert [panel.get_title(loc="left") for panel in figure.axes] == [
        "Cumulative reward",
        "Reward per episode",
    ]


def test_plot_gives_two_panels_that_show_the_data():
    run = a_run(np.linspace(1.0, 0.0, 50))
    curves, figure = run_curves(run), run.plot()
    cumulative, single = figure.axes
    assert [cumulative.get_title(loc="left"), single.get_title(loc="left")] == [
        "Cumulative regret",
        "Regret per episode",
    ]
    np.testing.assert_array_equal(cumulative.get_lines()[0].get_ydata(), curves.cumulative)
    np.testing.assert_array_equal(single.get_lines()[0].get_ydata(), curves.single)
    np.testing.assert_array_equal(single.patches[0].get_data().values, curves.binned)
    assert (cumulative.get_xscale(), single.get_xscale()) == ("linear", "log")
    assert cumulative.get_ylim()[0] == 0.0
    assert figure.get_suptitle() == f"RandomPlayer\n{curves.setting}"


def test_text_of_users_is_not_parsed_as_math():
    run = a_run([1.0], problem="$\\bad{")
    assert not run.plot()._suptitle.get_parse_math()
    assert run.plot()._repr_png_().startswith(b"\x89PNG")


def test_long_titles_are_broken_into_lines():
    lines = a_run([1.0], problem="word " * 60).plot().get_suptitle().splitlines()
    assert lines[0] == "RandomPlayer"
    assert len(lines) > 3  # 300 letters and more below
    assert max(map(len, lines)) <= 110


def test_all_axes_can_be_logarithmic():
    figure = a_run([1.0, 0.5, 0.0, -1e-12]).plot(log=True)
    assert {panel.get_yscale() for panel in figure.axes} == {"log"}
    assert {panel.get_xscale() for panel in figure.axes} == {"log"}
    figure._repr_png_()
    with pytest.raises(ValueError, match=r"^log must be False where no regret is positive; got True\.$"):
        a_run([0.0, -1e-12]).plot(log=True)


@pytest.mark.parametrize("regret", [[0.0], [1.0], [0.0, 0.0], [-1.0, 1.0], np.ones(20_000)], ids=len)
def test_extreme_trials_can_be_drawn(regret):
    assert a_run(regret).plot()._repr_png_().startswith(b"\x89PNG")


def test_plot_on_given_axes_draws_the_cumulative_regret_there():
    figure, (panel, other) = new_figure(2)
    run = a_run([1.0, 2.0])
    assert run.plot(panel) is run_figure(run, ax=panel) is figure
    assert panel.get_title(loc="left") == "Cumulative regret"
    assert not other.get_lines()
    draw_run(run_curves(run), [other])
    assert other.get_lines()[0].get_ydata().tolist() == [1.0, 3.0]
