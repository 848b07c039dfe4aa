"""First steps: a law of lengths, the best plan under it, and what it costs not to know the length.

An episode has H steps; nature draws H from a law and does not tell it. You can take a little cash at every
step, or invest: wait for five steps, and get more, if the episode lasts that long.

Run: python examples/01_first_steps.py
"""

from __future__ import annotations

import sojourn as sj

NAMES = ("cash", "invest")


def main() -> None:
    """Go from laws to a plan, its certificate and its price."""
    # 1. A law of lengths is a discount function: γ(h) = P(H ≥ h) is what a reward at step h weighs. These two
    #    have the same mean, but one has a constant hazard, the other one that falls.
    heavy = sj.Polynomial(p=1.4)
    geometric = sj.Geometric(1.0 - 1.0 / heavy.mean)
    for law in (heavy, geometric):
        weights = " ".join(f"{weight:.3f}" for weight in law.survival([1, 2, 5, 10, 50]))
        print(f"{type(law).__name__:10} mean {law.mean:.2f}, weights of steps 1, 2, 5, 10, 50: {weights}")

    # 2. A problem, and the best policy of somebody who knows both it and the law, but not H.
    mdp = sj.mdps.cash_or_invest(delay=5)
    print(f"\nWhat is best in {mdp.name} at steps 1 to 10:")
    plans = {law: sj.plan(mdp, law) for law in (heavy, geometric)}
    for law, best in plans.items():
        print(f"{type(law).__name__:10}", *(NAMES[best.action(0, h)] for h in range(1, 11)))

    # 3. The value is certified: no policy earns more than `upper`, and this one earns at least `lower`.
    best = plans[heavy]
    print(f"\nValue between {best.lower[0]:.7f} and {best.upper[0]:.7f}, with {len(best.policy)} layers.")

    # 4. What does it cost to plan with the usual discount factor, the one of the same mean length?
    usual = sj.evaluate(mdp, heavy, plans[geometric].policy, after=plans[geometric].after).value[0]
    print(f"The plan under the geometric law earns {usual:.4f}: {1 - usual / best.value[0]:.0%} less.")

    # 5. And what would it be worth to be told H in advance? That is nobody's fault, and no learner's regret.
    price = sj.price_of_not_knowing(mdp, heavy)[0]
    print(f"Told each length in advance, one would earn {best.value[0] + price:.4f}, {price:.4f} more.")


if __name__ == "__main__":
    main()
