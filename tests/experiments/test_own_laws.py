"""Laws of a user's own code in specs: played from the spec's folder, and only shown where a store is read."""

from __future__ import annotations

import csv
import sys

import numpy as np
import pytest
from pyarrow import parquet

import sojourn as sj
from sojourn.experiments import (
    Processes,
    ThisProcess,
    describe_long_run,
    export_csv,
    export_parquet,
    load_results,
    read_experiment,
    run_experiment,
    verify_store,
)
from sojourn.experiments.spec._import_path import importing_from
from sojourn.experiments.store._inventory import take_inventory
from sojourn.experiments.store._store import Store
from sojourn.laws import MissingLaw, label, read_law, read_stored_law
from sojourn.reports import results_report

# The geometric law, written by a user: results must be those of sj.Geometric, bit for bit.
LAW = """\
from dataclasses import dataclass
from sojourn.laws import LengthLaw, steps

@dataclass(frozen=True)
class Steady(LengthLaw):
    gamma: float
    base: float = 1.0
    def survival(self, h): return (self.gamma * self.base) ** (steps(h) - 1.0)
    def tail(self, h): return self.survival(h) / (1.0 - self.gamma * self.base)

fair = Steady(0.5)
number = 3
def one_of(values): return fair
"""
TEXT = "own_laws:Steady(gamma=0.5)"


@pytest.fixture
def spec(write, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # cached bytecode hides an edit in the same second
    (tmp_path / "own_laws.py").write_text(LAW)
    return write(('"fixed(4)"', '"own_laws:Steady(0.5)"'), ("seeds = 3", "seeds = 1"))


def forget():
    sys.modules.pop("own_laws", None)


def test_a_law_beside_the_spec_is_played_by_workers(spec, tmp_path):
    experiment = read_experiment(spec)
    report = run_experiment(experiment, tmp_path / "store", executor=Processes(1))
    assert (report.played, report.failures) == (3, ())
    again = run_experiment(read_experiment(spec), tmp_path / "store", executor=ThisProcess())
    assert (again.reused, again.played) == (3, 0)
    trial = load_results(tmp_path / "store").trials[0]
    mdp, law = sj.mdps.river_swim(3), sj.Geometric(0.5)
    run = sj.learn(sj.UCBVI(law, sj.PaperBonus(0.1)), mdp, law, episodes=20, seed=0)
    np.testing.assert_array_equal(trial.arrays["lengths"], run.lengths)
    np.testing.assert_allclose(trial.cumulative_regret, np.cumsum(run.regret), atol=1e-8)


def test_its_text_and_its_code_are_the_identity(spec, tmp_path):
    def keys(*, law: str = "own_laws:Steady(0.5)"):
        forget()
        spec.write_text(spec.read_text().replace(law_before[0], law))
        law_before[0] = law
        return [trial.key for _, trial in read_experiment(spec).trials()]

    law_before = ["own_laws:Steady(0.5)"]
    before = keys()
    settings = read_experiment(spec).cells[0].settings
    assert settings["law"] == settings["learner"]["law"]["law"] == TEXT
    assert settings["code"].keys() == {"own_laws"}
    assert keys(law="own_laws:Steady(gamma=0.5)") == before
    assert not set(keys(law="own_laws:Steady(0.6)")) & set(before)
    assert not set(keys(law="own_laws:fair")) & set(before)
    assert keys(law="own_laws:Steady(0.5)") == before
    (tmp_path / "own_laws.py").write_text(LAW + "# edited\n")
    assert not set(keys()) & set(before)


def test_agents_may_assume_it(spec, tmp_path):
    spec.write_text(
        spec.read_text().replace('"own_laws:Steady(0.5)"', '"fixed(4)"').replace('"true"', f'"{TEXT}"')
    )
    cells = read_experiment(spec).cells
    assert cells[0].settings["learner"]["law"] == {"law": TEXT}
    assert cells[0].settings["code"].keys() == {"own_laws"}
    assert "code" not in cells[-1].settings  # the random player assumes no law
    run_experiment(read_experiment(spec), tmp_path / "store", executor=ThisProcess())
    (comparison,) = load_results(tmp_path / "store").comparisons()
    assert "imports nothing" in comparison.agents[0].reason


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (
            "own_missing:Steady(0.5)",
            "law: No module 'own_missing' for 'own_missing:Steady'; it must be installed",
        ),
        ("own_laws:number", "law: own_laws:number must be a length law or return one; got 3."),
        ("own_laws:fair(3)", "law: own_laws:fair is a law already and takes no arguments."),
        ("own_laws:Steady(1 + 1)", "law must have numbers and quoted text as arguments"),
        ("own_laws:Steady()", "law: own_laws:Steady needs gamma"),
        (f"own_laws:one_of([{'1,' * 4_900}])", "is too long for the files of trials: 14,724 characters."),
        (
            "own_laws:Steady(2)",
            "law: own_laws:Steady must have a finite mean length above 0; got -1.0.",
        ),
    ],
)
def test_bad_ones_are_refused_in_one_line(spec, law, message):
    spec.write_text(spec.read_text().replace("own_laws:Steady(0.5)", law))
    with pytest.raises(ValueError, match=r"^[^\n]*$") as caught:
        read_experiment(spec)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [("1 / 0", "own_bad:Bad raised ZeroDivisionError"), ("sys.exit(3)", "your code called sys.exit(3).")],
)
def test_errors_of_a_law_while_its_spec_is_read_are_one_line(spec, tmp_path, body, message):
    (tmp_path / "own_bad.py").write_text(
        "import sys\nimport sojourn as sj\n\n\nclass Bad(sj.Geometric):\n"
        f"    def tail(self, h):\n        return {body}\n\n    mean = 2.0\n"
    )
    spec.write_text(spec.read_text().replace("own_laws:Steady(0.5)", "own_bad:Bad(0.5)"))
    with pytest.raises(ValueError, match=r"^[^\n]*$") as caught:
        read_experiment(spec)
    assert message.partition(":Bad")[0] in str(caught.value)


def test_reading_a_store_imports_nothing_and_shows_the_text(spec, tmp_path):
    store = tmp_path / "store"
    run_experiment(read_experiment(spec), store, executor=ThisProcess())
    (tmp_path / "own_laws.py").unlink()
    forget()
    assert verify_store(store).findings == ()
    results = load_results(store)
    assert TEXT in results.table()
    assert TEXT in results_report(results, command="sojourn report store")
    (comparison,) = results.comparisons()
    assert TEXT in repr(comparison)
    assert (
        sj.load_comparison(comparison.save(tmp_path / "kept.npz")).law == comparison.law == MissingLaw(TEXT)
    )
    with pytest.raises(ValueError, match=r"^own_laws:Steady\(gamma=0.5\) is not part of sojourn"):
        float(comparison.law.mean)
    assert "own_laws" not in sys.modules


def test_the_length_of_a_run_is_foreseen(spec, tmp_path):
    spec.write_text(spec.read_text().replace("Steady(0.5)", "Steady(0.999999999999)"))
    experiment = read_experiment(spec)
    inventory = take_inventory(experiment, Store(tmp_path / "store"))
    assert "(general (bonus.scale=0.1), own_laws:Steady(gamma=0.999999999999))" in describe_long_run(
        inventory, 1
    )


def test_texts_of_laws(tmp_path):
    (tmp_path / "own_laws.py").write_text(LAW)
    with importing_from(tmp_path):
        for text, kept in (
            (" own_laws:fair ", "own_laws:fair"),
            ("own_laws:Steady(base=1.0, gamma=0.5)",) * 2,
        ):
            named = read_law(text)
            assert read_law(named.text) == named
            assert label(read_stored_law(kept)) == kept
        assert read_law("geometric(0.5)").text == "Geometric(gamma=0.5)"
    assert label(read_stored_law(f"own_laws:Steady('{'x' * 100}')")) == f"own_laws:Steady('{'x' * 42}…"
    assert read_stored_law(TEXT)._repr_html_() == f"<code>{TEXT}</code>"


def test_exports_name_long_tables_in_short(write, tmp_path):
    tables = [[1.0] + [0.9 - 0.01 * (i + j) for i in range(30)] for j in range(2)]
    laws = ", ".join(f'"tabulated({table})"' for table in tables)
    spec = write(
        ('"fixed(4)"', f'[{laws}, "fixed(4)"]'), ("seeds = 3", "seeds = 1"), ("episodes = 20", "episodes = 2")
    )
    run_experiment(read_experiment(spec), tmp_path / "store", executor=ThisProcess())
    results = load_results(tmp_path / "store")
    export_csv(results, tmp_path / "table.csv")
    export_parquet(results, tmp_path / "table.parquet")
    with (tmp_path / "table.csv").open(newline="") as file:
        texts = [row["law"] for row in csv.DictReader(file)]
    assert texts == parquet.read_table(tmp_path / "table.parquet")["law"].to_pylist()
    assert list(dict.fromkeys(texts)) == ["Tabulated, 31 steps", "Tabulated, 31 steps (2)", "Fixed(length=4)"]


def test_a_class_that_is_no_law_is_refused_before_it_is_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"^subprocess:Popen must be a length law, or a function"):
        read_law("subprocess:Popen(args=['touch', 'trace'])")
    assert not (tmp_path / "trace").exists()
