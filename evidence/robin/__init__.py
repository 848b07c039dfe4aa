"""The page of the round robin, made by code."""
