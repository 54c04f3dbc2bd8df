# Two commands do everything on a fresh machine with python3 and make: `make demo`, `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
OLDEST ?= .venv-oldest
PIP    := PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip --disable-pip-version-check -q
PATHS  := src tests docs

.PHONY: demo test test-all test-gpu test-oldest trust lint types bench numbers docs clean

demo: $(STAMP)
	@$(BIN)/symnmf demo --out demo

# A process for each core, with a thread each.
test: lint types
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

test-all: lint types $(VENV)/.notebooks
	@$(BIN)/python -m pytest

# What only a GPU of CUDA can show; see docs/devices.md.
test-gpu: $(STAMP)
	@$(BIN)/python -m pytest tests/devices

trust: $(STAMP)
	@$(BIN)/python tests/trust

# The tests with the lowest versions that pyproject.toml allows, in a venv of their own.
test-oldest: $(OLDEST)/.installed
	@OMP_NUM_THREADS=1 $(OLDEST)/bin/python -m pytest -n auto --dist worksteal -m "not slow"

$(OLDEST)/.installed: pyproject.toml constraints.txt
	@test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	@$(PYTHON) tests/trust/oldest.py > $(OLDEST)/pins.txt
	@$(OLDEST)/bin/python -m pip --disable-pip-version-check -q install -r $(OLDEST)/pins.txt -e '.[dev]'
	@touch $@

lint: $(STAMP)
	@$(BIN)/ruff check $(PATHS)
	@$(BIN)/ruff format --check $(PATHS)

types: $(STAMP)
	@$(BIN)/mypy

# What a fit costs. It fails when a figure got worse than the published one.
bench: bench-speed

# A study or a measurement by its name: bench-speed, bench-large, bench-steps, bench-scaling,
# bench-stocks and bench-predict (both with DATA=folder), bench-phase1 and so on.
# PUBLISH=1 stores what a measurement finds in results/.
bench-%: $(STAMP)
	@$(BIN)/symnmf bench $* $(if $(DATA),--data $(DATA)) $(if $(PUBLISH),--publish)

# Everything in the pages that is generated: results, solvers, licences, the package graph.
numbers: $(STAMP)
	@$(BIN)/python docs/generated.py --write

docs: $(VENV)/.docs
	@$(BIN)/python docs/generated.py --check
	@OMP_NUM_THREADS=1 $(BIN)/python docs/examples.py --check
	@$(BIN)/sphinx-build -q -W --keep-going docs docs/_build

$(STAMP): pyproject.toml constraints.txt
	@echo "Installing symnmf and its tools into $(VENV) (once, about a minute)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install -e '.[dev]'
	@touch $@

$(VENV)/.docs: $(STAMP)
	@$(PIP) install -e '.[docs]'
	@touch $@

$(VENV)/.notebooks: $(STAMP)
	@$(PIP) install -e '.[notebooks]'
	@touch $@

clean:
	rm -rf $(VENV) $(OLDEST) demo docs/_build
