"""Preference reversals, and three kinds of decision makers: naive, sophisticated, committed.

An example of O'Donoghue and Rabin (1999): a report must be written on one of four Saturdays, and costs the
film of that evening; the films get better. Everything that is not today has half the weight. The committed
agent keeps to the plan that is best on the first Saturday. The naive agent makes a new plan every Saturday.
The sophisticated agent knows this about itself, and does what is best given its own later choices.

Run: python examples/07_preference_reversal.py
"""

from __future__ import annotations

import sojourn as sj
from sojourn import behavior

COSTS = (3.0, 5.0, 8.0, 13.0)
WRITE = 0


def saturday(agent: behavior.Decisions) -> int:
    """Return the Saturday, counted from 1, on which an agent writes."""
    return next(week for week in range(1, 5) if agent.action(week - 1, week) == WRITE)


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

    # 2. Three agents with the same discount function.
    report, half = behavior.tasks.report(COSTS), behavior.beta_delta(0.5, steps=4)
    print("\nFilms are worth 3, 5, 8, 13; everything that is not today has half the weight.")
    for solve in (behavior.committed, behavior.naive, behavior.sophisticated):
        agent = solve(report, half, deadline=4)
        week, value = saturday(agent), agent.value[0]
        cost = COSTS[week - 1]
        print(
            f"  {agent.kind:14} writes on Saturday {week}, costs {cost:2.0f}, valued {value:.1f} on the first"
        )

    # 3. Without present bias, all three agree.
    plain = behavior.naive(report, behavior.beta_delta(1.0, steps=4), deadline=4)
    print(f"  no bias        writes on Saturday {saturday(plain)}")

    # 4. Quasi-hyperbolic discounting without a last step, and what it costs not to keep to the plan.
    print("\nCash or invest, under γ(h) = β γ^(h−1):")
    problem = sj.mdps.cash_or_invest(delay=5, cash=0.12)
    for beta in (1.0, 0.8, 0.6, 0.4):
        naive = behavior.naive(problem, behavior.beta_delta(beta, 0.95))
        first = "invests" if naive.action(0, 1) else "takes the cash"
        kept, value = naive.committed_value[0], naive.value[0]
        print(f"  β = {beta}: at first {first:14}  committed {kept:.4f}, naive {value:.4f}")


if __name__ == "__main__":
    main()
