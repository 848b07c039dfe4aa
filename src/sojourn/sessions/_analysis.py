"""Fits every family of laws to a session log, ranks the fits and compares them with the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn._validation import check_positive, check_whole
from sojourn.laws import (
    FAMILIES,
    MAX_STEP,
    Band,
    Fit,
    Geometric,
    KaplanMeier,
    LengthLaw,
    Sample,
    band_of_sample,
    closest_geometric,
    distance,
    fit_sample,
    geometric_with_mean,
    quantile,
)
from sojourn.sessions._bootstrap import Bootstrap, resample
from sojourn.sessions._cards import analysis_card, analysis_text
from sojourn.sessions._groups import GroupTest, compare_groups, group_samples
from sojourn.sessions._hazard_shape import Change, change_against, hazard_shape
from sojourn.sessions._hazard_test import REJECTED, HazardTest, Surprise, compare_hazards, find_surprise
from sojourn.sessions._log import SessionLog
from sojourn.sessions._price import ProblemPrice, compare_plans, held_out_loss, price_geometric
from sojourn.sessions._step_log import StepLog

if TYPE_CHECKING:
    from sojourn.mdps import TabularMDP
    from sojourn.planning import Plan  # loads numba

__all__ = ["Analysis", "RankedFit", "analyse", "analyze"]

_BIC_TIE = 2.0
"""Fits whose BIC differ by at most this are tied (Raftery 1995: not worth more than a bare mention).

Among tied fits, one that is not at the edge of its family is preferred. A fit at the edge is either
equivalent to a simpler law, whose parameters BIC overcounts, or limited by the range of its family.
"""

_CLEAR_CHANGE = 10.0
"""Minimum log-likelihood ratio statistic, against a geometric law, to report that leaving changes."""

MISFIT = 0.01
"""A law that leaves the band by more than this share of sessions does not fit."""

STRONG_EVIDENCE = 6.0
"""Least difference of BIC that is strong evidence against a fit (Raftery 1995)."""

_UNBOUNDED = 100.0
"""An interval of the mean that ends above this multiple of it has no upper end."""

SMALL_DIFFERENCE = 0.02
"""A share of the mean, of the sessions, of expected ends or of those who may leave that matters little."""

_FEWEST_ENDS = 10
"""A group with fewer observed ends gets no law; steps with fewer sessions at risk show hardly any ends."""

_MAX_SCHEDULE = 100_000
"""Largest number of steps of a schedule of discounts."""

_MAX_KAPLAN_MEIER_STEPS = 1_000_000
_MAX_DISTINCT_PER_GROUP = 1 << 12
"""Maximum number of distinct lengths per group when laws are fitted to groups."""


@dataclass(frozen=True)
class RankedFit:
    """The maximum-likelihood law of a family, compared with other families and with the data.

    Attributes:
        fit: The law and its likelihood.
        bic_gap: Difference between its BIC and the smallest BIC.
        aic_gap: Difference between its AIC and the smallest AIC.
        excess: Largest distance of γ outside the simultaneous band; ≤ 0 if γ stays inside.
        step: The step of that distance.
    """

    fit: Fit
    bic_gap: float
    aic_gap: float
    excess: float
    step: int

    @property
    def in_band(self) -> bool:
        """Whether the law lies in the band at every step, so that the data do not contradict it."""
        return self.excess <= 1e-12


@dataclass(frozen=True, eq=False)
class Analysis:
    """The analysis of a session log; prints as a few lines, and as a card in a notebook.

    Attributes:
        log: The log.
        band: The Kaplan–Meier survival function with a simultaneous confidence band.
        fits: Fits of all families by increasing BIC; within 2 of the smallest, those at no edge come first.
        geometric: The geometric law closest to the best fit by Σ|γ − γ'|: the best single γ.
        truncations: Values of Δ for which effective horizons are reported.
        groups: Test of whether leaving depends on the group or the state; None if there are none.
        price: Price of assuming a geometric law on a problem; None if no problem was given, or if the log
            does not determine the mean.
        bootstrap: Intervals from resampled logs; None if there are none.
        problem: The problem on which laws are priced; None if no problem was given.
    """

    log: SessionLog
    band: Band
    fits: tuple[RankedFit, ...]
    geometric: Geometric
    truncations: tuple[float, ...]
    groups: GroupTest | None
    price: ProblemPrice | None
    bootstrap: Bootstrap | None = None
    problem: TabularMDP | None = None

    @property
    def first(self) -> int:
        """The smallest entry step; the log contains nothing about earlier steps."""
        return self.band.first

    @property
    def best(self) -> RankedFit:
        """The fit with the smallest BIC, or one within 2 of it that is not at the edge of its family."""
        return self.fits[0]

    @property
    def law(self) -> LengthLaw:
        """The law of the best fit."""
        return self.best.fit.law

    def ranked(self, family: str) -> RankedFit:
        """Return the ranked fit of a family."""
        return next(one for one in self.fits if one.fit.family == family)

    @property
    def rules_out_geometric(self) -> bool:
        """Whether the log shows that the chance of leaving changes with the step.

        It does if another family is clearly better than geometric laws, or if the data contradict these.
        """
        geometric = self.ranked("geometric")
        if geometric is self.best:
            return self.best_is_contradicted
        gain = 2.0 * (self.best.fit.log_likelihood - geometric.fit.log_likelihood)
        if gain > _CLEAR_CHANGE and geometric.bic_gap >= _BIC_TIE:
            return True
        return _is_contradicted(geometric.excess, self._hazard_test(geometric.fit))

    @cached_property
    def usual(self) -> Geometric:
        """The geometric law with the mean of `described_law`, which is what is usually assumed."""
        return geometric_with_mean(self.described_law.mean)

    @cached_property
    def gap(self) -> float:
        """Σ|γ − γ'| between `described_law` and the closest geometric law, in steps."""
        return distance(self.described_law, self.described_geometric)

    @cached_property
    def usual_gap(self) -> float:
        """Σ|γ − γ'| between `described_law` and the geometric law of the same mean, in steps."""
        return distance(self.described_law, self.usual)

    @cached_property
    def hazard_test(self) -> HazardTest | None:
        """Test of the best fit by the chances of leaving at each step; None if the log is too small."""
        return self._hazard_test(self.best.fit)

    def _hazard_test(self, fit: Fit) -> HazardTest | None:
        return _test_hazards(self.log.sample, fit)

    @cached_property
    def surprise(self) -> Surprise | None:
        """The step at which far more sessions left than the best fit says; None if there is none."""
        return find_surprise(self.log.sample, self.law)

    @property
    def surprise_matters(self) -> bool:
        """Whether `surprise` is large enough to matter."""
        found = self.surprise
        return found is not None and matters(found.observed, found.expected)

    @property
    def leaving_range(self) -> tuple[int, int]:
        """Two steps between which leaving is described by the best fit.

        At the first one sessions can end, and one in ten of them get to the second one, if the data reach it.
        """
        early = max(quantile(self.law, 1.0 - 1e-12), self.first)
        late = min(max(self.quantile_from_first(0.1), early + 1), MAX_STEP)
        return early, min(late, max(self.last_at_risk, early + 1))

    @cached_property
    def leaving_shape(self) -> tuple[str, int]:
        """How the best fit's chance of leaving changes as far as the data go; see `hazard_shape`."""
        return self.shape_of(self.law)

    def shape_of(self, law: LengthLaw) -> tuple[str, int]:
        """Return how the chance of leaving of a law changes as far as the data go; see `hazard_shape`."""
        early, late = self.leaving_range
        return hazard_shape(self.log.sample, law, early, max(late, self.last_at_risk))

    @cached_property
    def leaving_change(self) -> Change | None:
        """The clearest change in the data against `leaving_shape`; None if there is none, or no shape."""
        if isinstance(self.law, Geometric):
            return None
        early, _ = self.leaving_range
        return change_against(self.log.sample, *self.leaving_shape, early, self.last_at_risk)

    @property
    def change_matters(self) -> bool:
        """Whether `leaving_change` is large enough to matter."""
        found = self.leaving_change
        return found is not None and matters(found.before, found.after)

    @cached_property
    def best_is_contradicted(self) -> bool:
        """Whether the data contradict the best fit, at some step, by enough to matter."""
        if _is_contradicted(self.best.excess, self.hazard_test):
            return True
        return self.surprise_matters or self.change_matters

    @property
    def best_is_rejected(self) -> bool:
        """Whether the data contradict the best fit, even if by little."""
        test = self.hazard_test
        by_test = test is not None and test.p_value < REJECTED
        return self.best_is_contradicted or by_test or self.surprise is not None

    @cached_property
    def others_that_fit(self) -> tuple[RankedFit, ...]:
        """The fits, besides the best, that the data do not contradict.

        There is no strong evidence against them (ΔBIC below 6), and the chances of leaving do not reject them
        at the 1% level, neither in their own cells nor in those of the best fit.
        """
        return tuple(one for one in self.fits[1:] if one.bic_gap < STRONG_EVIDENCE and self._passes(one))

    def _passes(self, one: RankedFit) -> bool:
        """Whether the data contradict a fit neither by its survival nor by its chances of leaving."""
        sample = self.log.sample
        if one.excess >= MISFIT or find_surprise(sample, one.fit.law) is not None:
            return False
        tests = (_test_hazards(sample, one.fit, law) for law in (None, self.law))
        return all(test is None or test.p_value >= REJECTED for test in tests)

    @property
    def tied_fits(self) -> tuple[RankedFit, ...]:
        """The fits, besides the best, that fit about as well: their BIC is within 2, and at no edge."""
        return tuple(one for one in self.others_that_fit if one.bic_gap < _BIC_TIE and not one.fit.edge)

    @property
    def described_law(self) -> LengthLaw:
        """The law that the advice describes: the best fit, or the Kaplan–Meier law if the data contradict it.

        The Kaplan–Meier law is used only where the log determines the mean length.
        """
        data_law = self.kaplan_meier if self.best_is_contradicted and self.determines_mean else None
        return self.law if data_law is None else data_law

    @cached_property
    def described_geometric(self) -> Geometric:
        """The geometric law closest to `described_law`: the single γ that the advice names."""
        law = self.described_law
        return self.geometric if law is self.law else closest_geometric(law)

    @cached_property
    def kaplan_meier(self) -> KaplanMeier | None:
        """The Kaplan–Meier law with a geometric tail, given H ≥ `first`.

        None if late entries leave it undefined, or if the log has over a million distinct rows.
        """
        log = self.log
        if log.lengths.size > _MAX_KAPLAN_MEIER_STEPS:
            return None
        try:
            return KaplanMeier(log.lengths, log.observed, counts=log.counts, entry=log.entry)
        except ValueError:
            return None

    @property
    def has_table(self) -> bool:
        """Whether the data have a survival table: sessions were seen from their first step on."""
        return self.first == 1 and self.kaplan_meier is not None

    @cached_property
    def group_fits(self) -> tuple[Fit | None, ...]:
        """The best fit of each group that was compared; None for a group with fewer than 10 observed ends."""
        if self.groups is None or self.groups.what != "group":
            return ()
        samples, _ = group_samples(self.log)
        thin = (sample.thinned(_MAX_DISTINCT_PER_GROUP) for sample in samples)
        return tuple(_rank_fits(one)[0] if one.n_observed >= _FEWEST_ENDS else None for one in thin)

    @cached_property
    def contradicted_groups(self) -> tuple[bool, ...]:
        """Whether the data contradict the fit of each group, by enough to matter."""
        return tuple(is_contradicted for _, is_contradicted in self._group_checks)

    @property
    def group_means(self) -> tuple[float | None, ...]:
        """The mean length of each group by its fit, or by its data (Kaplan–Meier) if they contradict the fit.

        None where the group's sessions do not determine it.
        """
        return tuple(mean for mean, _ in self._group_checks)

    @cached_property
    def _group_checks(self) -> tuple[tuple[float | None, bool], ...]:
        """The mean length of each group, and whether the data contradict its fit."""
        if self.groups is None or not self.group_fits:
            return ()
        samples, _ = group_samples(self.log)
        pairs = zip(self.group_fits, samples, strict=True)
        return tuple((None, False) if fit is None else _check_fit(fit, one) for fit, one in pairs)

    @cached_property
    def group_values(self) -> tuple[tuple[float, float] | None, ...]:
        """What a plan for each group's law earns in that group, and what the plan for the common law earns.

        Empty without groups or without a problem; None for a group whose sessions do not determine its mean.
        """
        problem = self.problem
        if problem is None:
            return ()
        return tuple(
            None if fit is None or mean is None else compare_plans(problem, fit.law, self.law)
            for fit, mean in zip(self.group_fits, self.group_means, strict=True)
        )

    def plan(self) -> Plan | None:
        """Return the plan for the best law on the problem that was given; None without a problem."""
        if self.problem is None:
            return None
        from sojourn.planning import plan  # noqa: PLC0415 - loads numba

        return plan(self.problem, self.law)

    def quantile_from_first(self, share: float) -> int:
        """Return the step after which at most this share remains of the sessions that reach step `first`."""
        return quantile(self.law, share * float(self.law.survival(self.first)))

    @property
    def remaining(self) -> float:
        """Mean number of steps from step `first` on, by the best fit, for sessions that reach it."""
        return float(self.law.remaining(self.first))

    @property
    def unseen(self) -> float:
        """Share of the best fit's mean, from step `first` on, that lies beyond the longest session."""
        past = self.log.longest + 1
        whole = float(self.law.tail(self.first))
        return float(self.law.tail(past)) / whole if past <= MAX_STEP and whole > 0.0 else 0.0

    @property
    def last_at_risk(self) -> int:
        """The last step at which a session could be seen to end: one that is open there could not."""
        return int((self.log.lengths - ~self.log.observed).max())

    @property
    def still_open(self) -> float:
        """Estimated share of the sessions, given H ≥ `first`, that are open at the longest length.

        Of the sessions that get that far, it is the share that was not seen to end there.
        """
        return _still_open(self.log.sample, self.band)

    @cached_property
    def last_of_many(self) -> int:
        """The last step at which 10 sessions are at risk; the longest length if there is none."""
        return _last_of_many(self.log.sample)[0]

    @cached_property
    def unended(self) -> float:
        """Estimated share of the sessions whose end the data hardly show, given H ≥ `first`.

        It is `still_open`, or the share that outlasts the last step at which 10 sessions are at risk, less
        the sessions that are still seen there.
        """
        return _unended(self.log.sample, self.band)

    @property
    def mean_is_unbounded(self) -> bool:
        """Whether the 95% interval of the mean from step `first` on has no upper end in resampled logs."""
        return self.bootstrap is not None and self.bootstrap.remaining[1] >= _UNBOUNDED * self.remaining

    @property
    def determines_remaining(self) -> bool:
        """Whether the log determines the mean from step `first` on.

        At least half of it must be in the data, and these must show the end of at least half of the sessions.
        If the best fit is at the edge of its family, almost all of it must be, because the tail beyond the
        data is then an artifact of the family's range. If the data contradict the best fit, almost all
        sessions must have ended, because the fit is then no guide to the steps beyond the data; if they have,
        the mean is that of the data. If logs were resampled, the interval of a mean
        that comes from a fit must have an upper end. If most sessions reach the longest length, almost all of
        them must have been seen to end there.
        """
        if float(self.band.estimate[-1]) > 0.5 and self.still_open > SMALL_DIFFERENCE:
            return False
        if self.best_is_contradicted and self.unended > SMALL_DIFFERENCE:
            return False
        if self.best_is_contradicted and self.first == 1 and self.kaplan_meier is not None:
            return True
        if self.mean_is_unbounded:
            return False
        if self.best.fit.edge and max(self.unseen, self.unended) > SMALL_DIFFERENCE:
            return False
        return max(self.unseen, self.unended) <= 0.5

    @property
    def determines_mean(self) -> bool:
        """Whether the log determines the mean: it covers step 1 and determines the mean from there."""
        return self.first == 1 and self.determines_remaining

    @property
    def seen_mean(self) -> float:
        """The Kaplan–Meier mean of min(H, L), where L is the longest session; uses no fitted law."""
        return self.mean_up_to(self.log.longest)

    def mean_up_to(self, step: int) -> float:
        """Return the Kaplan–Meier mean of min(H, step), for a step up to the longest session."""
        return _mean_up_to(self.band, step)

    def length_reached(self, share: float) -> int:
        """Return the length that this share of the sessions reaches: by the data as far as these go.

        Beyond the longest session it is by `described_law`.
        """
        data_law = self.kaplan_meier
        step = self.log.longest + 1 if data_law is None else quantile(data_law, share * (1.0 + 1e-9))
        return step if step <= self.log.longest else quantile(self.described_law, share)

    def horizon(self, truncation: float) -> int | None:
        """Return the effective horizon of `described_law`: the least N with Γ(N) ≤ truncation; or None."""
        return effective_horizon(self.described_law, truncation)

    def schedule(self) -> dict[str, Any]:
        """Return the columns step, survival γ(h), discount ρ(h) and expected remaining steps of the best fit.

        They end where 1% of the mean remains, or after 100,000 steps. If logs were resampled, and the data do
        not contradict the fit, there are also the ends of the 95% interval of the discount at every step,
        interpolated between the steps of `bootstrap`; they are NaN where the log has no steps.
        """
        columns = _schedule(self.law)
        if self.bootstrap is not None and not self.best_is_rejected:
            h, found = columns["step"], self.bootstrap
            for name, values in zip(("discount_low", "discount_high"), found.discount, strict=True):
                columns[name] = np.interp(h, found.steps, values, left=np.nan, right=np.nan)
        return columns

    def group_schedules(self) -> list[dict[str, Any] | None]:
        """Return the schedule of each group that was compared; None where `group_means` has none."""
        pairs = zip(self.group_fits, self.group_means, strict=True)
        return [None if fit is None or mean is None else _schedule(fit.law) for fit, mean in pairs]

    def advice(self) -> tuple[tuple[str, str], ...]:
        """Return an explanation in plain words, as pairs of a heading and a paragraph."""
        from sojourn.sessions.advice._advise import advise  # noqa: PLC0415

        return advise(self)

    def as_dict(self, *, labels: bool = False) -> dict[str, Any]:
        """Return the analysis as plain data, for JSON; `labels` includes the log's own names of groups."""
        from sojourn.sessions._as_dict import as_dict  # noqa: PLC0415

        return as_dict(self, labels=labels)

    def plot(self) -> Any:
        """Draw survival, hazard and expected remaining steps; see `sojourn.plots.session_figure`."""
        from sojourn.plots import session_figure  # noqa: PLC0415

        return session_figure(self)

    def __repr__(self) -> str:
        return analysis_text(self)

    def _repr_html_(self) -> str:
        return analysis_card(self)


def effective_horizon(law: LengthLaw, truncation: float) -> int | None:
    """Return the smallest N with Γ(N) ≤ truncation; None if above 2**53."""
    if law.longest is None and float(law.tail(MAX_STEP)) > truncation:
        return None
    return law.effective_horizon(truncation)


def _schedule(law: LengthLaw) -> dict[str, Any]:
    """Return the columns of a schedule of discounts; see `Analysis.schedule`."""
    wanted = 0.01 * law.mean
    is_far = law.longest is None and float(law.tail(_MAX_SCHEDULE)) > wanted
    h = np.arange(1, (_MAX_SCHEDULE if is_far else min(law.effective_horizon(wanted), _MAX_SCHEDULE)) + 1)
    columns = {"survival": law.survival, "discount": law.continuation, "remaining": law.remaining}
    return {"step": h} | {name: column(h) for name, column in columns.items()}


def analyze(
    log: SessionLog,
    *,
    confidence: float = 0.95,
    truncations: Sequence[float] = (1.0, 0.1, 0.01),
    problem: TabularMDP | None = None,
    test: GroupTest | None = None,
    steps: StepLog | None = None,
    resamples: int = 0,
    seed: int = 0,
) -> Analysis:
    """Fit every family of laws to a session log, rank the fits and compare them with the data.

    Args:
        log: Sessions; at least one must have been seen to end.
        confidence: Confidence level of the band around the Kaplan–Meier survival function.
        truncations: Values Δ > 0 for which effective horizons are reported.
        problem: A problem on which to price the assumption of a geometric law.
        test: A test of whether leaving depends on the state, from `StepLog.leaving_by_state`; by default the
            log's groups are compared.
        steps: The step log from which the problem was estimated: with resamples, the price then gets an
            interval from data that were not used to plan.
        resamples: Number of resampled logs on which the whole procedure is repeated, with the choice of the
            family, for the intervals of the mean and of the discount.
        seed: Seed of the resampling.

    Raises:
        ValueError: If no session was seen to end, or all came under observation at their last step.

    Example:
        >>> import numpy as np, sojourn as sj
        >>> lengths = sj.BetaGeometric(3.0, 6.0).sample(np.random.default_rng(0), 5_000)
        >>> found = analyze(sj.sessions.SessionLog.from_columns(lengths))
        >>> found.best.fit.family, found.best.in_band, found.ranked("geometric").in_band
        ('beta_geometric', True, False)
    """
    wanted = tuple(check_positive(f"truncations[{i}]", value) for i, value in enumerate(truncations))
    if not log.observed.any():
        raise ValueError(
            f"{log.name} must have a session that was seen to end: all {len(log):,} are open, "
            "so nothing is known about how long sessions last."
        )
    if (log.entry > 1).any() and not (log.lengths > log.entry).any():
        raise ValueError(
            f"{log.name} must have a session that was seen to survive a step: all {len(log):,} came under "
            "observation at their last one; is the entry column the right one?"
        )
    groups = test or compare_groups(log)  # first, so that large logs hold one set of counts at a time
    sample = log.sample
    band = band_of_sample(sample, confidence=confidence)
    fits = _rank_fits(sample)
    bic, aic = min(one.bic for one in fits), min(one.aic for one in fits)
    ranked = tuple(RankedFit(one, one.bic - bic, one.aic - aic, *band.excess(one.law)) for one in fits)
    geometric = closest_geometric(fits[0].law)
    bootstrap = None
    if check_whole("resamples", resamples, least=0):
        bootstrap = resample(log, fits, _best, first=band.first, n=resamples, seed=seed)
    found = Analysis(log, band, ranked, geometric, wanted, groups, None, bootstrap, problem)
    if problem is None or not found.determines_mean:
        return found
    price = price_geometric(problem, found.law, geometric)
    if steps is not None and resamples:
        merged = steps.merged()
        held_out = held_out_loss(merged, _best_fit, resamples=max(resamples // 5, 2), seed=seed)
        price = replace(price, held_out=held_out)
    return replace(found, price=price)


analyse = analyze
"""Alias with British spelling."""


def _rank_fits(sample: Sample) -> list[Fit]:
    """Fit every family, and sort the fits."""
    sample = sample.thinned()
    return _ranked([fit_sample(sample, family) for family in FAMILIES])


def _check_fit(fit: Fit, sample: Sample) -> tuple[float | None, bool]:
    """Return the mean length of some sessions, and whether they contradict their fit.

    The mean is None unless they are seen from step 1 and show enough of it. If they contradict the fit, it is
    their Kaplan–Meier mean, for which almost all must have ended.
    """
    band = band_of_sample(sample)
    is_contradicted = _is_contradicted(band.excess(fit.law)[0], _test_hazards(sample, fit))
    if band.first > 1:
        return None, is_contradicted
    left = _unended(sample, band)
    if is_contradicted:
        return None if left > SMALL_DIFFERENCE else _mean_up_to(band, sample.longest), True
    beyond = float(fit.law.tail(min(sample.longest + 1, MAX_STEP))) / fit.law.mean
    return fit.law.mean if max(beyond, left) <= (SMALL_DIFFERENCE if fit.edge else 0.5) else None, False


def _still_open(sample: Sample, band: Band) -> float:
    """Return the estimated share of the sessions that are open at the longest length."""
    n_open = int(sample.censored_counts[sample.censored == sample.longest].sum())
    n_end = int(sample.end_counts[sample.ends == sample.longest].sum())
    return float(band.estimate[-1]) * n_open / max(n_open + n_end, 1)


def _unended(sample: Sample, band: Band) -> float:
    """Return the estimated share of the sessions whose end the data hardly show; see `Analysis.unended`."""
    left, (last, n_after) = _still_open(sample, band), _last_of_many(sample)
    if last >= sample.longest:
        return left
    return max(left, float(band.of(last + 1)) - n_after / int(sample.entry_counts.sum()))


def _last_of_many(sample: Sample) -> tuple[int, int]:
    """Return the last step at which 10 sessions are at risk, and how many are at the next one.

    If 10 never are, it is the longest length.
    """
    at = np.concatenate([sample.entries, sample.censored, sample.ends + 1])
    changes = np.concatenate([sample.entry_counts, -sample.censored_counts, -sample.end_counts])
    steps, where = np.unique(at, return_inverse=True)
    at_risk = np.cumsum(np.bincount(where, weights=changes))
    enough = np.flatnonzero(at_risk >= _FEWEST_ENDS)
    if not enough.size:
        return sample.longest, 0
    few = enough[-1] + 1
    return min(int(steps[few]) - 1, sample.longest), int(at_risk[few])


def _mean_up_to(band: Band, step: int) -> float:
    """Return the Kaplan–Meier mean of min(H, step)."""
    return float(np.dot(band.estimate, np.diff(np.minimum(band.steps, step), prepend=0)))


def _test_hazards(sample: Sample, fit: Fit, cells_of: LengthLaw | None = None) -> HazardTest | None:
    n_parameters = len(fit.parameters) - len(fit.edge)
    return compare_hazards(sample, fit.law, n_parameters=n_parameters, cells_of=cells_of)


def _is_contradicted(excess: float, test: HazardTest | None) -> bool:
    """Whether the data contradict a fit, by its survival or its chances of leaving, by enough to matter."""
    if excess >= MISFIT or test is None:
        return excess >= MISFIT
    return test.p_value < REJECTED and matters(test.observed, test.expected)


def matters(one: float, other: float) -> bool:
    """Whether two shares of those who may leave differ by 2 percentage points or a factor of 2."""
    low, high = sorted((one, other))
    return high - low >= SMALL_DIFFERENCE or high >= 2.0 * low


def _best_fit(log: SessionLog) -> Fit:
    return _rank_fits(log.sample)[0]


def _best(fits: list[Fit]) -> Fit:
    return _ranked(fits)[0]


def _ranked(fits: list[Fit]) -> list[Fit]:
    """Sort fits by BIC, but among tied fits put those at no edge first."""
    tied_bic = min(one.bic for one in fits) + _BIC_TIE
    return sorted(fits, key=lambda one: (one.bic > tied_bic or bool(one.edge), one.bic))
