"""Compiled loops of learners: play, learning updates and replanning."""
