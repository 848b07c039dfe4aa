"""A belief of the wrong shape, and what it costs for ever."""

from __future__ import annotations

import numpy as np

from sojourn.laws import Fixed, LengthLaw, parse_law, same_mean
from sojourn.mdps import TabularMDP, parse_problem
from sojourn.planning import evaluate, plan
from sojourn.plots import dots_figure, make_dots, panels_figure
from sojourn.reports import Chapter, Claim, Picture, Table, Verdict
from sojourn.reproduction._runner import Workbench

__all__ = ["shape"]

_NAMES = ("general, the law itself", "geometric belief, same mean", "fixed belief, the best horizon")
_MULTIPLES = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
"""Horizons of a fixed belief that are tried, in means of the law."""
_CASES = (
    ("cash_or_invest(5)", "polynomial(1.4)"),
    ("cash_or_invest(8)", "polynomial(1.4)"),
    ("cash_or_invest(5)", "quasi_hyperbolic(0.5, gamma=0.9)"),
    ("two_paths()", "polynomial(1.4)"),
    ("river_swim(6)", "polynomial(1.6, offset=5)"),
    ("garnet(20, 3, 3, seed=0)", "polynomial(1.4, offset=5)"),
)


def shape(bench: Workbench) -> Chapter:
    """Learners with the right and with wrong beliefs, and the exact loss of planning with a wrong one."""
    (comparison,) = bench.compare("shape", over=["bonus.scale", "law"])
    last = comparison.checkpoints[-1]
    half = int(np.argmin(np.abs(comparison.checkpoints - last // 2)))
    regret = comparison.cumulative_regret
    late = ((regret[:, :, -1] - regret[:, :, half]) / (last - comparison.checkpoints[half])).mean(axis=1)
    cases = _CASES[:2] if bench.quick else _CASES
    losses = np.array([_losses(parse_problem(problem), parse_law(law)) for problem, law in cases])
    rows = [
        (problem, law, f"{best:.5f}", f"{geometric:.3g}", f"{fixed:.3g}")
        for (problem, law), (best, geometric, fixed) in zip(cases, losses, strict=True)
    ]
    claim = Claim(
        "Section 6",
        "Not only the right horizon matters but the right update in backward induction.",
        Verdict.HOLDS if late[0] < 0.1 * late[1:].min() else Verdict.DEPENDS,
        f"On {comparison.problem} under {comparison.law}, {len(comparison.seeds)} seeds, over the last "
        f"half of {last:,} episodes, the learner with the law itself gives up {late[0]:.2g} an episode, "
        f"which is its truncation, with a geometric belief of the same mean {late[1]:.3g}, with a fixed "
        f"belief at its best horizon {late[2]:.3g}: these never stop.",
    )
    dots = make_dots(
        [f"{p}, {law}" for p, law in cases],
        ["geometric, same mean", "fixed, best of six horizons"],
        losses[:, 1:],
    )
    return Chapter(
        "shape",
        "The shape of the law decides",
        "Cash pays a little now, an investment more later. Under a heavy tail whoever has stayed long "
        "will stay longer, so the best action changes with the step; a belief of another shape misses "
        "that for ever.",
        (
            Picture(
                "shape",
                "Regret with right and wrong beliefs, each at its best scale.",
                panels_figure([comparison], names=_NAMES, log=True),
            ),
            Picture(
                "shape-losses",
                "What planning with a wrong law loses in every episode, exactly.",
                dots_figure(dots, title="Loss of a wrong law of the right mean", x="loss an episode"),
            ),
        ),
        (
            Table(
                "Best value, and what planning with a wrong law of the right mean loses an episode",
                ("problem", "law", "best", "geometric", "fixed"),
                rows,
            ),
        ),
        (claim,),
        bench.settings("shape"),
    )


def _losses(mdp: TabularMDP, law: LengthLaw) -> tuple[float, float, float]:
    """Return the best value from the start, and what plans under wrong beliefs lose, started again."""
    best = float(mdp.start @ plan(mdp, law).value)

    def lost(belief: LengthLaw) -> float:
        wrong = plan(mdp, belief)
        after = "restart" if belief.longest is not None else wrong.after
        return best - float(mdp.start @ evaluate(mdp, law, wrong.policy, after).value)

    geometric = same_mean(law)
    horizons = {max(1, round(multiple * law.mean)) for multiple in _MULTIPLES}
    return best, 0.0 if geometric is None else lost(geometric), min(lost(Fixed(h)) for h in horizons)
