"""Where trials are played: this process, worker processes or a Ray cluster."""
