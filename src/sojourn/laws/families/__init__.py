"""Parametric laws, one per file.

Modules:
    `_fixed`: one length for every episode. `_uniform`: all lengths between two bounds equally likely.
    `_geometric`: a constant chance of one more step, the law of ordinary discounting.
    `_quasi_hyperbolic`: geometric after a riskier first step (beta-delta discounting).
    `_polynomial`: heavy tails (hyperbolic discounting).
    `_negative_binomial`: several geometric stages in a row.
    `_discrete_weibull`: a hazard that falls or rises like a power of the step.
    `_log_logistic`, `_log_normal`: a hazard that first rises and then falls.
    `_beta_geometric`: geometric with a chance of stopping that differs between episodes.
    `_mixture`: several laws with weights. `_tabulated`: a survival function given as a table.
"""
