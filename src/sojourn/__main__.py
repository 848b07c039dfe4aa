"""`python -m sojourn`: the command line."""

from __future__ import annotations

from sojourn.cli import main

if __name__ == "__main__":
    main()
