"""Chapter "shape": what planning with a law of the wrong shape costs in every episode."""

from __future__ import annotations

import numpy as np

from sojourn.laws import Fixed, LengthLaw, parse_law, same_mean
from sojourn.mdps import TabularMDP, parse_problem
from sojourn.planning import evaluate, plan
from sojourn.plots import dots_figure, make_dots, panels_figure
from sojourn.reports import Chapter, Claim, ClaimVerdict, Picture, ReportTable
from sojourn.reproduction._learners import rows_by_name
from sojourn.reproduction._runner import ExperimentRunner

__all__ = ["shape"]

_NAMES = {
    "general": "general, the law itself",
    "geometric": "geometric law, same mean",
    "fixed": "fixed length, best horizon",
}
"""Display names by the names in the spec."""

_MULTIPLES = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
"""Lengths of the assumed fixed laws, as multiples of the mean length."""

_CASES = (
    ("cash_or_invest(5)", "polynomial(1.4)"),
    ("cash_or_invest(8)", "polynomial(1.4)"),
    ("cash_or_invest(5)", "quasi_hyperbolic(0.5, gamma=0.9)"),
    ("two_paths()", "polynomial(1.4)"),
    ("river_swim(6)", "polynomial(1.6, offset=5)"),
    ("garnet(20, 3, 3, seed=0)", "polynomial(1.4, offset=5)"),
)


def shape(runner: ExperimentRunner) -> Chapter:
    """Compare learners that assume the true law and wrong laws, and compute the exact loss of wrong laws."""
    (comparison,) = runner.compare("shape", over=["bonus.scale", "law"])
    last = comparison.checkpoints[-1]
    half = int(np.argmin(np.abs(comparison.checkpoints - last // 2)))
    regret = comparison.cumulative_regret
    late = ((regret[:, :, -1] - regret[:, :, half]) / (last - comparison.checkpoints[half])).mean(axis=1)
    cases = _CASES[:2] if runner.quick else _CASES
    losses = np.array([_losses(parse_problem(problem), parse_law(law)) for problem, law in cases])
    rows = [
        (problem, law, f"{best:.5f}", f"{geometric:.3g}", f"{fixed:.3g}")
        for (problem, law), (best, geometric, fixed) in zip(cases, losses, strict=True)
    ]
    late_loss = {name: late[row] for name, row in rows_by_name(comparison).items()}
    general, wrong = late_loss["general"], (late_loss["geometric"], late_loss["fixed"])
    claim = Claim(
        "Section 6",
        "Not only the right horizon matters, but also the right update in backward induction.",
        ClaimVerdict.HOLDS if general < 0.1 * min(wrong) else ClaimVerdict.DEPENDS,
        f"On {comparison.problem} under {comparison.law}, {len(comparison.seeds)} seeds, over the last "
        f"half of {last:,} episodes: the learner with the law itself loses {general:.2g} per episode, due to "
        f"its truncation. With a geometric law of the same mean it loses {wrong[0]:.3g}, and with a fixed "
        f"length at its best horizon {wrong[1]:.3g}: this loss does not shrink.",
    )
    dots = make_dots(
        [f"{p}, {law}" for p, law in cases],
        ["geometric, same mean", "fixed, best of six horizons"],
        losses[:, 1:],
    )
    return Chapter(
        "shape",
        "The shape of the law decides",
        "Cash pays a little now, an investment pays more later. Under a heavy-tailed law, episodes that have "
        "lasted long tend to last longer, so the best action changes with the step. A learner that assumes "
        "a law of another shape never finds this policy.",
        (
            Picture(
                "shape",
                "Regret of learners that assume the true law or a wrong one, each at its best bonus scale.",
                panels_figure([comparison], names=[_NAMES[name] for name in late_loss], log=True),
            ),
            Picture(
                "shape-losses",
                "Exact loss per episode of planning with a wrong law.",
                dots_figure(dots, title="Loss of a wrong law with the right mean", x="loss per episode"),
            ),
        ),
        (
            ReportTable(
                "Best value, and the loss per episode of planning with a wrong law",
                ("problem", "law", "best", "geometric", "fixed"),
                rows,
            ),
        ),
        (claim,),
        runner.settings("shape"),
    )


def _losses(mdp: TabularMDP, law: LengthLaw) -> tuple[float, float, float]:
    """Return the best value of the start state, and what plans for a geometric and a fixed law lose.

    Past its last layer, a plan for a fixed law starts again at its first.
    """
    best = float(mdp.start @ plan(mdp, law).value)

    def loss(assumed: LengthLaw) -> float:
        wrong = plan(mdp, assumed)
        after = "restart" if assumed.longest is not None else wrong.after
        return best - float(mdp.start @ evaluate(mdp, law, wrong.policy, after).value)

    geometric = same_mean(law)
    horizons = {max(1, round(multiple * law.mean)) for multiple in _MULTIPLES}
    return best, 0.0 if geometric is None else loss(geometric), min(loss(Fixed(h)) for h in horizons)
