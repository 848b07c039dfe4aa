"""Parts shared by all tabular learners: base class, growing tables, compiled play, views and files.

- `_learner.py`: `TabularLearner`, the base class.
- `_compiled_play.py`: plays blocks of episodes in compiled code.
- `_table_memory.py`: allocates tables and scratch buffers.
- `_bookkeeping.py`, `_reward_map.py`, `_checks.py`: parts of the base class.
- `_table_views.py`: read-only views of counts and Q values.
- `_storage.py`: saves and loads learners.
"""
