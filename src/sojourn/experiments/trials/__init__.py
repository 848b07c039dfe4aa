"""One trial: its identity (`_trial`), how it is played (`_play`), its file (`_archive`) and its result."""
