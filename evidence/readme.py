"""Write the README's sentence on the paper's claims and their page from a full reproduction.

    python evidence/readme.py [FOLDER]    FOLDER of `sojourn reproduce`; reproduction/ by default

Trials that are missing in FOLDER are run. The script writes docs/claims.json, docs/paper-claims.md, which is
the page that `sojourn reproduce` writes in FOLDER, and in README.md the number of claims by verdict with the
most telling rows. A test checks that both pages show docs/claims.json, and that the shipped experiments are
still those from which the claims were computed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from tuned import write_part

from sojourn.reports import Claim, ClaimVerdict, claims_as_json, claims_table, count_verdicts
from sojourn.reproduction import (
    EXPERIMENTS,
    TUNING_SEEDS,
    read_shipped_experiment,
    reproduce,
)

ROOT = Path(__file__).parent.parent
CLAIMS = ROOT / "docs" / "claims.json"
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


TELLING = ("Lemma 1", "Theorem 1", "Section 6, Figure 1")
"""Places in the paper whose claims the README shows, the first of each."""


def readme_part(claims: list[Claim]) -> str:
    """Return the README's part on claims: how many there are by verdict, and the most telling rows."""
    shown = [next(one for one in claims if one.source == place) for place in TELLING]
    return f"{count_verdicts(claims)}\n\n{claims_table(claims_as_json(shown), found=False)}"


def read_claims() -> list[Claim]:
    """Return the published claims."""
    stored = json.loads(CLAIMS.read_text(encoding="utf-8"))["claims"]
    return [Claim(c["source"], c["claim"], ClaimVerdict(c["verdict"]), c["measured"]) for c in stored]


def main() -> None:
    """Run missing trials, and write the claims and the pages."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "reproduction")
    reproduction = reproduce(folder=folder)
    claims = reproduction.claims
    content = json.dumps(
        {"fingerprint": fingerprint(), "claims": claims_as_json(claims)}, indent=2, ensure_ascii=False
    )
    CLAIMS.write_text(f"{content}\n", encoding="utf-8")
    PAGE.write_text(reproduction.page.read_text(encoding="utf-8"), encoding="utf-8")
    write_part(README, "claims", readme_part(claims))


if __name__ == "__main__":
    main()
