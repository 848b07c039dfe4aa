"""The report on a store: which experiments it shows, which it leaves out, and the width of figures."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from reference.comparisons import a_comparison

from sojourn.plots import new_figure
from sojourn.reports import Picture, describe_left_out, reported_trials, results_report


class Stored(list):
    """Fake results: two trials per experiment, with one comparison each."""

    folder = Path("a.results")

    def __init__(self, *names):
        super().__init__(
            SimpleNamespace(experiment=name, purpose="tuning" if name.startswith("chosen") else "evaluation")
            for name in names
            for _ in range(2)
        )

    def select(self, experiment):
        return SimpleNamespace(comparisons=lambda: [a_comparison([[[1, 2]] * 2], names=(experiment,))])


@pytest.mark.parametrize(
    ("names", "shown", "summary"),
    [
        (["a", "b"], ["a", "b"], "4 trials of 2 experiments."),
        (
            ["a", "chosen", "b-tuning"],
            ["a", "b-tuning"],
            "4 trials of 2 experiments. 1 tuning experiment is left out; --experiment NAME shows one.",
        ),
        (
            ["a", "chosen 1", "chosen 2"],
            ["a"],
            "2 trials of 1 experiment. 2 tuning experiments are left out; --experiment NAME shows one.",
        ),
        (["chosen"], ["chosen"], "2 trials of 1 experiment."),
    ],
)
def test_tuning_experiments_are_left_out_and_counted(names, shown, summary):
    results = Stored(*names)
    assert [trial.experiment for trial in reported_trials(results)] == [
        name for name in shown for _ in range(2)
    ]
    assert (describe_left_out(results) == "") == (names == shown)
    page = results_report(results, command="x")
    assert f'<p class="lead">{summary}</p>' in page
    headings = [part.partition(":")[0] for part in page.split("<h2>")[1:-1]]
    assert headings == shown


def test_only_figures_with_several_panels_are_wider_than_a_phone():
    page = results_report(Stored("a"), command="x")
    assert page.count('<div class="scroll"><img ') == 1
    wide, narrow = (Picture("p", "c", new_figure(n)[0]).is_wide for n in (3, 1))
    assert (wide, narrow) == (True, False)
