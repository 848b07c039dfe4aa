"""Maximum likelihood for choices between dated rewards: Fisher scoring, and profiles of single parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import expit, ndtri

from sojourn._typing import BoolArray, FloatArray
from sojourn.behavior.choices._families import DiscountFamily

__all__ = ["HIGHEST", "LOWEST", "Maximum", "Trials", "maximize", "profile_interval"]

LOWEST, HIGHEST = -14.0, 14.0
"""Bounds of the logarithms of parameters, for delays and amounts in units of their medians."""

_START_MU = 1.5
_MAX_ITERATIONS = 200
_CONVERGED = 1e-9


@dataclass(frozen=True, eq=False)
class Trials:
    """Choices between a sooner and a later reward, in units of the median amount and delay.

    Attributes:
        family: The family of discount functions.
        sooner: `(n, 2)` amounts and delays of the sooner rewards.
        later: `(n, 2)` the same of the later rewards.
        chose_later: `(n,)` 1 where the later reward was chosen, else 0.
        has_lapses: Whether a lapse rate is estimated: with that chance the choice is a coin flip.
    """

    family: DiscountFamily
    sooner: FloatArray
    later: FloatArray
    chose_later: FloatArray
    has_lapses: bool = False

    @property
    def n_parameters(self) -> int:
        """Number of parameters: those of the family, the sensitivity μ, and perhaps the lapse rate."""
        return len(self.family.parameters) + 1 + self.has_lapses

    @cached_property
    def starts(self) -> list[FloatArray]:
        """Points from which the likelihood is maximized."""
        base = np.array(self.family.start)
        shifts = [np.zeros(base.size), *(np.eye(base.size)[-1] * shift for shift in (-2.5, 2.5))]
        if base.size > 1:
            shifts += [np.eye(base.size)[0] * shift for shift in (-2.0, 2.0)]
        rest = [_START_MU] + [-3.0] * self.has_lapses
        return [np.concatenate([base + shift, rest]) for shift in shifts]

    def chances(self, theta: FloatArray) -> FloatArray:
        """Return the chance of choosing later, `(n,)`."""
        chance = expit(self._gap(theta)[0])
        if not self.has_lapses:
            return np.asarray(chance)
        lapse = float(expit(theta[-1]))
        return np.asarray(lapse / 2.0 + (1.0 - lapse) * chance)

    def simulate(self, theta: FloatArray, rng: np.random.Generator) -> Trials:
        """Return the same pairs of rewards with choices drawn from a discount function."""
        drawn = (rng.random(len(self.sooner)) < self.chances(theta)).astype(np.float64)
        return replace(self, chose_later=drawn)

    def expand(self, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the log likelihood, its derivatives and the expected information."""
        logs, score, root = self._expand_rows(theta)
        return float(logs.sum()), score.sum(axis=1), np.asarray(root @ root.T)

    def score(self, theta: FloatArray) -> FloatArray:
        """Return the derivatives of the log likelihood, one row per trial, `(n, p)`."""
        return np.asarray(self._expand_rows(theta)[1].T)

    def information(self, theta: FloatArray) -> FloatArray:
        """Return the expected information about the parameters, `(p, p)`."""
        return self.expand(theta)[2]

    def _gap(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return μ (worth later − worth sooner), `(n,)`, and its derivatives, one row per parameter."""
        n = len(self.family.parameters)
        worth, slopes = [], []
        for amount, delay in (self.later.T, self.sooner.T):
            log_d, d_log = self.family.log_discount(theta[:n], delay)
            value = amount * np.exp(log_d)
            worth.append(value)
            slopes.append(value * d_log)
        mu = math.exp(min(theta[n], 700.0))
        gap = mu * (worth[0] - worth[1])
        return gap, np.concatenate([mu * (slopes[0] - slopes[1]), gap[np.newaxis]])

    def _expand_rows(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return logarithms of the chances of the choices, their derivatives, and roots of the information.

        No chance is rounded to 0 or 1, so that derivatives do not vanish where a large μ makes a choice
        against the larger worth all but impossible.
        """
        gap, slopes = self._gap(theta)
        sign = 2.0 * self.chose_later - 1.0
        right, wrong = expit(sign * gap), expit(-sign * gap)
        if not self.has_lapses:
            return -np.logaddexp(0.0, -sign * gap), sign * wrong * slopes, np.sqrt(right * wrong) * slopes
        lapse = float(expit(theta[-1]))
        chance = lapse / 2.0 + (1.0 - lapse) * right
        other = lapse / 2.0 + (1.0 - lapse) * wrong
        by_lapse = (0.5 - right) * lapse * (1.0 - lapse)
        gradient = np.concatenate([(1.0 - lapse) * right * wrong * sign * slopes, by_lapse[np.newaxis]])
        return np.log(chance), gradient / chance, gradient / np.sqrt(chance * other)


@dataclass(frozen=True, eq=False)
class Maximum:
    """A maximum of the likelihood.

    Attributes:
        theta: Logarithms of the parameters (log odds of a lapse rate).
        log_likelihood: The log likelihood there.
    """

    theta: FloatArray
    log_likelihood: float

    @property
    def is_edge(self) -> BoolArray:
        """Whether each parameter is at its bound, so that the data do not determine it, `(p,)`."""
        return np.asarray((self.theta <= LOWEST + 0.01) | (self.theta >= HIGHEST - 0.01))

    @property
    def is_separated(self) -> bool:
        """Whether the function predicts every choice, so that the likelihood rises with μ without end.

        A choice that it does not predict has a chance of at most ½.
        """
        return self.log_likelihood > -math.log(2.0)


def maximize(
    trials: Trials, *, start: FloatArray | None = None, fixed: tuple[int, float] | None = None
) -> Maximum:
    """Maximize the likelihood by Fisher scoring from several points, or from one.

    Args:
        trials: The choices.
        start: The only point to start from.
        fixed: Index and value of a parameter that is held.
    """
    points = trials.starts if start is None else [start]
    return max((_climb(trials, point, fixed) for point in points), key=lambda one: one.log_likelihood)


def _climb(trials: Trials, start: FloatArray, fixed: tuple[int, float] | None) -> Maximum:
    """Take damped steps of Fisher scoring until the likelihood no longer rises."""
    theta, free = start.copy(), np.ones(start.size, dtype=bool)
    if fixed is not None:
        theta[fixed[0]], free[fixed[0]] = fixed[1], False
    damping, point = 1e-6, trials.expand(theta)
    for _ in range(_MAX_ITERATIONS):
        here, score, information = point
        at_edge = ((theta <= LOWEST) & (score < 0.0)) | ((theta >= HIGHEST) & (score > 0.0))
        moves = np.flatnonzero(free & ~at_edge)
        if not moves.size:
            break
        gained = 0.0
        while damping < 1e8:
            inner = information[np.ix_(moves, moves)]
            inner = inner + damping * np.diag(np.diag(inner) + 1e-8)
            step = np.zeros(theta.size)
            step[moves] = np.clip(np.linalg.solve(inner, score[moves]), -2.0, 2.0)
            trial = np.clip(theta + step, LOWEST, HIGHEST)
            if fixed is not None:
                trial[fixed[0]] = fixed[1]
            there = trials.expand(trial)
            if there[0] > here:
                gained, theta, point, damping = there[0] - here, trial, there, max(damping / 10.0, 1e-9)
                break
            damping *= 10.0
        if gained <= _CONVERGED:
            break
    return Maximum(theta, point[0])


def profile_interval(
    trials: Trials, best: Maximum, index: int, confidence: float, error: float
) -> tuple[float, float]:
    """Return the profile likelihood interval of one parameter, on the logarithmic scale.

    It holds all values that a likelihood-ratio test does not reject. An end that the data do not bound is
    −inf or inf.
    """
    target = float(ndtri(0.5 + confidence / 2.0))
    center, scale = best.theta[index], error if 0.0 < error < 5.0 else 0.5
    ends = []
    for sign in (-1.0, 1.0):
        near, far, width = (0.0, 0.0), (0.0, 0.0), 2.0 * scale
        theta = best.theta
        while far[1] <= target:  # pairs of a distance from the estimate and the root of the likelihood ratio
            if not LOWEST <= center + sign * width <= HIGHEST:
                break
            theta, root = _root_of_ratio(trials, best, index, center + sign * width, theta)
            near, far, width = (far if root > target else (width, root)), (width, root), 1.7 * width
        if far[1] <= target:
            ends.append(sign * math.inf)
            continue
        while far[0] - near[0] > 1e-3 * scale:
            share = (target - near[1]) / max(far[1] - near[1], 1e-12)
            middle = near[0] + min(max(share, 0.05), 0.95) * (far[0] - near[0])
            theta, root = _root_of_ratio(trials, best, index, center + sign * middle, theta)
            if abs(root - target) < 1e-4:
                near = far = (middle, root)
            elif root > target:
                far = (middle, root)
            else:
                near = (middle, root)
        ends.append(center + sign * 0.5 * (near[0] + far[0]))
    return ends[0], ends[1]


def _root_of_ratio(
    trials: Trials, best: Maximum, index: int, value: float, start: FloatArray
) -> tuple[FloatArray, float]:
    """Return the other parameters that are best for a value of one, and √(2 · loss of log likelihood).

    Consistent choices have their maximum at an endless μ, which is a bad start for other values: there the
    best μ is moderate.
    """
    starts = [start]
    if best.is_separated:
        for log_mu in (_START_MU, _START_MU + 3.0):
            starts.append(start.copy())
            starts[-1][len(trials.family.parameters)] = log_mu
    found = max(
        (maximize(trials, start=point, fixed=(index, value)) for point in starts),
        key=lambda one: one.log_likelihood,
    )
    return found.theta, math.sqrt(2.0 * max(best.log_likelihood - found.log_likelihood, 0.0))
