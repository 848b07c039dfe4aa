"""The law is not known: it is estimated on the way, also where terminal states hide lengths.

On FrozenLake an episode often ends in a hole before its length is over. Then all that is known is that it
would have lasted at least so long. Who takes the steps played for the length believes in a shorter future.

Run: python examples/03_unknown_law.py
"""

from __future__ import annotations

import numpy as np

import sojourn as sj


def main() -> None:
    """Estimate a law from censored lengths, then learn without knowing it."""
    mdp, law = sj.TabularMDP.from_env("FrozenLake-v1"), sj.Uniform(1, 20)

    # 1. Lengths as a learner sees them: `observed` is False where the environment ended the episode.
    run = sj.learn(sj.RandomPlayer(), mdp, law, episodes=4_000, seed=0)
    print(f"{np.mean(~run.observed):.0%} of the lengths are hidden. Mean length, true and estimated:")
    naive, right = sj.Empirical(run.lengths), sj.KaplanMeier(run.lengths, run.observed)
    print(f"  true {law.mean:.2f}, steps played {naive.mean:.2f}, Kaplan–Meier {right.mean:.2f}")

    # 2. A band around the estimate that holds the whole law with 95% confidence.
    band = sj.survival_band(run.lengths, run.observed)
    print(f"  the truth is in the 95% band at every step: {band.holds(law)}")

    # 3. A learner that estimates as it goes: blocks of episodes, each twice as long as the last, and before
    #    each the law is estimated anew.
    bonus = sj.PaperBonus(scale=0.001)
    unknown = sj.UnknownLaw(20, bonus)
    run = sj.learn(unknown, mdp, law, episodes=2_000, seed=0)
    print("\nEstimated mean length, before episode:")
    for estimate in run.learner.estimates:
        print(f"  {estimate.episode + 1:5,}  {estimate.law.mean:.2f}")

    # 4. What does it cost not to know the law? The first learner is told it.
    learners = {
        "told": sj.UCBVI(law, bonus),
        "Kaplan–Meier": unknown,
        "steps for lengths": sj.UnknownLaw(20, bonus, estimator="empirical"),
        "chance": sj.RandomPlayer(),
    }
    print(f"\n{sj.compare(learners, mdp, law, episodes=2_000, seeds=5)}")


if __name__ == "__main__":
    main()
