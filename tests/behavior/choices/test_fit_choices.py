"""Discount functions from choices, against an independent maximum likelihood, and refusals."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.optimize import minimize

import sojourn as sj
from sojourn import behavior
from sojourn.behavior import FAMILIES, GreenMyersonLaw, RachlinLaw
from sojourn.plots import choice_fit_curves
from sojourn.testing import check_law

FORMULAS = {
    "exponential": lambda t, k: math.exp(-k * t),
    "mazur": lambda t, k: 1 / (1 + k * t),
    "green_myerson": lambda t, k, s: (1 + k * t) ** -s,
    "rachlin": lambda t, k, s: 1 / (1 + k * t**s),
    "beta_delta": lambda t, beta, k: 1.0 if t == 0 else beta * math.exp(-k * t),
}
TRUTHS = {
    "exponential": (0.012,),
    "mazur": (0.02,),
    "green_myerson": (0.03, 0.8),
    "rachlin": (0.05, 0.8),
    "beta_delta": (0.75, 0.008),
}


def simulate(family, truth, *, sensitivity=0.4, seed=0, subjects=1, fronts=(0, 14, 42)):
    rng, rows = np.random.default_rng(seed), []
    worth = FORMULAS[family]
    for who in range(subjects):
        for front in fronts:
            for wait in (7, 14, 30, 60, 120):
                for share in (0.3, 0.5, 0.65, 0.8, 0.9, 0.97):
                    gap = 40 * worth(front + wait, *truth) - 40 * share * worth(front, *truth)
                    choice = rng.random() < 1 / (1 + math.exp(-sensitivity * gap))
                    rows.append((who, front + wait, 40.0, front, 40.0 * share, int(choice)))
    names = ("subjID", "delay_later", "amount_later", "delay_sooner", "amount_sooner", "choice")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def plain_loss(family, data):
    """The negative log likelihood, written without any of our code."""
    rows = list(zip(*data.values(), strict=True))

    def loss(theta):
        *parameters, sensitivity = np.exp(theta)
        total = 0.0
        for _, t_later, later, t_sooner, sooner, choice in rows:
            gap = later * FORMULAS[family](t_later, *parameters)
            gap -= sooner * FORMULAS[family](t_sooner, *parameters)
            chance = 1 / (1 + math.exp(-max(min(sensitivity * gap, 500), -500)))
            total -= math.log(max(chance if choice else 1 - chance, 1e-300))
        return total

    return loss


@pytest.mark.parametrize("family", list(FAMILIES))
def test_estimates_agree_with_scipy(family):
    data = simulate(family, TRUTHS[family], seed=3)
    fit = behavior.fit_choices(data, family=family)
    loss = plain_loss(family, data)
    start = np.log([*TRUTHS[family], 0.4])
    options = {"xatol": 1e-7, "fatol": 1e-9, "maxiter": 4000}
    plain = minimize(loss, start, method="Nelder-Mead", options=options)
    one = fit.subjects[0]
    assert one.log_likelihood == pytest.approx(-plain.fun, abs=1e-6)
    names = [*FAMILIES[family].parameters, "sensitivity"]
    found = [one.parameters[name] for name in names]
    assert found == pytest.approx(np.exp(plain.x).tolist(), rel=2e-3)
    # Profile intervals end where the log likelihood has dropped by χ²(1)/2, with all others free.
    for i, name in enumerate(FAMILIES[family].parameters):
        for end in one.intervals[name]:
            if not 0.0 < end < math.inf:
                continue

            def profile(rest, i=i, end=end):
                return loss(np.insert(rest, i, math.log(end)))

            rest = minimize(
                profile,
                np.delete(np.log(found), i),
                method="Nelder-Mead",
                options={"xatol": 1e-5, "fatol": 1e-7},
            )
            assert rest.fun - plain.fun == pytest.approx(3.841459 / 2, abs=0.02)


def test_standard_errors_are_those_of_the_information():
    # Expected information = Σ p (1 − p) g gᵀ, with g the numeric derivatives of the log odds.
    data = simulate("mazur", (0.02,), seed=5)
    one = behavior.fit_choices(data, family="mazur").subjects[0]
    theta, width = np.log([one.parameters["k"], one.parameters["sensitivity"]]), 1e-5
    pairs = ("delay_later", "amount_later", "delay_sooner", "amount_sooner")

    def log_odds(theta, t, later, u, sooner):
        k, sensitivity = np.exp(theta)
        return sensitivity * (later * FORMULAS["mazur"](t, k) - sooner * FORMULAS["mazur"](u, k))

    information = np.zeros((2, 2))
    for row in zip(*(data[name] for name in pairs), strict=True):
        chance = 1 / (1 + math.exp(-log_odds(theta, *row)))
        steps = width * np.eye(2)
        slope = np.array([log_odds(theta + e, *row) - log_odds(theta - e, *row) for e in steps]) / (2 * width)
        information += chance * (1 - chance) * np.outer(slope, slope)
    expected = np.sqrt(np.diag(np.linalg.inv(information))) * np.exp(theta)
    ours = [one.standard_errors["k"], one.standard_errors["sensitivity"]]
    assert ours == pytest.approx(expected.tolist(), rel=1e-6)


def test_truth_is_recovered_from_many_choices():
    data = simulate("beta_delta", (0.75, 0.008), subjects=12, seed=1)
    fit = behavior.fit_choices(data, family="beta_delta")
    assert fit.pooled.parameters["beta"] == pytest.approx(0.75, abs=0.05)
    assert fit.pooled.parameters["delta"] == pytest.approx(math.exp(-0.008), abs=0.001)
    covered = [one.intervals["beta"][0] <= 0.75 <= one.intervals["beta"][1] for one in fit.subjects]
    assert sum(covered) >= 10
    assert fit.aic < fit.bic
    fits, refused = behavior.compare_families(data, ["exponential", "beta_delta"])
    assert fits[0].family == "beta_delta"
    assert not refused


def test_each_family_is_a_law_where_its_sum_is_finite():
    immediate = simulate("exponential", (0.012,), subjects=2)
    exponential = behavior.fit_choices(immediate, family="exponential").pooled
    assert exponential.law(step=7) == sj.Geometric(math.exp(-7 * exponential.parameters["k"]))
    two = behavior.fit_choices(simulate("beta_delta", (0.75, 0.008), subjects=2), family="beta_delta").pooled
    assert isinstance(two.law(), sj.QuasiHyperbolic)
    steep = behavior.fit_choices(simulate("rachlin", (0.002, 1.6)), family="rachlin").pooled
    assert isinstance(steep.law(), RachlinLaw)
    assert steep.law().survival([1, 8, 31]) == pytest.approx(steep.discount([0, 7, 30]))
    mazur = behavior.fit_choices(immediate, family="mazur").pooled
    with pytest.raises(ValueError, match=r"1/\(1 \+ k t\) has an infinite sum and is not a law; pass last=n"):
        mazur.law()
    assert mazur.law(step=7, last=10).survival(10) == pytest.approx(mazur.discount(63))


@pytest.mark.parametrize("law", [GreenMyersonLaw(0.05, 1.5), RachlinLaw(0.3, 1.7)], ids=str)
def test_hyperbolic_laws_are_laws(law):
    check_law(law)
    h = np.arange(1, 400_000)
    assert law.survival(h).sum() + law.tail(400_000) == pytest.approx(law.mean, rel=1e-10)


def test_tests_of_fit_reject_a_wrong_family_and_accept_the_right_one():
    data = simulate("beta_delta", (0.4, 0.002), subjects=8, seed=2, sensitivity=0.8)
    right = behavior.fit_choices(data, family="beta_delta").goodness_of_fit(simulations=19)
    wrong = behavior.fit_choices(data, family="exponential").goodness_of_fit(simulations=19)
    assert right.p_value > 0.05
    assert wrong.p_value == 0.05  # the smallest p value of 19 simulations
    assert wrong.statistic > right.statistic


def test_design_errors_shrink_with_more_choices():
    few = simulate("mazur", (0.02,), fronts=(0,))
    many = {name: values * 6 for name, values in few.items()}
    errors = [
        behavior.fit_choices(data, family="mazur").design_errors(simulations=40).errors["k"]
        for data in (few, many)
    ]
    assert errors[1] < 0.7 * errors[0]


def test_one_sided_choices_are_reported_as_undetermined():
    data = simulate("mazur", (0.02,))
    data["choice"] = [1] * len(data["choice"])
    one = behavior.fit_choices(data, family="mazur").subjects[0]
    assert one.undetermined
    assert one.intervals["k"][0] == 0.0


@pytest.mark.parametrize(
    ("change", "family", "message"),
    [
        ({}, "naive", "β̂ (naivete) cannot be told from choices between dated rewards"),
        ({"delay_sooner": 0}, "beta_delta", "beta_delta needs sooner rewards both now and after a front-end"),
        ({"delay_later": 90, "delay_sooner": 0}, "green_myerson", "it has 1 different delay, and k and s"),
        ({}, "hyperbola", "family must be one of 'exponential'"),
        ({"choice": "maybe"}, "mazur", "all 90 are rejected, row 1: choice must be 1 or 'later'"),
        ({"amount_later": -1}, "mazur", "amount_later must be a number > 0; got '-1'"),
        ({"amount_later": 1e31}, "mazur", "amount_later must be between 1e-30 and 1e+30; got '1e+31'"),
        ({"delay_later": 1e-300}, "mazur", "delay_later must be between 1e-30 and 1e+30; got '1e-300'"),
        (
            {"delay_later": 0, "delay_sooner": 0},
            "mazur",
            "delay_later must be larger than delay_sooner; got '0'",
        ),
        ({"choice": None}, "mazur", "the table must have a column 'choice'."),
    ],
)
def test_what_cannot_be_told_is_refused_in_one_line(change, family, message):
    data = simulate("mazur", (0.02,))
    for name, value in change.items():
        if value is None:
            del data[name]
        else:
            data[name] = [value] * 90
    with pytest.raises(ValueError) as error:
        behavior.fit_choices(data, family=family)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_findings_say_where_criteria_and_intervals_disagree():
    data = simulate("mazur", (0.02,), subjects=3, seed=3)
    found = behavior.analyze_choices(data, ["exponential", "mazur", "beta_delta"], simulations=2)
    texts = dict(found.findings())
    assert "Not tested: that needs at least 99 simulated data sets." in texts["Does it fit"]
    assert "Pooled intervals rest on 3 subjects" in texts["How sure"]
    rival = min(found.fits, key=lambda one: one.aic).family
    disagrees = rival != found.best.family
    assert disagrees == (f"but {rival} has the lowest AIC" in texts["How they discount"])


def test_the_figure_and_the_dictionary_hold_the_fit():
    data = simulate("mazur", (0.02,), subjects=3)
    fit = behavior.fit_choices(data, family="mazur")
    curves = choice_fit_curves(fit)
    assert curves.subjects.shape[0] == 3
    assert curves.pooled[0] == 1.0
    assert curves.observed @ np.full(10, 27) == pytest.approx(sum(data["choice"]))
    figure = fit.plot()
    assert figure.axes[0].get_ylabel() == "worth of 1"
    plain = json.loads(json.dumps(fit.as_dict()))
    assert plain["pooled"]["parameters"] == fit.pooled.parameters
    assert len(plain["subjects"]) == 3


def test_lapses_are_estimated():
    rng = np.random.default_rng(7)
    data = simulate("mazur", (0.02,), subjects=1, sensitivity=3.0, fronts=(0,) * 12)
    flips = rng.random(len(data["choice"])) < 0.2
    data["choice"] = [
        int(rng.random() < 0.5) if flip else choice
        for flip, choice in zip(flips, data["choice"], strict=True)
    ]
    fit = behavior.fit_choices(data, family="mazur", lapse=True).pooled
    assert fit.parameters["lapse"] == pytest.approx(0.2, abs=0.08)
    assert fit.intervals["k"][0] <= 0.02 <= fit.intervals["k"][1]


QUESTIONS = """54 55 117 .00016; 55 75 61 .006; 19 25 53 .006; 31 85 7 .25; 14 25 19 .041; 47 50 160 .0004;
15 35 13 .1; 25 60 14 .1; 78 80 162 .00016; 40 55 62 .006; 11 30 7 .25; 67 75 119 .001; 34 35 186 .00016;
27 50 21 .041; 69 85 91 .0025; 49 60 89 .0025; 80 85 157 .0004; 24 35 29 .016; 33 80 14 .1; 28 30 179 .0004;
34 50 30 .016; 25 30 80 .0025; 41 75 20 .041; 54 60 111 .001; 54 80 30 .016; 22 25 136 .001; 20 55 7 .25"""
"""Kirby, Petry and Bickel (1999): amount now, amount later, days, and the published k at indifference."""


def test_estimates_agree_with_the_published_scores_of_a_questionnaire():
    # Consistent people are scored by the geometric mean of the k of neighboring questions. Their choices say
    # no more than that k lies between the two.
    now, later, days, published = np.array([row.split() for row in QUESTIONS.split(";")], dtype=float).T
    levels = np.unique(published)
    scores = np.sqrt(levels[:-1] * levels[1:])
    n = published.size
    fit = behavior.fit_choices(
        {
            "subjID": np.repeat(np.arange(scores.size), n),
            "amount_sooner": np.tile(now, scores.size),
            "delay_sooner": np.zeros(n * scores.size),
            "amount_later": np.tile(later, scores.size),
            "delay_later": np.tile(days, scores.size),
            "choice": (published > scores[:, np.newaxis]).astype(int).ravel(),
        },
        family="mazur",
    )
    found = np.array([subject.parameters["k"] for subject in fit.subjects])
    ends = np.array([subject.intervals["k"] for subject in fit.subjects])
    np.testing.assert_allclose(found, scores, rtol=0.11)
    np.testing.assert_allclose(ends, np.stack([levels[:-1], levels[1:]], axis=1), rtol=0.03)


def consistent_subject(k, without=()):
    """Answers to the questionnaire that a person with this k and no errors gives."""
    now, later, days, _ = np.array([row.split() for row in QUESTIONS.split(";")], dtype=float).T
    keep = [i for i in range(now.size) if i not in without]
    choice = (later / (1 + k * days) > now).astype(int)
    columns = {"amount_sooner": now, "amount_later": later, "delay_later": days, "choice": choice}
    return {name: column[keep] for name, column in columns.items()}


@pytest.mark.parametrize(("k", "without"), [(0.00251, (14,)), (0.0157, ()), (0.0020, (15, 21))])
def test_intervals_of_consistent_people_agree_with_a_brute_force(k, without):
    # The likelihood of consistent choices has no largest μ. Profiles are maximized over a grid of μ.
    data = consistent_subject(k, without)
    one = behavior.fit_choices(data, family="mazur").subjects[0]
    sign = np.where(data["choice"] > 0, 1.0, -1.0)
    rates = np.exp(np.arange(math.log(k) - 2.0, math.log(k) + 2.0, 0.002))
    worth = data["amount_later"] / (1 + rates[:, None] * data["delay_later"]) - data["amount_sooner"]
    best = np.full(rates.size, -np.inf)
    for mu in np.exp(np.arange(-5.0, 12.0, 0.05)):
        best = np.maximum(best, -np.logaddexp(0.0, -mu * sign * worth).sum(axis=1))
    inside = rates[-2.0 * best <= 3.841459]
    assert one.log_likelihood == pytest.approx(0.0, abs=1e-6)
    assert one.intervals["k"] == pytest.approx((inside[0], inside[-1]), rel=0.004)
    assert one.undetermined == ("k", "sensitivity")  # other values predict every choice too
    assert math.isnan(one.standard_errors["k"])
    assert one.has_curve
    assert one.is_consistent


def test_a_design_that_separates_every_subject_tells_nothing():
    two = {"amount_sooner": [2, 2], "amount_later": [3, 5], "delay_later": [4, 4], "choice": [0, 1]}
    fit = behavior.fit_choices(two)
    assert fit.design_errors(simulations=20).undetermined["k"] > 0.9
    assert "does not determine k" in fit.design_errors(simulations=20).words()
    assert not fit.pooled.has_curve
    with pytest.raises(ValueError, match="There is no law: the choices do not determine k of mazur"):
        fit.pooled.law(last=5)


def test_a_lapse_rate_of_zero_is_an_estimate():
    data = simulate("mazur", (0.02,), seed=1)
    one = behavior.fit_choices(data, family="mazur", lapse=True).subjects[0]
    plain = behavior.fit_choices(data, family="mazur").subjects[0]
    assert one.parameters["lapse"] < 0.01
    assert one.undetermined == ()
    assert one.parameters["k"] == pytest.approx(plain.parameters["k"], rel=0.02)


def test_pooled_intervals_need_three_subjects_and_have_quantiles_of_t():
    fits = [
        behavior.fit_choices(simulate("mazur", (0.02,), subjects=n, seed=4), family="mazur").pooled
        for n in (2, 3)
    ]
    assert fits[0].intervals["k"] == (0.0, math.inf)
    k, error = fits[1].parameters["k"], fits[1].standard_errors["k"]
    width = math.log(fits[1].intervals["k"][1] / k)
    assert width == pytest.approx(4.302653 * error / k, rel=1e-5)  # t with 2 degrees of freedom, 97.5%


def test_a_pooled_fit_that_is_not_determined_has_no_interval():
    data = simulate("mazur", (0.02,), subjects=4)
    data["choice"] = [1] * len(data["choice"])
    pooled = behavior.fit_choices(data, family="mazur").pooled
    assert pooled.intervals["k"] == (0.0, math.inf)
    assert "k" in pooled.undetermined
