from __future__ import annotations

import dataclasses
import json
import re
import sys
import warnings

import numpy as np
import pytest

import sojourn as sj
from sojourn.errors import MemoryLimitError, WideBracketWarning
from sojourn.planning._tolerance import MAX_LAYERS

ONE_OR_TEN = "mixture([0.5, 0.5], [fixed(1), fixed(10)])"


def test_json_has_the_counterexample_by_hand(run):
    # two_paths with H = 1 or 10, each with probability ½: blind ½·0 + ½·9 = 4.5, clairvoyant ½·1 + ½·9 = 5.
    result = run("plan", "--problem", "two_paths()", "--law", ONE_OR_TEN, "--json")
    data = json.loads(result.stdout)
    assert data["value"] == pytest.approx(4.5, abs=1e-6)
    assert data["lower"] <= 4.5 <= data["upper"]
    assert data["upper"] - data["lower"] <= 1e-6
    assert data["clairvoyant"] == pytest.approx(5.0, abs=1e-6)
    assert data["price"] == pytest.approx(0.5, abs=1e-6)
    assert data["effective_horizon"] == {"truncation": 1e-6, "horizon": 10}
    assert data["price_lower"] <= 0.5 <= data["price_upper"]
    assert data["clairvoyant_lower"] <= 5.0 <= data["clairvoyant_upper"]
    begun, done = result.stderr.splitlines()
    assert begun.startswith("Planning, then pricing what it costs not to know the length")
    assert begun.endswith("the first use compiles for some seconds.")
    assert re.fullmatch(r"Planned in [\d.]+ s, priced in [\d.]+ s\.", done)


def test_env_is_another_name_of_problem(run):
    old, new = (
        run("plan", option, "two_paths", "--law", "fixed(3)", "--json") for option in ("--env", "--problem")
    )
    assert (old.exit_code, old.stdout) == (0, new.stdout)
    assert run("plan", "--law", "fixed(3)").stderr.startswith("Error: Missing option '--problem'")


def test_text_has_the_same_numbers(run):
    output = run("plan", "--problem", "TwoPaths", "--law", ONE_OR_TEN).stdout
    assert re.search(r"value +4\.50000000,", output)
    assert re.search(r"if the length is known +5\.0+, to within 3e-7\n", output)
    assert re.search(r"price of not knowing +0\.50+, to within [3-9]e-7\n", output)
    assert re.search(r"effective horizon +10 ", output)
    assert "later steps" not in output


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ("fixed(6)", "6 layers, one per step\n"),
        ("uniform(5, 40)", "layers, one per step; the last applies until the end\n"),
        ("polynomial(1.4)", "layers, one per step; the last applies to all later steps\n"),
    ],
)
def test_the_last_layer_applies_to_later_steps(run, monkeypatch, law, message):
    if law == "fixed(6)":  # the last step's row repeats the one before it unless made otherwise
        found = dataclasses.replace(
            sj.plan(sj.mdps.cash_or_invest(3), sj.Fixed(6)), policy=np.zeros((6, 4), dtype=np.uint8)
        )
        monkeypatch.setattr("sojourn.planning.plan", lambda *_, **__: found)
    output = run("plan", "--problem", "cash_or_invest(3)", "--law", law, "--no-price", width=120).stdout
    assert re.search(r"policy +(.*\n)", output)[1].endswith(message)


def test_a_wide_bracket_is_reported_with_the_price_and_can_be_narrowed(run):
    arguments = ("plan", "--problem", "FrozenLake-v1", "--law", "polynomial(1.05)")
    result = run(*arguments, "--max-layers", "1e3", width=120)
    low, high = re.search(r"price of not knowing +between (\S+) and (\S+)\n", result.stdout).groups()
    assert float(low) == 0.0
    assert float(high) > 0.1
    assert "raise --max-layers (now 1,000)" in result.stderr
    data = json.loads(run(*arguments, "--max-layers", "1e3", "--json").stdout)
    assert data["max_layers"] == 1000
    assert float(low) <= data["price_lower"] <= data["price"] <= data["price_upper"] <= float(high)


def test_max_layers_is_used_by_the_plan_and_by_the_price(run, monkeypatch):
    asked = []

    def asking(function):
        def ask(*arguments, **settings):
            asked.append(settings["max_layers"])
            return function(*arguments, **settings)

        return ask

    for name in ("plan", "clairvoyant_value"):
        monkeypatch.setattr(f"sojourn.planning.{name}", asking(getattr(sj.planning, name)))
    assert run("plan", "--problem", "chain(2)", "--law", "fixed(3)", "--max-layers", "77").exit_code == 0
    assert run("plan", "--problem", "chain(2)", "--law", "fixed(3)").exit_code == 0
    assert asked == [77, 77, MAX_LAYERS, MAX_LAYERS]


def test_the_width_of_a_warning_bounds_the_price(run, monkeypatch):
    def wide(*_, **__):
        warning = WideBracketWarning("clairvoyant_value: wide.")
        warning.width = 0.25
        warnings.warn(warning, stacklevel=2)
        return np.full(3, 5.0)

    monkeypatch.setattr("sojourn.planning.clairvoyant_value", wide)
    result = run("plan", "--problem", "two_paths", "--law", ONE_OR_TEN, "--json")
    data = json.loads(result.stdout)
    # 5 ± 0.125 clairvoyant, 4.5 blind.
    assert data["price_lower"] == pytest.approx(0.375, abs=1e-6)
    assert data["price_upper"] == pytest.approx(0.625, abs=1e-6)
    assert result.stderr.endswith("Warning: clairvoyant_value: wide.\n")
    text = run("plan", "--problem", "two_paths", "--law", ONE_OR_TEN).stdout
    assert re.search(r"price of not knowing +between 0\.37 and 0\.63\n", text)


def test_values_are_averaged_over_the_start_states(run):
    # FrozenLake starts in one state, Taxi in many: three steps cost 1 each, too few to arrive.
    data = json.loads(run("plan", "--problem", "Taxi-v4", "--law", "fixed(3)", "--json").stdout)
    assert data["value"] == pytest.approx(-3.0, abs=1e-6)
    assert (data["states"], data["actions"]) == (501, 6)
    assert data["stationary"] is (data["layers"] == 1)


def test_normalized_values_are_converted_to_the_original_units(run):
    # Taxi pays −10 … 20, so a step that costs 1 is worth 9/30.
    arguments = ("plan", "--problem", "Taxi-v4", "--law", "fixed(3)", "--normalized", "--no-price")
    data = json.loads(run(*arguments, "--json").stdout)
    assert data["value"] == pytest.approx(0.9, abs=1e-6)
    assert (data["scale"], data["shift"], data["normalized"]) == (30.0, -10.0, True)
    assert data["clairvoyant"] is None
    assert data["price"] is None
    output = run(*arguments).stdout
    assert re.search(r"in original units +-3(\.0*)?\n", output)
    assert "rewards mapped to [0, 1]" in output
    assert "price" not in output


def test_a_geometric_law_has_a_stationary_policy(run):
    data = json.loads(run("plan", "--problem", "river_swim(6)", "--law", "geometric(0.9)", "--json").stdout)
    assert data["stationary"] is True
    assert data["layers"] == 1
    assert data["after"] == "hold"
    # 0.9^(N−1) · 10 ≤ 1e-6, and river_swim's rewards span 1: N − 1 ≥ ln(1e7)/−ln 0.9 = 152.98.
    assert data["effective_horizon"]["horizon"] == 154
    text = run("plan", "--problem", "river_swim(6)", "--law", "geometric(0.9)", "--no-price").stdout
    assert "stationary" in text


def test_a_horizon_above_the_largest_step_is_reported(run):
    arguments = ("plan", "--problem", "chain(2)", "--law", "polynomial(1.2)", "--no-price")
    assert json.loads(run(*arguments, "--json").stdout)["effective_horizon"]["horizon"] is None
    text = run(*arguments, width=120).stdout
    assert "late steps" in text
    assert "bounded by proof; computing them would take over 2^53 layers" in text
    assert "effective horizon" not in text


def test_printed_bounds_enclose_the_certified_ones(run):
    arguments = ("plan", "--problem", "garnet(20, 3, 2, seed=1)", "--law", "uniform(1, 30)", "--no-price")
    data = json.loads(run(*arguments, "--json").stdout)
    low, high = re.search(r"certified +(\S+) ≤ V\* ≤ (\S+)", run(*arguments).stdout).groups()
    assert float(low) <= data["lower"] <= data["value"] <= data["upper"] <= float(high)


def test_saved_plans_can_be_loaded(run, tmp_path):
    path = tmp_path / "river.npz"
    result = run("plan", "--problem", "RiverSwim(n=6)", "--law", "fixed(8)", "--save", str(path), "--json")
    assert json.loads(result.stdout)["saved"] == str(path)
    assert f"Saved to {path}." in result.stderr.replace("\n", "")
    loaded = sj.load_plan(path)
    assert loaded.law == sj.Fixed(8)
    assert loaded.value[0] == json.loads(result.stdout)["value"]


def test_settings_of_gymnasium_environments_are_passed_on(run):
    # Without slipping, FrozenLake's goal is six sure steps away and pays 1.
    env = "FrozenLake-v1(is_slippery=False)"
    data = json.loads(run("plan", "--problem", env, "--law", "fixed(6)", "--json").stdout)
    assert data["problem"] == env
    assert data["value"] == pytest.approx(1.0, abs=1e-6)


def test_an_old_version_is_noted_in_one_line(run):
    result = run("plan", "--problem", "Taxi-v3", "--law", "fixed(2)", "--no-price")
    assert result.exit_code == 0
    assert "Note: Taxi-v3 is not in this Gymnasium; using Taxi-v4.\n" in result.stderr
    assert "_from_env.py" not in result.stderr


def test_library_warnings_become_one_line_each(run, monkeypatch):
    def wide(*_, **__):
        for _ in range(2):
            warnings.warn("plan: the bracket\nis wide.", WideBracketWarning, stacklevel=2)
        return found

    found = sj.plan(sj.mdps.chain(2), sj.Fixed(3))
    monkeypatch.setattr("sojourn.planning.plan", wide)
    result = run("plan", "--problem", "chain(2)", "--law", "fixed(3)", "--no-price")
    assert result.exit_code == 0
    assert result.stderr.splitlines()[2:] == ["Warning: plan: the bracket is wide."]


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            MemoryLimitError("It needs 9 GiB; lower max_layers."),
            "Error: It needs 9 GiB; lower --max-layers.\n",
        ),
        (RuntimeError("no\nluck"), "Error: RuntimeError: no luck ('sojourn --debug …' shows where.)\n"),
    ],
)
def test_a_failed_run_prints_one_line_and_exits_with_1(run, monkeypatch, error, line):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("sojourn.planning.plan", fail)
    result = run("plan", "--problem", "chain(2)", "--law", "fixed(3)")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines(keepends=True)[1:] == [line]
    command = ["plan", "--problem", "chain(2)", "--law", "fixed(3)"]
    for arguments in (["--debug", *command], [*command, "--debug"]):
        debugged = run(*arguments)
        assert debugged.exit_code == 1
        assert debugged.stderr.splitlines()[1].startswith("Traceback")


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ("river_swin", "Unknown environment 'river_swin'. Did you mean 'river_swim'?"),
        ("Taxi", "Unknown environment 'Taxi'. Did you mean 'Taxi-v4'?"),
        ("Taxi-v9", "Unknown environment 'Taxi-v9'. Did you mean 'Taxi-v4'?"),
        ("Taxi-v4(3)", "Taxi-v4 takes its settings by name; got 3."),
        ("river_swim(1)", "n must be a whole number ≥ 2; got 1."),
        ("river_swim(1, 2)", "river_swim takes n; got 2 arguments."),
        ("river_swim(m=3)", "river_swim has no argument 'm'. It takes n."),
        ("chain(slp=0.1)", "chain has no argument 'slp'. Did you mean 'slip'?"),
        ("chain(2, n=3)", "chain got n twice."),
        ("two_paths(1)", "two_paths takes no positional arguments; got 1 argument."),
        (
            "garnet",
            "garnet needs n_states, n_actions and n_successors; "
            "write garnet(n_states, n_actions, n_successors, seed).",
        ),
        ("TAXY-V4", "Unknown environment 'TAXY-V4'. Did you mean 'Taxi-v4'?"),
        ("taxi", "Unknown environment 'taxi'. Did you mean 'Taxi-v4'?"),
        (
            "FrozenLake-v1(is_slipery=False)",
            "FrozenLake-v1 has no setting 'is_slipery'. Did you mean 'is_slippery'?",
        ),
        ("", "--problem must be written like 'Taxi-v4' or 'river_swim(6)'; got ''."),
        ("chain(2", "--problem must be written like 'Taxi-v4' or 'river_swim(6)'; got 'chain(2'."),
    ],
)
def test_unknown_problems_get_a_one_line_error(run, env, message):
    result = run("plan", "--problem", env, "--law", "fixed(3)")
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"Error: {message}\n")


@pytest.mark.parametrize("inside", ["__import__('os')", "n", "2)(3", "**{}", "*[2]", "2 + 2", "(" * 300])
def test_nothing_in_the_text_of_a_problem_is_run(run, inside):
    result = run("plan", "--problem", f"chain({inside})", "--law", "fixed(3)")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: --problem must ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tolerance", "0"], "--tolerance must be a finite number > 0; got 0.0."),
        (["--tolerance", "abc"], "--tolerance must be a finite number > 0; got 'abc'."),
        (["--max-layers", "0"], "--max-layers must be a whole number ≥ 1; got '0'."),
        (["--max-layers", "many"], "--max-layers must be a whole number ≥ 1; got 'many'."),
        (["--max-layers", "1.5"], "--max-layers must be a whole number ≥ 1; got '1.5'."),
        (["--save", "plan.txt"], "--save must end in .npz; got 'plan.txt'."),
        (["--save", "no/where.npz"], "--save must be in a folder that exists; got 'no/where.npz'."),
    ],
)
def test_bad_options_get_a_one_line_error(run, options, message):
    result = run("plan", "--problem", "chain(2)", "--law", "fixed(3)", *options)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"Error: {message}\n")


@pytest.mark.parametrize("width", [40, 60, 200])
def test_nothing_is_cut_off_at_any_width(run, width):
    output = run("plan", "--problem", "chain(2)", "--law", "uniform(1, 30)", width=width).stdout
    assert "…" not in output
    assert "tolerance over the reward range)" in " ".join(output.split())
    assert max(map(len, output.splitlines())) <= width


def test_averages_are_bounded_outwards():
    from sojourn.cli._solution import average_over_starts

    rng = np.random.default_rng(0)
    start, values = rng.dirichlet(np.ones(50)), rng.normal(size=50)
    mdp = sj.TabularMDP(np.ones((50, 1, 1)) * np.eye(50)[:, None, :], np.zeros((50, 1)), start=start)
    mean, slack = average_over_starts(mdp, values)
    assert abs(mean - float(np.longdouble(start) @ np.longdouble(values))) <= slack


def test_a_module_in_the_current_folder_is_found(run, tmp_path, monkeypatch):
    (tmp_path / "own_machine.py").write_text(
        "import sojourn as sj\ndef small():\n    return sj.mdps.chain(2)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    result = run("plan", "--problem", "own_machine:small", "--law", "fixed(2)")
    assert result.exit_code == 0, result.stderr
    assert "Chain(2)" in result.stdout


OWN_LAW = """
import numpy as np
from sojourn.laws import LengthLaw

class Halving(LengthLaw):
    def __init__(self, q):
        self.q = q
    def survival(self, h):
        return np.power(self.q, np.asarray(h, dtype=float) - 1.0)
    def tail(self, h):
        return self.survival(h) / (1.0 - self.q)

half = Halving(0.5)
"""


@pytest.mark.parametrize(
    ("law", "error"),
    [
        ("own_laws:Halving(0.5)", ""),
        ("own_laws:half", ""),
        ("own_laws:Halving(q=0.5)", ""),
        ("own_laws:half(3)", "own_laws:half is a law already and takes no arguments."),
        ("own_laws:np", "own_laws:np must be a length law or return one"),
        ("own_laws:Halving(0.5, 1)", "own_laws:Halving"),
        ("own_laws:Halving(__import__('os'))", "law must have numbers and quoted text as arguments"),
    ],
)
def test_laws_of_your_own_are_found_in_the_current_folder(run, tmp_path, monkeypatch, law, error):
    (tmp_path / "own_laws.py").write_text(OWN_LAW)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.delitem(sys.modules, "own_laws", raising=False)
    result = run("plan", "--problem", "chain(2)", "--law", law, "--json", "--no-price")
    if error:
        assert result.exit_code == 2
        assert error in result.stderr
    else:
        unsaved = run(
            "plan", "--problem", "unknown", "--law", law, "--save", "x.npz"
        )  # refused before any work
        assert unsaved.stderr.startswith("Error: law must be one that parse_law reads back; got Halving")
        same = run("plan", "--problem", "chain(2)", "--law", "geometric(0.5)", "--json", "--no-price")
        assert json.loads(result.stdout)["value"] == pytest.approx(json.loads(same.stdout)["value"])
