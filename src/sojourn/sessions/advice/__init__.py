"""Explains an analysis of a session log in plain words, one module per topic."""
