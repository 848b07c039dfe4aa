"""Where rows come from: files, folders and streams, SQLite and Parquet files, and tables in memory."""

from sojourn.sessions.reading.sources._open import open_source

__all__ = ["open_source"]
