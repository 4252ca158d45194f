# Each target makes the virtual environment it needs; PYTHON chooses the interpreter.
PYTHON ?= python3
BIN := .venv/bin
# Beside naive twins. Fits of many samples, those of test_capped_fronts, would take too long with compilation off.
NAIVE_TESTS := tests/fronts tests/pairs/test_nearest.py tests/pairs/test_pairs.py tests/criteria/test_metrics.py \
	tests/studies/test_baselines.py tests/studies/test_scalarization.py
KERNEL_TESTS := $(NAIVE_TESTS) tests/pairs/test_capped_fronts.py
# Named where they are to run, because the site must have been built before.
SITE_TESTS := tests/docs/built_site.py
# The tests of a file share what takes long to make: a cluster, a browser, the runs of experiments.
BY_FILE := -n auto --dist loadfile --no-loadscope-reorder
# What needs River, which the lowest versions are tested without.
WITHOUT_RIVER := --ignore=tests/streaming/test_river.py --ignore=src/paretodepth/streaming/river.py \
	--deselect=tests/studies/test_streams.py::test_times_are_told_of_ours_and_of_river \
	--deselect=tests/docs/test_pages.py::test_every_public_name_is_documented_exactly_once
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: audit bench demo docs docs-criteria docs-figures lock pictures release-check reproduce test test-all test-docs \
	test-without-extras test-lowest test-wheel lint coverage boundscheck fuzz fuzz-atheris soak clean

demo: .venv/.demo
	$(BIN)/paretodepth demo --out demo

# What to run before every commit. Naive twins take twice as long when their lines are counted; `coverage` does that.
test: .venv/.dev
	$(BIN)/python -m pytest -n auto -m "not slow" $(NAIVE_TESTS)
	$(BIN)/python -m pytest $(BY_FILE) -m "not slow" --cov --cov-report= $(NAIVE_TESTS:%=--ignore=%)

# Everything: what waits for processes too, such as clusters, browsers, kills and fresh interpreters, and the site as
# built. The longest file comes first, so that nothing waits for it in the end.
test-all: test docs
	$(BIN)/python -m pytest $(BY_FILE) -m slow --cov --cov-append --cov-report= tests/test_distributed.py tests src \
		$(SITE_TESTS)

# The lowest versions that pyproject.toml allows, in an environment and with a cache of their own. TESTS chooses files.
test-lowest: .venv/.lowest
	NUMBA_CACHE_DIR=$(CURDIR)/.venv/lowest/cache .venv/lowest/bin/python -m pytest $(BY_FILE) \
		-W ignore::DeprecationWarning $(WITHOUT_RIVER) $(TESTS)

# The wheel, made from the sdist, and the tests of the sdist, away from the source. The libraries are lent by .venv.
test-wheel: .venv/.dev
	rm -rf dist .venv/wheel
	$(BIN)/python -m build --no-isolation --outdir dist >.venv/build.log
	$(BIN)/python -m venv .venv/wheel
	.venv/wheel/bin/python -m pip --quiet --disable-pip-version-check install --no-deps dist/*.whl
	$(BIN)/python -c 'import site; print(*site.getsitepackages())' >.venv/wheel/lent.pth
	mv .venv/wheel/lent.pth "$$(.venv/wheel/bin/python -c 'import site; print(*site.getsitepackages())')"
	mkdir .venv/wheel/sdist
	tar --extract --gzip --file dist/*.tar.gz --directory .venv/wheel/sdist --strip-components 1
	rm -rf .venv/wheel/sdist/src
	cd .venv/wheel/sdist && ../bin/python -m pip check && ../bin/paretodepth --version && \
		../bin/python -m pytest -n auto tests/promises/test_package.py tests/criteria/test_toml_file.py

# Before a tag: both archives, their metadata and content, an installation for each extra, a smoke test.
release-check: .venv/.dev
	.ci/release-check

test-without-extras: .venv/.dev
	PARETODEPTH_WITHOUT=rapidfuzz,dtaidistance $(BIN)/python -m pytest -n auto tests/criteria \
		tests/promises/test_hostile_input.py tests/promises/test_examples.py

lint: .venv/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# Compiled loops cannot be traced, so their lines are counted in a run with compilation off, after `make test-all`.
# Some draws are left out: lines are asked for here, not values.
coverage: .venv/.dev
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto --cov --cov-append --cov-report=term-missing --cov-fail-under=95 \
		-k 'not (chain or correlated or signed or threads_change or many_points and (-5] or -6]))' $(NAIVE_TESTS)

# A warm cache would skip the check, so this run has a cache of its own.
boundscheck: .venv/.dev
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=.venv/boundscheck $(BIN)/python -m pytest -n auto $(KERNEL_TESTS)

# Mutated files in processes of 1 GB: models anyhow and part by part, criteria, data; led by coverage with Atheris, where
# that is to be had.
fuzz: .venv/.dev
	$(BIN)/python -m tests.promises.fuzz --kinds model,sealed,toml --files 60000
	$(BIN)/python -m tests.promises.fuzz --kinds fields --files 100000
	$(BIN)/python -m tests.promises.fuzz --kinds data --files 20000

fuzz-atheris: .venv/.dev
	$(PIP) install --group fuzz
	$(BIN)/python -m tests.promises.fuzz_atheris -max_total_time=600

# Ten minutes of fits, scores, saves and loads from several threads, 200 kills of a save, and 200 signals of each kind
# to each command.
soak: .venv/.dev
	$(BIN)/python -m tests.promises.soak --seconds 600
	PARETODEPTH_KILLS=200 $(BIN)/python -m pytest tests/promises -k "kills_during_save or signals_leave"

.venv/.python:
	$(PYTHON) -m venv .venv
	touch $@

# Without River, whose lowest version asks for a newer NumPy and would hide what older ones do; the lock holds the same
# minor version.
.venv/.lowest: .venv/.dev
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv/lowest
	$(BIN)/uv pip install --quiet --python .venv/lowest/bin/python --resolution lowest-direct --group dev \
		--editable '.[cli,report,text,timeseries,excel,distributed]'
	touch $@

.venv/.demo: .venv/.python pyproject.toml
	$(PIP) install --editable '.[cli,report]'
	touch $@

# Exactly the files that the lock names, by their hashes, and the package itself.
.venv/.dev: .venv/.python pyproject.toml requirements-dev.txt
	$(PIP) install --require-hashes --requirement requirements-dev.txt
	$(PIP) install --no-build-isolation --no-deps --editable .
	touch $@

# The newest versions of everything for development, for each system and Python, into the lock; then run .ci/run.
lock: .venv/.dev
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --group docs --group build --upgrade --universal \
		--python-version 3.11 --generate-hashes --no-header --no-annotate --quiet --output-file requirements-dev.txt

# Known holes in the versions of the lock. Asks an advisory service, so it fails without a network.
audit: .venv/.dev
	$(BIN)/uv tool run --quiet pip-audit --requirement requirements-dev.txt --require-hashes --disable-pip --strict

# The page of criteria: its prose, and the tables of metrics from the registry.
docs-criteria: .venv/.dev
	$(BIN)/python docs/criteria.py

# The site, in docs/_build: pages, docstrings and a gallery whose examples run. A warning is an error.
docs: .venv/.dev
	$(BIN)/python -m sphinx -b html -W --keep-going -j 2 -d docs/_build/doctrees docs docs/_build/html

# Its links, and its pages in a browser; needs chromium.
test-docs: docs
	$(BIN)/python -m pytest $(SITE_TESTS)

# The figures of docs/concepts.md.
docs-figures: .venv/.dev
	$(BIN)/python -m docs.concepts

reproduce: .venv/.demo
	$(BIN)/python -m studies reproduce all --out results

bench: .venv/.bench
	$(BIN)/python -m studies benchmark --out benchmark

.venv/.bench: .venv/.demo
	$(PIP) install --upgrade pip
	$(PIP) install --group bench
	touch $@

# The pictures of the README; needs chromium.
pictures: .venv/.dev
	$(BIN)/python -m docs.pictures

clean:
	rm -rf .venv benchmark demo results docs/_build docs/api/generated docs/gallery
