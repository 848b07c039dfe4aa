"""Laws of every class, with ordinary and with extreme parameters."""

import numpy as np

import sojourn as sj

_rng = np.random.default_rng(7)
_lengths = np.minimum(_rng.geometric(0.1, 800), 30)

EVERY_LAW = [
    sj.Fixed(1),
    sj.Fixed(20),
    sj.Fixed(2**53),
    sj.Geometric(0.0),
    sj.Geometric(0.95),
    sj.Geometric(1 - 1e-12),
    sj.Geometric(1e-300),
    sj.Uniform(1, 1),
    sj.Uniform(3, 40),
    sj.Uniform(1, 10**12),
    sj.Polynomial(1.01),
    sj.Polynomial(1.4, offset=20),
    sj.Polynomial(50.0),
    sj.Polynomial(5000.0),
    sj.QuasiHyperbolic(0.7, 0.95),
    sj.QuasiHyperbolic(1.0, 0.95),
    sj.QuasiHyperbolic(0.0, 0.95),
    sj.QuasiHyperbolic(0.5, 0.0),
    sj.NegativeBinomial(1.0, 0.9),
    sj.NegativeBinomial(0.3, 0.99),
    sj.NegativeBinomial(7.5, 0.9),
    sj.NegativeBinomial(500.0, 0.9),
    sj.NegativeBinomial(1e5, 0.5),
    sj.NegativeBinomial(5.0, 0.0),
    sj.DiscreteWeibull(0.9, 0.5),
    sj.DiscreteWeibull(0.9, 1.0),
    sj.DiscreteWeibull(0.99999, 2.5),
    sj.DiscreteWeibull(0.5, 30.0),
    sj.DiscreteWeibull(0.9999, 0.3),
    sj.BetaGeometric(2.0, 1.0),
    sj.BetaGeometric(1.01, 0.1),
    sj.BetaGeometric(500.0, 5000.0),
    sj.Mixture([0.5, 0.5], [sj.Fixed(1), sj.Fixed(10)]),
    sj.Mixture([0.3, 0.7], [sj.Geometric(0.9), sj.Fixed(4)]),
    sj.Mixture(
        [0.3, 0.7, 0.0],
        [sj.Mixture([0.5, 0.5], [sj.Geometric(0.9), sj.Polynomial(1.5)]), sj.Uniform(2, 5), sj.Fixed(99)],
    ),
    sj.Mixture([0.5, 0.5], [sj.DiscreteWeibull(0.5, 30.0), sj.DiscreteWeibull(0.4, 30.0)]),
    sj.Tabulated([1.0]),
    sj.Tabulated([1.0, 0.5, 0.5, 0.2]),
    sj.Empirical([3, 1, 1, 7]),
    sj.Empirical([10**12, 3]),
    sj.Empirical(_lengths),
    sj.KaplanMeier(_lengths, _lengths < 30),
    sj.KaplanMeier(_lengths, _lengths < 30, tail="end"),
    sj.KaplanMeier(_lengths, _rng.random(800) < 0.3),
    sj.KaplanMeier([4], [False], tail="end"),
    sj.KaplanMeier(_lengths, _rng.random(800) < 0.6, entry=np.minimum(_lengths, _rng.integers(1, 4, 800))),
]
