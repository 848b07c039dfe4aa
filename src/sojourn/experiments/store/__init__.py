"""The store: a folder with one immutable file per trial."""
