"""Compare session logs of public data sets with lifelines and surpyval, and read one of them in many forms.

    python evidence/log_data.py

Needs lifelines (with its data sets), surpyval, duckdb, pandas and pyarrow; `python evidence/logs.py data`
runs it in an environment of its own. For each data set the script checks

- the Kaplan–Meier estimate against lifelines, the log-rank test of groups too;
- the likelihoods of the Weibull, log-normal and log-logistic fits against those of lifelines and surpyval for
  the same intervals;
- sentences of the advice against independent tests: of hazards, groups, ends and what is determined.

Then one data set is read in more than 40 forms, which must all give the same law, and counts by DuckDB must
give the same results as single rows, to the last bit. The exit status is 1 if something disagrees.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import math
import re
import sqlite3
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import lifelines
import lifelines.datasets as data
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import surpyval
from lifelines.statistics import multivariate_logrank_test
from scipy.stats import chi2

from sojourn.sessions import SessionLog, analyze, read_log, read_sessions, read_steps, sample_path

DATA: dict[str, tuple[str, str | None, str | None, float]] = {
    "dd": ("duration", "observed", "democracy", 1.0),
    "rossi": ("week", "arrest", "fin", 1.0),
    "lung": ("time", "status", "sex", 7.0),
    "waltons": ("T", "E", "group", 1.0),
    "gbsg2": ("time", "cens", "horTh", 30.0),
    "kidney_transplant": ("time", "death", None, 30.0),
    "larynx": ("time", "death", "Stage_IV", 0.1),
    "leukemia": ("t", "status", "Rx", 1.0),
    "lymphoma": ("Time", "Censor", "Stage_group", 7.0),
    "canadian_senators": ("diff_days", "observed", None, 365.25),
    "lcd": ("T", "E", "group", 1.0),
    "multicenter_aids_cohort_study": ("T", "D", None, 0.25),
    "psychiatric_patients": ("T", "C", "sex", 1.0),
    "regression_dataset": ("T", "E", None, 1.0),
    "nh4": ("Week", "Censored", None, 1.0),
    "g3": ("time", "event", "group", 1.0),
    "c_botulinum_lag_phase": ("lower_bound_days", None, None, 1.0),
    "panel_test": ("t", "E", None, 1.0),
    "static_test": ("t", "E", None, 1.0),
}
"""The columns of durations, of ends and of groups, and the length of a step in the unit of the durations."""

FAMILIES = {
    "discrete_weibull": (lifelines.WeibullFitter, surpyval.Weibull),
    "log_normal": (lifelines.LogNormalFitter, surpyval.LogNormal),
    "log_logistic": (lifelines.LogLogisticFitter, surpyval.LogLogistic),
}

problems: list[str] = []
fitted: dict[int, int] = {}
"""How many fits one or both of the other libraries confirmed."""


def check(what: str, is_right: bool, detail: object = "") -> bool:
    """Record a disagreement."""
    if not is_right:
        problems.append(f"{what}: {detail}")
    return is_right


def load(name: str) -> pd.DataFrame | None:
    """Return a data set as a table of whole steps: length, ended and group; None if this version lacks it."""
    try:
        raw = getattr(data, f"load_{name}")()
        column, ended, group, step = DATA[name]
        table = pd.DataFrame({"length": np.ceil(raw[column] / step).clip(lower=1)})
        table["ended"] = 1 if ended is None else (raw[ended] == raw[ended].max()).astype(int)
        if group is not None:
            table["group"] = raw[group].astype(str)
    except (AttributeError, KeyError, FileNotFoundError):
        return None
    return table.dropna().reset_index(drop=True).astype({"length": int})


def compare(name: str, table: pd.DataFrame) -> str:
    """Check a data set, and return a line about it."""
    log = read_sessions(table, open_survived=True)
    found = analyze(log, resamples=20)
    rival = lifelines.KaplanMeierFitter().fit(table["length"], table["ended"])
    h = np.arange(1, int(table["length"].max()) + 1)
    ours, theirs = found.band.of(h), rival.survival_function_at_times(h - 1).to_numpy()
    check(f"{name}: Kaplan–Meier", np.abs(ours - theirs).max() < 1e-12, np.abs(ours - theirs).max())
    if found.groups is not None:
        test = multivariate_logrank_test(table["length"], table["group"], table["ended"])
        same = math.isclose(found.groups.statistic, test.test_statistic, rel_tol=1e-6)
        check(f"{name}: log-rank", same, (found.groups.statistic, test.test_statistic))
    gaps = [likelihood_gap(found, family) for family in FAMILIES]
    check(f"{name}: likelihoods", max(gaps) < 1e-3, gaps)
    sentences(name, found, table)
    return f"{name:30} {len(log):6,} sessions, {found.best.fit.family:17} largest gap of ln L {max(gaps):.1e}"


def likelihood_gap(found: Any, family: str) -> float:
    """Return by how much another library's fit to the same intervals is more likely than ours."""
    fit, log = found.ranked(family).fit, found.log
    if fit.edge:
        return 0.0  # limited by the range of our family
    lower = (log.lengths - 1).astype(float)
    upper = np.where(log.observed, log.lengths, np.inf).astype(float)
    values = []
    for rival in FAMILIES[family]:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            with contextlib.suppress(Exception):
                survival = rival_survival(rival, lower, upper, log.counts)
                start = np.where(lower > 0, survival(np.maximum(lower, 1e-9)), 1.0)
                end = survival(np.where(np.isfinite(upper), upper, 1.0))
                mass = start - np.where(np.isfinite(upper), end, 0.0)
                if np.isfinite(value := float(np.dot(log.counts, np.log(mass)))):
                    values.append(value)
    if not check(f"{found.log.name}: another library fits {family}", bool(values)):
        return 0.0
    fitted[len(values)] = fitted.get(len(values), 0) + 1
    return max(max(values) - fit.log_likelihood, 0.0)


def rival_survival(rival: Any, lower: Any, upper: Any, counts: Any) -> Callable[[Any], Any]:
    """Return the survival function that another library fits to intervals."""
    if isinstance(rival, type):  # of lifelines
        model = rival().fit_interval_censoring(lower, upper, weights=counts)
        return lambda x: model.survival_function_at_times(x).to_numpy()
    seen = np.isfinite(upper)
    x = np.stack([np.maximum(lower, 1e-9), np.where(seen, upper, np.maximum(lower, 1e-9))], axis=1)
    found = rival.fit(x=x, c=np.where(seen, 2, 1), n=counts)
    return found.sf  # type: ignore[no-any-return]


def sentences(name: str, found: Any, table: pd.DataFrame) -> None:
    """Check sentences of the advice by tests that do not use the package."""
    advice = dict(found.advice())
    short, shown = advice["In short"], advice["The data"]
    lengths, ended = table["length"].to_numpy(), table["ended"].to_numpy(dtype=bool)
    at_risk = np.array([(lengths >= h).sum() for h in range(1, lengths.max() + 1)], dtype=float)
    ends = np.bincount(lengths[ended], minlength=lengths.max() + 1)[1:].astype(float)
    half = int(np.searchsorted(np.cumsum(ends), 0.5 * ends.sum())) + 1
    for share, first, last in re.findall(r"([\d.]+)% (?:at|from) steps? (\d+)(?:–(\d+))?", shown):
        stop = int(last or (ends.size if f"from step {first} on" in shown else first))
        exact = 100.0 * ends[int(first) - 1 : stop].sum() / at_risk[int(first) - 1 : stop].sum()
        check(f"{name}: share that ends", math.isclose(float(share), exact, rel_tol=0.06), (share, exact))
    survival = np.append(1.0, np.cumprod(1.0 - ends / np.maximum(at_risk, 1.0)))  # P(H > h) for h = 0, 1, …
    if match := re.search(r"at least half of them end by step ([\d,]+)", shown):
        step = int(match[1].replace(",", ""))
        check(f"{name}: half", survival[step] <= 0.5 + 1e-9 < survival[step - 1] + 2e-9, survival[step])
    if match := re.search(r"at least one in ten get to step ([\d,]+)", shown):
        step = int(match[1].replace(",", ""))
        check(f"{name}: one in ten", survival[step - 1] > 0.1 - 1e-9, survival[step - 1])
    if match := re.search(r"counted up to step ([\d,]+).* last ([\d.,]+) steps? on average", shown):
        mean = survival[: int(match[1].replace(",", ""))].sum()
        printed = float(match[2].replace(",", ""))
        check(f"{name}: mean up to a step", math.isclose(printed, mean, rel_tol=0.006), (printed, mean))
    if short.startswith("One discount is enough"):
        rate = ends.sum() / at_risk.sum()
        cells = [slice(i, i + half) for i in range(0, ends.size, half)]
        terms = [
            (ends[c].sum() - rate * at_risk[c].sum()) ** 2 / (rate * (1 - rate) * at_risk[c].sum())
            for c in cells
            if rate * at_risk[c].sum() >= 5
        ]
        p = chi2.sf(sum(terms), max(len(terms) - 1, 1))
        check(f"{name}: one discount is enough", p > 1e-3, p)
    if not found.determines_mean:
        check(f"{name}: no γ where the mean is not determined", not re.search(r"γ = 0\.\d", short), short)
    if found.groups is not None:
        p = multivariate_logrank_test(table["length"], table["group"], table["ended"]).p_value
        says = "shows no difference" not in advice["Groups"]
        check(f"{name}: groups differ", says == (p < 0.05), (says, p))
    check(
        f"{name}: all seen to their end", ("all seen to their end" in advice["The sessions"]) == ended.all()
    )
    if ended.all() and found.determines_mean and not found.best_is_contradicted:
        low, high = found.bootstrap.remaining
        error = lengths.std() / math.sqrt(lengths.size)
        apart = max(low - lengths.mean(), lengths.mean() - high)
        check(f"{name}: interval of the mean", apart < 2 * error, (low, lengths.mean(), high))


def forms(  # noqa: PLR0915 - one statement or two per form
    table: pd.DataFrame, folder: Path
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield names of forms of a log, and functions that read them."""
    rows = list(zip(table["length"].tolist(), table["ended"].tolist(), strict=True))

    def text(rows: Any, names: str = "length,ended", mark: str = ",", end: str = "\n") -> str:
        lines = [names.replace(",", mark), *(mark.join(map(str, row)) for row in rows)]
        return end.join(lines) + end

    def file(name: str, content: str | bytes, **options: Any) -> Callable[[], Any]:
        path = folder / f"{len(list(folder.iterdir()))}-{name}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return lambda: read_log(path, **options)

    plain = text(rows)
    for name, mark in {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}.items():
        yield f"separated by a {name}", file("log.csv", text(rows, mark=mark))
    yield "byte order mark", file("log.csv", b"\xef\xbb\xbf" + plain.encode())
    yield "Windows newlines", file("log.csv", text(rows, end="\r\n"))
    yield "old Mac newlines", file("log.csv", text(rows, end="\r"))
    yield "quoted cells", file("log.csv", text([(f'"{n}"', f'"{e}"') for n, e in rows], '"length","ended"'))
    yield (
        "Latin-1 in another column",
        file("log.csv", text([(n, e, "é") for n, e in rows], "length,ended,x").encode("latin-1")),
    )
    yield "newlines in cells", file("log.csv", text([(n, e, '"a\nb"') for n, e in rows], "length,ended,x"))
    yield "comments and sep=", file("log.csv", "# exported\nsep=;\n" + text(rows, mark=";"))
    yield "blank lines", file("log.csv", plain.replace("\n", "\n\n"))
    yield "other case and spaces", file("log.csv", text(rows, " Session Length , Is Ended "))
    yield "lengths with a point", file("log.csv", text([(f"{n}.0", e) for n, e in rows]))
    yield "decimal commas", file("log.csv", text([(f"{n},0", e) for n, e in rows], mark=";"))
    yield "exponents", file("log.csv", text([(f"{n}e0", e) for n, e in rows]))
    for yes, no in (("yes", "no"), ("TRUE", "FALSE"), ("t", "f"), ("1.0", "0.0")):
        yield f"{yes} and {no}", file("log.csv", text([(n, yes if e else no) for n, e in rows]))
    yield "a column of open sessions", file("log.csv", text([(n, 1 - e) for n, e in rows], "length,open"))
    yield "censored", file("log.csv", text([(n, 1 - e) for n, e in rows], "length,is_censored"))
    yield (
        "R's codes",
        file(
            "log.csv",
            text([(n, 1 + e) for n, e in rows], "time,status"),
            length="time",
            observed="status",
            ended="2",
        ),
    )
    yield (
        "words",
        file(
            "log.csv",
            text([(n, "churned" if e else "active") for n, e in rows], "length,state of it"),
            observed="state of it",
            ended="churned",
        ),
    )
    for suffix, pack in {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}.items():
        yield f".csv.{suffix}", file(f"log.csv.{suffix}", pack(plain.encode()))
    yield "zstd", file("log.csv.zst", pa.compress(plain.encode(), codec="zstd", asbytes=True))
    lines = "".join(f'{{"length": {n}, "ended": {str(bool(e)).lower()}}}\n' for n, e in rows)
    yield "JSON lines", file("log.jsonl", lines)
    yield "packed JSON lines", file("log.jsonl.gz", gzip.compress(lines.encode()))
    yield "a stream", lambda: read_log(io.BytesIO(plain.encode()))
    pq.write_table(pa.Table.from_pandas(table), folder / "log.parquet")
    yield "Parquet", lambda: read_log(folder / "log.parquet", group="none")
    yield "pandas", lambda: read_log(table, group="none")
    yield "Arrow", lambda: read_log(pa.Table.from_pandas(table), group="none")
    yield "a dictionary", lambda: read_log({"length": table["length"], "ended": table["ended"]})
    records = np.array(rows, dtype=[("length", int), ("ended", bool)])
    yield "a structured array", lambda: read_log(records)
    with contextlib.closing(sqlite3.connect(folder / "log.db")) as base, base:
        base.execute("CREATE TABLE log (length, ended)")
        base.executemany("INSERT INTO log VALUES (?, ?)", rows)
    yield "SQLite", lambda: read_log(folder / "log.db")
    yield "SQLite with a query", lambda: read_log(folder / "log.db", query="SELECT * FROM log")
    duck = duckdb.connect()
    duck.register("sessions", table)
    yield "DuckDB", lambda: read_log(duck.sql("SELECT length, ended FROM sessions"))
    counts = "SELECT length, ended, COUNT(*) AS n FROM sessions GROUP BY length, ended"
    yield "counts by DuckDB", lambda: read_log(duck.sql(counts), count="n")
    yield "counts as CSV", file("log.csv", duck.sql(counts).df().to_csv(index=False), count="n")
    (folder / "parts").mkdir()
    for i in range(3):
        (folder / "parts" / f"{i}.csv").write_text(text(rows[i::3]), encoding="utf-8")
    yield "a folder", lambda: read_log(folder / "parts")
    yield "a pattern", lambda: read_log(str(folder / "parts" / "*.csv"))
    # An open session of n steps was seen for 10 s of its last step, which is too short to count.
    spans = [(n * 60 if e else n * 60 - 50, e) for n, e in rows]
    yield "seconds", file("log.csv", text(spans, "duration,ended"), step="1min")
    clock = [(f"{t // 3600}:{t // 60 % 60:02}:{t % 60:02}", e) for t, e in spans]
    yield "a clock", file("log.csv", text(clock, "duration,ended"), step="1min")
    begin = pd.Timestamp("2026-01-01 09:00")
    stamps = [(str(begin), str(begin + pd.Timedelta(seconds=t)), e) for t, e in spans]
    yield "times", file("log.csv", text(stamps, "start,end,ended"), step="1min")
    yield (
        "start and stop",
        file("log.csv", text([(0, n, e) for n, e in rows], "start,stop,ended"), length="stop", entry="start"),
    )
    steps = [(i, h, int(e and h == n)) for i, (n, e) in enumerate(rows) for h in range(1, n + 1)]
    yield "one row per step", file("log.csv", text(steps, "episode,step,ended"))
    yield "steps from 0", file("log.csv", text([(i, h - 1, e) for i, h, e in steps], "episode,step,ended"))
    shuffled = [steps[i] for i in np.random.default_rng(0).permutation(len(steps))]
    yield "steps in any order", file("log.csv", text(shuffled, "session_id,step,ended"))


def check_forms() -> int:
    """Read one data set in all forms, and return their number."""
    table = load("dd")
    assert table is not None
    expected = read_sessions(table[["length", "ended"]])
    law, n = repr(analyze(expected).law), 0
    with tempfile.TemporaryDirectory() as name:
        for form, read in forms(table[["length", "ended"]], Path(name)):
            n += 1
            try:
                log = read()
                log = log if isinstance(log, SessionLog) else log.sessions()
                check(f"form {form!r}", repr(analyze(log).law) == law and len(log) == len(expected), len(log))
            except ValueError as error:
                check(f"form {form!r}", False, error)
    return n


STEP_SQL = """
SELECT step, state, action, reward, next_state, ended, COUNT(*) AS n
FROM (SELECT *, LEAD(state) OVER (PARTITION BY episode ORDER BY step) AS next_state FROM steps) AS s
GROUP BY step, state, action, reward, next_state, ended
"""


def check_statements() -> None:
    """Check that counts by DuckDB give the same results, to the last bit, as single rows."""
    duck = duckdb.connect()
    duck.execute(f"CREATE TABLE steps AS SELECT * FROM read_csv('{sample_path('shop')}')")
    single, counted = read_steps(sample_path("shop")), read_steps(duck.sql(STEP_SQL), count="n")
    results = [
        (
            log.problem(),
            repr(log.leaving_by_state()),
            repr(analyze(log.sessions(), problem=log.problem(), steps=log, resamples=10).as_dict()["fits"]),
            repr(analyze(log.sessions(), problem=log.problem(), steps=log, resamples=10).price),
        )
        for log in (single, counted)
    ]
    check("steps counted by DuckDB", results[0] == results[1])
    table = load("dd")
    duck.register("sessions", table)
    grouped = 'SELECT length, ended, "group", COUNT(*) AS n FROM sessions GROUP BY length, ended, "group"'
    texts = []
    for log in (read_sessions(table), read_sessions(duck.sql(grouped), count="n")):
        found = analyze(log, resamples=10).as_dict()
        found["advice"] = [one for one in found["advice"] if one["about"] != "The sessions"]  # names columns
        del found["rows"]
        texts.append(repr(found))
    check("sessions counted by DuckDB", texts[0] == texts[1])


def main() -> int:
    """Check all data sets and forms."""
    n_sets = 0
    for name in DATA:
        table = load(name)
        if table is not None and table["ended"].any():
            n_sets += 1
            print(compare(name, table), flush=True)
    check("data sets", n_sets >= 15, n_sets)
    n_forms = check_forms()
    check("forms", n_forms >= 40, n_forms)
    check_statements()
    for problem in problems:
        print(f"DISAGREES {problem}")
    print(f"Fits confirmed by one library: {fitted.get(1, 0)}; by both: {fitted.get(2, 0)}")
    print(f"{n_sets} data sets and {n_forms} forms: {len(problems)} disagreements")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
