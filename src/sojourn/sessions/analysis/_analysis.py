"""The analysis of a session log: its fits, whether the data contradict them, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.laws import (
    Band,
    Fit,
    Fixed,
    Geometric,
    KaplanMeier,
    LengthLaw,
    band_of_sample,
    closest_geometric,
    distance,
    effective_horizon,
    geometric_with_mean,
    quantile,
)
from sojourn.sessions._cards import analysis_card, analysis_text
from sojourn.sessions._log import SessionLog
from sojourn.sessions.analysis._bootstrap import Bootstrap
from sojourn.sessions.analysis._coverage import (
    FEWEST_ENDS,
    MAX_TABLE_STEPS,
    SMALL_DIFFERENCE,
    Unknown,
    last_of_many,
    late_rate,
    mean_up_to,
    share_beyond,
    still_open,
    unended,
)
from sojourn.sessions.analysis._fit_check import FitCheck, check_fit, hazards_of
from sojourn.sessions.analysis._group_laws import GroupLaw, fit_groups
from sojourn.sessions.analysis._groups import GroupTest
from sojourn.sessions.analysis._hazard_test import REJECTED, HazardTest
from sojourn.sessions.analysis._price import ProblemPrice, compare_plans
from sojourn.sessions.analysis._ranking import (
    BIC_TIE,
    STRONG_EVIDENCE,
    RankedFit,
)
from sojourn.sessions.analysis._schedule import schedule_of

if TYPE_CHECKING:
    from sojourn.mdps import TabularMDP
    from sojourn.planning import Plan  # loads numba

__all__ = ["CONFIDENCE", "Analysis"]

_CLEAR_CHANGE = 12.0
"""Least twice the gain in log-likelihood over a geometric law that rules this law out.

If leaving is as likely at every step, the best of all families gains as much in about 0.3% of logs, and in at
most about 1% (simulated with 10 to 1,000 sessions of 1.4 to 100 steps on average, complete or censored).
"""

CONFIDENCE = 0.95
"""Confidence level of the band with which laws are compared."""

_UNBOUNDED = 100.0
"""An interval of the mean that ends above this multiple of it has no upper end."""

_ROUNDING = 1e-12
"""Relative error of tails, which may hide that one is just as large as a truncation."""

_MAX_KAPLAN_MEIER_STEPS = 1_000_000


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
        bootstrap: Intervals from resampled logs; None if there are none, or the log shows no family.
        problem: The problem on which laws are priced; None if no problem was given.
        n_left_out: Number of sessions that were left out because they get no further than steps before
            `first`, where too few were seen; None if no session was seen there.
        hole: The first and last of the steps that hardly any session shows, while many show earlier and later
            ones; None if there are none. What lies before them, or after them, is left out.
        n_after_hole: Number of sessions that were left out because they came under observation after `hole`.
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
    n_left_out: int | None = None
    hole: tuple[int, int] | None = None
    n_after_hole: int = 0

    @property
    def first(self) -> int:
        """The first step that enough sessions show; the analysis leaves earlier ones out."""
        return self.band.first

    @property
    def best(self) -> RankedFit:
        """The fit with the smallest BIC, or one within 2 of it that is not at the edge of its family."""
        return self.fits[0]

    @cached_property
    def law(self) -> LengthLaw:
        """The law of the best fit; a fixed length if all sessions that were seen to end have the same one."""
        return Fixed(self.log.longest) if self.is_constant else self.best.fit.law

    def ranked(self, family: str) -> RankedFit:
        """Return the ranked fit of a family."""
        return next(one for one in self.fits if one.fit.family == family)

    @property
    def rules_out_geometric(self) -> bool:
        """Whether the log shows that the chance of leaving changes with the step.

        It does if another family is clearly better than geometric laws, or if the data reject these.
        """
        if self.is_constant:
            return self.log.longest > self.first
        geometric = self.ranked("geometric")
        gain = 2.0 * (self.best.fit.log_likelihood - geometric.fit.log_likelihood)
        if gain > _CLEAR_CHANGE and geometric.bic_gap >= BIC_TIE:
            return True
        return not self._passes(geometric.fit)

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
    def check(self) -> FitCheck:
        """How the best fit differs from the data."""
        return check_fit(self.log.sample, self._usual_band, self.best.fit)

    @cached_property
    def _usual_band(self) -> Band:
        """The 95% band: whether a law fits does not depend on the confidence of the band that is shown."""
        return self.band if self.band.confidence == CONFIDENCE else band_of_sample(self.log.sample)

    @property
    def hazard_test(self) -> HazardTest | None:
        """Test of the best fit by the chances of leaving at each step; None if the log is too small."""
        return self.check.hazards

    @property
    def best_is_contradicted(self) -> bool:
        """Whether the data contradict the best fit by enough to matter."""
        return not self.is_constant and self.check.is_contradicted

    @cached_property
    def others_that_fit(self) -> tuple[RankedFit, ...]:
        """The fits, besides the best, that the data do not contradict.

        There is no strong evidence against them (ΔBIC below 6), and the data do not reject them at the 1%
        level, neither in their own cells of steps nor in those of the best fit.
        """
        return tuple(one for one in self.fits[1:] if one.bic_gap < STRONG_EVIDENCE and self._passes(one.fit))

    @cached_property
    def replacements(self) -> tuple[RankedFit, ...]:
        """The fits of `others_that_fit` that no test of hazards rejects at the 1% level, also in wide cells.

        Where the data contradict the best fit, they are recommended in its place.
        """
        return tuple(
            one
            for one in self.others_that_fit
            if all(test is None or test.least_p_value >= REJECTED for test in self._hazard_tests(one.fit))
        )

    @cached_property
    def rivals(self) -> tuple[RankedFit, ...]:
        """The fits of `others_that_fit` at no edge of whose mean the data show at least half."""
        return tuple(one for one in self.others_that_fit if not one.fit.edge and self.shows_most_of(one))

    def shows_most_of(self, one: RankedFit) -> bool:
        """Whether at least half of the mean of a fit, from step `first` on, lies within the data."""
        return share_beyond(one.fit.law, self.first, self.log.longest) <= 0.5

    @cached_property
    def tied_beyond(self) -> tuple[RankedFit, ...]:
        """The fits at no edge, with ΔBIC up to 2, of whose mean the data show less than half."""
        tied = [one for one in self.fits if one.bic_gap <= BIC_TIE and not one.fit.edge]
        return tuple(one for one in tied if not self.shows_most_of(one))

    def _passes(self, fit: Fit) -> bool:
        if check_fit(self.log.sample, self._usual_band, fit).is_rejected:
            return False
        return not any(test is not None and test.is_rejected for test in self._hazard_tests(fit))

    def _hazard_tests(self, fit: Fit) -> tuple[HazardTest | None, ...]:
        """Return the tests of a fit's hazards in its own cells, and in those of the best fit."""
        return tuple(hazards_of(self.log.sample, fit, cells_of=one) for one in (None, self.best.fit))

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

        If sessions are open at the longest length, those that end there count as open too: the few ends among
        them would end all sessions there. None if late entries leave it undefined, or if the log has over a
        million distinct rows.
        """
        log = self.log
        if log.lengths.size > _MAX_KAPLAN_MEIER_STEPS:
            return None
        is_last = log.lengths == log.longest
        observed = log.observed & ~is_last if (is_last & ~log.observed).any() else log.observed
        observed = observed if observed.any() else log.observed
        try:
            return KaplanMeier(log.lengths, observed, counts=log.counts, entry=log.entry)
        except ValueError:
            return None

    @property
    def has_table(self) -> bool:
        """Whether `--table` can write the data: they begin at step 1 and have at most 1,000,000 steps."""
        return self.first == 1 and not self.is_too_long

    @property
    def is_too_long(self) -> bool:
        """Whether the data have too many steps for a table, or too many distinct rows, or leave it open."""
        return self.kaplan_meier is None or self.log.longest > MAX_TABLE_STEPS

    @property
    def ends_at_hole(self) -> bool:
        """Whether the data end where hardly any session was observed, although later steps were."""
        return self.hole is not None and self.hole[0] > self.first

    @cached_property
    def group_laws(self) -> tuple[GroupLaw, ...]:
        """The law of each group that was compared; empty if no groups were."""
        return fit_groups(self.log) if self.groups is not None and self.groups.what == "group" else ()

    @cached_property
    def group_values(self) -> tuple[tuple[float, float] | None, ...]:
        """What a plan for each group's law earns in that group, and what the plan for the common law earns.

        Empty without groups or without a problem; None for a group whose sessions do not determine its mean.
        """
        problem = self.problem
        if problem is None:
            return ()
        return tuple(
            None if one.fit is None or one.mean is None else compare_plans(problem, one.fit.law, self.law)
            for one in self.group_laws
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
    def described_remaining(self) -> float:
        """`remaining`, or the mean of the data (Kaplan–Meier) if they contradict the fit and show it."""
        is_of_data = self.best_is_contradicted and self.determines_remaining
        law = self.kaplan_meier if is_of_data else None
        return self.remaining if law is None else float(law.remaining(self.first))

    @property
    def unseen(self) -> float:
        """Share of the best fit's mean, from step `first` on, that lies beyond the longest session."""
        return share_beyond(self.law, self.first, self.log.longest)

    @property
    def still_open(self) -> float:
        """Estimated share of the sessions, given H ≥ `first`, that are open at the longest length.

        Of the sessions that get that far, it is the share that was not seen to end there.
        """
        return still_open(self.log.sample, self.band)

    @cached_property
    def last_of_many(self) -> int:
        """The last step at which 10 sessions are at risk; the longest length if there is none."""
        return last_of_many(self.log.sample)[0]

    @cached_property
    def unended(self) -> float:
        """Estimated share of the sessions whose end the data hardly show, given H ≥ `first`.

        It is `still_open`, or the share that outlasts the last step at which 10 sessions are at risk, less
        the sessions that are still seen there.
        """
        return unended(self.log.sample, self.band)

    @property
    def is_too_small(self) -> bool:
        """Whether fewer than 10 sessions were seen to end: too few to choose a law."""
        return self.log.sample.n_observed < FEWEST_ENDS

    @cached_property
    def is_constant(self) -> bool:
        """Whether all sessions that were seen to end, at least 10, have one length, and none got further."""
        ends = self.log.sample.ends
        has_one_length = ends.size == 1 and int(ends[0]) == self.log.longest
        return has_one_length and not self.still_open and not self.is_too_small

    @property
    def shows_a_family(self) -> bool:
        """Whether a family of laws can be chosen: the log is neither too small nor constant."""
        return not (self.is_too_small or self.is_constant)

    @property
    def mean_is_unbounded(self) -> bool:
        """Whether the 95% interval of the mean from step `first` on has no upper end in resampled logs."""
        return self.bootstrap is not None and self.bootstrap.remaining[1] >= _UNBOUNDED * self.remaining

    @cached_property
    def unknown(self) -> Unknown | None:
        """Why the log does not determine the mean from step `first` on; None if it does.

        At least 10 sessions must have been seen to end, and the data must not end at a hole. At least half
        of the mean must be in the data, and these must show the end of at least half of the sessions; at
        least half of the means of other fits that are about as good must be there, too. If the best fit is at
        the edge of its family, almost all of it must be, because the tail beyond the data is then an artifact
        of the family's range. If the data contradict the best fit, almost all sessions must have ended,
        because the fit is then no guide to the steps beyond the data; if they have, the mean is that of the
        data. If logs were resampled, the interval of a mean that comes from a fit must have an upper end. If
        most sessions reach the longest length, almost all of them must have been seen to end there.
        """
        if self.is_too_small:
            return Unknown.TOO_SMALL
        if self.is_constant:
            return None
        if self.ends_at_hole:
            return Unknown.HOLE
        if float(self.band.estimate[-1]) > 0.5 and self.still_open > SMALL_DIFFERENCE:
            return Unknown.MOST_OPEN
        if self.best_is_contradicted:
            if self.best.fit.without_mean and self.mean_is_unbounded:
                return Unknown.EDGE
            if self.unended > SMALL_DIFFERENCE or not self._has_short_tail:
                return Unknown.NO_FIT
            return Unknown.TOO_LONG if self.is_too_long else None
        if any(one.fit.without_mean and one.bic_gap <= BIC_TIE for one in self.fits):
            return Unknown.NO_MEAN
        if self.best.fit.edge and max(self.unseen, self.unended) > SMALL_DIFFERENCE:
            return Unknown.EDGE
        if self.unseen > 0.5:
            return Unknown.BEYOND
        if self.unended > 0.5:
            return Unknown.UNENDED
        if self.tied_beyond:
            return Unknown.TIED_BEYOND
        return Unknown.UNBOUNDED if self.mean_is_unbounded else None

    @property
    def _has_short_tail(self) -> bool:
        """Whether sessions that are open at the longest length add little to the mean of the data.

        At the rate at which sessions end in the last quarter of the steps.
        """
        added = self.still_open / max(late_rate(self.log.sample), 1e-300)
        return added <= SMALL_DIFFERENCE * self.seen_mean

    @property
    def determines_remaining(self) -> bool:
        """Whether the log determines the mean from step `first` on; `unknown` says why it does not."""
        return self.unknown is None

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
        return mean_up_to(self.band, step)

    def length_reached(self, share: float) -> int:
        """Return the length that this share of the sessions reaches: by the data as far as these go.

        Beyond the longest session it is by `described_law`.
        """
        data_law = self.kaplan_meier
        step = self.log.longest + 1 if data_law is None else quantile(data_law, share * (1.0 + 1e-9))
        if step <= self.log.longest - bool(self.still_open):  # sessions that are open there may last longer
            return step
        return max(quantile(self.described_law, share), self.log.longest + 1)  # the law may say less

    def horizon(self, truncation: float) -> int | None:
        """Return the effective horizon of `described_law`: the least N with Γ(N) ≤ truncation; or None."""
        return effective_horizon(self.described_law, truncation * (1.0 + _ROUNDING))

    def schedule(self) -> dict[str, Any]:
        """Return the columns step, survival γ(h), discount ρ(h) and expected remaining steps of the best fit.

        They end where 1% of the mean remains, or after 100,000 steps. If logs were resampled, and the data do
        not contradict the fit, there are also the ends of the 95% interval of the discount at every step,
        interpolated between the steps of `bootstrap`; they are NaN where the log has no steps.
        """
        columns = schedule_of(self.law)
        if self.bootstrap is not None and not self.check.is_rejected:
            h, found = columns["step"], self.bootstrap
            for name, values in zip(("discount_low", "discount_high"), found.discount, strict=True):
                columns[name] = np.interp(h, found.steps, values, left=np.nan, right=np.nan)
        return columns

    def advice(self) -> tuple[tuple[str, str], ...]:
        """Return an explanation in plain words, as pairs of a heading and a paragraph."""
        from sojourn.sessions.advice._advise import advise  # noqa: PLC0415

        return advise(self)

    def as_dict(self, *, labels: bool = False) -> dict[str, Any]:
        """Return the analysis as plain data, for JSON; `labels` includes the log's own names of groups."""
        from sojourn.sessions.analysis._as_dict import as_dict  # noqa: PLC0415

        return as_dict(self, labels=labels)

    def plot(self) -> Any:
        """Draw survival, hazard and expected remaining steps; see `sojourn.plots.session_figure`."""
        from sojourn.plots import session_figure  # noqa: PLC0415

        return session_figure(self)

    def __repr__(self) -> str:
        return analysis_text(self)

    def _repr_html_(self) -> str:
        return analysis_card(self)
