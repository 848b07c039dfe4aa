"""Sojourn: reinforcement learning when you don't know how long you've got.

A law of episode lengths is a (non-geometric) discount function. Names are loaded when first used, so that
importing the package is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sojourn import (
        agents,
        envs,
        errors,
        experiments,
        laws,
        learning,
        mdps,
        planning,
        plots,
        reports,
        reproduction,
        sessions,
        testing,
        theory,
    )
    from sojourn.agents import (
        D3RB,
        EQO,
        PSRL,
        UCBVI,
        Bernstein,
        DynamicBalancing,
        EpsilonGreedy,
        GeneralBernstein,
        Hoeffding,
        HorizonSelection,
        OptimalPlayer,
        PaperBonus,
        QLearning,
        RandomPlayer,
        SimpleBernstein,
        UCBVIGamma,
        UnknownLaw,
        load_learner,
    )
    from sojourn.experiments import load_results
    from sojourn.laws import (
        Band,
        BetaGeometric,
        DiscreteWeibull,
        Empirical,
        Fit,
        Fixed,
        Geometric,
        KaplanMeier,
        LengthLaw,
        MaximumLikelihood,
        Mixture,
        NegativeBinomial,
        Polynomial,
        QuasiHyperbolic,
        Tabulated,
        Uniform,
        fit,
        parse_law,
        survival_band,
    )
    from sojourn.learning import Comparison, Run, compare, learn
    from sojourn.mdps import TabularMDP, parse_problem
    from sojourn.planning import (
        Evaluation,
        Plan,
        clairvoyant_value,
        evaluate,
        load_plan,
        plan,
        price_of_not_knowing,
    )

__version__ = "0.1.0"

__all__ = [
    "D3RB",
    "EQO",
    "PSRL",
    "UCBVI",
    "Band",
    "Bernstein",
    "BetaGeometric",
    "Comparison",
    "DiscreteWeibull",
    "DynamicBalancing",
    "Empirical",
    "EpsilonGreedy",
    "Evaluation",
    "Fit",
    "Fixed",
    "GeneralBernstein",
    "Geometric",
    "Hoeffding",
    "HorizonSelection",
    "KaplanMeier",
    "LengthLaw",
    "MaximumLikelihood",
    "Mixture",
    "NegativeBinomial",
    "OptimalPlayer",
    "PaperBonus",
    "Plan",
    "Polynomial",
    "QLearning",
    "QuasiHyperbolic",
    "RandomPlayer",
    "Run",
    "SimpleBernstein",
    "TabularMDP",
    "Tabulated",
    "UCBVIGamma",
    "Uniform",
    "UnknownLaw",
    "agents",
    "clairvoyant_value",
    "compare",
    "envs",
    "errors",
    "evaluate",
    "experiments",
    "fit",
    "laws",
    "learn",
    "learning",
    "load_learner",
    "load_plan",
    "load_results",
    "mdps",
    "parse_law",
    "parse_problem",
    "plan",
    "planning",
    "plots",
    "price_of_not_knowing",
    "reports",
    "reproduction",
    "sessions",
    "survival_band",
    "testing",
    "theory",
]

_FOLDERS = (
    "agents",
    "envs",
    "errors",
    "experiments",
    "laws",
    "learning",
    "mdps",
    "planning",
    "plots",
    "reports",
    "reproduction",
    "sessions",
    "testing",
    "theory",
)
_HOMES = ("laws", "mdps", "planning", "agents", "learning", "experiments")
"""Where a name that is not a folder is looked for, cheapest import first."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sojourn' has no attribute {name!r}")
    if name in _FOLDERS:
        return importlib.import_module(f"sojourn.{name}")
    for home in _HOMES:
        module = importlib.import_module(f"sojourn.{home}")
        if name in module.__all__:
            globals()[name] = getattr(module, name)
            return globals()[name]
    raise AttributeError(f"module 'sojourn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
