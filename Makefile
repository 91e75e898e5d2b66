PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# What `make lowest` runs: estimators, text, files and commands, and few kernels, which are compiled anew there.
LOWEST := tests/text/test_vectorizer.py tests/classifier tests/models/naive_bayes/test_classifier.py \
	tests/models/baselines/test_hyperplanes.py tests/test_state.py tests/cli/test_commands.py

.PHONY: help demo test slow coverage check page docs wheel lowest hooks bench results format clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "bayesift needs Python 3.11 or newer; name one with: make PYTHON=python3.12"; exit 1; }
	@echo "Setting up $(VENV) (once; about a minute) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(BIN)/python -m compileall -q src
	@touch $@

demo: $(INSTALLED)  ## see what bayesift does, on a corpus that needs no download
	@$(BIN)/bayesift demo

test: $(INSTALLED)  ## run the tests (BAYESIFT_DATA names the folder with the corpora)
	@OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

slow: $(INSTALLED)  ## run the tests that take minutes
	@$(BIN)/python -m pytest -m slow

# Kernels are compiled, so that no line of theirs is counted.
coverage: $(INSTALLED)  ## run the tests and measure which lines they reach; writes out/coverage.md
	@mkdir -p out
	@OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --cov=bayesift --cov-report=
	@$(BIN)/python -m coverage report --format=markdown --omit='*/kernels/*' > out/coverage.md
	@tail -1 out/coverage.md

check: $(INSTALLED)  ## lint, format, types, layers, page
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@if command -v node >/dev/null && command -v npm >/dev/null; then $(MAKE) --no-print-directory page; \
	else echo "node or npm is missing: the page is not checked"; fi

node_modules/.installed: package.json
	@npm install --silent --no-progress
	@touch $@

page: $(INSTALLED) node_modules/.installed  ## lint, format and types of the service's page (needs node and npm)
	@$(BIN)/python tools/page_types.py
	@npm run --silent check

docs: $(INSTALLED)  ## build the documentation into out/site; any warning is an error
	@$(BIN)/python docs/reference/commands.py
	@$(BIN)/python docs/reference/roles.py
	@$(BIN)/python docs/reference/http_api.py
	@$(BIN)/python docs/reference/settings.py
	@$(BIN)/zensical build --strict

out/wheel: $(INSTALLED) $(shell find src -type f -not -path '*/__pycache__/*')
	@rm -rf out/wheel
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir out/wheel .

wheel: out/wheel  ## build the wheel, install it into a clean environment, run the demo and a smoke test there
	@rm -rf out/wheel/env
	@$(PYTHON) -m venv out/wheel/env
	@out/wheel/env/bin/python -m pip install --quiet --disable-pip-version-check out/wheel/bayesift-*.whl
	@cd out/wheel && env/bin/bayesift demo --out demo && env/bin/python ../../tests/smoke.py

lowest: out/wheel  ## the smoke test and a part of the tests with the lowest versions that are allowed
	@rm -rf out/lowest
	@$(PYTHON) -m venv out/lowest
	@out/lowest/bin/python -m pip install --quiet --disable-pip-version-check --only-binary=:all: \
		--constraint constraints-lowest.txt out/wheel/bayesift-*.whl hypothesis mpmath pandas pytest
	@cd out/lowest && bin/python ../../tests/smoke.py
	@OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 out/lowest/bin/python -m pytest -q $(LOWEST)

hooks: $(INSTALLED)  ## check every commit before it is made (pre-commit)
	@$(BIN)/pre-commit install

bench: $(INSTALLED)  ## run every benchmark and render docs/benchmarks.md
	@$(BIN)/python -m benchmarks

results: $(INSTALLED)  ## run every table and figure of the papers and the leaderboard; renders docs/results.md
	@$(BIN)/python -m papers all --report out/results.html --markdown docs/results.md

format: $(INSTALLED)  ## put the code into house style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@if [ -d node_modules ]; then npm run --silent format; fi

clean:  ## remove the environment and the caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis node_modules out
