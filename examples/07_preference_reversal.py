"""Preference reversals, and three kinds of decision makers: naive, sophisticated, committed.

An example of O'Donoghue and Rabin (1999): a report must be written on one of four Saturdays, and costs the
film of that evening; the films get better. Everything that is not today has half the weight. The committed
agent keeps to the plan that is best on the first Saturday. The naive agent makes a new plan every Saturday.
The sophisticated agent knows this about itself, and does what is best given its own later choices.

Run: python examples/07_preference_reversal.py
"""

from __future__ import annotations

import numpy as np

import sojourn as sj

COSTS = (3.0, 5.0, 8.0, 13.0)
WRITE, WAIT = 0, 1


def report() -> sj.TabularMDP:
    """Return the problem: one state per Saturday, and one when the report is written."""
    n, done = len(COSTS), len(COSTS)
    transitions, rewards = np.zeros((n + 1, 2, n + 1)), np.zeros((n + 1, 2))
    for week, cost in enumerate(COSTS):
        transitions[week, WRITE, done], rewards[week, WRITE] = 1.0, -cost
        transitions[week, WAIT, min(week + 1, done)] = 1.0
    rewards[n - 1, WAIT] = -COSTS[-1]  # on the last Saturday there is no choice
    transitions[done, :, done] = 1.0
    return sj.TabularMDP(transitions, rewards, terminal=done, name="Report")


def sophisticated(law: sj.LengthLaw) -> np.ndarray:
    """Return the policy that is best on each Saturday given the later choices, `(4, 5)`."""
    n = len(COSTS)
    policy = np.zeros((n, n + 1), dtype=int)
    written_on = n - 1  # if the agent waits until then
    for week in range(n - 2, -1, -1):
        later = law.survival(1 + written_on - week) * COSTS[written_on]
        if COSTS[week] > later:
            policy[week, week] = WAIT
        else:
            written_on = week
    return policy


def saturday(policy: np.ndarray) -> int:
    """Return the Saturday, counted from 1, on which a policy writes; its last row is used for later steps."""
    return next(w + 1 for w in range(len(COSTS)) if policy[min(w, len(policy) - 1), w] == WRITE)


def main() -> None:
    """Show a preference reversal, then three agents that write a report."""
    # 1. If the chance of the end is itself uncertain, the discount function falls like a hyperbola.
    law = sj.BetaGeometric(2, 6)
    print("1 soon, or 1.8 five steps later:")
    for ahead in (21, 1):
        sooner, later = law.survival(ahead), 1.8 * law.survival(ahead + 5)
        choice = "later" if later > sooner else "sooner"
        print(f"  {ahead - 1:2} steps ahead  {sooner:.3f} or {later:.3f}: {choice}")
    running = 1.8 * law.survival(26) / law.survival(21)
    print(f"  20 steps later, having survived them, 1.000 or {running:.3f}: later, as planned")

    # 2. The plan is the commitment: it depends on the step. The naive agent plays the first row at every
    #    step.
    mdp, half = report(), sj.Tabulated([1.0, 0.5, 0.5, 0.5])
    committed = sj.plan(mdp, half).policy
    agents = {"committed": committed, "naive": committed[:1], "sophisticated": sophisticated(half)}
    print("\nFilms are worth 3, 5, 8, 13; everything that is not today has half the weight.")
    for name, policy in agents.items():
        value = sj.evaluate(mdp, half, policy, after="hold").value[0]
        week = saturday(policy)
        cost = COSTS[week - 1]
        print(f"  {name:14} writes on Saturday {week}, costs {cost:2.0f}, valued {value:.1f} on the first")

    # 3. Without present bias, all three agree.
    plain = sj.plan(mdp, sj.Fixed(4)).policy
    print(f"  no bias        writes on Saturday {saturday(plain)}")

    # 4. Quasi-hyperbolic discounting without a last step, and what it costs not to keep to the plan.
    print("\nCash or invest, under γ(h) = β γ^(h−1):")
    problem = sj.mdps.cash_or_invest(delay=5, cash=0.12)
    for beta in (1.0, 0.8, 0.6, 0.4):
        bias = sj.QuasiHyperbolic(beta, 0.95)
        best = sj.plan(problem, bias)
        naive = sj.evaluate(problem, bias, best.policy[:1], after="hold").value[0]
        first = "invests" if best.action(0, 1) else "takes the cash"
        print(f"  β = {beta}: at first {first:14}  committed {best.value[0]:.4f}, naive {naive:.4f}")


if __name__ == "__main__":
    main()
