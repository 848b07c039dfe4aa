"""Compiled loops of decision makers whose clock restarts: their choices, from the last step back."""
