# make demo       install and run the demo
# make test       everything that must hold: lint, types, documentation, tests
# make coverage   the fast tests, and the lines that none of them runs
# make test-fast  the tests that take about a minute; every room is covered
# make test-lowest  the fast tests with the oldest versions that pyproject.toml allows
# make lock       choose the versions and hashes that CI installs again: the newest ones, for every Python from 3.11 up
# make test-pythons  the fast tests on every Python from 3.11 up that is installed: on PATH, under pyenv, through uv
# make check      lint and types only
# make docs       write the generated pages, and refresh the output of examples and notebooks
# make docs-site  build the documentation site in build/site; every warning is an error
# make bench      measure next to the other tools
# make test-deps  install what some tests need: Debian packages (as root) and, in environments of their own, libraries and Spark
# make release-check  build the release, install it into clean environments, run it, list every license
# make picture    take the pictures of the README and the documentation again (needs test-deps)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.base
TEST := $(VENV)/.test
LOWEST := .venv-lowest
PYTHONS := .venv-pythons
DEBIAN := chromium firefox-esr fonts-dejavu-core openjdk-17-jre-headless zsh fish
LIBRARIES := .venv-libraries
SPARK := .venv-spark
RELEASE := .venv-release
PYSPARK ?= pyspark==4.3.0
LOCK := .ci/requirements.txt

SCANNER := hatch_build.py scripts/compile_scanner.py $(wildcard src/rankgauge/core/compiled/*.[ch])

WORKERS ?= $(shell nproc 2> /dev/null || echo 2)
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

# The tests start hundreds of processes: what they import is compiled once, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test coverage test-fast test-lowest test-pythons test-env lock check docs docs-site picture bench test-deps test-libraries test-spark release-check clean

demo: $(BASE)
	@$(BIN)/rankgauge demo

test: check
	$(PYTEST)

# Not part of `make test`: tracing every line takes time.
coverage: $(TEST)
	$(PYTEST) -m "not slow" --cov --cov-report=term

test-env: $(TEST)

test-fast: $(TEST)
	$(PYTEST) -m "not slow"

# A virtual environment of its own; uv comes from pip.
test-lowest: | $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct -e '.[test]'
	$(LOWEST)/bin/python -m pytest -q -n $(WORKERS) --dist worksteal -m "not slow"

# An environment for each Python stays in $(PYTHONS).
test-pythons: | $(VENV)
	$(BIN)/python -m scripts.run_on_pythons --workers $(WORKERS) $(PYTHONS_OPTIONS)

check: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(TEST)
	$(BIN)/python -m scripts.write_reference
	$(BIN)/python -m scripts.trace_walks
	$(BIN)/python -m scripts.refresh_examples
	$(BIN)/python -m scripts.execute_notebooks

docs-site: $(TEST)
	$(BIN)/python -m sphinx -q -b html -W --keep-going -n -j auto -d build/site-cache docs build/site
	@echo "open build/site/index.html"

SHOT := $(BIN)/python -m scripts.screenshot
COMPARED := qrels.trec lexical.trec vector.trec --queries queries.jsonl

picture: $(TEST)
	rm -rf build/images
	$(BIN)/rankgauge demo -o build/images/demo > /dev/null
	$(BIN)/rankgauge demo --copy build/images/workshop
	cp build/images/workshop/runs/*.trec build/images/workshop
	cd build/images/workshop && $(CURDIR)/$(BIN)/rankgauge compare $(COMPARED) --corpus . --html ../compare.html > /dev/null
	$(SHOT) build/images/demo/report.html docs/images/report-light.png --width 1120 --height 720
	$(SHOT) build/images/demo/report.html docs/images/report-dark.png --width 1120 --height 720 --dark
	$(SHOT) build/images/compare.html docs/images/explorer-light.png --width 1120 --height 720 --open q11
	$(SHOT) build/images/compare.html docs/images/explorer-dark.png --width 1120 --height 720 --open q11 --dark
	cd build/images/workshop && PATH="$(CURDIR)/$(BIN):$$PATH" PYTHONPATH="$(CURDIR)" \
	  python -m scripts.terminal_picture "$(CURDIR)/docs/images/terminal" -- rankgauge compare $(COMPARED)

bench: $(BASE)
	$(PYTHON) -m venv benchmarks/.venv
	benchmarks/.venv/bin/pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt
	$(BIN)/python -m benchmarks $(BENCH)

release-check:
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/pip install --quiet --disable-pip-version-check --upgrade pip build twine
	$(RELEASE)/bin/python -m scripts.release_check

# What `make test` needs and the test extra cannot install. Without it a test is skipped with a message;
# REQUIRE="axe browser compiler firefox ir_measures java libraries postgres shells spark" makes that a failure.
test-deps: test-libraries test-spark
	@test -z "$(DEBIAN)" || apt-get update -qq
	@test -z "$(DEBIAN)" || apt-get install -y -qq --no-install-recommends $(DEBIAN)

# LangChain, LlamaIndex, Haystack, Chroma and Qdrant: 740 MB, about two minutes.
test-libraries: $(LIBRARIES)/.installed

$(LIBRARIES)/.installed: tests/libraries/requirements.txt pyproject.toml
	$(PYTHON) -m venv $(LIBRARIES)
	$(LIBRARIES)/bin/pip install --quiet --disable-pip-version-check -e '.[retrieval]' -r tests/libraries/requirements.txt
	@touch $@

# Apache Spark: 900 MB, about a minute. Another version: make -B test-spark PYSPARK=pyspark==3.5.9
test-spark: $(SPARK)/.installed

$(SPARK)/.installed: tests/distributed/requirements.txt pyproject.toml
	$(PYTHON) -m venv $(SPARK)
	$(SPARK)/bin/pip install --quiet --disable-pip-version-check -e '.[spark]' $(PYSPARK) -r tests/distributed/requirements.txt
	@touch $@

$(VENV):
	@echo "[1/3] $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(BASE): pyproject.toml $(SCANNER) | $(VENV)
	@echo "[2/3] pip install (the only step that downloads anything)"
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[retrieval]'
	@touch $(BASE)
	@echo "[3/3] rankgauge"

# With LOCKED=1, as in CI, only files whose hashes are in $(LOCK); otherwise the newest versions.
$(TEST): pyproject.toml $(SCANNER) $(if $(LOCKED),$(LOCK)) | $(VENV)
ifdef LOCKED
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
else
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[test]'
endif
	@touch $(BASE) $(TEST)

# With what builds the package: hatchling needs editables for `pip install -e`.
lock: | $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check uv
	$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'], 'editables', sep='\n')" | \
	  $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	  --extra test pyproject.toml - -o $(LOCK)

clean:
	rm -rf $(VENV) $(LOWEST) $(PYTHONS) $(LIBRARIES) $(SPARK) $(RELEASE) benchmarks/.venv .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis
