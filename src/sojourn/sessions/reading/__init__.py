"""Reading session logs from CSV and Parquet files."""
