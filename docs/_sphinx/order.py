"""Sphinx extension: reference pages begin with the names that are used most; the others follow by name."""

from __future__ import annotations

import importlib

from sphinx.application import Sphinx
from sphinx.ext.autodoc.mock import mock

_FIRST = {
    "laws": "LengthLaw Geometric Fixed Uniform Polynomial QuasiHyperbolic NegativeBinomial DiscreteWeibull "
    "BetaGeometric LogNormal LogLogistic Mixture Tabulated Empirical KaplanMeier fit Fit parse_law read_law",
    "mdps": "TabularMDP describe river_swim chain deep_sea garnet two_paths cash_or_invest",
    "planning": "plan Plan evaluate Evaluation clairvoyant_value price_of_not_knowing value_of_the_law "
    "ValueOfTheLaw PolicyLoss load_plan",
    "agents": "UCBVI UnknownLaw PSRL QLearning UCBVIGamma EpsilonGreedy RandomPlayer OptimalPlayer "
    "HorizonSelection D3RB DynamicBalancing PaperBonus Hoeffding Bernstein GeneralBernstein SimpleBernstein "
    "EQO MonotoneBernstein Agent Learner",
    "learning": "learn Run compare Comparison load_comparison",
    "envs": "RandomLength LawDiscount StepIndex TabularEnv",
    "sb3": "prepare evaluate_policy tabulate LawReplayBuffer LawRolloutBuffer",
    "sessions": "read_sessions read_steps analyze Analysis SessionLog StepLog sample_path",
    "behavior": "compare committed naive sophisticated partially_naive Decisions AgentComparison beta_delta "
    "tasks all_equilibria fit_choices ChoiceFit compare_families read_choices analyze_choices analyze_design",
    "experiments": "read_experiment run_experiment load_results",
    "theory": "proven_bound lower_bound proven_horizon",
    "plots": "plan_figure law_figure session_figure comparison_figure run_figure panels_figure "
    "value_of_the_law_figure choice_fit_figure behavior_figure save_figure",
    "reports": "session_report results_report reproduction_report choice_report write_page",
    "reproduction": "reproduce Reproduction PARTS",
}


def sort_names(app: Sphinx) -> None:
    """Put these names first in `__all__` of their modules, whose order autodoc follows."""
    for name, first in _FIRST.items():
        with mock(app.config.autodoc_mock_imports):
            module = importlib.import_module(f"sojourn.{name}")
        listed, wanted = list(module.__all__), first.split()
        missing = set(wanted) - set(listed)
        if missing:
            raise ValueError(f"sojourn.{name} must have the names in docs/_sphinx/order.py; lacks {missing}.")
        module.__all__ = [*wanted, *(other for other in listed if other not in wanted)]  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("builder-inited", sort_names)
    return {"parallel_read_safe": True}
