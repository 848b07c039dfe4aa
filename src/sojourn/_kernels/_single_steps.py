"""Parts of the episode loop as cached kernels of their own, for learners that play step by step in Python.

The functions behind them are inlined into larger kernels. Called from Python, they would be compiled in every
process, because what is inlined is not cached.
"""

from __future__ import annotations

from sojourn._kernels._jit import kernel
from sojourn._kernels._problem import ProblemArrays
from sojourn._kernels.learning import _assumed_law, _play, _tables
from sojourn._kernels.learning._assumed_law import AssumedLaw
from sojourn._kernels.learning._tables import Tables

__all__ = ["count_step", "find_state", "initialize_q_row", "number_state", "sample_successor"]

_find_state, _number_state, _count_step = _tables.find_state, _tables.number_state, _tables.count_step
_initialize_q_row, _sample_successor = _assumed_law.initialize_q_row, _play.sample_successor


@kernel
def find_state(tables: Tables, name: int) -> int:
    """Return the number of a state by its environment's name, or −1 if it was never seen."""
    return _find_state(tables, name)


@kernel
def number_state(tables: Tables, name: int) -> int:
    """Return the number of a state, assigning the next one if it is new; the tables must have room."""
    return _number_state(tables, name)


@kernel
def count_step(tables: Tables, state: int, action: int, successor: int, counts_arcs: bool) -> int:
    """Count a step between numbered states and return its pair; the tables must have room."""
    return _count_step(tables, state, action, successor, counts_arcs)


@kernel
def initialize_q_row(tables: Tables, assumed: AssumedLaw, pair: int) -> None:
    """Set Q of a new pair to the values that an unplayed pair has, so that the policy does not change."""
    _initialize_q_row(tables, assumed, pair)


@kernel
def sample_successor(problem: ProblemArrays, row: int, uniform: float) -> int:
    """Return the successor of row s·A + a that a uniform random number selects, by inversion."""
    return _sample_successor(problem, row, uniform)
