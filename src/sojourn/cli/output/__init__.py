"""What commands print: tables, numbers, progress, plots and help."""
