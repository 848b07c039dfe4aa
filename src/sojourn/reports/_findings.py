"""What a comparison of agents found, in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from sojourn.learning import FEWEST_SEEDS, Comparison, paired_difference

__all__ = ["best_agent", "describe_best", "describe_winners"]


def best_agent(comparison: Comparison) -> int | None:
    """Return the index of the agent with the least mean regret; None if no regret is known."""
    regret = comparison.total_regret.mean
    return int(np.nanargmin(regret)) if np.isfinite(regret).any() else None


def describe_best(comparison: Comparison) -> str:
    """Return a sentence on the agent with the least regret, beside the next and the last.

    Example:
        >>> import sojourn as sj
        >>> law = sj.Geometric(0.8)
        >>> agents = [sj.OptimalPlayer(sj.plan(sj.mdps.chain(3), law)), sj.RandomPlayer()]
        >>> describe_best(sj.compare(agents, sj.mdps.chain(3), law, episodes=10, seeds=5)).partition(",")[0]
        'Best: OptimalPlayer(Geometric(0.8))'
    """
    best = best_agent(comparison)
    if best is None:
        return "The regret of no agent is known."
    regret, text = comparison.total_regret.mean, comparison.total_regret.texts()[best]
    order = [i for i in np.argsort(regret, kind="stable").tolist() if np.isfinite(regret[i])]
    if len(order) == 1:
        return f"{comparison.names[best]}: total regret {text}."
    following, last = order[1], order[-1]
    parts = [f"Best: {comparison.names[best]}, total regret {text}"]
    if _is_clear(comparison, best, last):
        parts.append(f"{_times_less(regret[best], regret[last])} {comparison.names[last]}")
    if not _is_clear(comparison, best, following):
        parts.append(f"not clearly less than {comparison.names[following]}")
    elif following != last:
        parts.append(
            f"{_times_less(regret[best], regret[following])} the next, {comparison.names[following]}"
        )
    return ", ".join(parts) + "."


def _times_less(less: float, more: float) -> str:
    """Return how much less regret one number is than another, in words before the name of the other."""
    ratio = more / less if less > 0.0 else np.inf
    if not ratio < 10_000.0:
        return "far less than"
    if ratio < 1.1:
        return "slightly less than"
    return f"{ratio:,.0f} times less than" if ratio >= 9.5 else f"{ratio:.1f} times less than"


def _is_clear(comparison: Comparison, best: int, other: int) -> bool:
    """Whether the 95% interval of the paired difference is above 0; of a few seeds, whether all agree."""
    total = comparison.cumulative_regret[:, :, -1]
    if len(comparison.seeds) < FEWEST_SEEDS:
        return bool((total[other] > total[best]).all())
    return bool(paired_difference(total[other], total[best]).low > 0.0)


def describe_winners(comparisons: Sequence[Comparison]) -> str:
    """Return which agent has the least regret in how many of several comparisons."""
    if len(comparisons) == 1:
        return describe_best(comparisons[0])
    found = [(comparison, best_agent(comparison)) for comparison in comparisons]
    wins = Counter(comparison.names[best] for comparison, best in found if best is not None)
    if not wins:
        return "The regret of no agent is known."
    parts = [f"{name} in {n:,}" for name, n in wins.most_common(3)]
    parts += [f"others in {sum(wins.values()) - sum(n for _, n in wins.most_common(3)):,}"] * (len(wins) > 3)
    return f"Least mean regret in {len(comparisons):,} cases: {', '.join(parts)}."
