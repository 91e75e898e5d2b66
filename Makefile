PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: help demo test slow check bench results format clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "bayesift needs Python 3.11 or newer; name one with: make PYTHON=python3.12"; exit 1; }
	@echo "Setting up $(VENV) (once; about a minute) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(INSTALLED)  ## see what bayesift does, on a corpus that needs no download
	@$(BIN)/bayesift demo

test: $(INSTALLED)  ## run the tests (BAYESIFT_DATA names the folder with the corpora)
	@$(BIN)/python -m pytest

slow: $(INSTALLED)  ## run the tests that take minutes
	@$(BIN)/python -m pytest -m slow

check: $(INSTALLED)  ## lint, format, types, layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

bench: $(INSTALLED)  ## run every benchmark and render docs/benchmarks.md
	@$(BIN)/python -m benchmarks

results: $(INSTALLED)  ## run every table and figure of the papers and the leaderboard; renders docs/results.md
	@$(BIN)/bayesift reproduce all --report out/results.html --markdown docs/results.md

format: $(INSTALLED)  ## put the code into house style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean:  ## remove the environment and the caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis out
