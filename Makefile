# Everything runs in .venv, which contains the versions of requirements.lock and nothing else.
PYTHON ?= python3
BIN := .venv/bin
# Bytecode is kept even where the environment forbids it: tests start Python hundreds of times.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help reproduce quick install lint test checks pytest docs wheel bench deep lock clean

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: .venv/installed ## create .venv with the locked dependencies and an editable install

.venv/installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

lint: .venv/installed ## ruff, mypy and the check of import directions
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: .venv/installed ## run all checks: lint, tests, doctests, documentation, wheel
	$(MAKE) --jobs 4 lint pytest docs wheel

checks: .venv/installed ## slow checks: a Ray cluster, gigabytes of logs, simulations, enumerated proofs (minutes)
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadgroup --hypothesis-profile ci evidence/checks

WORKERS = $(shell $(BIN)/python -c 'from sojourn._threads import usable_cores; print(usable_cores() + 1)')

# One process more than there are cores, because some tests wait. Hypothesis draws the same examples every time;
# plain `pytest` draws new ones.
pytest: .venv/installed
	$(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal --hypothesis-profile ci

docs: .venv/installed ## build the documentation into build/docs; warnings are errors
	$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going --doctree-dir build/doctrees docs build/docs

wheel: .venv/installed ## build the wheel and import it in an empty environment
	rm -rf build/wheel && mkdir -p build/wheel
	$(BIN)/python -m build --wheel --no-isolation --outdir build/wheel . >build/wheel/log
	$(BIN)/python -m pip freeze --exclude-editable >build/wheel/constraints.txt
	$(PYTHON) -m venv build/wheel/env
	build/wheel/env/bin/python -m pip install --quiet --disable-pip-version-check --constraint build/wheel/constraints.txt build/wheel/*.whl
	cd build/wheel && env/bin/python -c "import sojourn; print('wheel', sojourn.__version__, sojourn.Geometric(0.75).mean)" && env/bin/sojourn --version

reproduce: .venv/installed ## reproduce the paper into reproduction/ (about 3 minutes on two cores once compiled)
	$(BIN)/sojourn reproduce

quick: .venv/installed ## a small version of reproduce, with its own report (about 40 seconds once compiled)
	$(BIN)/sojourn reproduce --quick

bench: .venv/installed ## compare planning, learning, session logs and experiments with rivals (minutes)
	$(BIN)/python benchmarks/planning.py
	$(BIN)/python benchmarks/learning.py
	$(BIN)/python benchmarks/sessions.py
	$(BIN)/python benchmarks/experiments.py

# Uses a separate environment that is not locked, because torch is large. A CPU build is enough.
TORCH ?= torch
deep: .venv/installed ## test sojourn.sb3 and the wrappers with stable-baselines3, and train PPO and DQN under a law (minutes)
	$(PYTHON) -m venv build/deep
	$(BIN)/python -m pip freeze | grep -E '^(gymnasium|numba|numpy|scipy)==' >build/deep/constraints.txt
	build/deep/bin/python -m pip install --quiet --disable-pip-version-check --constraint build/deep/constraints.txt "$(TORCH)" pytest hypothesis
	build/deep/bin/python -m pip install --quiet --disable-pip-version-check --constraint build/deep/constraints.txt --editable '.[sb3]'
	build/deep/bin/python -m pytest src/sojourn/sb3 tests/sb3 tests/envs tests/examples/test_deep_agents.py
	build/deep/bin/python examples/08_deep_agents.py

lock: ## recompile requirements.lock from pyproject.toml (needs uv)
	uv pip compile pyproject.toml --group dev --universal --generate-hashes --no-header --no-annotate \
		--no-emit-index-url --no-emit-find-links --quiet --output-file requirements.lock

clean: ## remove .venv and everything built
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
