"""Sums and special functions that keep their precision far out in the tails."""
