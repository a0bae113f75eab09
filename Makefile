# Everything a fresh machine needs comes from `make setup`; every other target runs it first when the lock file is newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ARGS ?=
STACK ?=
PYTEST_ARGS ?=
WORKERS ?= 2

.PHONY: help setup run test check format unit render lock wheel clean

help:
	@echo "make run      start the stack on this machine   (ARGS='--check' verifies it, ARGS='--help' lists the rest)"
	@echo "make test     lint, types, import contracts, unit, property and scenario tests"
	@echo "make check    the static half of make test"
	@echo "make render   print the objects of a stack      (STACK=gke)"
	@echo "make format   rewrite the sources as the formatter wants them"
	@echo "make setup    create .venv from requirements.lock (every other target does so first)"
	@echo "make lock     refresh requirements.lock from pyproject.toml"
	@echo "make wheel    build the router's wheel into dist/"
	@echo "make clean    remove .venv and everything built"

setup: $(STAMP)

$(STAMP): requirements.lock tools/setup.sh
	@PYTHON="$(PYTHON)" sh tools/setup.sh "$(VENV)"

run: $(STAMP)
	@./mmserve run $(ARGS)

test: check unit

check: $(STAMP)
	@echo "== format and lint"; $(BIN)/ruff format --check . && $(BIN)/ruff check .
	@echo "== import contracts"; $(BIN)/lint-imports --no-logo
	@echo "== types"; $(BIN)/basedpyright --level error

unit: $(STAMP)
	@echo "== tests"; $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(PYTEST_ARGS)

format: $(STAMP)
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

render: $(STAMP)
	@./mmserve render $(if $(STACK),--stack $(STACK)) $(ARGS)

lock: $(STAMP)
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --universal --generate-hashes --no-annotate --no-header --no-emit-index-url --python-version 3.11 \
	  --group program --group command-line --group local --group check pyproject.toml -o requirements.lock

wheel: $(STAMP)
	@$(BIN)/python -m hatchling build --target wheel

clean:
	@rm -rf $(VENV) dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis .mmserve
