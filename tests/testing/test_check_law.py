"""The conformance suite must catch what it promises to catch: each law here is broken in one way."""

from dataclasses import dataclass

import numpy as np
import pytest

import sojourn as sj
from sojourn.testing import check_law


@dataclass(frozen=True)
class Honest(sj.LengthLaw):
    """γ(h) = 2^(1−h), from one formula for γ and one for Γ/γ."""

    def _log_survival(self, h):
        return (h - 1.0) * np.log(0.5)

    def _remaining(self, h):
        return np.full_like(h, 2.0)


class Rising(Honest):
    def _survival(self, h):
        return np.where(h == 5, 0.9, 0.5 ** (h - 1.0))


class LateStart(Honest):
    def _survival(self, h):
        return 0.9 * 0.5 ** (h - 1.0)


class WrongTail(Honest):
    def _remaining(self, h):
        return np.full_like(h, 2.1)


class WrongHazard(Honest):
    def _hazard(self, h):
        return np.full_like(h, 0.4)


class NegativeMass(Honest):
    def _pmf(self, h):
        return np.where(h == 3, -0.125, 0.5**h)


class FalseEnd(Honest):
    @property
    def longest(self):
        return 8


class FalseMemory(Honest):
    @property
    def memoryless_from(self):
        return 1

    def _log_survival(self, h):
        return -np.log(h) * 3.0

    def _remaining(self, h):
        return sj.Polynomial(3.0).remaining(h)


class LongHorizon(Honest):
    def effective_horizon(self, truncation):
        return super().effective_horizon(truncation) + 1


class FlatArrays(Honest):
    def survival(self, h):
        return np.ravel(super().survival(h))


class Lenient(Honest):
    def survival(self, h):
        return np.float64(0.0) if h is None else super().survival(h)


class WrongDraws(Honest):
    def _invert(self, uniforms):
        return super()._invert(uniforms) + (uniforms < 0.3)


class OwnDraws(Honest):
    def sample(self, rng, size=None):
        return rng.integers(1, 3, size)


def test_a_correct_law_passes():
    check_law(Honest())


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (Rising(), "survival must not rise from here on at h = 4; got 0.125 and 0.9"),
        (LateStart(), "survival must be 1 at h = 1; got 0.9"),
        (WrongTail(), "tail"),
        (WrongHazard(), "sum to 1"),
        (NegativeMass(), "pmf must be ≥ 0 at h = 3; got -0.125"),
        (FalseEnd(), "pmf up to here and survival after it must sum to 1|hazard|tail"),
        (FalseMemory(), "continuation must be constant from memoryless_from on"),
        (LongHorizon(), "must be the smallest N"),
        (FlatArrays(), "survival"),
        (Lenient(), r"survival\(None\) must raise"),
        (WrongDraws(), "a draw must be the largest h with survival"),
        (OwnDraws(), "a draw must be|one draw must be"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, sj.LengthLaw) else "",
)
def test_a_broken_law_is_caught(law, message):
    with pytest.raises(AssertionError, match=message):
        check_law(law)


@pytest.mark.parametrize("law", ["x", None, sj.Geometric])
def test_an_object_that_is_no_law_is_refused_in_one_line(law):
    with pytest.raises(TypeError, match=r"^law must be a LengthLaw, such as Geometric\(0.95\); got .*\.$"):
        check_law(law)


def test_frequencies_that_do_not_fit_are_caught():
    # The uniforms are right one by one in the first 500 draws only.
    class Drifting(Honest):
        def _invert(self, uniforms):
            return super()._invert(uniforms) + (uniforms.size > 1000) * (uniforms < 0.02)

    with pytest.raises(AssertionError, match="chi-square of the draws must be"):
        check_law(Drifting(), draws=50_000)
