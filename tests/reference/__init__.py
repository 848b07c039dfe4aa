"""Independent reference implementations: slow, short and in plain NumPy."""
