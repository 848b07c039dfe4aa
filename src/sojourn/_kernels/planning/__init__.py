"""Compiled loops of exact planning: backward induction, policy evaluation and tail certificates."""
