"""Problems: finite Markov decision processes, built, read from Gymnasium or estimated.

Public names are listed once, in `__init__.pyi`, and are loaded when first used: few of them need Gymnasium.

Modules:
    `_tabular`: `TabularMDP`, the checked and frozen tables of a problem.
    `_transitions`, `_checks`: conversion and validation of the tables.
    `_builders`, `_bandits`, `_garnet`: ready-made and random problems.
    `_from_env`: problems from Gymnasium environments (the only module here that imports Gymnasium).
    `_from_transitions`: problems estimated from logged steps.
    `_outcomes`: lists of outcomes as tables, shared by the two modules above.
    `_describe`: facts about a problem, such as its diameter.
    `_tolerance`: the default tolerance of values on a problem.
    `_parse`: problems from text such as "river_swim(6)".
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
