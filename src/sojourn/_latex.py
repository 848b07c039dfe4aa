"""Tables as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["latex_table", "latex_text"]

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "√": r"$\surd$",
    "∞": r"$\infty$",
    "…": r"\dots{}",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "δ": r"$\delta$",
    "ε": r"$\varepsilon$",
    "λ": r"$\lambda$",
    "ρ": r"$\rho$",
}
_FOUND = re.compile("|".join(map(re.escape, _SPECIAL)))


def latex_text(text: str) -> str:
    """Return a text with the characters replaced that LaTeX reads as commands or does not know."""
    return _FOUND.sub(lambda found: _SPECIAL[found[0]], text)


def latex_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = (), *, n_texts: int = 1
) -> str:
    r"""Return a table in the style of booktabs, with notes below; after `n_texts` columns come numbers.

    Example:
        >>> print(latex_table(("agent", "regret"), [("UCB & co", "−1.5")], ["5 seeds."]))
        \begin{tabular}{lr}
        \toprule
        agent & regret \\
        \midrule
        UCB \& co & $-$1.5 \\
        \bottomrule
        \end{tabular}
        <BLANKLINE>
        {\par\footnotesize 5 seeds.\par}
    """
    # A row that begins with [ or * would be read as an argument of the \\ before it.
    texts = [" & ".join(map(latex_text, row)) + r" \\" for row in (header, *rows)]
    lines = ["{}" + text if text.startswith(("[", "*")) else text for text in texts]
    below = ["", rf"{{\par\footnotesize {' '.join(map(latex_text, notes))}\par}}"] if notes else []
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{'l' * n_texts}{'r' * (len(header) - n_texts)}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            *below,
        ]
    )
