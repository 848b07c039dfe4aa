"""Tests of the public names of the package and of how little an import loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sojourn


def test_every_public_name_can_be_imported():
    for name in sojourn.__all__:
        assert getattr(sojourn, name) is not None
    assert set(sojourn.__all__) <= set(dir(sojourn))


def test_names_of_the_core_folders_are_exported_by_the_package():
    from sojourn import laws, mdps, planning

    assert set(mdps.BUILDERS) <= set(mdps.__all__)
    for name in [*planning.__all__, "TabularMDP", "parse_problem"]:
        assert name in sojourn.__all__
    for law in laws.LAWS.values():
        assert law.__name__ in sojourn.__all__


def test_every_public_name_of_experiments_can_be_imported():
    from sojourn import experiments

    assert set(experiments.__all__) <= set(dir(experiments))
    for name in experiments.__all__:
        assert getattr(experiments, name) is not None
    with pytest.raises(AttributeError, match=r"No sojourn\.experiments attribute Stor"):
        experiments.Stor  # noqa: B018


def test_unknown_names_raise_an_attribute_error():
    with pytest.raises(AttributeError, match="No sojourn attribute Geometrc"):
        sojourn.Geometrc  # noqa: B018


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import sojourn", ["numpy", "scipy", "numba", "matplotlib", "gymnasium", "rich"]),
        ("import sojourn; sojourn.Geometric(0.9).mean", ["numba", "matplotlib", "gymnasium", "scipy.stats"]),
        ("import sojourn; sojourn.mdps.river_swim(6)", ["numba", "matplotlib", "gymnasium", "scipy.stats"]),
        ("from sojourn.experiments import read_example", ["numpy", "numba"]),
        (
            "import sojourn.experiments.executors._worker, sojourn.experiments.trials._play",
            ["gymnasium", "rich"],
        ),
        ("import sojourn; sojourn.plan", ["matplotlib", "gymnasium", "scipy.stats"]),
    ],
)
def test_heavy_packages_load_only_when_needed(code, absent):
    check = f"{code}\nimport sys\nprint([name for name in {absent} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
