"""Sums and special functions that stay accurate far out in the tails.

Modules:
    `_series`: infinite sums by direct summation and the Euler–Maclaurin formula.
    `_special`: error-free sums and products, and gamma functions without cancellation.
    `_power_means`: integrals behind the negative binomial law (incomplete beta functions).
"""
