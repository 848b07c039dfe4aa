"""Write the README's figure and the table of the paper's claims from a full reproduction.

    python evidence/readme.py [FOLDER]    FOLDER of `sojourn reproduce`; reproduction/ by default

Trials that are missing in FOLDER are run. The script writes docs/claims.json, docs/images/overview.svg,
docs/paper-claims.md, which is the page that `sojourn reproduce` writes in FOLDER, and the short table of
claims in README.md. A test checks that both pages show docs/claims.json, and that the shipped experiments
are still those from which the claims were computed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from urllib.parse import unquote

import numpy as np
from matplotlib.axes import Axes
from tuned import write_part

import sojourn as sj
from sojourn.plots import COLORS, comparison_curves, draw_comparison, new_figure, svg_image
from sojourn.reports import Claim, ClaimVerdict, claims_as_json, claims_table, count_verdicts
from sojourn.reproduction import (
    EXPERIMENTS,
    TUNING_SEEDS,
    ExperimentRunner,
    read_shipped_experiment,
    reproduce,
)

ROOT = Path(__file__).parent.parent
CLAIMS, FIGURE = ROOT / "docs" / "claims.json", ROOT / "docs" / "images" / "overview.svg"
README, PAGE = ROOT / "README.md", ROOT / "docs" / "paper-claims.md"


def fingerprint() -> str:
    """Return a hash of the trials behind the claims.

    A trial's key depends on its settings, its seed and `sojourn.experiments.RESULTS_VERSION`.
    """
    hashed = hashlib.sha256(str(TUNING_SEEDS).encode())
    for name in EXPERIMENTS:
        hashed.update(name.encode())
        for cell in read_shipped_experiment(name).cells:
            for trial in cell.trials:
                hashed.update(trial.key.encode())
    return hashed.hexdigest()


def readme_part(claims: list[Claim]) -> str:
    """Return the README's part on claims: how many there are by verdict, and the table without findings."""
    return f"{count_verdicts(claims)}\n\n{claims_table(claims_as_json(claims), found=False)}"


def read_claims() -> list[Claim]:
    """Return the published claims."""
    stored = json.loads(CLAIMS.read_text(encoding="utf-8"))["claims"]
    return [Claim(c["source"], c["claim"], ClaimVerdict(c["verdict"]), c["measured"]) for c in stored]


def draw_discount(ax: Axes) -> None:
    """Draw the discount of a heavy-tailed law, beside that of the geometric law with the same mean."""
    law, h = sj.Polynomial(p=1.4), np.arange(1, 61)
    flat = 1.0 - 1.0 / law.mean
    ax.plot(h, law.continuation(h), color=COLORS[0], lw=1.8, label="γ(h) = h^−1.4")
    ax.plot(h, np.full(h.size, flat), color=COLORS[1], lw=1.8, ls=(0, (5, 1.5)), label="one γ, same mean")
    best = sj.plan(sj.mdps.cash_or_invest(delay=5), law)
    turn = next(int(step) for step in h if best.action(0, int(step)) == 1)
    ax.axvline(turn - 0.5, color="#888888", lw=1.0, ls=":")
    ax.text(turn * 0.9, 0.44, "take cash", ha="right", fontsize=8.5, color="#5B6770")
    ax.text(turn * 1.05, 0.44, "invest", ha="left", fontsize=8.5, color="#5B6770")
    ax.set(xscale="log", ylim=(0.35, 1.02), title="")
    ax.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    ax.minorticks_off()
    ax.set_title("A law of lengths is a discount function", loc="left", fontsize=10, fontweight="bold")
    ax.set_xlabel("step h", fontsize=9)
    ax.set_ylabel("chance of one more step, ρ(h)", fontsize=9)
    ax.legend(fontsize=8.5, frameon=False, loc="lower right", bbox_to_anchor=(1.0, 0.18))


def add_text(ax: Axes, place: tuple[float, float], text: str, color: str = "#5B6770") -> None:
    """Write text on a panel, at a place relative to its lower left corner."""
    ax.text(*place, text, transform=ax.transAxes, fontsize=8.5, color=color)


def overview(runner: ExperimentRunner) -> str:
    """Return the README's figure as SVG: a law, the cost of a wrong shape, and the paper's experiment."""
    figure, (left, middle, right) = new_figure(3, width=3.7, height=3.0)
    draw_discount(left)
    (shape,) = runner.compare("shape", over=["bonus.scale", "law"])
    draw_comparison(comparison_curves(shape), middle, log=True)
    middle.set_title("The wrong shape costs in every episode", loc="left", fontsize=10, fontweight="bold")
    places = {
        "the law itself": (0.52, 0.26),
        "geometric law": (0.05, 0.9),
        "fixed length": (0.05, 0.81),
    }
    for line, (name, place) in zip(middle.get_lines(), places.items(), strict=True):
        add_text(middle, place, name, line.get_color())
    add_text(middle, (0.52, 0.05), f"{len(shape.seeds)} seeds, 95% bands")
    paper = next(one for one in runner.compare("figure1") if one.law == sj.Geometric(0.95))
    draw_comparison(comparison_curves(paper), right)
    right.set_title("The paper's own experiment", loc="left", fontsize=10, fontweight="bold")
    add_text(right, (0.05, 0.9), "seven learners and random play")
    add_text(right, (0.52, 0.05), f"{len(paper.seeds)} seeds, 95% bands")
    return unquote(svg_image(figure).partition(",")[2])


def main() -> None:
    """Run missing trials, and write the claims, the figure and the pages."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "reproduction")
    reproduction = reproduce(folder=folder)
    claims = reproduction.claims
    content = json.dumps(
        {"fingerprint": fingerprint(), "claims": claims_as_json(claims)}, indent=2, ensure_ascii=False
    )
    CLAIMS.write_text(f"{content}\n", encoding="utf-8")
    FIGURE.parent.mkdir(exist_ok=True)
    FIGURE.write_text(overview(ExperimentRunner(sj.experiments.Store(folder / "results"))), encoding="utf-8")
    PAGE.write_text(reproduction.page.read_text(encoding="utf-8"), encoding="utf-8")
    write_part(README, "claims", readme_part(claims))


if __name__ == "__main__":
    main()
