"""Public names of `sojourn.experiments`: the one list that `__init__.py` loads lazily from."""

from ._eta import (
    RemainingTime as RemainingTime,
)
from ._eta import (
    describe_long_run as describe_long_run,
)
from ._eta import (
    forecast as forecast,
)
from ._export import (
    export_csv as export_csv,
)
from ._export import (
    export_parquet as export_parquet,
)
from ._export import (
    is_export as is_export,
)
from ._results import (
    Results as Results,
)
from ._results import (
    load_results as load_results,
)
from ._run import (
    Failure as Failure,
)
from ._run import (
    Report as Report,
)
from ._run import (
    run_experiment as run_experiment,
)
from ._statistics import (
    bootstrap_interval as bootstrap_interval,
)
from ._statistics import (
    estimate_mean as estimate_mean,
)
from ._statistics import (
    interquartile_mean as interquartile_mean,
)
from ._statistics import (
    paired_difference as paired_difference,
)
from ._statistics import (
    probability_of_improvement as probability_of_improvement,
)
from ._statistics import (
    simultaneous_intervals as simultaneous_intervals,
)
from ._statistics import (
    standard_error as standard_error,
)
from ._tuning import (
    tune as tune,
)
from ._tuning import (
    tuning_name as tuning_name,
)
from .executors._base import (
    Executor as Executor,
)
from .executors._base import (
    ExecutorError as ExecutorError,
)
from .executors._base import (
    Job as Job,
)
from .executors._base import (
    Outcome as Outcome,
)
from .executors._in_process import (
    ThisProcess as ThisProcess,
)
from .executors._pool import (
    Processes as Processes,
)
from .executors._ray import (
    Ray as Ray,
)
from .spec._examples import (
    example_names as example_names,
)
from .spec._examples import (
    read_example as read_example,
)
from .spec._experiment import (
    Cell as Cell,
)
from .spec._experiment import (
    Experiment as Experiment,
)
from .spec._experiment import (
    read_experiment as read_experiment,
)
from .store._inventory import (
    Inventory as Inventory,
)
from .store._inventory import (
    take_inventory as take_inventory,
)
from .store._store import (
    Store as Store,
)
from .store._verify import (
    Finding as Finding,
)
from .store._verify import (
    Verdict as Verdict,
)
from .store._verify import (
    verify_store as verify_store,
)
from .trials._result import (
    TrialResult as TrialResult,
)
from .trials._trial import (
    RESULTS_VERSION as RESULTS_VERSION,
)
from .trials._trial import (
    Trial as Trial,
)
