"""The package's door: everything public is there, and opening it is quick."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sojourn


def test_every_public_name_can_be_had():
    for name in sojourn.__all__:
        assert getattr(sojourn, name) is not None
    assert set(sojourn.__all__) <= set(dir(sojourn))


def test_what_the_folders_offer_is_at_the_door():
    from sojourn import laws, mdps, planning

    builders = set(mdps.BUILDERS) | {"BUILDERS"}
    for name in [*planning.__all__, *(set(mdps.__all__) - builders)]:
        assert name in sojourn.__all__
    for law in laws.LAWS.values():
        assert law.__name__ in sojourn.__all__


def test_experiments_have_a_door_of_their_own():
    from sojourn import experiments

    assert sorted(experiments.__all__) == sorted(experiments._PLACES) == dir(experiments)
    for name in experiments.__all__:
        assert getattr(experiments, name) is not None
    with pytest.raises(AttributeError, match=r"module 'sojourn\.experiments' has no attribute 'Stor'"):
        experiments.Stor  # noqa: B018


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="module 'sojourn' has no attribute 'Geometrc'"):
        sojourn.Geometrc  # noqa: B018


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import sojourn", ["numpy", "scipy", "numba", "matplotlib", "gymnasium", "pydantic", "rich"]),
        ("import sojourn; sojourn.Geometric(0.9).mean", ["numba", "matplotlib", "gymnasium", "scipy.stats"]),
        ("import sojourn; sojourn.mdps.river_swim(6)", ["numba", "matplotlib", "gymnasium", "scipy.stats"]),
        ("from sojourn.experiments import read_example", ["numpy", "numba", "pydantic"]),
        (
            "import sojourn.experiments.executors._worker, sojourn.experiments.trials._trial",
            ["gymnasium", "pydantic", "rich"],
        ),
        ("import sojourn; sojourn.plan", ["matplotlib", "gymnasium", "scipy.stats"]),
    ],
)
def test_heavy_packages_load_when_first_needed(code, absent):
    check = f"{code}\nimport sys\nprint([name for name in {absent} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
