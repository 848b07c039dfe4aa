"""Public conformance suites: what every law must keep, to be called on your own."""

from __future__ import annotations

from sojourn.testing._laws import check_law

__all__ = ["check_law"]
