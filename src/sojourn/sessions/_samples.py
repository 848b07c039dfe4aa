"""Sample logs that come with the package, generated from the laws named here; no real data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np

from sojourn._typing import BoolArray, IntArray
from sojourn._validation import did_you_mean
from sojourn.laws import BetaGeometric, Geometric, LengthLaw, Mixture, NegativeBinomial

__all__ = ["SAMPLES", "SampleLog", "sample_path"]


@dataclass(frozen=True)
class SampleLog:
    """A sample log.

    Attributes:
        about: One sentence on the content.
        generate: Returns the text of the log.
    """

    about: str
    generate: Callable[[], str]


def sample_path(name: str) -> Path:
    """Return the path of a sample log; `SAMPLES` has their names.

    Example:
        >>> from sojourn.sessions import read_sessions
        >>> len(read_sessions(sample_path("streaming")))
        5000
    """
    if name not in SAMPLES:
        listed = ", ".join(SAMPLES)
        raise ValueError(f"Unknown sample {name!r}.{did_you_mean(name, SAMPLES) or f' There are {listed}.'}")
    return Path(str(resources.files("sojourn.sessions").joinpath(f"samples/{name}.csv")))


def _draw_censored(
    law: LengthLaw, cut: LengthLaw, n: int, rng: np.random.Generator
) -> tuple[IntArray, BoolArray]:
    """Draw lengths that are censored at lengths drawn from `cut`, and whether each was seen to end."""
    lengths, cuts = law.sample(rng, n), cut.sample(rng, n)
    return np.minimum(lengths, cuts), lengths < cuts


def _streaming() -> str:
    """Generate visits with the number of videos watched; some were still open when the log was written."""
    rng = np.random.default_rng(20_26)
    lengths, ended = _draw_censored(BetaGeometric(2.2, 5.0), Geometric(0.92), 5_000, rng)
    rows = (f"v{i:05d},{n},{int(seen)}\n" for i, (n, seen) in enumerate(zip(lengths, ended, strict=True)))
    return "visit,length,ended\n" + "".join(rows)


def _support() -> str:
    """Generate conversations with the number of messages; people leave sooner on a phone than at a desk."""
    rng = np.random.default_rng(7)
    desk = NegativeBinomial(3.0, 0.7).sample(rng, 1_800)
    phone = NegativeBinomial(2.0, 0.65).sample(rng, 1_200)
    rows = [(int(n), "desk") for n in desk] + [(int(n), "phone") for n in phone]
    order = rng.permutation(len(rows))
    return "length,group\n" + "".join(f"{rows[i][0]},{rows[i][1]}\n" for i in order.tolist())


def _course() -> str:
    """Generate course participants with their lessons; many had started before the log did."""
    rng = np.random.default_rng(11)
    law = Mixture([0.4, 0.6], [Geometric(0.6), Geometric(0.97)])
    lengths, ended = _draw_censored(law, Geometric(0.98), 6_000, rng)
    entry = np.where(rng.random(6_000) < 0.3, rng.integers(2, 9, 6_000), 1)
    seen = lengths >= entry
    rows = zip(entry[seen], lengths[seen], ~ended[seen], strict=True)
    return "entry,length,open\n" + "".join(f"{a},{b},{'yes' if c else 'no'}\n" for a, b, c in rows)


def _shop() -> str:
    """Generate every step of a shop assistant that offers or advises at random.

    An offer sells for 2 with a chance that grows with the customer's interest, and lowers that interest by
    one level. Advice sells nothing and raises the interest with chance ½. The lengths of visits follow
    BetaGeometric(1.7, 2.5), whatever happens; a tenth of the visits were still open when the log was written.
    """
    rng = np.random.default_rng(5)
    states, sells = ("cold", "curious", "keen", "eager"), (0.1, 0.15, 0.3, 0.8)
    lengths, ended = _draw_censored(BetaGeometric(1.7, 2.5), Geometric(0.97), 2_500, rng)
    lines = ["episode,step,state,action,reward,ended"]
    for episode, (length, seen) in enumerate(zip(lengths.tolist(), ended.tolist(), strict=True)):
        level = 0
        for step in range(1, length + 1):
            offers = rng.random() < 0.5
            sold = offers and rng.random() < sells[level]
            over = int(seen and step == length)
            action = "offer" if offers else "advise"
            lines.append(f"{episode},{step},{states[level]},{action},{2 * sold},{over}")
            if offers:
                level = max(level - 1, 0)
            elif rng.random() < 0.5:
                level = min(level + 1, 3)
    return "\n".join(lines) + "\n"


SAMPLES = {
    "streaming": SampleLog("Videos watched in a visit; a quarter of the visits still open.", _streaming),
    "support": SampleLog(
        "Messages in a conversation, all ended, from two groups that leave at different rates.", _support
    ),
    "course": SampleLog("Lessons taken in a course, some seen only from a later lesson on.", _course),
    "shop": SampleLog("Every step of visits to a shop assistant, with states, actions and rewards.", _shop),
}
"""The sample logs by name."""
