# Every target creates the environment it needs; nothing has to be activated.

PYTHON ?= python3
VAULT ?= fixtures/handbook
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
MAKEFLAGS += --no-print-directory

.PHONY: serve test check bench clean

serve: $(VENV)/.serve
	@exec $(BIN)/vaultgraph --vault "$(VAULT)" $(ARGS)

test: $(VENV)/.dev
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal $(ARGS)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/bench.py $(ARGS)

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis benchmarks/out

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("vaultgraph needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12 …") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV) >&2

# stdout belongs to the protocol when serving, so installing speaks on stderr.
$(VENV)/.serve: pyproject.toml | $(VENV)/bin/python
	@echo "vaultgraph: preparing the environment (once) …" >&2
	@$(BIN)/python -m pip install --quiet --editable . >&2
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@ $(VENV)/.serve

$(VENV)/.bench: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[dev,bench]"
	@touch $@ $(VENV)/.serve $(VENV)/.dev
