"""Makes Ctrl-C work in all tests, and leaves out what needs stable-baselines3 where it is not installed.

`make deep` runs the tests that are left out.
"""

import signal
from importlib.util import find_spec

collect_ignore = [] if find_spec("stable_baselines3") else ["src/sojourn/sb3", "tests/sb3"]

# A shell starts background commands with SIGINT ignored; Python and the processes of tests inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
