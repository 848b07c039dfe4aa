"""The report on a store: which experiments it shows, which it leaves out, and the width of figures."""

from __future__ import annotations

import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from reference.comparisons import a_comparison

from sojourn.plots import new_figure
from sojourn.reports import Picture, _results, describe_left_out, reported_trials, results_report
from sojourn.reports._findings import describe_best


class Stored(list):
    """Fake results: two trials per experiment, with one comparison each."""

    folder, gaps = Path("a.results"), ()

    def comparable(self):
        return self

    def __init__(self, *names):
        super().__init__(
            SimpleNamespace(
                experiment=name,
                purpose="tuning" if name.startswith("chosen") else "evaluation",
                key=f"{name} {seed}",
            )
            for name in names
            for seed in range(2)
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
    assert f'<p class="soft">{summary}</p>' in page
    headings = [part.partition(":")[0] for part in page.split("<h2>")[1:-1]]
    assert headings == shown


def test_trials_that_occur_twice_are_counted_once():
    results = Stored("a")
    results[1].key = results[0].key
    counts = "1 trial of 1 experiment. 1 more is the same as others and played once."
    assert f'<p class="soft">{counts}</p>' in results_report(results, command="x")


def test_only_figures_with_several_panels_are_wider_than_a_phone():
    page = results_report(Stored("a"), command="x")
    assert page.count('<div class="scroll"><img ') == 1
    wide, narrow = (Picture("p", "c", new_figure(n)[0]).is_wide for n in (3, 1))
    assert (wide, narrow) == (True, False)


def test_a_report_begins_with_what_was_found():
    page = results_report(Stored("a", "b"), command="x")
    assert '<p class="lead">Least mean regret in 2 cases: a in 1, b in 1.</p>' in page
    assert re.findall(r"Figure \d+\.", page.split("<figcaption>", 1)[1])[0] == "Figure 1."
    targets = re.findall(r'href="#([^"]+)"', page)
    assert len(targets) == 2
    assert all(f'<section id="{target}">' in page for target in targets)


@pytest.mark.parametrize(
    ("regret", "sentence"),
    [
        # Totals of five seeds: 10 on average, 24 and 140. Paired differences are the same on every seed.
        (
            [[9, 9, 10, 11, 11], [23, 23, 24, 25, 25], [139, 139, 140, 141, 141]],
            "Best: learner 0, total regret 10.0 ± 1.2, 14 times less than learner 2, 2.4 times less than the "
            "next, learner 1.",
        ),
        (
            [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1.1]],
            "Best: learner 0, total regret 3.0 ± 2.0, not clearly less than",
        ),
        (
            [[140, 140], [8, 12]],
            "Best: learner 1, total regret 10.0 (8.0 … 12.0), 14 times less than learner 0.",
        ),
        ([[5, 20], [10, 10]], "Best: learner 1, total regret 10.000, not clearly less than learner 0."),
        ([[0, 0], [10, 10]], "Best: learner 0, total regret 0, far less than learner 1."),
        ([[7, 7]], "learner 0: total regret 7.0000."),
        ([[math.nan] * 2] * 2, "The regret of no agent is known."),
    ],
)
def test_the_best_agent_is_named_with_how_much_better_it_is(regret, sentence):
    found = describe_best(a_comparison(np.asarray(regret, dtype=float)[:, :, np.newaxis]))
    assert found.startswith(sentence)


def test_a_page_shows_a_limited_number_of_comparisons_and_agents(monkeypatch):
    monkeypatch.setattr(_results, "_MOST_CHAPTERS", 2)
    page = results_report(Stored("a", "b", "c"), command="x")
    assert [part.partition(":")[0] for part in page.split("<h2>")[1:-1]] == ["a", "b"]
    assert "Only the first 2 comparisons are shown; --experiment NAME shows those of one experiment." in page
    monkeypatch.setattr(_results, "_MOST_AGENTS", 2)
    many = a_comparison([[[1, 2]] * 2] * 3, names=("x", "y", "z"))
    chapter = _results._chapter("a", many, "a law", is_alone=True)
    assert chapter.text.endswith("Only the first 2 of 3 agents are shown.")
    assert [row[0] for row in chapter.tables[0].rows] == ["x", "y"]
