"""Reading logs: any source becomes tables, batches of columns, checked rows, and at last a log."""
