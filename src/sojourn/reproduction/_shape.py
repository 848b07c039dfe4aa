"""Chapter "shape": what planning with a law of the wrong shape costs in every episode."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sojourn.laws import Fixed, LengthLaw, label, parse_law, same_mean
from sojourn.learning import Comparison
from sojourn.mdps import parse_problem
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


_MEAN_LENGTH_PROBLEMS = ("river_swim(6)", "cash_or_invest(5)", "garnet(20, 3, 3, seed=0)", "Taxi-v4")

_PAPER_LENGTHS = (10, 20, 30)
"""Lengths that the paper's rivals assume in its example, the geometric law with mean 20."""

_THREE_NUMBERS = (0.0, 0.0, 0.0)

_TOLERANCE = 1e-6
"""Losses below this share of the best value count as 0; it is the tolerance of plans."""


def shape(runner: ExperimentRunner) -> Chapter:
    """Compare learners that assume the true law and wrong laws, and compute the exact loss of wrong laws."""
    (comparison,) = runner.compare("shape", over=["bonus.scale", "law"])
    last = comparison.checkpoints[-1]
    half = int(np.argmin(np.abs(comparison.checkpoints - last // 2)))
    regret = comparison.cumulative_regret
    late = ((regret[:, :, -1] - regret[:, :, half]) / (last - comparison.checkpoints[half])).mean(axis=1)
    cases = _CASES[:2] if runner.quick else _CASES
    losses = np.array(
        [runner.remember(_losses, like=_THREE_NUMBERS, problem=problem, law=law) for problem, law in cases]
    )
    rows = [
        (problem, law, f"{best:.5f}", f"{geometric:.3g}", f"{fixed:.3g}")
        for (problem, law), (best, geometric, fixed) in zip(cases, losses, strict=True)
    ]
    late_loss = {name: late[row] for name, row in rows_by_name(comparison).items()}
    claims = (_update_claim(runner, comparison, late_loss, last), _mean_length_claim(runner))
    dots = make_dots(
        [f"{p}, {law}" for p, law in cases],
        ["geometric, same mean", "fixed, best of six horizons"],
        losses[:, 1:],
    )
    return Chapter(
        "shape",
        "The shape of the law decides",
        "Cash pays a little now, an investment pays more later. Under a heavy-tailed law, episodes that "
        "have lasted long tend to last longer, so the best action changes with the step. A learner that "
        "assumes a law of another shape never finds this policy.",
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
        claims,
        runner.settings("shape"),
    )


def _update_claim(
    runner: ExperimentRunner, comparison: Comparison, late_loss: Mapping[str, float], last: int
) -> Claim:
    """Compare the gain from the right update on the paper's own example with that on a problem of ours."""
    found = [
        runner.remember(
            _fixed_length_losses,
            like=_THREE_NUMBERS,
            problem="Taxi-v4",
            law="geometric(0.95)",
            length=length,
        )
        for length in _PAPER_LENGTHS
    ]
    best = found[0][0]
    restarted, held = (", ".join(f"{one[i]:.1f}" for one in found) for i in (1, 2))
    lengths = ", ".join(map(str, _PAPER_LENGTHS))
    return Claim(
        "Section 6",
        "Figure 1 “highlights the importance of choosing not only the right horizon length but also the "
        "correct update equation in backward induction. Consider for example, … the geometric discounting "
        "with γ = 0.95.”",
        ClaimVerdict.DEPENDS,
        f"On the problem. In the paper's example, with a known model, the best value is {best:.2f}, and the "
        f"best policies for fixed lengths of {lengths} (those of the paper) earn less by {restarted} per "
        f"episode if they start again after their last step, which is our choice, and by {held} if they "
        "repeat it: for planning, the length matters there and the update does not; whether it matters for "
        "learning this does not test. (docs/evidence.md compares tuned learners there.) "
        f"On {comparison.problem} under {label(comparison.law)} "
        f"({len(comparison.seeds)} seeds, last half of {last:,} episodes) the learner with the law loses "
        f"{late_loss['general']:.1e} per episode, with a geometric law of the same mean "
        f"{late_loss['geometric']:.3f}, with the best fixed length {late_loss['fixed']:.3f}, and the last "
        "two do not shrink.",
    )


def _mean_length_claim(runner: ExperimentRunner) -> Claim:
    """Compute what planning for the mean length loses under a heavy tail, on several problems."""
    text = "polynomial(1.4, offset=20)"
    law = parse_law(text)
    length = round(law.mean)
    texts, survives = [], []
    for name in _MEAN_LENGTH_PROBLEMS[: 2 if runner.quick else None]:
        best, *lost = runner.remember(
            _fixed_length_losses, like=_THREE_NUMBERS, problem=name, law=text, length=length
        )
        restarted, held = (one / abs(best) for one in lost)
        texts.append(f"{restarted:.1%} ({held:.1%}) on {name}")
        if restarted == 0.0:
            survives.append(name)
    return Claim(
        "Introduction",
        "“Indeed, a naive approach would be to use the expected episode length as the fixed horizon length "
        "H. However, this fails with heavy-tailed distributions which often appear in practice.”",
        ClaimVerdict.CONSISTENT if not survives else ClaimVerdict.DEPENDS,
        f"On the problem. Under {label(law)}, with a known model, the best policy for a fixed length of "
        f"{length}, which starts again after it (in brackets: repeats its last step), loses "
        f"{', '.join(texts)} of the best value in every episode. To start again is our choice. By the "
        f"paper's measure (linear regret) it fails on {len(texts) - len(survives)} of these {len(texts)}"
        + (f" and not on {', '.join(survives)}." if survives else "."),
    )


def _fixed_length_losses(problem: str, law: str, length: int) -> tuple[float, float, float]:
    """Return the best value, and what the best policy for a fixed length loses, which starts again or holds.

    Losses below the tolerance of plans are 0.
    """
    mdp, true = parse_problem(problem), parse_law(law)
    best, policy = float(mdp.start @ plan(mdp, true).value), plan(mdp, Fixed(length)).policy
    restarted, held = (
        best - float(mdp.start @ evaluate(mdp, true, policy, after).value) for after in ("restart", "hold")
    )
    least = _TOLERANCE * abs(best)
    return best, restarted if restarted > least else 0.0, held if held > least else 0.0


def _losses(problem: str, law: str) -> tuple[float, float, float]:
    """Return the best value of the start state, and what plans for a geometric and a fixed law lose.

    Past its last layer, a plan for a fixed law starts again at its first.
    """
    mdp, true = parse_problem(problem), parse_law(law)
    best = float(mdp.start @ plan(mdp, true).value)

    def loss(assumed: LengthLaw) -> float:
        wrong = plan(mdp, assumed)
        after = "restart" if assumed.longest is not None else wrong.after
        return best - float(mdp.start @ evaluate(mdp, true, wrong.policy, after).value)

    geometric = same_mean(true)
    horizons = {max(1, round(multiple * true.mean)) for multiple in _MULTIPLES}
    return best, 0.0 if geometric is None else loss(geometric), min(loss(Fixed(h)) for h in horizons)
