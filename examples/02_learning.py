"""Learning with exact regret: one learner, then several under common random numbers.

RiverSwim: swim against the current to a large reward that is far away, or drift to a small one. Lengths are
geometric with mean 10 and hidden from the learners.

Run: python examples/02_learning.py [figure.svg]
"""

from __future__ import annotations

import sys

import sojourn as sj


def main(figure: str | None = None) -> None:
    """Run one learner, compare several, and draw a figure if a file is named."""
    mdp, law = sj.mdps.river_swim(6), sj.Geometric(0.9)

    # 1. The regret of an episode is V*(x) − V^π(x): the loss of its policy relative to the best blind one.
    #    It is computed by policy evaluation, so it does not depend on the random lengths and transitions.
    bonus = sj.PaperBonus(scale=0.01)
    run = sj.learn(sj.UCBVI(law, bonus), mdp, law, episodes=1_000, seed=0)
    print(f"V* is {sj.plan(mdp, law).value[0]:.4f}. Regret of UCB-VI with the true law:")
    for first, last in ((0, 10), (10, 100), (100, 1_000)):
        print(f"  episodes {first + 1:4,} to {last:5,}  {run.regret[first:last].mean():.4f} per episode")

    # 2. The published bonus has scale 1. It explores far too much for a thousand episodes.
    published = sj.learn(sj.UCBVI(law), mdp, law, episodes=1_000, seed=0)
    print(f"  with scale 1, all 1,000  {published.regret.mean():.4f} per episode: nothing is learned yet")

    # 3. Learners that assume different laws. With the same seed, all get the same lengths and start states;
    #    differences are paired by seed.
    agents = {
        "the law": sj.UCBVI(law, bonus),
        "fixed, 10": sj.UCBVI(sj.Fixed(10), bonus),
        "fixed, 20": sj.UCBVI(sj.Fixed(20), bonus),
        "fixed, 40": sj.UCBVI(sj.Fixed(40), bonus),
        "chance": sj.RandomPlayer(),
    }
    comparison = sj.compare(agents, mdp, law, episodes=1_000, seeds=5)
    print(f"\n{comparison}")
    if figure is not None:
        comparison.plot().savefig(figure)
        print(f"\nWrote {figure}.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
