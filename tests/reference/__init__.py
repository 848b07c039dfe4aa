"""Plain references: slow, short, and written without the package's own machinery."""
