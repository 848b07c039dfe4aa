"""The README's figure and the table of the paper's claims, from the whole reproduction.

    python evidence/readme.py [FOLDER]    FOLDER as `sojourn reproduce` left it; reproduction/ by default

What is missing there is played. Writes docs/claims.json, docs/images/overview.svg and the table, in the
README and in docs/paper-claims.md; a test holds both against docs/claims.json, and that against the code
that made it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from matplotlib.axes import Axes
from tuned import table, write_part

import sojourn as sj
from sojourn.experiments import RESULTS_VERSION
from sojourn.plots import COLOURS, draw_comparison, new_figure, svg_image
from sojourn.plots import comparison_curves as curves_of
from sojourn.reproduction import Workbench, reproduce

ROOT = Path(__file__).parent.parent
CLAIMS, FIGURE = ROOT / "docs" / "claims.json", ROOT / "docs" / "images" / "overview.svg"
PAGES = (ROOT / "README.md", ROOT / "docs" / "paper-claims.md")
SOURCES = ROOT / "src" / "sojourn" / "reproduction"


def digest() -> str:
    """Return a hash of the code and of the experiments that claims come from."""
    found = hashlib.sha256(str(RESULTS_VERSION).encode())
    for path in sorted([*SOURCES.glob("*.py"), *SOURCES.glob("specs/full/*.toml")]):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


def claims_table(claims: list[dict[str, Any]]) -> str:
    """Return the claims as pages show them."""
    rows = [(c["source"], c["claim"], f"**{c['verdict']}**", c["measured"]) for c in claims]
    return table(["", "The paper says", "Verdict", "Measured"], rows).replace("---:", "---")


def discount(ax: Axes) -> None:
    """Draw what a heavy-tailed law implies beside the geometric law of the same mean."""
    law, h = sj.Polynomial(p=1.4), np.arange(1, 61)
    flat = 1.0 - 1.0 / law.mean
    ax.plot(h, law.continuation(h), color=COLOURS[0], lw=1.8, label="γ(h) = h^−1.4")
    ax.plot(h, np.full(h.size, flat), color=COLOURS[1], lw=1.8, ls=(0, (5, 1.5)), label="one γ, same mean")
    best = sj.plan(sj.mdps.cash_or_invest(delay=5), law)
    turn = next(int(step) for step in h if best.action(0, int(step)) == 1)
    ax.axvline(turn - 0.5, color="#888888", lw=1.0, ls=":")
    ax.text(turn * 0.9, 0.44, "take cash", ha="right", fontsize=8.5, color="#5B6770")
    ax.text(turn * 1.05, 0.44, "invest", ha="left", fontsize=8.5, color="#5B6770")
    ax.set(xscale="log", ylim=(0.35, 1.02), title="")
    ax.set_xticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    ax.minorticks_off()
    ax.set_title("A law of lengths is a discount", loc="left", fontsize=10, fontweight="bold")
    ax.set_xlabel("step h", fontsize=9)
    ax.set_ylabel("chance ρ(h) of one more step", fontsize=9)
    ax.legend(fontsize=8.5, frameon=False, loc="lower right", bbox_to_anchor=(1.0, 0.18))


def note(ax: Axes, place: tuple[float, float], text: str, colour: str = "#5B6770") -> None:
    """Write on a panel, at a place counted from its lower left corner."""
    ax.text(*place, text, transform=ax.transAxes, fontsize=8.5, color=colour)


def overview(bench: Workbench) -> str:
    """Return the README's figure: the law, what a wrong shape costs, and the paper's own experiment."""
    figure, (left, middle, right) = new_figure(3, width=3.7, height=3.0)
    discount(left)
    (shape,) = bench.compare("shape", over=["bonus.scale", "law"])
    draw_comparison(curves_of(shape), middle, log=True)
    middle.set_title("A wrong shape costs for ever", loc="left", fontsize=10, fontweight="bold")
    places = {
        "with the law itself": (0.52, 0.26),
        "geometric belief": (0.05, 0.9),
        "fixed belief": (0.05, 0.81),
    }
    for line, (name, place) in zip(middle.get_lines(), places.items(), strict=True):
        note(middle, place, name, line.get_color())
    note(middle, (0.52, 0.05), f"{len(shape.seeds)} seeds, 95% bands")
    paper = next(one for one in bench.compare("figure1") if one.law == sj.Geometric(0.95))
    draw_comparison(curves_of(paper), right)
    right.set_title("The paper's figure, at its constants", loc="left", fontsize=10, fontweight="bold")
    note(right, (0.05, 0.9), "seven learners and chance")
    note(right, (0.52, 0.05), f"{len(paper.seeds)} seeds, 95% bands")
    return unquote(svg_image(figure).partition(",")[2])


def main() -> None:
    """Play what is missing, and write them all."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "reproduction")
    made = reproduce(folder=folder)
    claims = [
        {"source": c.source, "claim": c.text, "verdict": c.verdict.value, "measured": c.measured}
        for chapter in made.chapters
        for c in chapter.claims
    ]
    told = json.dumps({"digest": digest(), "claims": claims}, indent=2, ensure_ascii=False)
    CLAIMS.write_text(f"{told}\n", encoding="utf-8")
    FIGURE.parent.mkdir(exist_ok=True)
    FIGURE.write_text(overview(Workbench(sj.experiments.Store(folder / "results"))), encoding="utf-8")
    for page in PAGES:
        write_part(page, "claims", claims_table(claims))


if __name__ == "__main__":
    main()
