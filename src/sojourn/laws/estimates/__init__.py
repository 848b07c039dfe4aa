"""Laws and confidence bands estimated from data, without a parametric family.

Modules:
    `_empirical`: the law of lengths that were all observed to the end.
    `_kaplan_meier`: the law of lengths when some are censored.
    `_bands`: confidence bands around both.
    `_sample`: rows of data as counts of distinct values, the common input of estimates and fits.
"""
