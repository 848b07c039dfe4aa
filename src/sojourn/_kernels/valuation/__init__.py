"""Compiled policy evaluation along the steps that a policy can reach, for exact regret."""
