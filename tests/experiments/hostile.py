"""Hostile specs: each must be refused in one line and quickly."""

from __future__ import annotations

GOOD = """\
problem = "river_swim(4)"
law = "geometric(0.8)"
episodes = 10
seeds = 2
[agents.a]
type = "ucbvi"
law = "true"
"""


def changed(line: str, new: str) -> str:
    assert line in GOOD
    return GOOD.replace(line, new)


def agent(line: str) -> str:
    return changed('law = "true"', f'law = "true"\n{line}')


_GRIDS = "\n".join(
    f"{key} = {{ grid = [{', '.join(['1'] * 1000)}] }}"
    for key in ("horizon", "delta", "n_states", "truncation")
)

FILES: dict[str, str | bytes] = {
    "dotted key of 2,000 parts": "episodes" + ".a" * 2_000 + " = 1\n",
    "dotted header of 5,000 parts": "[episodes" + ".a" * 5_000 + "]\n",
    "5,000 levels of lists": "x = " + "[" * 5000 + "]" * 5000,
    "5,000 levels of tables": "x = " + "{a=" * 5000 + "1" + "}" * 5000,
    "30 levels of settings": agent("bonus = " + "{ base = " * 30 + "1" + "}" * 30),
    "5,000 digits": changed("episodes = 10", "episodes = " + "9" * 5000),
    "5,000 digits of a float": changed("episodes = 10", "episodes = " + "9" * 5000 + ".0"),
    "4,000 digits of a seed": changed("seeds = 2", "seeds = [" + "9" * 4000 + "]"),
    "4,000 digits of a scale": agent("bonus.scale = " + "9" * 4000),
    "infinitely many episodes": changed("episodes = 10", "episodes = inf"),
    "10^12 episodes": changed("episodes = 10", "episodes = 1_000_000_000_000"),
    "10^9 episodes, all recorded": changed("episodes = 10", 'episodes = 1_000_000_000\nrecord = "episodes"'),
    "nan episodes": changed("episodes = 10", "episodes = nan"),
    "infinite scale": agent("bonus.scale = inf"),
    "nan delta": agent("delta = nan"),
    "nan in a grid": agent("bonus.scale = { grid = [nan] }"),
    "negative episodes": changed("episodes = 10", "episodes = -1"),
    "no seeds": changed("seeds = 2", "seeds = 0"),
    "true episodes": changed("episodes = 10", "episodes = true"),
    "episodes as text": changed("episodes = 10", 'episodes = "10"'),
    "episodes as a date": changed("episodes = 10", "episodes = 2020-01-01"),
    "problem as lists": changed('problem = "river_swim(4)"', "problem = [[1]]"),
    "problem as a number": changed('problem = "river_swim(4)"', "problem = 4"),
    "no problem in a list": changed('problem = "river_swim(4)"', "problem = []"),
    "law as a table": changed('law = "geometric(0.8)"', "law = { a = 1 }"),
    "agents as a list": changed("[agents.a]", "[[agents]]"),
    "10^12 seeds": changed("seeds = 2", "seeds = 1_000_000_000_000"),
    "10^12 points of a grid": agent(_GRIDS),
    "empty grid": agent("bonus.scale = { grid = [] }"),
    "unknown key": GOOD.replace("episodes", "epsiodes"),
    "unknown key of an agent": agent("horizn = 3"),
    "40 kB key": "x" * 40_000 + " = 1\n",
    "missing keys": "seeds = 1\n",
    "nothing": "",
    "bytes that are no text": b"\x00\xff\xfe" * 1000,
    "NUL in a law": changed('law = "geometric(0.8)"', 'law = "geometric\\u0000(0.8)"'),
    "not TOML": "{]",
    "300 kB of comments": "#" * 300_000,
    "string that never ends": 'x = """' + "a" * 90_000,
    "list of 30,000": "x = [" + "1, " * 30_000 + "]",
    "laws inside laws": changed('law = "geometric(0.8)"', 'law = "' + "mixture([1], [" * 3000 + '"'),
    "parentheses": changed("river_swim(4)", "river_swim(" + "(" * 3000 + ")"),
    "10^12 states": changed("river_swim(4)", "river_swim(999999999999)"),
    "no such module": changed('type = "ucbvi"', 'type = "no.such.module:Thing"'),
    "a function that is not an agent": changed('type = "ucbvi"\nlaw = "true"', 'type = "os:getcwd"'),
    "no name": f'name = ""\n{GOOD}',
    "10^300 checkpoints": f"record = {{ checkpoints = 1e300 }}\n{GOOD}",
    "the same seed twice": changed("seeds = 2", "seeds = [1, 1]"),
}
