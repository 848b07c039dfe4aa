"""What commands print: results, messages, tables, numbers, progress, plots and help."""
