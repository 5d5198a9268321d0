# Everything from a fresh clone: `make demo` and `make test` set up what they need.

PYTHON ?= python3
JOBS ?= 2
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

# One thread per test process, so that they do not fight over the cores.
ONE_THREAD := OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1

# Whatever else is installed on the machine stays out.
unexport PYTHONPATH PYTHONHOME
export PYTHONNOUSERSITE := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test check format soak bench studies studies-full

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14

setup: $(READY) ## Create .venv and install the project into it

# torch comes first and pinned: resolved by itself, it cannot bring another build along.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 10) else \
	    f"expected Python 3.10 or newer, got {sys.version.split()[0]}. Try make PYTHON=python3.12")'
	@echo "Setting up $(VENV) (a few minutes the first time) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install -c constraints.txt "$$(grep '^torch==' constraints.txt)"
	@$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY) ## Certify a trained model on real digits; pictures go to demo-output/
	@$(BIN)/centersmooth demo $(ARGS)

test: $(READY) ## Run all tests (JOBS=2 processes; ARGS are passed to pytest)
	@$(ONE_THREAD) $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal $(ARGS)

check: $(READY) ## Formatting, lint, types, and that the documentation tells the truth
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(ONE_THREAD) $(BIN)/python scripts/check_docs.py

format: $(READY) ## Format the code and fix what can be fixed
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

soak: $(READY) ## Kill, damage, fuzz and fill runs for half an hour
	@$(ONE_THREAD) $(BIN)/python -m pytest -q -s tests/soak.py $(ARGS)

bench: $(READY) ## Compare with the published procedure and with raw forward passes
	@$(BIN)/python benchmarks/run.py $(ARGS)

studies: $(READY) ## A small version of the paper's experiments (some minutes, JOBS=2 processes)
	@$(BIN)/python -m studies run small --jobs $(JOBS) $(ARGS)

studies-full: $(READY) ## All of them; takes many hours, stop and go on as you like
	@$(BIN)/python -m studies run full --jobs $(JOBS) $(ARGS)
