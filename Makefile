# Each target makes the virtual environment it needs; PYTHON chooses the interpreter.
PYTHON ?= python3
BIN := .venv/bin
KERNEL_TESTS := tests/test_fronts.py tests/test_depth.py tests/test_dyads.py tests/test_metrics.py \
	tests/test_baselines.py tests/test_scalarization.py tests/test_summaries.py tests/test_capping.py
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: bench demo pictures reproduce test test-without-extras lint coverage boundscheck clean

demo: .venv/.demo
	$(BIN)/paretodepth demo --out demo

test: .venv/.dev
	$(BIN)/python -m pytest -n auto --cov --cov-report=

test-without-extras: .venv/.dev
	PARETODEPTH_WITHOUT=rapidfuzz,dtaidistance $(BIN)/python -m pytest -n auto tests/test_metrics.py tests/test_criteria.py \
		tests/test_hostile_input.py tests/test_examples.py tests/test_catalogue.py

lint: .venv/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# Compiled loops cannot be traced, so their lines are counted in a second run with compilation off, after `make test`;
# whole fits of many samples would take too long there.
coverage: .venv/.dev
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto --cov --cov-append --cov-report=term-missing --cov-fail-under=95 \
		$(filter-out tests/test_capping.py,$(KERNEL_TESTS))

# A warm cache would skip the check, so this run has a cache of its own.
boundscheck: .venv/.dev
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=.venv/boundscheck $(BIN)/python -m pytest -n auto $(KERNEL_TESTS)

.venv/.python:
	$(PYTHON) -m venv .venv
	$(PIP) install --upgrade pip
	touch $@

.venv/.demo: .venv/.python pyproject.toml
	$(PIP) install --editable '.[cli,report]'
	touch $@

.venv/.dev: .venv/.python pyproject.toml
	$(PIP) install --group dev --editable '.[all]'
	touch $@

reproduce: .venv/.demo
	$(BIN)/paretodepth reproduce all --out results

bench: .venv/.bench
	$(BIN)/paretodepth benchmark --out benchmark

.venv/.bench: .venv/.demo
	$(PIP) install --group bench
	touch $@

# The pictures of the README; needs chromium.
pictures: .venv/.dev
	$(BIN)/python docs/pictures.py

clean:
	rm -rf .venv benchmark demo results
