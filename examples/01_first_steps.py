"""First steps: a law of lengths, the best plan under it, and what it costs not to know the length.

An episode has H steps. H is drawn at random from a law and stays hidden. At every step you can take a little
cash, or invest: wait for five steps and get more, if the episode lasts that long.

Run: python examples/01_first_steps.py
"""

from __future__ import annotations

import sojourn as sj

NAMES = ("cash", "invest")


def main() -> None:
    """Compare two laws, plan under each, and compute what ignorance of the length costs."""
    # 1. A law of lengths is a discount function: a reward at step h has the weight γ(h) = P(H ≥ h). These two
    #    laws have the same mean, but one has a constant hazard and the other a falling one.
    heavy = sj.Polynomial(p=1.4)
    geometric = sj.Geometric(1.0 - 1.0 / heavy.mean)
    for law in (heavy, geometric):
        weights = " ".join(f"{weight:.3f}" for weight in law.survival([1, 2, 5, 10, 50]))
        print(f"{type(law).__name__:10} mean {law.mean:.2f}, weights of steps 1, 2, 5, 10, 50: {weights}")

    # 2. A problem, and the best policy if the problem and the law are known, but H is not.
    mdp = sj.mdps.cash_or_invest(delay=5)
    print(f"\nBest actions in {mdp.name} at steps 1 to 10:")
    plans = {law: sj.plan(mdp, law) for law in (heavy, geometric)}
    for law, best in plans.items():
        print(f"{type(law).__name__:10}", *(NAMES[best.action(0, h)] for h in range(1, 11)))

    # 3. The value is certified: no policy earns more than `upper`, and this one earns at least `lower`.
    best = plans[heavy]
    print(f"\nValue between {best.lower[0]:.7f} and {best.upper[0]:.7f}, with {len(best.policy)} layers.")

    # 4. What does it cost to plan with a single discount factor, the one with the same mean length?
    other = sj.evaluate(mdp, heavy, plans[geometric].policy, after=plans[geometric].after).value[0]
    print(f"The plan under the geometric law earns {other:.4f}: {1 - other / best.value[0]:.0%} less.")

    # 5. How much more could be earned if H were known in advance? This price is not part of a learner's
    #    regret.
    price = sj.price_of_not_knowing(mdp, heavy)[0]
    print(f"With each length known in advance, the value is {best.value[0] + price:.4f}, {price:.4f} more.")


if __name__ == "__main__":
    main()
