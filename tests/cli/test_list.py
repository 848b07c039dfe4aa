from __future__ import annotations

import json

import gymnasium
import pytest

import sojourn as sj
from sojourn.agents import AGENTS, BONUSES
from sojourn.laws import LAWS
from sojourn.mdps import BUILDERS, GYMNASIUM_IDS


def test_laws_are_listed_with_their_signature_and_meaning(run):
    output = " ".join(run("list", "laws").stdout.split())
    assert "polynomial(p, offset=0)" in output
    assert (
        "Episode lengths with the same chance of going on at every step."
        in run("list", "laws", width=200).stdout
    )


def test_every_law_is_in_the_json(run):
    rows = json.loads(run("list", "laws", "--json").stdout)
    assert [row["name"] for row in rows] == list(LAWS)
    assert all(row["description"].endswith(".") for row in rows)


def test_every_environment_listed_can_be_planned_in(run):
    rows = json.loads(run("list", "problems", "--json").stdout)
    assert [row["name"] for row in rows] == [*BUILDERS, *GYMNASIUM_IDS]
    for row in rows:
        if row["kind"] == "builder":
            assert row["id"] in gymnasium.registry
        else:
            mdp = sj.TabularMDP.from_env(row["name"])
            assert (mdp.n_states, mdp.n_actions) == (row["states"], row["actions"])


def test_envs_is_another_name_of_problems(run):
    assert run("list", "envs").stdout == run("list", "problems").stdout


def test_the_gymnasium_ids_are_all_that_have_a_table():
    having = []
    for name, spec in gymnasium.registry.items():
        if str(spec.entry_point).startswith("gymnasium.envs.toy_text"):
            env = gymnasium.make(name)
            if hasattr(env.unwrapped, "P"):
                having.append(name)
            env.close()
    assert sorted(having) == sorted(GYMNASIUM_IDS)


def test_agents_are_listed_with_their_bonuses(run):
    result = run("list", "agents", width=200)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "UCBVI(law, bonus=PaperBonus(scale=1.0), " in " ".join(result.stdout.split())
    assert "Plays every action with the same probability" in result.stdout
    assert "Hoeffding(scale=1.0)" in result.stdout


def test_every_agent_and_bonus_is_in_the_json(run):
    rows = json.loads(run("list", "agents", "--json").stdout)
    assert [row["name"] for row in rows if row["kind"] == "agent"] == list(AGENTS)
    assert [row["name"] for row in rows if row["kind"] == "bonus"] == list(BONUSES)
    assert {row["kind"] for row in rows} == {"agent", "bonus"}
    assert all(row["description"].endswith(".") for row in rows)
    assert all(hasattr(sj, row["name"]) for row in rows)


@pytest.mark.parametrize("width", [40, 60, 200])
@pytest.mark.parametrize("kind", ["laws", "agents", "envs"])
def test_nothing_is_cut_off_at_any_width(run, kind, width):
    output = run("list", kind, width=width).stdout
    assert max(map(len, output.splitlines())) <= width
    letters = "".join(output.split())
    for row in json.loads(run("list", kind, "--json").stdout):
        first_words = row["description"].split()[:2]
        assert row["signature"].split("(")[0] in letters
        assert all(word in output for word in first_words)


def test_an_unknown_kind_gets_a_one_line_error(run):
    result = run("list", "lows")
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: Invalid value for 'WHAT': 'lows' is not one of 'laws', 'agents', 'problems', 'specs', "
        "'samples'. Try 'sojourn list --help'.\n"
    )


def test_without_a_kind_all_names_are_listed(run):
    names = run("list").stdout.replace(",", " ").split()
    rows = json.loads(run("list", "--json").stdout)
    assert list(rows) == ["laws", "agents", "problems", "specs", "samples"]
    for found in rows.values():
        assert {row["name"] for row in found} <= set(names)
    assert names.index("bonuses") < names.index("Hoeffding")
