"""Reading and fitting session logs side by side with what one would use instead, in one run on the same rows.

    python benchmarks/sessions.py read     a CSV file: Python's csv module, pyarrow, and this reader
    python benchmarks/sessions.py large    ten million rows with all columns, alike and unlike: time, memory
    python benchmarks/sessions.py fit      each family: a simplex search on the rows, and this climb on counts
    python benchmarks/sessions.py found    how often laws are found again from 40% open sessions

Machines are noisy: read the ratios, not the times. Exits 1 if results differ or a promise is not kept.
"""

from __future__ import annotations

import csv
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet
from scipy.optimize import minimize

import sojourn as sj
from sojourn.laws import FAMILIES, fit_sample, take_sample
from sojourn.sessions import read_sessions

ROWS = 10_000_000
BLOCK = 100_000
TRUTHS = {
    "geometric": sj.Geometric(0.9),
    "quasi_hyperbolic": sj.QuasiHyperbolic(0.7, 0.95),
    "negative_binomial": sj.NegativeBinomial(2.5, 0.8),
    "discrete_weibull": sj.DiscreteWeibull(0.8, 0.6),
    "beta_geometric": sj.BetaGeometric(2.5, 8.0),
    "polynomial": sj.Polynomial(1.4, offset=20),
    "mixture": sj.Mixture([0.3, 0.7], [sj.Geometric(0.5), sj.Geometric(0.97)]),
}
WIDER = {"geometric": {"negative_binomial", "discrete_weibull", "quasi_hyperbolic", "mixture"}}


def keep(what: str, is_kept: bool) -> bool:
    print(f"    {'kept' if is_kept else 'NOT KEPT'}: {what}")
    return is_kept


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.perf_counter()
    return work(), time.perf_counter() - begun


def plain(path: Path) -> tuple[int, int]:
    """Return rows and steps as Python's own reader finds them."""
    rows = steps = 0
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            length = int(row["length"])
            if length < 1 or row["ended"] not in ("0", "1"):
                raise ValueError(row)
            rows, steps = rows + 1, steps + length
    return rows, steps


def by_arrow(path: Path) -> tuple[int, int]:
    """Return rows and steps as pyarrow finds them; it checks nothing and keeps all columns."""
    table = pyarrow.csv.read_csv(path)
    return table.num_rows, pyarrow.compute.sum(table["length"]).as_py()


def read() -> bool:
    rng = np.random.default_rng(0)
    lengths, ended = rng.geometric(0.02, BLOCK), rng.integers(0, 2, BLOCK)
    block = "".join(f"u{i:06d},{n},{e}\n" for i, (n, e) in enumerate(zip(lengths, ended, strict=True)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        with path.open("w", encoding="utf-8") as file:
            file.write("user,length,ended\n")
            for _ in range(ROWS // BLOCK):
                file.write(block)
        log, own = timed(lambda: read_sessions(path))
        (arrow_rows, arrow_steps), arrow = timed(lambda: by_arrow(path))
        (rows, steps), python = timed(lambda: plain(path))
    print(f"{ROWS:,} rows: this reader {own:.1f} s, pyarrow {arrow:.1f} s, Python's csv {python:.1f} s")
    print(f"    {python / own:.1f} times as fast as csv")
    found = (len(log), int(log.lengths @ log.counts))
    return keep("all three find the same", found == (rows, steps) == (arrow_rows, arrow_steps))


def columns(kind: str) -> pyarrow.Table:
    """Return ten million sessions: short ones, of which many are alike, or such that no two are."""
    rng = np.random.default_rng(0)
    lengths = rng.geometric(0.02, ROWS) if kind == "alike" else rng.integers(1, 2**53, ROWS)
    entry = np.minimum(rng.integers(1, 9, ROWS), lengths)
    if kind != "alike":
        entry = rng.integers(1, lengths + 1)
    names = np.array([f"group {i}" for i in range(4 if kind == "alike" else 999)])
    group = pyarrow.DictionaryArray.from_arrays(rng.integers(0, names.size, ROWS), names)
    ended = rng.integers(0, 2, ROWS, dtype=np.int8)
    return pyarrow.table({"length": lengths, "ended": ended, "entry": entry, "group": group})


ALONE = """
import sys, time
from pathlib import Path
from sojourn.sessions import read_sessions
begun = time.perf_counter()
log = read_sessions(sys.argv[1])
seconds, status = time.perf_counter() - begun, Path("/proc/self/status").read_text()
most = int(status.partition("VmHWM:")[2].split()[0])  # ru_maxrss would begin with that of the parent
print(len(log), log.lengths.size, (log.entry % 1000) @ log.counts, seconds, most / 1000)
"""
"""Reads a log by itself; prints rows, distinct ones, a sum of entries, seconds and megabytes."""


def large() -> bool:
    good = True
    for kind in ("alike", "unlike"):
        with tempfile.TemporaryDirectory() as folder:
            table = columns(kind)
            paths = [Path(folder) / f"log.{suffix}" for suffix in ("csv", "parquet")]
            pyarrow.csv.write_csv(table, paths[0])
            pyarrow.parquet.write_table(table, paths[1])
            entries = int((table["entry"].to_numpy() % 1000).sum())
            for path in paths:
                done = subprocess.run(
                    [sys.executable, "-c", ALONE, str(path)], capture_output=True, text=True, check=True
                )
                rows, distinct, found, seconds, most = (float(word) for word in done.stdout.split())
                what = f"{distinct:,.0f} of {ROWS:,} rows unlike, {path.suffix[1:]}"
                print(f"{what}: {seconds:.1f} s, {most:.0f} MB")
                good &= keep("all rows are there", (rows, found) == (ROWS, entries))
                good &= keep("within 30 s and 1 GB", seconds < 30.0 and most < 1_000.0)
    return good


def open_sessions(law: sj.LengthLaw, n: int, seed: int) -> tuple[Any, Any]:
    """Draw lengths, 40% of them cut off by a geometric time."""
    rng = np.random.default_rng(seed)
    lengths, uniforms = law.sample(rng, n), 1.0 - rng.random(n)
    for mean in np.geomspace(1.2, 1e4, 300):
        cuts = 1.0 + np.floor(np.log(uniforms) / math.log(1.0 - 1.0 / mean))
        if np.mean(lengths >= cuts) <= 0.4:
            break
    return np.minimum(lengths, cuts).astype(np.int64), lengths < cuts


def member(family: str, values: Any, offset: int) -> sj.LengthLaw:
    if family == "mixture":
        return sj.Mixture([values[0], 1.0 - values[0]], [sj.Geometric(gamma) for gamma in values[1:]])
    if family == "polynomial":
        return sj.Polynomial(values[0], offset)
    return type(TRUTHS[family])(*values)


def fit() -> bool:
    good = True
    for family, law in TRUTHS.items():
        lengths, seen = open_sessions(law, 20_000, seed=1)
        found, own = timed(lambda f=family, n=lengths, s=seen: sj.fit(n, s, family=f))
        offset = int(found.parameters.get("offset", 0))

        def loss(values: Any, *, f: str = family, n: Any = lengths, s: Any = seen, o: int = offset) -> float:
            try:
                law = member(f, values, o)
            except ValueError:
                return math.inf
            return -float(np.log(law.pmf(n[s])).sum() + law.log_survival(n[~s]).sum())

        start = [value for name, value in found.parameters.items() if name != "offset"]
        rival, other = timed(lambda loss=loss, start=start: minimize(loss, start, method="Nelder-Mead"))
        print(
            f"{family:18} this {1e3 * own:7.1f} ms, simplex on rows {other:6.2f} s, {other / own:8.0f} times"
        )
        good &= keep("as likely", found.log_likelihood >= -rival.fun - 1e-6 * abs(rival.fun))
    return good


def found(seeds: int = 20) -> bool:
    good = True
    for family, law in TRUTHS.items():
        values = (
            [law.weights[0], *[part.gamma for part in law.laws]]
            if isinstance(law, sj.Mixture)
            else [float(value) for value in law._parameters().values()]
        )
        within = first = 0
        for seed in range(seeds):
            sample = take_sample(*open_sessions(law, 100_000, seed))
            fits = [fit_sample(sample, name) for name in FAMILIES]
            own = next(one for one in fits if one.family == family)
            off = [
                abs(value - truth) / own.standard_errors[name] if name != "offset" else 9.0 * (value != truth)
                for (name, value), truth in zip(own.parameters.items(), values, strict=True)
            ]
            within += max(off) < 3.0
            best = min(fits, key=lambda one: one.bic).family
            first += best == family or best in WIDER.get(family, ())
        print(f"{family:18} within 3 standard errors {within} of {seeds}, first by BIC {first} of {seeds}")
        good &= keep("almost always", within >= seeds - 1 and first == seeds)
    return good


if __name__ == "__main__":
    parts = {"read": read, "large": large, "fit": fit, "found": found}
    wanted = sys.argv[1:] or list(parts)
    kept = [parts[name]() for name in wanted]
    sys.exit(0 if all(kept) else 1)
