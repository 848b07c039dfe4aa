"""One trial: its identity, how it is played, and its file."""
