import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import sojourn as sj
from sojourn.laws import FAMILIES, fit_sample, log_likelihood, take_sample

TRUTHS = {
    "geometric": [sj.Geometric(0.9)],
    "quasi_hyperbolic": [sj.QuasiHyperbolic(0.7, 0.95)],
    "negative_binomial": [sj.NegativeBinomial(2.5, 0.8), sj.NegativeBinomial(0.5, 0.95)],
    "discrete_weibull": [sj.DiscreteWeibull(0.8, 0.6), sj.DiscreteWeibull(0.999, 2.5)],
    "log_logistic": [sj.LogLogistic(6.0, 2.2)],
    "log_normal": [sj.LogNormal(1.5, 0.8)],
    "beta_geometric": [sj.BetaGeometric(2.5, 8.0)],
    "polynomial": [sj.Polynomial(1.4, offset=20), sj.Polynomial(1.4), sj.Polynomial(2.0, offset=3)],
    "mixture": [sj.Mixture([0.3, 0.7], [sj.Geometric(0.5), sj.Geometric(0.97)])],
}
EVERY = [(family, law) for family, laws in TRUTHS.items() for law in laws]
CONTAINING = {
    "geometric": {"negative_binomial", "discrete_weibull", "quasi_hyperbolic", "mixture"},
    "quasi_hyperbolic": {"mixture"},
}


def parameters(law):
    if isinstance(law, sj.Mixture):
        return [law.weights[0], law.laws[0].gamma, law.laws[1].gamma]
    return [float(value) for value in law._parameters().values()]


def censored(law, n, share, seed):
    """Draw lengths of which about `share` are censored at an independent random time."""
    rng = np.random.default_rng(seed)
    lengths, uniforms = law.sample(rng, n), 1.0 - rng.random(n)
    for mean in np.geomspace(1.2, 1e4, 300):
        cuts = 1.0 + np.floor(np.log(uniforms) / math.log(1.0 - 1.0 / mean))
        observed = lengths < cuts
        if np.mean(~observed) <= share:
            break
    return np.minimum(lengths, cuts).astype(np.int64), observed


@pytest.mark.parametrize(("family", "law"), EVERY, ids=lambda value: str(value)[:40])
def test_each_family_is_recovered_from_data_with_40_percent_censoring(family, law):
    lengths, observed = censored(law, 100_000, 0.4, seed=12)
    assert 0.36 < np.mean(~observed) <= 0.4
    sample = take_sample(lengths, observed)
    fits = {name: fit_sample(sample, name) for name in FAMILIES}
    found = fits[family]
    for (name, value), truth in zip(found.parameters.items(), parameters(law), strict=True):
        if name == "offset":
            assert value == truth
        else:
            assert abs(value - truth) < 3.0 * found.standard_errors[name]
            assert found.standard_errors[name] < 0.1 * truth
    assert found.edge == ()
    best = min(fits.values(), key=lambda one: one.bic)
    assert best.family in {family} | CONTAINING.get(family, set())


@pytest.mark.parametrize(("family", "law"), EVERY, ids=lambda value: str(value)[:40])
def test_no_member_of_the_family_is_more_likely(family, law):
    """Compare with a simplex search over the law's own parameters that starts from the truth."""
    lengths, observed = censored(law, 300, 0.3, seed=3)
    sample = take_sample(lengths, observed)
    found = fit_sample(sample, family)

    def loss(values):
        try:
            if family == "mixture":
                w, one, other = values
                member = sj.Mixture([w, 1 - w], [sj.Geometric(one), sj.Geometric(other)])
            elif family == "polynomial":
                member = sj.Polynomial(values[0], offset=int(found.parameters["offset"]))
            else:
                member = type(law)(*values)
        except ValueError:
            return math.inf
        return -log_likelihood(member, sample)

    start = parameters(law)[:1] if family == "polynomial" else parameters(law)
    rival = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12})
    assert found.log_likelihood >= -rival.fun - 1e-7
    assert found.log_likelihood == pytest.approx(-rival.fun, abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 12), st.integers(0, 12), st.booleans()), min_size=1, max_size=30
    ).filter(lambda rows: any(seen for _, _, seen in rows))
)
def test_log_likelihood_matches_its_definition_row_by_row(rows):
    law = sj.NegativeBinomial(1.7, 0.8)
    entry = [e for e, _, _ in rows]
    lengths = [e + more for e, more, _ in rows]
    observed = [seen for _, _, seen in rows]
    expected = sum(
        math.log((law.pmf(n) if seen else law.survival(n)) / law.survival(e))
        for e, n, seen in zip(entry, lengths, observed, strict=True)
    )
    sample = take_sample(lengths, observed, entry=entry)
    assert log_likelihood(law, sample) == pytest.approx(expected, rel=1e-11, abs=1e-11)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=25).filter(
        lambda rows: any(seen for _, seen in rows)
    ),
    st.sampled_from(sorted(FAMILIES)),
)
def test_a_family_fits_any_data_at_least_as_well_as_its_geometric_member(rows, family):
    lengths, observed = [n for n, _ in rows], [seen for _, seen in rows]
    found = sj.fit(lengths, observed, family=family)
    assert math.isfinite(found.law.mean)
    assert math.isfinite(found.log_likelihood)
    if family in CONTAINING["geometric"]:
        # At the edge of its box a family only approximates the geometric law.
        assert found.log_likelihood >= sj.fit(lengths, observed, family="geometric").log_likelihood - 1e-3


def test_geometric_and_quasi_hyperbolic_by_hand():
    # Steps survived and steps ended: 2 + 0 + 3 = 5 and 2.
    found = sj.fit([3, 1, 4], [True, True, False], family="geometric")
    assert found.law == sj.Geometric(5 / 7)
    assert found.standard_errors["gamma"] == pytest.approx(math.sqrt(5 / 7 * 2 / 7 / 7), rel=1e-14)
    assert found.log_likelihood == pytest.approx(5 * math.log(5 / 7) + 2 * math.log(2 / 7), rel=1e-14)
    assert (found.n, found.n_observed, found.n_parameters) == (3, 2, 1)
    assert found.aic == pytest.approx(2 - 2 * found.log_likelihood)
    assert found.bic == pytest.approx(math.log(3) - 2 * found.log_likelihood)


def test_criteria_count_only_real_valued_parameters():
    counted = {name: sj.fit([1, 2, 2, 7, 9], family=name).n_parameters for name in FAMILIES}
    assert counted == {
        "geometric": 1,
        "quasi_hyperbolic": 2,
        "negative_binomial": 2,
        "discrete_weibull": 2,
        "log_logistic": 2,
        "log_normal": 2,
        "beta_geometric": 2,
        "polynomial": 1,
        "mixture": 3,
    }


def test_late_entries_are_at_risk_from_their_entry_on():
    # The second row is at risk at steps 3, 4 and 5 only: 2 of its steps are survived.
    assert sj.fit([3, 5], entry=[1, 3], family="geometric").law == sj.Geometric(4 / 6)
    # A row censored where it entered carries no information.
    assert sj.fit([3, 5, 9], [1, 1, 0], entry=[1, 3, 9], family="geometric").law == sj.Geometric(4 / 6)


@pytest.mark.parametrize(("family", "law"), EVERY, ids=lambda value: str(value)[:40])
def test_left_truncation_does_not_bias_the_fit(family, law):
    rng = np.random.default_rng(8)
    lengths = law.sample(rng, 60_000)
    entry = rng.integers(1, 8 + int(law.survival(20) > 0.9) * 20, lengths.size)
    seen = lengths >= entry
    found = sj.fit(lengths[seen], entry=entry[seen], family=family)
    for (name, value), truth in zip(found.parameters.items(), parameters(law), strict=True):
        if name != "offset":
            assert abs(value - truth) < 4.0 * found.standard_errors[name]


def test_error_of_uses_the_delta_method():
    # Complete geometric data: Var(γ̂) = γ(1−γ)²/n and d mean/dγ = mean²: the error is mean √(γ/n).
    found = sj.fit([3, 1, 4, 7], family="geometric")
    gamma = 11 / 15
    assert found.error_of(lambda law: law.mean) == pytest.approx(15 / 4 * math.sqrt(gamma / 4), rel=1e-4)
    assert found.error_of(lambda law: law.gamma) == pytest.approx(found.standard_errors["gamma"], rel=1e-6)
    # A quasi-hyperbolic mean is 1 + s/(1 − γ); s, the share of first steps survived, is independent of γ.
    lengths, seen = [1, 1, 1, 2, 2, 5, 9, 9], [1, 1, 1, 1, 1, 1, 1, 0]
    found = sj.fit(lengths, seen, family="quasi_hyperbolic")
    s, g = 5 / 8, 17 / 21
    expected = math.hypot(
        math.sqrt(s * (1 - s) / 8) / (1 - g), s / (1 - g) ** 2 * math.sqrt(g * (1 - g) / 21)
    )
    assert found.error_of(lambda law: law.mean) == pytest.approx(expected, rel=1e-3)
    assert math.isnan(sj.fit([1, 1], family="mixture").error_of(lambda law: law.mean))


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize(
    ("lengths", "observed"),
    [
        ([1] * 10, None),
        ([1], None),
        ([5], None),
        ([5] * 100, None),
        ([10**12], None),
        ([2**53, 2**53 - 5, 3], None),
        ([1, 10**9, 5], None),
        ([1, 1, 1, 50, 50], [1, 1, 1, 0, 0]),
        ([3] + [100] * 50, [1] + [0] * 50),
        ([1] * 10, [1] * 5 + [0] * 5),
        (list(range(1, 200)), None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_degenerate_data_can_be_fitted(family, lengths, observed):
    found = sj.fit(lengths, observed, family=family)
    assert 1.0 <= found.law.mean < math.inf
    assert sj.parse_law(repr(found.law)) == found.law


def test_counts_stand_for_rows():
    lengths, observed = [2, 7, 7, 3, 2], [1, 0, 0, 1, 1]
    for family in FAMILIES:
        one = sj.fit(lengths, observed, family=family)
        other = sj.fit([2, 7, 3], [1, 0, 1], counts=[2, 2, 1], family=family)
        assert one.law == other.law
        assert one.n == other.n == 5


@pytest.mark.parametrize(
    ("few", "gamma_2"),
    [([600] * 3, 0.998), ([1] * 60, 0.95)],
    ids=["few stay very long", "few leave at once"],
)
def test_small_components_of_a_mixture_are_found(few, gamma_2):
    # A thousand lengths at the quantiles of Geometric(0.95), and a few of another kind.
    uniforms = (np.arange(1_000) + 0.5) / 1_000
    many = 1 + np.floor(np.log(uniforms) / math.log(0.95)).astype(int)
    found = sj.fit([*many, *few], family="mixture")
    alone = sj.fit([*many, *few], family="geometric")
    assert found.log_likelihood > alone.log_likelihood + 3.0
    assert found.parameters["gamma_2"] == pytest.approx(gamma_2, abs=0.002)


def test_heavy_and_light_tails_are_both_tried():
    # Half of the sessions end at step 3, and of the others some at step 40: a heavy tail, or none at all?
    for n_late in (0, 10, 100, 400, 500):
        sample = take_sample([3, 40, 40], [True, True, False], counts=[500, n_late, 500 - n_late])
        grid = [(a, b) for a in (1.001, 1.01, 1.1, 2.0, 10.0, 1e3) for b in (0.5, 2.0, 8.0, 32.0, 128.0, 2e4)]
        rival = max(log_likelihood(sj.BetaGeometric(a, b), sample) for a, b in grid)
        assert fit_sample(sample, "beta_geometric").log_likelihood >= rival


def test_an_estimator_is_called_like_kaplan_meier():
    lengths, observed = censored(sj.Geometric(0.9), 2_000, 0.4, seed=0)
    for estimate in (sj.MaximumLikelihood("Geometric"), sj.KaplanMeier):
        assert estimate(lengths, observed).mean == pytest.approx(10.0, rel=0.1)
    assert sj.MaximumLikelihood("Beta-Geometric").family == "beta_geometric"
    assert sj.MaximumLikelihood("polynomial")(lengths).offset == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sj.fit([3, 4], [0, 0], family="geometric"),
            "observed must be True for at least one length: with none the most likely mean length is "
            "infinite; add data.",
        ),
        (lambda: sj.MaximumLikelihood("geometrc"), "Unknown family 'geometrc'. Did you mean 'geometric'?"),
        (
            lambda: sj.fit([3, 4], entry=[1, 5], family="geometric"),
            "entry[1] must be at most lengths[1] = 4; got 5.",
        ),
        (
            lambda: sj.fit([3, 4], entry=[1], family="geometric"),
            "entry must be as many as lengths; got 1 entries for 2 lengths.",
        ),
        (lambda: sj.fit([], family="geometric"), "lengths must not be empty."),
        (lambda: sj.fit([1], family=3), "family must be a name such as 'geometric'; got 3."),
    ],
)
def test_data_that_cannot_be_fitted_raise_a_one_line_error(call, message):
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("family", ["geometric", "quasi_hyperbolic"])
def test_the_likelihood_is_one_if_no_step_was_survived(family):
    # Given H ≥ 4, a length of 4 has probability 1 − γ: the smallest allowed γ is the most likely.
    found = sj.fit([4, 9], family=family, entry=[4, 9])
    assert found.log_likelihood == pytest.approx(0.0, abs=1e-11)
    assert found.edge
    assert sj.fit([1, 1], family=family).log_likelihood == 0.0


def test_a_polynomial_case_without_a_mean_is_named():
    # P(H ≥ h) = h^−0.8, which has no mean; the most likely power is found again on a grid.
    rng = np.random.default_rng(0)
    lengths = np.floor((1.0 - rng.random(500)) ** (-1.0 / 0.8)).astype(np.int64)
    fit = sj.fit(lengths, family="polynomial")
    assert fit.edge == ("p",)
    powers = np.arange(0.5, 1.0, 0.001)[:, None]
    likelihoods = np.log(lengths**-powers - (lengths + 1.0) ** -powers).sum(axis=1)
    best = float(powers[np.argmax(likelihoods), 0])
    found = float(fit.without_mean.removeprefix("Polynomial(p=").removesuffix(", offset=0)"))
    assert found == pytest.approx(best, abs=0.0015)
    assert sj.fit(sj.Polynomial(1.6).sample(rng, 500), family="polynomial").without_mean == ""


def test_log_logistic_laws_with_heavy_tails_are_found():
    # The likelihood by its definition, P(H = h) = γ(h) − γ(h + 1), maximized on a grid.
    lengths = sj.LogLogistic(20.0, 1.3).sample(np.random.default_rng(0), 2_000)
    fit = sj.fit(lengths, family="log_logistic")
    scale, shape = np.linspace(18, 22, 41)[:, None, None], np.linspace(1.2, 1.4, 41)[None, :, None]
    survival = [1.0 / (1.0 + ((lengths - 1.0 + k) / scale) ** shape) for k in (0, 1)]
    values = np.log(survival[0] - survival[1]).sum(axis=-1)
    assert fit.log_likelihood >= values.max() - 1e-9
    assert fit.log_likelihood == pytest.approx(values.max(), abs=0.05)
    assert fit.edge == ()


def test_a_log_logistic_case_without_a_mean_is_named():
    rng = np.random.default_rng(0)
    uniforms = rng.random(3_000)
    lengths = 1 + np.floor(5.0 * (1.0 / uniforms - 1.0) ** (1.0 / 0.8)).astype(np.int64)  # shape 0.8
    fit = sj.fit(lengths, family="log_logistic")
    assert fit.edge == ("shape",)
    scale, shape = (float(part.split("=")[1]) for part in fit.without_mean[:-1].split(","))
    assert fit.without_mean.startswith("LogLogistic(scale=")
    assert (scale, shape) == (pytest.approx(5.0, rel=0.1), pytest.approx(0.8, rel=0.05))
