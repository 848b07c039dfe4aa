"""Parts of `round_robin.py`: results, statistics and the sections of the page."""
