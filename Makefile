# make demo    install, and see it work           make test    lint, types, documentation, tests, coverage
# make check   lint and types only                make bench   beside the other tools
# make docs    write the generated pages anew     make test-deps   Debian packages that some tests want (needs root)
# make picture take the README's picture anew (needs test-deps)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.base
TEST := $(VENV)/.test
DEBIAN := chromium fonts-dejavu-core

.PHONY: demo test check docs picture bench test-deps clean

demo: $(BASE)
	@$(BIN)/rankgauge demo

test: check
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q
	$(BIN)/coverage report

check: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(TEST)
	$(BIN)/python scripts/write_reference.py

picture: $(TEST)
	$(BIN)/rankgauge demo -o build/rankgauge-demo > /dev/null
	$(BIN)/python scripts/screenshot.py build/rankgauge-demo/report.html docs/report.png --height 860

bench: $(BASE)
	$(PYTHON) -m venv benchmarks/.venv
	benchmarks/.venv/bin/pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt
	$(BIN)/python -m benchmarks $(BENCH)

# What `make test` uses and pip cannot install. A test that lacks it is skipped with a line that says so;
# REQUIRE="browser java" makes that a failure.
test-deps:
	@test -z "$(DEBIAN)" || apt-get update -qq
	@test -z "$(DEBIAN)" || apt-get install -y -qq --no-install-recommends $(DEBIAN)


$(VENV):
	@echo "[1/3] $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(BASE): pyproject.toml | $(VENV)
	@echo "[2/3] pip install (nothing is fetched after this line)"
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[retrieval]'
	@touch $(BASE)
	@echo "[3/3] rankgauge"

$(TEST): pyproject.toml | $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $(BASE) $(TEST)

clean:
	rm -rf $(VENV) benchmarks/.venv .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis
