"""Learning with an unknown law: it is estimated on the way, even if terminal states hide lengths.

On FrozenLake an episode often ends in a hole before its drawn length. Then the length is censored: it is only
known to be at least the number of steps played. An estimate that ignores this is too short.

Run: python examples/03_unknown_law.py
"""

from __future__ import annotations

import numpy as np

import sojourn as sj


def main() -> None:
    """Estimate a law from censored lengths, then learn without knowing the law."""
    mdp, law = sj.TabularMDP.from_env("FrozenLake-v1"), sj.Uniform(1, 20)

    # 1. Lengths as a learner sees them: `observed` is False if a terminal state ended the episode.
    run = sj.learn(sj.RandomPlayer(), mdp, law, episodes=4_000, seed=0)
    print(f"{np.mean(~run.observed):.0%} of the lengths are censored. Mean length, true and estimated:")
    uncorrected, corrected = sj.Empirical(run.lengths), sj.KaplanMeier(run.lengths, run.observed)
    print(f"  true {law.mean:.2f}, steps played {uncorrected.mean:.2f}, Kaplan–Meier {corrected.mean:.2f}")

    # 2. A simultaneous band: it contains the whole survival function with 95% confidence.
    band = sj.survival_band(run.lengths, run.observed)
    print(f"  the true law is in the 95% band at every step: {band.holds(law)}")

    # 3. A learner that estimates the law while it learns: it plays blocks of episodes, each twice as long
    #    as the last, and estimates the law again before each block.
    bonus = sj.PaperBonus(scale=0.001)
    unknown = sj.UnknownLaw(20, bonus)
    run = sj.learn(unknown, mdp, law, episodes=2_000, seed=0)
    print("\nEstimated mean length, before episode:")
    for estimate in run.learner.estimates:
        print(f"  {estimate.episode + 1:5,}  {estimate.law.mean:.2f}")

    # 4. What does it cost not to know the law? The first agent knows it.
    agents = {
        "known law": sj.UCBVI(law, bonus),
        "Kaplan–Meier": unknown,
        "uncorrected": sj.UnknownLaw(20, bonus, estimator="empirical"),
        "chance": sj.RandomPlayer(),
    }
    print(f"\n{sj.compare(agents, mdp, law, episodes=2_000, seeds=5)}")


if __name__ == "__main__":
    main()
