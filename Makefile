# Every target does its own set-up and is quick the second time. Needs: make and any Python from 3.11 on.

.DEFAULT_GOAL := help
SHELL := /bin/sh
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEMO_SERVE ?= 1
DEMO_PORT ?= 8000
PEER := var/peer
PEER_VERSION := 0.32.2
PYTEST := $(BIN)/python -m pytest -q
# The tests that touch a database: they run once more on PostgreSQL. The others would only repeat themselves there.
DATABASE_TESTS := tests/django_apcore tests/project
# Among them, those that take long and ask the database nothing of its own.
ANY_DATABASE := tests/django_apcore/api/test_openapi.py tests/django_apcore/management/test_new.py tests/project/test_telemetry.py

.PHONY: help env demo test test-all json-schema-suite test-sqlite test-postgresql lint format docs screenshots bench bench-peers matrix constraints clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '%-20s %s\n' "$$name" "$$text"; done

env: $(INSTALLED) ## the virtual environment with everything in it

$(INSTALLED): pyproject.toml constraints.txt
	@python=$$(sh tools/find-python.sh) || exit 1; \
	if [ ! -x $(BIN)/python ] || ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	    echo "Making $(VENV) with $$($$python --version)"; \
	    $$python -m venv --clear $(VENV); \
	fi
	@echo "Installing what the project needs (a minute or two the first time)"
	@PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[postgres,dev]'
	@touch $@

demo: env ## the whole story in this terminal, then a running site (DEMO_SERVE=0 ends after the story)
	@DEMO_SERVE=$(DEMO_SERVE) DEMO_PORT=$(DEMO_PORT) $(BIN)/python -m project.demo

test: test-sqlite ## every test that this machine can run
	@if $(BIN)/python -m tests.services postgresql; then $(MAKE) --no-print-directory test-postgresql; \
	else echo "PostgreSQL is not there: its suite is left out"; fi

test-all: export APCORE_REQUIRE_SERVICES = 1
test-all: json-schema-suite ## every test; a missing service is a failure
	@mkdir -p var; log=var/test-postgresql.log; status=0; \
	$(MAKE) --no-print-directory test-postgresql >$$log 2>&1 & postgresql=$$!; \
	$(MAKE) --no-print-directory test-sqlite || status=1; \
	wait $$postgresql || status=1; cat $$log; exit $$status

json-schema-suite: env
	@$(BIN)/python tools/json_schema_suite.py

test-sqlite: env
	$(PYTEST)

test-postgresql: env
	APCORE_TEST_DATABASE=postgresql $(PYTEST) -m 'not demo and not browser' $(ANY_DATABASE:%=--ignore=%) $(wildcard $(DATABASE_TESTS))

lint: env ## style, types, import contracts, migrations, decision records, documentation
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py check --fail-level WARNING
	$(BIN)/python tools/decision_records.py
	$(MAKE) --no-print-directory docs

format: env ## let the tools mend what they can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python tools/decision_records.py --write-index

docs: env ## the manual, built into var/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet --site-dir var/site

screenshots: env ## the pictures of the manual, taken in Chromium over the demo's data
	$(BIN)/python -m docs.screenshots

bench: env ## what we measure, with its targets
	$(BIN)/python -m benchmarks

bench-peers: env ## the same calls by another core of the same name, in an environment of its own
	@test -x $(PEER)/bin/python || $(BIN)/python -m venv $(PEER)
	@$(PEER)/bin/python -m pip install --quiet --disable-pip-version-check apcore==$(PEER_VERSION)
	@$(PEER)/bin/python -I benchmarks/peers.py --json | $(BIN)/python -m benchmarks.peers

matrix: ## the SQLite suite on each supported pair of Python and Django
	@sh tools/matrix.sh

constraints: ## pin what a fresh environment resolves to today
	@sh tools/constraints.sh

clean: ## remove what was built; the environment and var/ stay
	rm -rf build dist site *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find apcore django_apcore project tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
