"""Parametric laws, one per file."""
