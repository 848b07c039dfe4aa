"""Public names of Sojourn: the one list that `__init__.py` loads lazily from."""

from . import (
    agents as agents,
)
from . import (
    behavior as behavior,
)
from . import (
    envs as envs,
)
from . import (
    errors as errors,
)
from . import (
    experiments as experiments,
)
from . import (
    laws as laws,
)
from . import (
    learning as learning,
)
from . import (
    mdps as mdps,
)
from . import (
    planning as planning,
)
from . import (
    plots as plots,
)
from . import (
    reports as reports,
)
from . import (
    reproduction as reproduction,
)
from . import (
    sessions as sessions,
)
from . import (
    testing as testing,
)
from . import (
    theory as theory,
)
from .agents import (
    D3RB as D3RB,
)
from .agents import (
    EQO as EQO,
)
from .agents import (
    PSRL as PSRL,
)
from .agents import (
    UCBVI as UCBVI,
)
from .agents import (
    Bernstein as Bernstein,
)
from .agents import (
    DynamicBalancing as DynamicBalancing,
)
from .agents import (
    EpsilonGreedy as EpsilonGreedy,
)
from .agents import (
    GeneralBernstein as GeneralBernstein,
)
from .agents import (
    Hoeffding as Hoeffding,
)
from .agents import (
    HorizonSelection as HorizonSelection,
)
from .agents import (
    MonotoneBernstein as MonotoneBernstein,
)
from .agents import (
    OptimalPlayer as OptimalPlayer,
)
from .agents import (
    PaperBonus as PaperBonus,
)
from .agents import (
    QLearning as QLearning,
)
from .agents import (
    RandomPlayer as RandomPlayer,
)
from .agents import (
    SimpleBernstein as SimpleBernstein,
)
from .agents import (
    UCBVIGamma as UCBVIGamma,
)
from .agents import (
    UnknownLaw as UnknownLaw,
)
from .agents import (
    load_learner as load_learner,
)
from .experiments import (
    load_results as load_results,
)
from .laws import (
    Band as Band,
)
from .laws import (
    BetaGeometric as BetaGeometric,
)
from .laws import (
    DiscreteWeibull as DiscreteWeibull,
)
from .laws import (
    Empirical as Empirical,
)
from .laws import (
    Fit as Fit,
)
from .laws import (
    Fixed as Fixed,
)
from .laws import (
    Geometric as Geometric,
)
from .laws import (
    KaplanMeier as KaplanMeier,
)
from .laws import (
    LengthLaw as LengthLaw,
)
from .laws import (
    LogLogistic as LogLogistic,
)
from .laws import (
    LogNormal as LogNormal,
)
from .laws import (
    MaximumLikelihood as MaximumLikelihood,
)
from .laws import (
    Mixture as Mixture,
)
from .laws import (
    NegativeBinomial as NegativeBinomial,
)
from .laws import (
    Polynomial as Polynomial,
)
from .laws import (
    QuasiHyperbolic as QuasiHyperbolic,
)
from .laws import (
    Tabulated as Tabulated,
)
from .laws import (
    Uniform as Uniform,
)
from .laws import (
    fit as fit,
)
from .laws import (
    parse_law as parse_law,
)
from .laws import (
    survival_band as survival_band,
)
from .learning import (
    Comparison as Comparison,
)
from .learning import (
    Run as Run,
)
from .learning import (
    compare as compare,
)
from .learning import (
    learn as learn,
)
from .learning import (
    load_comparison as load_comparison,
)
from .mdps import (
    TabularMDP as TabularMDP,
)
from .mdps import (
    parse_problem as parse_problem,
)
from .planning import (
    Evaluation as Evaluation,
)
from .planning import (
    Plan as Plan,
)
from .planning import (
    PolicyLoss as PolicyLoss,
)
from .planning import (
    ValueOfTheLaw as ValueOfTheLaw,
)
from .planning import (
    clairvoyant_value as clairvoyant_value,
)
from .planning import (
    evaluate as evaluate,
)
from .planning import (
    load_plan as load_plan,
)
from .planning import (
    plan as plan,
)
from .planning import (
    price_of_not_knowing as price_of_not_knowing,
)
from .planning import (
    value_of_the_law as value_of_the_law,
)

__version__: str
