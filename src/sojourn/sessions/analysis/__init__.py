"""Analysis of session logs: fits, their ranking and checks, what the data show, groups, prices, intervals."""
