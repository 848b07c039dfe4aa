"""Compare reading and fitting of session logs with the alternatives, in one run on the same rows.

    python benchmarks/sessions.py read       a CSV file: Python's csv module, pyarrow, and Sojourn's reader
    python benchmarks/sessions.py large      ten million equal or distinct rows: time and memory
    python benchmarks/sessions.py fit        each family: Nelder–Mead on the rows, and Sojourn's fit on counts
    python benchmarks/sessions.py recovery   how often laws are recovered from sessions of which 40% are open

Machines are noisy: compare the ratios, not the times. The exit status is 1 if results differ or a promise is
not kept.
"""

from __future__ import annotations

import csv
import dataclasses
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
    "log_logistic": sj.LogLogistic(6.0, 2.2),
    "log_normal": sj.LogNormal(1.5, 0.8),
    "beta_geometric": sj.BetaGeometric(2.5, 8.0),
    "polynomial": sj.Polynomial(1.4, offset=20),
    "mixture": sj.Mixture([0.3, 0.7], [sj.Geometric(0.5), sj.Geometric(0.97)]),
}
NESTING = {"geometric": {"negative_binomial", "discrete_weibull", "quasi_hyperbolic", "mixture"}}
"""Families that contain a family; BIC may prefer these too."""


def report(promise: str, is_kept: bool) -> bool:
    """Print whether a promise is kept, and return it."""
    print(f"    {'kept' if is_kept else 'NOT KEPT'}: {promise}")
    return is_kept


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of a function and the seconds it took."""
    begun = time.perf_counter()
    return work(), time.perf_counter() - begun


def read_with_csv(path: Path) -> tuple[int, int]:
    """Return the numbers of rows and steps that Python's csv module reads."""
    rows = steps = 0
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            length = int(row["length"])
            if length < 1 or row["ended"] not in ("0", "1"):
                raise ValueError(row)
            rows, steps = rows + 1, steps + length
    return rows, steps


def read_with_arrow(path: Path) -> tuple[int, int]:
    """Return the numbers of rows and steps that pyarrow reads; it checks nothing and keeps all columns."""
    table = pyarrow.csv.read_csv(path)
    return table.num_rows, pyarrow.compute.sum(table["length"]).as_py()


def read() -> bool:
    """Compare the readers on one CSV file."""
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
        (arrow_rows, arrow_steps), arrow = timed(lambda: read_with_arrow(path))
        (rows, steps), python = timed(lambda: read_with_csv(path))
    print(f"{ROWS:,} rows: Sojourn {own:.1f} s, pyarrow {arrow:.1f} s, Python's csv {python:.1f} s")
    print(f"    {python / own:.1f} times as fast as csv")
    found = (len(log), int(log.lengths @ log.counts))
    return report("all three readers agree", found == (rows, steps) == (arrow_rows, arrow_steps))


def make_sessions(kind: str) -> pyarrow.Table:
    """Return ten million sessions: short ones, many of which are equal, or all distinct."""
    rng = np.random.default_rng(0)
    lengths = rng.geometric(0.02, ROWS) if kind == "equal" else rng.integers(1, 2**53, ROWS)
    entry = np.minimum(rng.integers(1, 9, ROWS), lengths)
    if kind != "equal":
        entry = rng.integers(1, lengths + 1)
    names = np.array([f"group {i}" for i in range(4 if kind == "equal" else 999)])
    group = pyarrow.DictionaryArray.from_arrays(rng.integers(0, names.size, ROWS), names)
    ended = rng.integers(0, 2, ROWS, dtype=np.int8)
    return pyarrow.table({"length": lengths, "ended": ended, "entry": entry, "group": group})


READER_PROGRAM = """
import sys, time
from pathlib import Path
from sojourn.sessions import read_sessions
begun = time.perf_counter()
log = read_sessions(sys.argv[1])
seconds, status = time.perf_counter() - begun, Path("/proc/self/status").read_text()
most = int(status.partition("VmHWM:")[2].split()[0])  # ru_maxrss would include the parent process
print(len(log), log.lengths.size, (log.entry % 1000) @ log.counts, seconds, most / 1000)
"""
"""Program of a new process that reads a log and prints rows, distinct rows, a sum, seconds and megabytes."""


def large() -> bool:
    """Check time and memory for ten million rows."""
    all_kept = True
    for kind in ("equal", "distinct"):
        with tempfile.TemporaryDirectory() as folder:
            table = make_sessions(kind)
            paths = [Path(folder) / f"log.{suffix}" for suffix in ("csv", "parquet")]
            pyarrow.csv.write_csv(table, paths[0])
            pyarrow.parquet.write_table(table, paths[1])
            entries = int((table["entry"].to_numpy() % 1000).sum())
            for path in paths:
                done = subprocess.run(
                    [sys.executable, "-c", READER_PROGRAM, str(path)],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                rows, distinct, found, seconds, most = (float(word) for word in done.stdout.split())
                what = f"{distinct:,.0f} distinct of {ROWS:,} rows, {path.suffix[1:]}"
                print(f"{what}: {seconds:.1f} s, {most:.0f} MB")
                all_kept &= report("all rows are there", (rows, found) == (ROWS, entries))
                all_kept &= report("within 30 s and 1 GB", seconds < 30.0 and most < 1_000.0)
    return all_kept


def open_sessions(law: sj.LengthLaw, n: int, seed: int) -> tuple[Any, Any]:
    """Return lengths, 40% of them censored at a geometric time, and whether each was observed."""
    rng = np.random.default_rng(seed)
    lengths, uniforms = law.sample(rng, n), 1.0 - rng.random(n)
    for mean in np.geomspace(1.2, 1e4, 300):
        cuts = 1.0 + np.floor(np.log(uniforms) / math.log(1.0 - 1.0 / mean))
        if np.mean(lengths >= cuts) <= 0.4:
            break
    return np.minimum(lengths, cuts).astype(np.int64), lengths < cuts


def make_law(family: str, values: Any, offset: int) -> sj.LengthLaw:
    """Return the law of a family with these parameters."""
    if family == "mixture":
        return sj.Mixture([values[0], 1.0 - values[0]], [sj.Geometric(gamma) for gamma in values[1:]])
    if family == "polynomial":
        return sj.Polynomial(values[0], offset)
    return type(TRUTHS[family])(*values)


def fit() -> bool:
    """Compare Sojourn's fit with Nelder–Mead on the rows."""
    all_kept = True
    for family, law in TRUTHS.items():
        lengths, seen = open_sessions(law, 20_000, seed=1)
        found, own = timed(lambda f=family, n=lengths, s=seen: sj.fit(n, s, family=f))
        offset = int(found.parameters.get("offset", 0))

        def loss(values: Any, *, f: str = family, n: Any = lengths, s: Any = seen, o: int = offset) -> float:
            try:
                law = make_law(f, values, o)
            except ValueError:
                return math.inf
            return -float(np.log(law.pmf(n[s])).sum() + law.log_survival(n[~s]).sum())

        start = [value for name, value in found.parameters.items() if name != "offset"]
        rival, other = timed(lambda loss=loss, start=start: minimize(loss, start, method="Nelder-Mead"))
        print(
            f"{family:18} Sojourn {1e3 * own:7.1f} ms, Nelder–Mead {other:6.2f} s, {other / own:8.0f} times"
        )
        all_kept &= report("at least as likely", found.log_likelihood >= -rival.fun - 1e-6 * abs(rival.fun))
    return all_kept


def recovery(seeds: int = 20) -> bool:
    """Check how often parameters and families are recovered."""
    all_kept = True
    for family, law in TRUTHS.items():
        values = (
            [law.weights[0], *[part.gamma for part in law.laws]]
            if isinstance(law, sj.Mixture)
            else [float(getattr(law, field.name)) for field in dataclasses.fields(law)]
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
            first += best == family or best in NESTING.get(family, ())
        print(f"{family:18} within 3 standard errors {within} of {seeds}, first by BIC {first} of {seeds}")
        all_kept &= report("almost always", within >= seeds - 1 and first == seeds)
    return all_kept


if __name__ == "__main__":
    parts = {"read": read, "large": large, "fit": fit, "recovery": recovery}
    wanted = sys.argv[1:] or list(parts)
    kept = [parts[name]() for name in wanted]
    sys.exit(0 if all(kept) else 1)
