"""Public names of `sojourn.mdps`: the one list that `__init__.py` loads lazily from."""

from ._bandits import (
    rare_choice as rare_choice,
)
from ._bandits import (
    waiting_bandit as waiting_bandit,
)
from ._builders import (
    cash_or_invest as cash_or_invest,
)
from ._builders import (
    chain as chain,
)
from ._builders import (
    deep_sea as deep_sea,
)
from ._builders import (
    river_swim as river_swim,
)
from ._builders import (
    two_paths as two_paths,
)
from ._describe import (
    ProblemFacts as ProblemFacts,
)
from ._describe import (
    describe as describe,
)
from ._from_env import (
    make_env as make_env,
)
from ._from_env import (
    modules_of_env as modules_of_env,
)
from ._from_env import (
    name_env as name_env,
)
from ._from_env import (
    wrapper_hiding_table as wrapper_hiding_table,
)
from ._garnet import (
    garnet as garnet,
)
from ._parse import (
    BUILDERS as BUILDERS,
)
from ._parse import (
    GYMNASIUM_IDS as GYMNASIUM_IDS,
)
from ._parse import (
    NamedProblem as NamedProblem,
)
from ._parse import (
    parse_problem as parse_problem,
)
from ._parse import (
    read_problem as read_problem,
)
from ._tabular import (
    TabularMDP as TabularMDP,
)
from ._tabular import (
    is_size_label as is_size_label,
)
from ._tolerance import check_tolerance as check_tolerance
from ._tolerance import default_tolerance as default_tolerance
