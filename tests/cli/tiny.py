"""A tiny experiment."""

from __future__ import annotations

SPEC = """\
problem = "river_swim(3)"
law = "fixed(4)"
episodes = 20
seeds = 2

[agents.chance]
type = "random"

[agents.twin]
type = "random"
"""
