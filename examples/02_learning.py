"""Learning, with regret that is computed: one learner, then several under common random numbers.

RiverSwim: swim against the current for a large reward that is far away, or drift for a small one. Lengths are
geometric with mean 10, and no learner is told them.

Run: python examples/02_learning.py [figure.svg]
"""

from __future__ import annotations

import sys

import sojourn as sj


def main(figure: str | None = None) -> None:
    """Play one learner, compare several, and draw them if a file is named."""
    mdp, law = sj.mdps.river_swim(6), sj.Geometric(0.9)

    # 1. The regret of an episode is V*(x) − V^π(x): what its policy gives up against the best blind one. It
    #    comes from policy evaluation, so it has no noise of lengths or transitions in it.
    bonus = sj.PaperBonus(scale=0.01)
    run = sj.learn(sj.UCBVI(law, bonus), mdp, law, episodes=1_000, seed=0)
    print(f"V* is {sj.plan(mdp, law).value[0]:.4f}. Regret of UCB-VI that knows the law:")
    for first, last in ((0, 10), (10, 100), (100, 1_000)):
        print(f"  episodes {first + 1:4,} to {last:5,}  {run.regret[first:last].mean():.4f} an episode")

    # 2. The published bonus has scale 1. It is far too careful for a thousand episodes.
    careful = sj.learn(sj.UCBVI(law), mdp, law, episodes=1_000, seed=0)
    print(f"  with scale 1, all 1,000  {careful.regret.mean():.4f} an episode: nothing is learned yet")

    # 3. Beliefs side by side. On one seed all learners meet the same lengths and starts, so that what differs
    #    is due to them; differences are paired by seed.
    learners = {
        "the law": sj.UCBVI(law, bonus),
        "fixed, 10": sj.UCBVI(sj.Fixed(10), bonus),
        "fixed, 20": sj.UCBVI(sj.Fixed(20), bonus),
        "fixed, 40": sj.UCBVI(sj.Fixed(40), bonus),
        "chance": sj.RandomPlayer(),
    }
    found = sj.compare(learners, mdp, law, episodes=1_000, seeds=5)
    print(f"\n{found}")
    if figure is not None:
        found.plot().savefig(figure)
        print(f"\nDrawn into {figure}.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
