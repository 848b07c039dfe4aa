"""Figures of policies: strips of actions, arrows on maps, agents that change their minds."""
