"""Output of commands: results, messages, tables, numbers, progress, plots and help."""
