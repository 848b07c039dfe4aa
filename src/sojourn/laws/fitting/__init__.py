"""Parametric families of laws fitted by maximum likelihood.

Modules:
    `_likelihood`: `fit`, its result `Fit`, the estimator `MaximumLikelihood` and the table `FAMILIES`.
    `_family`: the base classes of families, and their result `Solution`.
    `_closed_form_families`: geometric and quasi-hyperbolic laws, solved in closed form.
    `_polynomial_family`: polynomial laws, by Newton's method in the power for each offset.
    `_numeric_families`: all others, by numerical maximization.
    `_optimizer`: the maximization routine, a damped Newton method in a box.
"""
