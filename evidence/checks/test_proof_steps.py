"""The steps of the proofs on the theory page, by exact enumeration and exact probabilities.

Every history of a tiny learner is enumerated: two states, two actions, three layers, three episodes. Facts 1
to 3 and the numbers of equations are those of the page of proofs.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import zeta
from scipy.stats import binom

S, A, N, T = 2, 2, 3, 3

LAWS = {
    "geometric": 0.6 ** np.arange(400.0),
    "heavy tail, cut": np.arange(1.0, 401.0) ** -1.3,
    "rare long": np.array([1.0] + [0.1] * 9),
    "fixed": np.ones(3),
}


class Enumeration:
    """All histories of the learner of Theorem B on one problem, with its quantities at every decision."""

    def __init__(self, survival, seed, width):
        rng = np.random.default_rng(seed)
        self.width = width
        self.P = rng.dirichlet([0.7] * S, size=(S, A))
        self.r = rng.random((S, A))
        self.gamma = np.append(survival, np.zeros(2))[: N + 2]  # γ(1) … γ(N+2)
        tail = np.cumsum(survival[::-1])[::-1]
        self.tail = np.append(tail, np.zeros(N + 2))[: N + 2]  # Γ(1) … Γ(N+2)
        alive = self.gamma > 0
        self.m = np.divide(self.tail, self.gamma, out=np.zeros(N + 2), where=alive)
        self.rho = np.divide(self.gamma[1:], self.gamma[:-1], out=np.zeros(N + 1), where=alive[:-1])
        self.m_plus = self.m[:N].max()
        self.best = self.optimal_values(survival)  # V*_1 … V*_{N+1}
        self.nodes = 0
        self.pessimistic = 0

    def optimal_values(self, survival):
        values = [np.zeros(S)]
        for h in range(len(survival) - 1, -1, -1):
            rho = survival[h + 1] / survival[h] if h + 1 < len(survival) else 0.0
            values.append((self.r + rho * self.P @ values[-1]).max(axis=1))
        values = [*values[::-1], *[np.zeros(S)] * (N + 1)]
        return [values[h] if self.gamma[h] > 0 else np.zeros(S) for h in range(N + 1)]

    def plan(self, q, counts):
        """Return Q after one update by Theorem B's rule, and V of layers 1 … N+1."""
        n = counts.sum(axis=2)
        empirical = counts / np.maximum(n, 1)[:, :, None]
        q, v = q.copy(), [np.full(S, self.m[N])]
        for h in range(N - 1, -1, -1):
            bonus = self.width * self.tail[h + 1] / self.gamma[h] / np.sqrt(np.maximum(n, 1))
            new = np.minimum(q[h], self.r + self.rho[h] * empirical @ v[0] + bonus)
            q[h] = np.where(n > 0, new, self.m[h])
            v.insert(0, q[h].max(axis=1))
        return q, v

    def run(self):
        """Return (probability, Σ_k(E_k J_k/2 − J_k)) of every history; check all else on the way."""
        start = np.broadcast_to(self.m[:N, None, None], (N, S, A)).copy()
        return list(self.play(0, np.zeros((S, A, S)), start, [], 1.0))

    def play(self, k, counts, q, past, chance):
        if k == T:
            n = counts.sum(axis=2)
            met = n[n > 0]
            # Fact 2 (ii) and (iii), on every history
            assert sum(z for z, _, _ in past) <= 2 * np.sum(1 + np.log(met)) + 1e-12
            assert sum(j for _, j, _ in past) <= np.sum(np.log2(1 + n)) + 1e-12
            yield chance, sum(expected / 2 - j for _, j, expected in past)
            return
        q, v = self.plan(q, counts)
        x1 = int(counts.sum()) % S  # the start depends on the past
        episodes = list(self.episodes(q, x1, counts.sum(axis=2)))
        expected = self.check_decision(q, v, x1, episodes)
        for path, weight, sigma, is_doubling, z in episodes:
            for length in range(1, N + 1):
                ends = self.gamma[length - 1] - (self.gamma[length] if length < N else 0.0)
                seen = weight * ends
                if seen == 0.0:
                    continue
                after = counts.copy()
                for x, a, y in path[:length]:
                    after[x, a, y] += 1
                j = int(is_doubling and sigma <= length)
                seen_z = sum(z[: min(sigma - 1, length)])
                assert seen_z <= S * A + 1e-12  # Fact 2 (i)
                yield from self.play(k + 1, after, q, [*past, (seen_z, j, expected)], chance * seen)

    def episodes(self, q, x1, n):
        """Yield every possible trajectory: path, probability, σ, whether σ = τ ≤ N, 1/n of its steps."""
        policy = q.argmax(axis=2)
        for states in itertools.product(range(S), repeat=N):
            path, weight, x = [], 1.0, x1
            for h, y in enumerate(states):
                a = int(policy[h, x])
                path.append((x, a, y))
                weight *= self.P[x, a, y]
                x = y
            visits, tau = {}, N + 1
            for h, (x, a, _) in enumerate(path, start=1):
                visits[x, a] = visits.get((x, a), 0) + 1
                if visits[x, a] > n[x, a]:
                    tau = h
                    break
            z = [1.0 / n[x, a] if n[x, a] > 0 else math.inf for x, a, _ in path]
            yield path, weight, min(tau, N + 1), tau <= N, z

    def check_decision(self, q, v, x1, episodes):
        """Check the identities and inequalities for one episode given the past; return E_k J_k."""
        self.nodes += 1
        gamma, rho, m_plus = self.gamma, self.rho, self.m_plus
        policy = q.argmax(axis=2)
        w = [v[h] - self.best[h] for h in range(N + 1)]
        is_optimistic = all(np.all(part >= -1e-12) for part in w)
        self.pessimistic += not is_optimistic
        played = [np.zeros(S)]  # v^π, truncated
        for h in range(N - 1, -1, -1):
            x = np.arange(S)
            played.insert(0, self.r[x, policy[h]] + rho[h] * self.P[x, policy[h]] @ played[0])
        d = [v[h] - played[h] for h in range(N + 1)]
        loss = [self.best[h] - played[h] for h in range(N + 1)]
        total = dict.fromkeys(("z", "z seen", "j", "j seen", "xi", "u", "end", "var w", "gap", "var d"), 0.0)
        total |= {"var v": 0.0, "step": 0.0, "mean": 0.0, "square": 0.0}
        ends = [gamma[length - 1] - (gamma[length] if length < N else 0.0) for length in range(1, N + 1)]
        for path, weight, sigma, is_doubling, z in episodes:
            for length, chance in enumerate(ends, start=1):
                total["z seen"] += weight * chance * sum(z[: min(sigma - 1, length)])
                total["j seen"] += weight * chance * (is_doubling and sigma <= length)
                earned = sum(self.r[x, a] for x, a, _ in path[:length])
                total["mean"] += weight * chance * earned
                total["square"] += weight * chance * earned**2
            total["j"] += weight * gamma[sigma - 1] * is_doubling
            x_end = path[sigma - 2][2] if sigma > 1 else x1
            total["end"] += weight * gamma[sigma - 1] * d[sigma - 1][x_end]
            for h, (x, a, _) in enumerate(path):
                p, scale = self.P[x, a], weight * gamma[h]
                total["gap"] += scale * (self.best[h][x] - self.r[x, a] - rho[h] * p @ self.best[h + 1])
                total["var d"] += scale * rho[h] ** 2 * variance(p, loss[h + 1])
                total["var v"] += scale * rho[h] ** 2 * variance(p, played[h + 1])
                total["step"] += scale * (rho[h] * p @ played[h + 1] ** 2 - (rho[h] * p @ played[h + 1]) ** 2)
                if h + 1 < sigma:
                    xi = q[h, x, a] - self.r[x, a] - rho[h] * p @ v[h + 1]
                    total["z"] += scale * z[h]
                    total["xi"] += scale * xi
                    total["u"] += scale * max(xi, 0.0)
                    total["var w"] += scale * rho[h] ** 2 * variance(p, w[h + 1])
        # Fact 1: discounted sums are sums over the steps that are seen.
        assert total["z"] == pytest.approx(total["z seen"], abs=1e-12)
        assert total["j"] == pytest.approx(total["j seen"], abs=1e-12)
        # (2): V_1 − v_1 is the discounted surplus up to σ, plus what is left there.
        assert d[0][x1] == pytest.approx(total["xi"] + total["end"], abs=1e-12)
        left = self.tail[N]
        assert total["end"] <= left + m_plus * total["j"] + 1e-12
        if is_optimistic:  # (4)
            bound = 2 * m_plus * total["u"] + m_plus * left + m_plus**2 * total["j"]
            assert total["var w"] <= bound + 1e-12
            assert loss[0][x1] <= total["u"] + left + m_plus * total["j"] + 1e-12  # (3)
        # (6): total variance over seen steps, for the reward of an episode's first N steps
        spread = total["square"] - total["mean"] ** 2
        assert spread == pytest.approx(total["step"], abs=1e-12)
        assert total["var v"] <= spread + 1e-12
        steps = np.arange(2, N + 1)
        assert spread <= np.sum((2 * steps - 3) * gamma[1:N]) + 1e-12
        assert total["var v"] <= np.sum(self.tail[1 : N + 1] ** 2 / gamma[:N]) / 4 + 1e-12
        # (7): gaps and their variance
        assert total["gap"] <= loss[0][x1] + 1e-12
        assert total["var d"] <= 2 * m_plus * loss[0][x1] + m_plus * left + 1e-12
        return total["j"]


def variance(p, value):
    return p @ value**2 - (p @ value) ** 2


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("width", [2.0, 0.2])
def test_facts_and_inequalities_hold_in_every_history(law, width):
    nodes = pessimistic = 0
    for seed in range(3):
        enumeration = Enumeration(LAWS[law], seed, width)
        histories = enumeration.run()
        assert sum(chance for chance, _ in histories) == pytest.approx(1.0, abs=1e-12)
        # Fact 3: exp Σ(E_k J_k/2 − J_k) has mean at most 1.
        assert sum(chance * math.exp(exponent) for chance, exponent in histories) <= 1.0 + 1e-12
        nodes, pessimistic = nodes + enumeration.nodes, pessimistic + enumeration.pessimistic
    assert nodes >= 3 * (1 + 8 + 8 * 8)
    assert pessimistic < nodes


def test_small_bonuses_are_not_optimistic_in_some_histories():
    # The check of (4) is made only where the learner is optimistic; it must not be vacuous, nor always so.
    counts = [Enumeration(LAWS["geometric"], seed, 0.0) for seed in range(2)]
    for enumeration in counts:
        enumeration.run()
    assert sum(enumeration.pessimistic for enumeration in counts) > 0


def test_sums_must_stop_at_a_doubling():
    # One pair, frozen count 1 after a first episode of one step, then an episode of 100 steps: Σ 1/n_k = 100
    # without stopping, more than 2(1 + ln 101) = 11.2. Stopped before the second visit, it is 1.
    assert 2 * (1 + math.log(101)) < 100
    assert 2 * (1 + math.log(101)) >= 1


def f(p, v, n, iota, c1, c2):
    """The monotone Bernstein backup with values in [0, 1]."""
    return p @ v + max(c1 * math.sqrt(max(variance(p, v), 0.0) * iota / n), c2 * iota / n)


CONSTANTS = [(2 * math.sqrt(2), 8.0), (2.5, 6.25)]


@pytest.mark.parametrize(("c1", "c2"), CONSTANTS)
@settings(deadline=None, max_examples=400)
@given(st.data())
def test_the_monotone_bernstein_backup_is_monotone(c1, c2, data):
    size = data.draw(st.integers(2, 5))
    unit = st.lists(st.floats(0.0, 1.0), min_size=size, max_size=size)
    p = np.array(data.draw(unit)) + 1e-3
    p /= p.sum()
    low, high = np.sort([data.draw(unit), data.draw(unit)], axis=0)
    n, iota = data.draw(st.integers(1, 10**6)), data.draw(st.floats(0.7, 40.0))
    assert f(p, low, n, iota, c1, c2) <= f(p, high, n, iota, c1, c2) + 1e-12


@pytest.mark.parametrize(("c1", "c2"), CONSTANTS)
@settings(deadline=None, max_examples=200)
@given(st.data())
def test_the_backup_of_the_last_layer_does_not_fall_if_the_value_of_unknown_states_is_raised(c1, c2, data):
    # Known absorbing states keep their values in [0, 1]; the others share a value x ≥ 1, beyond B = 1.
    size, n_unknown = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    known = np.array(data.draw(st.lists(st.floats(0.0, 1.0), min_size=size, max_size=size)))
    p = np.random.default_rng(data.draw(st.integers(0, 10**6))).dirichlet(np.full(size + n_unknown, 0.5))
    low, high = sorted(data.draw(st.tuples(st.floats(1.0, 50.0), st.floats(1.0, 50.0))))
    n, iota = data.draw(st.integers(1, 10**6)), data.draw(st.floats(0.7, 40.0))
    backups = [f(p, np.r_[known, np.full(n_unknown, x)], n, iota, c1, c2) for x in (low, high)]
    assert backups[0] <= backups[1] + 1e-9


def switching_point(c1, c2):
    """Return the change of the backup when a small entry grows, where both parts of the maximum are close."""
    p, v, iota = np.array([0.99, 0.01]), np.array([1.0, 0.0]), 1.0
    n = (c2 / c1) ** 2 * iota / variance(p, v)  # √Var = (c₂/c₁)√(ι/n)
    higher = np.array([1.0, 1e-6])  # raising the small entry lowers the variance
    return f(p, higher, n * 1.05, iota, c1, c2) - f(p, v, n * 1.05, iota, c1, c2)


def test_the_condition_on_the_constants_is_needed():
    assert all(switching_point(c1, c2) >= 0 for c1, c2 in CONSTANTS)
    assert switching_point(4.0, 8.0) < 0  # c₁² = 16 > 8


@pytest.mark.parametrize(("c1", "c2", "least"), [(*CONSTANTS[0], math.log(2)), (*CONSTANTS[1], 2.08)])
def test_the_backup_fails_at_most_as_often_as_stated(c1, c2, least):
    # V* is 1 or 0 with probability P and 1 − P; n outcomes, k of them 1. Nominal failure probability 2e^(−ι).
    worst = 0.0
    for n in [*range(1, 41), 100, 400, 2000]:
        k = np.arange(n + 1)
        for iota in (least, 3.0, 5.0):
            share = k / n
            upper = share + np.maximum(c1 * np.sqrt(share * (1 - share) * iota / n), c2 * iota / n)
            for chance in (0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 0.99):
                fails = binom.pmf(k, n, chance)[upper < chance].sum()
                worst = max(worst, fails / (2 * math.exp(-iota)))
    assert worst <= 0.05  # far below its nominal level, never above it


def test_the_maximum_dominates_the_empirical_bernstein_width():
    # max(c₁X, c₂Y) ≥ √(2u)X + (7/3)uY for all X, Y ≥ 0, u = n/(n−1): at the ray where both parts are equal.
    def slack(n, c1, c2):
        u = n / (n - 1)
        x, y = 1 / c1, 1 / c2
        return 1 - (math.sqrt(2 * u) * x + 7 / 3 * u * y)

    assert all(slack(n, *CONSTANTS[0]) >= 0 for n in range(4, 2000))
    assert slack(3, *CONSTANTS[0]) < 0  # such n are covered by 8ι/n ≥ 1
    assert all(slack(n, *CONSTANTS[1]) >= 0 for n in range(14, 2000))


@settings(deadline=None, max_examples=300)
@given(
    st.floats(0, 1e8),
    st.floats(0, 1e8),
    st.floats(0, 1e6),
    st.floats(1, 1e3),
    st.floats(0, 1e4),
    st.floats(1, 50),
)
def test_the_self_bounding_inequalities_have_the_stated_solutions(z, spread, theta, m, g, kappa):
    # The largest U with U ≤ right side, by iteration from above: increasing and concave in U.
    iota = 2.0

    def solve(right):
        u = 1e12
        for _ in range(300):
            u = right(u)
        return u

    def b(u):
        var_w = 2 * m * u + m * theta + m**2 * g
        return (
            2 * math.sqrt(z * spread) + math.sqrt(2 * kappa * iota * z * var_w) + 2 / 3 * kappa * m * iota * z
        )

    assert solve(b) <= 4 * math.sqrt(z * spread) + 2 * theta + 8.34 * kappa * iota * m * z + m * g + 1e-6

    def c(u):
        y = iota * z
        star = 2 * spread + 4 * m * u + 6 * m * theta + 4 * m**2 * g
        var_w = 2 * m * u + m * theta + m**2 * g
        return math.sqrt(18 * y * star) + math.sqrt(36 * kappa * y * var_w) + 16 * kappa * m * y

    y = iota * z
    closed = 12 * math.sqrt(y * spread) + 4 * theta + (234 + 212 * kappa) * m * y + 4 * m * g
    assert solve(c) <= closed * (1 + 1e-9) + 1e-6


@pytest.mark.parametrize("name", ["geometric", "heavy tail, cut", "rare long"])
@pytest.mark.parametrize("slack", [1.0, 1.7])
def test_the_printed_learner_is_that_of_theorem_b_with_one_layer_less(name, slack):
    # Printed: Δ ≥ Γ(N), V_{N+1} = Δ/γ(N+1). Theorem B with N − 1 layers and Δ = Γ(N): V_N = Γ(N)/γ(N).
    rng, n_layers = np.random.default_rng(5), 5
    gamma = LAWS[name][: n_layers + 1]
    tail = np.cumsum(LAWS[name][::-1])[::-1][: n_layers + 1]
    rewards, P = rng.random((S, A)), rng.dirichlet([1.0] * S, size=(S, A))

    def updated(q, counts, last):
        n, v = counts.sum(axis=2), np.full(S, last)
        q = q.copy()
        for h in range(len(q) - 1, -1, -1):
            mean = counts @ v / np.maximum(n, 1)
            new = (
                rewards
                + gamma[h + 1] / gamma[h] * mean
                + 0.3 * tail[h + 1] / gamma[h] / np.sqrt(n + (n == 0))
            )
            q[h] = np.where(n > 0, np.minimum(q[h], new), q[h])
            v = q[h].max(axis=1)
        return q

    caps = tail[:n_layers] / gamma[:n_layers]
    printed = np.broadcast_to(caps[:, None, None], (n_layers, S, A)).copy()
    shorter, counts = printed[:-1].copy(), np.zeros((S, A, S))
    for _ in range(200):
        for x, a in itertools.product(range(S), range(A)):
            counts[x, a] += rng.multinomial(rng.integers(3), P[x, a])
        printed = updated(printed, counts, slack * tail[n_layers - 1] / gamma[n_layers])
        shorter = updated(shorter, counts, tail[n_layers - 1] / gamma[n_layers - 1])
        assert np.array_equal(printed[-1], np.full((S, A), caps[-1]))
        assert np.array_equal(printed[:-1], shorter)
    assert (shorter[0] < caps[0]).all()  # it has learned something


@given(st.floats(2.0, 1e12))
def test_the_printed_bonus_is_wide_enough(x):
    assert 18 * math.log(x) ** 2 >= math.log(8 * x**2)


@pytest.mark.parametrize("p", [2.0, 2.5, 3.0, 4.0])
def test_the_orders_of_the_printed_choices_for_polynomial_laws(p):
    shares = []
    for episodes in 10.0 ** np.arange(4, 13):
        delta = episodes ** (-(p - 1) / (2 * p - 1))
        h = np.arange(1, round(20 * episodes ** (1 / (2 * p - 1))) + 20)
        tail = zeta(p, h)  # Γ(h) = Σ_{j≥h} j^(−p)
        n = int(h[tail <= delta][0])
        spread = episodes * np.sum(tail[1:n] ** 2 * h[: n - 1] ** p)  # T Σ_{N−1}
        unit = episodes ** (1 / (2 * p - 1))
        assert episodes * tail[n - 1] <= episodes ** (p / (2 * p - 1)) * (1 + 1e-12)
        assert delta * n**p < tail[n - 2] * (n - 1) ** p * 2**p  # Δ/γ(N) < m(N−1)/ρ(N−1), ρ ≥ 2^(−p)
        assert np.all(tail[: n - 1] * h[: n - 1] ** p <= 1 + h[: n - 1] / (p - 1) + 1e-9)
        shares.append((n / unit, spread / (unit ** (2 * p) * (1 + math.log(n)))))
    layers, spreads = np.array(shares).T
    assert layers.max() <= 4 * layers.min()
    assert spreads.max() <= 2
