# Each target creates the virtual environment it needs; PYTHON chooses the interpreter.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# Compared with naive twins; `.ci/run coverage` and `.ci/run boundscheck` run them in other ways.
NAIVE_TESTS := tests/fronts tests/pairs/test_nearest.py tests/pairs/test_pairs.py tests/criteria/test_metrics.py \
	tests/studies/test_baselines.py tests/studies/test_scalarization.py
# The tests of a file share what is slow to make: a cluster, a browser, the runs of experiments.
BY_FILE := -n auto --dist loadfile --no-loadscope-reorder

.PHONY: demo test test-all lint docs reproduce bench release-check lock clean

# The main job on simulated pedestrians; open demo/report.html.
demo: .venv/.demo
	$(BIN)/paretodepth demo --out demo

# Run this before every commit.
test: .venv/.dev
	$(BIN)/python -m pytest -n auto -m "not slow" $(NAIVE_TESTS)
	$(BIN)/python -m pytest $(BY_FILE) -m "not slow" --cov --cov-report= $(NAIVE_TESTS:%=--ignore=%)

# Everything: also clusters, browsers, kills, fresh interpreters and the built site. The longest file comes first.
test-all: test docs
	$(BIN)/python -m pytest $(BY_FILE) -m slow --cov --cov-append --cov-report= tests/test_distributed.py tests src \
		tests/docs/built_site.py

lint: .venv/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, in docs/_build/html: pages, docstrings and a gallery whose examples run. A warning is an error.
docs: .venv/.dev
	$(BIN)/python -m sphinx -b html -W --keep-going -j 2 -d docs/_build/doctrees docs docs/_build/html

# Every table and figure of the paper, in about ten minutes.
reproduce: .venv/.demo
	$(BIN)/python -m studies reproduce all --out results

# Speed compared with NumPy's sort and the peers, which it installs.
bench: .venv/.bench
	$(BIN)/python -m studies benchmark --out benchmark

# Before a tag: both archives, their metadata and content, an installation for each extra, a smoke test.
release-check: .venv/.dev
	.ci/release-check

# Lock the newest version of everything for development, for each system and Python; then run .ci/run.
lock: .venv/.dev
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --group docs --group build --upgrade --universal \
		--python-version 3.11 --generate-hashes --no-header --no-annotate --quiet --output-file requirements-dev.txt

clean:
	rm -rf .venv benchmark demo results docs/_build docs/api/generated docs/gallery

.venv/.python:
	$(PYTHON) -m venv .venv
	touch $@

.venv/.demo: .venv/.python pyproject.toml
	$(PIP) install --editable '.[cli,report]'
	touch $@

# Exactly the files that the lock names, by their hashes, and the package itself.
.venv/.dev: .venv/.python pyproject.toml requirements-dev.txt
	$(PIP) install --require-hashes --requirement requirements-dev.txt
	$(PIP) install --no-build-isolation --no-deps --editable .
	touch $@

.venv/.bench: .venv/.demo
	$(PIP) install --upgrade pip
	$(PIP) install --group bench
	touch $@
