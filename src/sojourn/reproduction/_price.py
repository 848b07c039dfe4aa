"""Chapter "price": lengths as discounts, what not knowing the length costs, and Lemmas 1 and 2."""

from __future__ import annotations

import numpy as np

from sojourn.laws import label, parse_law
from sojourn.mdps import parse_problem
from sojourn.planning import clairvoyant_value, plan
from sojourn.plots import dots_figure, make_dots
from sojourn.reports import Chapter, Picture, ReportTable
from sojourn.reproduction._runner import ExperimentRunner
from sojourn.reproduction.claims import equivalence, lemma_1, lemma_2, same_minimizers

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
"""Prices below this share of the clairvoyant value count as 0; it is the tolerance of plans."""


def price(runner: ExperimentRunner) -> Chapter:
    """Compare clairvoyant and best blind values on problems and laws, by planning alone."""
    problems, laws = (_PROBLEMS[:3], _LAWS[:2]) if runner.quick else (_PROBLEMS, _LAWS)
    parsed_laws = [parse_law(text) for text in laws]
    values = np.array(
        [[runner.remember(_values, like=(0.0, 0.0), problem=p, law=law) for law in laws] for p in problems]
    )
    clairvoyant, blind = values[:, :, 0], values[:, :, 1]
    relative = (clairvoyant - blind) / np.maximum(np.abs(clairvoyant), 1e-12)
    smallest = float(relative.min())
    relative[relative < _TOLERANCE] = 0.0
    rows = [
        (
            problem,
            label(law),
            f"{clairvoyant[i, j]:.5f}",
            f"{blind[i, j]:.5f}",
            _price_text(clairvoyant[i, j] - blind[i, j], relative[i, j]),
        )
        for i, problem in enumerate(problems)
        for j, law in enumerate(parsed_laws)
    ]
    claims = (
        same_minimizers(),
        equivalence(),
        lemma_1(int((relative > 0.0).sum()), relative.size),
        lemma_2(smallest, relative.size),
    )
    figure = dots_figure(
        make_dots(problems, [label(law) for law in parsed_laws], relative),
        title="The price of not knowing the length",
        x="share of the clairvoyant value",
    )
    caption = "What knowing the length in advance would add, as a share of the clairvoyant value."
    return Chapter(
        "price",
        "The price of not knowing",
        "Values of the clairvoyant, which knows each length in advance, and of the best blind policy, which "
        "does not. Both are computed by exact planning.",
        (Picture("price", caption, figure),),
        (
            ReportTable(
                "Values of the start state", ("problem", "law", "clairvoyant", "best blind", "price"), rows
            ),
        ),
        claims,
    )


def _price_text(price: float, share: float) -> str:
    return f"{price:.3g}" if share > 0.0 else "0 (to 1e-6)"


def _values(problem: str, law: str) -> tuple[float, float]:
    """Return the clairvoyant value of the start state, and that of the best blind policy."""
    mdp, true = parse_problem(problem), parse_law(law)
    return float(mdp.start @ clairvoyant_value(mdp, true)), float(mdp.start @ plan(mdp, true).value)
