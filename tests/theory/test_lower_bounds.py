"""Lower bounds against hand calculations, exact Bayes values and the printed bound they contradict."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gamma as euler_gamma
from scipy.special import zeta
from scipy.stats import binom

import sojourn as sj
from sojourn.theory import (
    lower_bound,
    polynomial_lower_bound,
    printed_known_law_bound,
    proven_bound,
    rare_choice_lower_bound,
)


def bayes_regret(gap, weights):
    """Return the least expected number of wrong arms, if both problems `rare_choice` are equally likely.

    `weights[n]` is the expected number of episodes that begin after n seen outcomes. The state of the dynamic
    program is (a, b): successes and failures of arm 0 minus those of arm 1. The likelihood ratio of the two
    problems is (1 + 2·gap)^a (1 − 2·gap)^b. Both arms are compared in every state.
    """
    value = np.zeros((2 * len(weights) + 1,) * 2)
    for n in range(len(weights) - 1, -1, -1):
        size = np.arange(-n, n + 1)
        ratio = size[:, None] * math.log(1 + 2 * gap) + size[None, :] * math.log(1 - 2 * gap)
        first = 1 / (1 + np.exp(-ratio))  # probability that arm 0 is better
        wins, losses = 0.5 + gap * first, 0.5 + gap * (1 - first)
        arm_0 = (1 - first) * weights[n] + wins * value[2:, 1:-1] + (1 - wins) * value[1:-1, 2:]
        arm_1 = first * weights[n] + losses * value[:-2, 1:-1] + (1 - losses) * value[1:-1, :-2]
        value = np.minimum(arm_0, arm_1)
    return float(value[0, 0])


def quasi_hyperbolic(beta):
    return sj.QuasiHyperbolic(beta, 0.9), round(400 / (0.9 * beta))


def test_theorem_a_by_hand():
    # K = 400, gap 1/40: k = −½ ln(1 − 1/400) = 0.00125157, √(kK/2) = 0.500313, 1 − ⅔ of it = 0.666458.
    # Lengths 1 and 10: stake 8, 4 · 400/40 · 0.666458 = 26.658. Quasi-hyperbolic: stake 9, so 9/8 of that.
    for q in (0.05, 1e-4):
        law = sj.Tabulated([1.0] + [q] * 9)
        assert rare_choice_lower_bound(law, round(400 / q)) == pytest.approx(26.658, abs=1e-3)
    for beta in (1e-2, 1e-4, 1e-8, 1e-14):
        assert rare_choice_lower_bound(*quasi_hyperbolic(beta)) == pytest.approx(29.990, abs=2e-3)
    assert rare_choice_lower_bound(sj.Fixed(10), 10**6) == 0.0  # the better arm is found
    assert rare_choice_lower_bound(sj.Fixed(2), 10**6) == 0.0  # nothing is paid


def test_theorem_a_is_below_the_exact_bayes_value():
    # Exactly 400 long episodes, stake Γ(3)/γ(2) = 9 per wrong arm and unit of gap.
    exact = 9 / 40 * bayes_regret(1 / 40, np.ones(400))
    assert exact == pytest.approx(33.32, abs=0.01)
    assert 29.990 < exact < 45.0  # half of the episodes wrong


def test_theorem_d_is_below_the_exact_bayes_value():
    # One bandit with two arms at step 2 and the gap of the lemma: an outcome is seen with probability 0.9.
    law, T = sj.Geometric(0.9), 200
    gap = 0.233 * math.sqrt(2 / (0.9 * T))
    episodes = np.array([binom.pmf(n, np.arange(T), 0.9).sum() for n in range(T)])
    # The number seen is a Markov chain of its own, so that weights per seen outcome are enough.
    exact = gap * float(law.tail(3)) * bayes_regret(gap, episodes)
    bound = lower_bound(law, T, n_states=4, n_actions=2)
    assert bound == pytest.approx(9.90, abs=0.01)
    assert exact == pytest.approx(16.4, abs=0.1)


@pytest.mark.parametrize(
    ("exponent", "printed", "layers"),
    [(-8, 34.5, 68), (-10, 2.58, 100), (-12, 0.277, 125), (-14, 0.032, 147)],
)
def test_the_printed_bound_falls_below_the_lower_bound(exponent, printed, layers):
    # Literal N(Δ), Γ(N) ≤ Δ, constants 1, exponent 3/2 of the analysis, δ = 0.1, the best N.
    law, T = quasi_hyperbolic(10.0**exponent)
    sizes = {"n_states": 4, "n_actions": 2, "beta": 1.5}
    bounds = {
        n: printed_known_law_bound(law, T, truncation=float(law.tail(n)), **sizes) for n in range(2, 200)
    }
    best = min(bounds, key=lambda n: bounds[n].total)
    assert bounds[best].horizon == best == layers
    assert bounds[best].total == pytest.approx(printed, rel=0.02)
    # Other exponents of the analysis and δ = 0.01 change nothing of substance.
    other = printed_known_law_bound(law, T, truncation=float(law.tail(layers)), n_states=4, n_actions=2)
    assert 0.3 * printed < other.total <= bounds[best].total


def test_the_proven_bounds_stay_above_the_lower_bound():
    for exponent in (-4, -8, -12):
        law, T = quasi_hyperbolic(10.0**exponent)
        for bonus in ("paper", "hoeffding", "monotone_bernstein"):
            bound = proven_bound(law, T, n_states=4, n_actions=2, n_successors=2, delta=0.01, bonus=bonus)
            assert bound.leading > 100 * rare_choice_lower_bound(law, T)


def test_theorem_d_by_hand():
    # Geometric 0.9, S = 6, A = 2. Step 2 has three bandits: 0.058 · 8.1/√0.9 · √(6 · 2000) = 54.25. Step 3
    # has two: 0.058 · 7.29/0.9 · √(4 · 2000) = 42.0.
    assert lower_bound(sj.Geometric(0.9), 2000, n_states=6, n_actions=2) == pytest.approx(54.25, abs=0.01)
    # Chosen starts: four bandits at step 1, 0.058 · 9 · √(8 · 2000) = 66.0.
    found = lower_bound(sj.Geometric(0.9), 2000, n_states=6, n_actions=2, any_start=True)
    assert found == pytest.approx(66.03, abs=0.01)
    # H = 20 surely and S = 5: step 2 has two bandits and pays 18 steps, step 3 has one and pays 17.
    assert lower_bound(sj.Fixed(20), 10**4, n_states=5, n_actions=2) == pytest.approx(
        0.058 * 18 * math.sqrt(2 * 2 * 10**4), rel=1e-12
    )
    assert lower_bound(sj.Geometric(0.9), 2000, n_states=3, n_actions=2) == 0.0
    assert lower_bound(sj.Geometric(0.9), 2, n_states=6, n_actions=2) == 0.0


@pytest.mark.parametrize(("p", "constant"), [(1.2, 0.209), (1.4, 0.0723), (1.6, 0.0308), (1.8, 0.0122)])
def test_theorem_e_has_the_stated_constants(p, constant):
    found = polynomial_lower_bound(sj.Polynomial(p), 10**6, n_states=9, n_actions=2)
    assert found == pytest.approx(constant * 10 ** (1 - 1 / p) * 10 ** (6 / p), rel=5e-3)


@settings(deadline=None, max_examples=40)
@given(st.floats(1.05, 1.95), st.floats(1e-3, 0.5))
def test_the_steps_of_theorem_e_by_summation(p, theta):
    # P(D = i+2) = iθ²(1−θ)^(i−1); E[γ(D)] ≤ √e Γ(2−p)θ^p and E[Γ(D+1)] ≥ 3^(1−p)θ^(p−1)/(p−1).
    i = np.arange(1.0, 60 / theta)
    chance = i * theta**2 * np.exp((i - 1) * np.log1p(-theta))
    assert chance.sum() == pytest.approx(1.0, abs=1e-9)
    assert chance @ (i + 2) ** -p <= math.sqrt(math.e) * euler_gamma(2 - p) * theta**p
    assert chance @ zeta(p, i + 3) >= 3 ** (1 - p) * theta ** (p - 1) / (p - 1)


def test_theorem_e_is_below_the_exact_bayes_value():
    # p = 1.4, one bandit with two arms, T = 1000 (gap 0.233, as gT = S'A): few outcomes are ever seen.
    p, T = 1.4, 1000
    bound = polynomial_lower_bound(sj.Polynomial(p), T, n_states=5, n_actions=2)
    C = math.sqrt(math.e) * euler_gamma(2 - p)
    theta = (2 / (C * T)) ** (1 / p)
    i = np.arange(1.0, 60 / theta)
    chance = i * theta**2 * np.exp((i - 1) * np.log1p(-theta))
    seen, stake = chance @ (i + 2) ** -p, chance @ zeta(p, i + 3)
    weights = np.array([binom.pmf(n, np.arange(T), seen).sum() for n in range(12)])
    exact = 0.233 * stake * bayes_regret(0.233, weights)
    assert bound == pytest.approx(12.2, abs=0.05)
    assert exact == pytest.approx(30.6, abs=0.2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rare_choice_lower_bound(sj.Fixed(3), 10, gap=0.5), r"gap must be in \(0, 0.5\); got 0.5."),
        (
            lambda: rare_choice_lower_bound(sj.Fixed(3), 10, gap=math.nan),
            r"gap must be in \(0, 0.5\); got nan.",
        ),
        (
            lambda: lower_bound(sj.Fixed(3), 10, n_states=3, n_actions=1),
            "n_actions must be a whole number ≥ 2; got 1.",
        ),
        (
            lambda: polynomial_lower_bound(sj.Polynomial(2.0), 10, n_states=5, n_actions=2),
            r"law must be Polynomial\(p\) with 1 < p < 2 and no offset; got Polynomial\(p=2.0, offset=0\).",
        ),
        (
            lambda: polynomial_lower_bound(sj.Polynomial(1.5), 10, n_states=4, n_actions=2),
            "n_states must be a whole number ≥ 5; got 4.",
        ),
    ],
)
def test_bad_input_raises_a_one_line_error(call, message):
    with pytest.raises((ValueError, TypeError), match=f"^{message}$"):
        call()
