"""The price of not knowing the length: Lemma 1 and what is true."""

from __future__ import annotations

import numpy as np

from sojourn.laws import Fixed, LengthLaw, Mixture, label, parse_law
from sojourn.mdps import TabularMDP, parse_problem, two_paths
from sojourn.planning import clairvoyant_value, plan
from sojourn.plots import dots_figure, make_dots
from sojourn.reports import Chapter, Claim, Picture, Table, Verdict
from sojourn.reproduction._runner import Workbench

__all__ = ["price"]

_PROBLEMS = (
    "two_paths()",
    "river_swim(6)",
    "cash_or_invest(5)",
    "chain(8)",
    "garnet(20, 3, 3, seed=0)",
    "Taxi-v4",
)
_LAWS = (
    "geometric(0.9)",
    "uniform(1, 20)",
    "quasi_hyperbolic(0.7, gamma=0.95)",
    "negative_binomial(2.0, gamma=0.8)",
    "polynomial(1.6, offset=5)",
)

_TOLERANCE = 1e-6
"""Of plans: what is less, as a share of the clairvoyant value, is taken for 0."""


def price(bench: Workbench) -> Chapter:
    """Clairvoyant and best blind values over problems and laws: pure planning, nothing is played."""
    problems, laws = (_PROBLEMS[:3], _LAWS[:2]) if bench.quick else (_PROBLEMS, _LAWS)
    mdps = [parse_problem(text) for text in problems]
    found = [parse_law(text) for text in laws]
    values = np.array([[_values(mdp, law) for law in found] for mdp in mdps])
    told, blind = values[:, :, 0], values[:, :, 1]
    relative = (told - blind) / np.maximum(np.abs(told), 1e-12)
    relative[relative < _TOLERANCE] = 0.0
    rows = [
        (
            problem,
            label(law),
            f"{told[i, j]:.5f}",
            f"{blind[i, j]:.5f}",
            _price(told[i, j] - blind[i, j], relative[i, j]),
        )
        for i, problem in enumerate(problems)
        for j, law in enumerate(found)
    ]
    law = Mixture([0.5, 0.5], [Fixed(1), Fixed(10)])
    knows, guesses = _values(two_paths(), law)
    claim = Claim(
        "Lemma 1",
        "Regret against the best blind policy bounds regret against who is told each length in advance.",
        Verdict.FAILS,
        f"On three states with H = 1 or 10 (two_paths) the clairvoyant earns {knows:.1f}, the best blind "
        f"policy {guesses:.1f}: regret against the clairvoyant is linear for every learner. The price is "
        f"positive in {int((relative > 0.0).sum())} of {relative.size} cases here.",
    )
    figure = dots_figure(
        make_dots(problems, [label(law) for law in found], relative),
        title="The price of not knowing the length",
        x="share of the clairvoyant value",
    )
    caption = "What being told the length in advance would add, as a share of the clairvoyant value."
    return Chapter(
        "price",
        "The price of not knowing",
        "The best policy of someone who is told each length in advance, and the best blind one. Exact "
        "planning.",
        (Picture("price", caption, figure),),
        (Table("Values from the start", ("problem", "law", "clairvoyant", "best blind", "price"), rows),),
        (claim,),
    )


def _price(price: float, share: float) -> str:
    return f"{price:.3g}" if share > 0.0 else "0 to within 1e-6"


def _values(mdp: TabularMDP, law: LengthLaw) -> tuple[float, float]:
    return float(mdp.start @ clairvoyant_value(mdp, law)), float(mdp.start @ plan(mdp, law).value)
