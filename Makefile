# `make run` and `make test` each work alone on a fresh clone that has Python 3.11 to 3.13, pip, make and git.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

UV_VERSION := 0.13.8
PYTHON ?= $(shell command -v python3.11 || command -v python3)
# The uv on PATH when it is at least the pinned version, otherwise our own in .tools/.
UV := $(shell \
	found=$$(uv --version 2>/dev/null | cut -d' ' -f2 || true); \
	if [ -n "$$found" ] && [ "$$(printf '%s\n' $(UV_VERSION) "$$found" | sort -V | head -n1)" = $(UV_VERSION) ]; \
	then command -v uv; else echo .tools/bin/uv; fi)
UV_OURS := $(if $(filter .tools/%,$(UV)),.tools/uv-$(UV_VERSION))
UV_RUN := $(UV) run --locked --no-sync
PACKAGES := flows extract transform reports warehouse

# Interpreters come from the machine and packages from the registry; nothing is fetched from anywhere else.
export UV_PYTHON_DOWNLOADS := never
export UV_HTTP_TIMEOUT ?= 120
unexport VIRTUAL_ENV
# Compiled modules are kept: tests start many processes, each of which would compile them all again.
unexport PYTHONDONTWRITEBYTECODE
# The project's own Prefect: its server lives as long as the command and reports to nobody. It makes its home, but not
# the folders above, and without one it fails only after the whole timeout.
unexport PREFECT_API_URL PREFECT_API_KEY PREFECT_PROFILE
export PREFECT_SERVER_EPHEMERAL_ENABLED := true
export PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS := 120
export PREFECT_SERVER_ANALYTICS_ENABLED := false
export DO_NOT_TRACK := 1

.PHONY: help run test tests lint lint-types lint-others references format prove bench docs audit setup clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

run: export PREFECT_HOME := $(abspath $(or $(CHIPLEDGER_DATA_DIR),data))/prefect
# One line a step: Prefect's own lines of each task, and names of runs, are for its server.
run: export PREFECT_LOGGING_LOGGERS_PREFECT_TASK_RUNS_LEVEL := WARNING
run: export PREFECT_LOGGING_FORMATTERS_STANDARD_FORMAT := %(asctime)s  %(message)s
run: export PREFECT_LOGGING_FORMATTERS_STANDARD_FLOW_RUN_FMT := %(asctime)s  %(message)s
run: $(UV_OURS)  ## run the daily flow once over the offline archive; it prints where the file and the report are
	@umask 077; mkdir -p "$$PREFECT_HOME"
	@echo "installing what a user needs, from uv.lock"
	@$(UV) sync --locked --no-dev --inexact --quiet
	@$(UV_RUN) python flows/daily.py --offline

test: lint tests  ## lint and run every test but the long proofs

tests: export PREFECT_HOME := $(CURDIR)/.tools/prefect-tests
tests: setup  ## run every test but the long proofs (TESTS="tests/extract": those of a folder)
	@mkdir -p "$$PREFECT_HOME"
	$(UV_RUN) pytest -n 2 --dist worksteal $(TESTS)
	$(UV_RUN) pytest -q --warehouse=lake tests/warehouse/test_facts.py \
		tests/warehouse/test_row_gate.py::test_an_offer_whose_amount_is_refused_is_unknown_not_gone

# Types keep one core busy for about as long as SQL keeps two, so they are checked side by side.
lint: setup  ## check format, rules, types and SQL; change nothing
	@$(MAKE) --no-print-directory --jobs 2 lint-types lint-others

lint-types:
	$(UV_RUN) mypy
	$(UV_RUN) mypy client/chipledger

lint-others:
	$(UV_RUN) ruff format --check .
	$(UV_RUN) ruff check .
	$(UV_RUN) zizmor --offline --no-progress --quiet .github/workflows $(wildcard docs/examples/*.yml)
	$(UV_RUN) hadolint Dockerfile
	$(UV_RUN) sqruff lint --parsing-errors --quiet $(PACKAGES)
	$(UV_RUN) python tools/references.py

references: setup  ## check the reference tables in warehouse/data
	$(UV_RUN) python tools/references.py

format: setup  ## put Python and SQL into the house format
	$(UV_RUN) ruff check --fix-only .
	$(UV_RUN) ruff format .
	$(UV_RUN) sqruff fix $(PACKAGES)

prove: export PREFECT_HOME := $(CURDIR)/.tools/prefect-tests
prove: setup  ## run the long proofs (minutes)
	@mkdir -p "$$PREFECT_HOME"
	$(UV_RUN) pytest -m prove --timeout 3600
	$(UV_RUN) pytest --warehouse=lake tests/warehouse tests/transform tests/reports -n 2 --dist worksteal

bench: setup  ## measure every budget against its peers (GROWTH=1: and after ten years)
	$(UV) sync --locked --inexact --group bench
	$(UV_RUN) python -m bench $(if $(GROWTH),--growth)

docs: export NO_MKDOCS_2_WARNING := 1
docs: setup  ## build the docs as a site into dist/docs; a link that leads nowhere is an error
	$(UV) sync --locked --inexact --group docs
	$(UV_RUN) mkdocs build --strict

audit: setup  ## ask which locked versions are known to be vulnerable; needs the network
	$(UV) export --locked --quiet --all-extras --all-groups --no-emit-project --output-file .tools/locked.txt
	$(UV) tool run pip-audit@2.10.1 --requirement .tools/locked.txt --require-hashes --disable-pip \
		--vulnerability-service osv --strict

setup: $(UV_OURS)
	@echo "installing what developers need, from uv.lock"
	@$(UV) sync --locked --quiet

# Some distributions ship Python without ensurepip: then pip puts uv beside, without a virtual environment.
.tools/uv-$(UV_VERSION):
	@echo "getting uv $(UV_VERSION)"
	@if $(PYTHON) -m venv .tools; \
	then .tools/bin/python -m pip install --quiet uv==$(UV_VERSION); \
	else $(PYTHON) -m pip install --quiet --upgrade --target .tools/lib-uv uv==$(UV_VERSION) \
		&& mkdir -p .tools/bin && ln -sf ../lib-uv/bin/uv .tools/bin/uv; fi
	@touch $@

clean:  ## remove caches and built files; data and environments stay
	rm -rf dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .tools/prefect-tests
	find $(PACKAGES) tests bench -name __pycache__ -prune -exec rm -rf {} +
