"""From a step log to a policy: the problem, the law of lengths and the plan, all from one file.

The log comes from a shop assistant that makes an offer or gives advice, at random. A row has the episode,
the step, the state (how interested the customer is), the action, the reward, and whether the customer left.
The log comes with Sojourn and is generated, so that results can be compared with the truth.

Run: python examples/06_log_to_policy.py [log.csv]
"""

from __future__ import annotations

import sys

import numpy as np

import sojourn as sj
from sojourn.sessions import analyze, group_words, law_words, read_steps, sample_path


def truth() -> tuple[sj.TabularMDP, sj.LengthLaw]:
    """Return the problem and the law that the sample was generated from, in the log's order of states."""
    cold, curious, eager, keen = range(4)
    ladder, sells = [cold, curious, keen, eager], {cold: 0.1, curious: 0.15, keen: 0.3, eager: 0.8}
    transitions, rewards = np.zeros((4, 2, 4)), np.zeros((4, 2))
    for level, state in enumerate(ladder):
        transitions[state, 0, ladder[min(level + 1, 3)]] += 0.5  # advice may raise interest
        transitions[state, 0, state] += 0.5
        transitions[state, 1, ladder[max(level - 1, 0)]] = 1.0  # an offer lowers interest, and may sell for 2
        rewards[state, 1] = 2.0 * sells[state]
    return sj.TabularMDP(transitions, rewards, start=cold), sj.BetaGeometric(1.7, 2.5)


def main(path: str | None = None) -> None:
    """Read a log, fit a law, plan, and print the result."""
    log = read_steps(path or sample_path("shop"))
    print(f"{log.name}: {log.account.n_used:,} steps, {log.account.n_rejected:,} rows rejected.")

    # 1. Estimate the problem by relative frequencies and mean rewards.
    problem = log.problem()

    # 2. Estimate the law from the lengths; visits that are still open are censored.
    found = analyze(log.sessions(), problem=problem)
    print(f"Lengths: {law_words(found.best.fit)}, mean {found.law.mean:.2f} steps.")

    # 3. A law of lengths is a discount function only if leaving does not depend on the state.
    test = log.leaving_by_state()
    if test is not None:
        print(group_words(test))

    # 4. Plan, and print the best actions.
    best = sj.plan(problem, found.law)
    print(f"\nThe best policy earns {found.price.best:.3f} per visit. Its actions by step:")
    for place, state in enumerate(log.states):
        actions = [log.actions[best.action(place, h)] for h in range(1, 9)]
        print(f"  {state:8}", " ".join(f"{action:7}" for action in actions), "…")

    # 5. Compare with the plan for a single discount factor.
    constant = sj.plan(problem, found.geometric)
    print(f"\nThe best single γ = {found.geometric.gamma:.3f} leads to these actions at every step:")
    for place, state in enumerate(log.states):
        print(f"  {state:8}", log.actions[constant.action(place, 1)])
    share = 100 * found.price.loss / found.price.best
    print(
        f"That earns {found.price.geometric:.3f}, {share:.0f}% less: a single γ cannot express that a visit"
    )
    print("that has lasted some steps tends to last long enough for advice to pay.")

    # 6. Compare with the true problem and law, which are known only for a generated log.
    if path is None:
        mdp, law = truth()
        values = [sj.evaluate(mdp, law, one.policy, after=one.after).value[0] for one in (best, constant)]
        most = sj.plan(mdp, law).value[0]
        print(f"\nTrue values: {values[0]:.3f} of at most {most:.3f}; with the single γ {values[1]:.3f}.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
