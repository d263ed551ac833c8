# Everything a person types. The commands themselves live in `python -m plimsoll_airflow.local` and in .venv/bin.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup setup-dev venv new-venv demo up down status test test-quick test-all test-clean-debian test-airflows test-containers check style pictures lock clean FORCE
MAKEFLAGS += --no-print-directory
# Another project's environment must not leak into this one; and who starts hundreds of Pythons keeps what they compile.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
# JDK, Cassandra and the load generator, into a cache outside the checkout; quick when they are there.
# Of all definitions for this machine, unless a target names one.
ARTEFACTS := $(BIN)/plimsoll prepare
LOCAL := $(BIN)/python -m plimsoll_airflow.local
# Stamps hold the checkout's path: a checkout that was moved is installed again.
RUN_STAMP := .venv/.installed
DEV_STAMP := .venv/.installed-dev
export CAMPAIGN CLUSTERS

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' Makefile

demo: ARTEFACTS += $(or $(CAMPAIGN),demo)
demo: setup  ## Run a small campaign on real Cassandra through a real Airflow (CAMPAIGN=local-azul for another)
	@$(LOCAL) demo

up: ARTEFACTS += $(CAMPAIGN)
up: setup  ## Start Airflow and leave it running (CLUSTERS=2: so many clusters at once; CAMPAIGN=demo: software of that alone)
	@$(LOCAL) up

down:  ## Stop Airflow, its database and every cluster
	@if [ -x $(BIN)/python ]; then exec $(LOCAL) down; fi

# Down is an answer, and no error of make's; the command itself exits with 1, for scripts.
status:  ## Say whether Airflow is up
	@if [ -x $(BIN)/python ]; then $(LOCAL) status || [ $$? -eq 1 ]; else echo "not set up: make setup"; fi

# The types take one processor most of a minute. They are checked at idle priority, which means in the time that tests leave.
# Mistakes are told at once and at the end. Tests of times that were measured want the processors to themselves.
# A shell has what runs in its background ignore Ctrl-C, which would go on after it.
test: setup-dev  ## Style, layers, types, all unit tests, and one real path of each kind
	@$(MAKE) style
	@mkdir -p .mypy_cache
	@{ env --default-signal=INT,QUIT chrt --idle 0 $(TYPES) >.mypy_cache/found 2>&1 || { cat .mypy_cache/found; false; }; } & types=$$!; \
	$(PYTEST) --numprocesses $$(($$(nproc) + 2)) $(TIMED:%=--ignore=%); tests=$$?; \
	$(BIN)/python -m pytest $(TIMED) || tests=$$?; \
	wait $$types || { cat .mypy_cache/found; exit 1; }; exit $$tests

TIMED := tests/integration/stress/timed tests/system/timed
# Tests of a file or of a package stay together, in the order of tests/conftest.py.
PYTEST := $(BIN)/python -m pytest --maxprocesses 6 --dist loadscope --no-loadscope-reorder --durations 25 --durations-min 5

test-quick: setup-dev  ## Check style, types and layers, then run the unit tests: before each commit
	@$(MAKE) check
	@$(PYTEST) --numprocesses $$(nproc) tests/unit

# Each command runs, also after one that failed. How they ended is written into docs/contributing/tests.md.
# Not $(MAKE), with which `make --dry-run` would run them.
test-all: setup-dev  ## Every test (latte's where it is built), at full size: 275 cells, containers, … (hours; as root)
	@$(BIN)/python -m tests.support.suite.whole_run \
		"PLIMSOLL_TEST_ALL=1 PLIMSOLL_TEST_LONG=1 make test" \
		"$(BIN)/python -m benchmarks.aws_campaign" \
		"$(BIN)/python -m benchmarks.instant_campaign" \
		"$(BIN)/python -m benchmarks.false_alarms" \
		"make test-airflows" \
		"make test-containers" \
		"make test-clean-debian"

test-clean-debian:  ## Set up, run unit tests and the demo in a new Debian 13 (as root; SUITE=sid for another release)
	@.ci/clean-debian

test-airflows: setup-dev  ## Install the wheel beside Airflow 3.1, 3.2 and 3.3, and run a campaign and tests there
	@.ci/test-airflows

test-containers: setup-dev  ## Run a small campaign through Compose's containers, on hosts over SSH (needs a Docker engine)
	@PLIMSOLL_TEST_CONTAINERS=1 $(BIN)/python -m pytest -s tests/containers --timeout 3600

check: style  ## Check style, types and layers only
	@$(TYPES)

style: setup-dev
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/lint-imports

# What was checked once on this machine is not checked again in another checkout: from nothing it takes 70 CPU seconds.
# Without SQLite, whose files no two checks may write at once.
TYPES := $(BIN)/mypy --strict --no-sqlite-cache --cache-dir $(or $(PLIMSOLL_CACHE),$(HOME)/.cache/plimsoll)/tests/types \
	include plugins dags tests benchmarks

# The lock on a file of the checkout lets two makes at once install one after the other.
setup:  ## Make .venv and install what running needs, hash-locked
	@flock pyproject.toml $(MAKE) --silent venv
	@flock pyproject.toml $(MAKE) --silent $(RUN_STAMP)
	@$(ARTEFACTS)

setup-dev:  ## Install what testing needs too
	@flock pyproject.toml $(MAKE) --silent venv
	@flock pyproject.toml $(MAKE) --silent $(DEV_STAMP)
	@$(ARTEFACTS)

pictures: setup-dev  ## Make the documentation's pictures again; they show what the templates make today
	@$(BIN)/python -m tests.pictures

lock: setup-dev  ## Compile all requirements*.txt from pyproject.toml
	$(BIN)/uv pip compile $(COMPILE) --extra local -o requirements.txt pyproject.toml
	$(BIN)/uv pip compile $(COMPILE) --extra local --extra team -c requirements.txt -o requirements-team.txt pyproject.toml
	$(BIN)/uv pip compile $(COMPILE) --extra dev -c requirements-team.txt -o requirements-dev.txt pyproject.toml
	$(BIN)/uv pip compile $(COMPILE) --group installer -c requirements-dev.txt -o requirements-installer.txt

COMPILE := --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock"

clean: down  ## Stop everything; remove Airflow's home, clusters and tool caches (results, .venv and the Airflow's id stay)
	@[ ! -d .airflow ] || find .airflow -mindepth 1 -maxdepth 1 ! -name installation -exec rm -rf {} +
	@rm -rf .plimsoll/clusters .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

PYTHONS := python3.14 python3.13 python3.12 python3.11 python3
IS_SUITABLE := -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))'
IS_WANTED := [ -z "$(PYTHON)" ] || [ "$$($(BIN)/python -V)" = "$$("$(PYTHON)" -V)" ]

# Made anew where it was left half made, and where its Python is not suitable or not the one that PYTHON=… asks for.
venv:
	@$(PIP) --version >/dev/null 2>&1 && $(BIN)/python $(IS_SUITABLE) && { $(IS_WANTED); } || $(MAKE) new-venv

# The newest that works. Some on PATH do not: shims of pyenv, and Debian's Python without the package python3-venv.
new-venv:
	@for python in $(or $(PYTHON),$(PYTHONS)); do \
		if "$$python" $(IS_SUITABLE) 2>/dev/null && "$$python" -c 'import ensurepip' 2>/dev/null; then \
			exec "$$python" -m venv --clear .venv; \
		fi; \
	done; echo "$$NO_PYTHON" >&2; exit 1

define NO_PYTHON
Plimsoll needs Python 3.11, 3.12, 3.13 or 3.14 with its module venv, and found none that works. It tried: $(or $(PYTHON),$(PYTHONS))
  To mend it: install one (on Debian and Ubuntu: apt install python3-venv), or name one: make setup PYTHON=/path/to/python3
endef
export NO_PYTHON

# uv takes a sixth of pip's time. It does not read pip's settings: an index of one's own, or none, is left to pip.
define INSTALL
! $(PIP) config list | grep index >/dev/null \
	&& $(PIP) install --quiet --require-hashes -r requirements-installer.txt \
	&& $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r $(1) \
	|| $(PIP) install --quiet --require-hashes -r $(1)
endef

define NO_PACKAGES
The packages could not be installed; what pip says stands above.
  To mend it: check the network and `pip config list`. Behind a company's proxy pip needs its address and its authority:
  export HTTPS_PROXY=… PIP_CERT=/path/to/ca.pem REQUESTS_CA_BUNDLE=/path/to/ca.pem
endef
export NO_PACKAGES

# Each stamp is written last: what was interrupted is done again. The package is installed as a link to the checkout, so
# that what is edited acts at once; its files lie at the same places as in the wheel (include/plimsoll/places.py).
$(RUN_STAMP): requirements.txt requirements-installer.txt pyproject.toml
	@echo "installing the locked requirements into .venv: 270 MB of packages to fetch, unless they are cached (a minute)"
	@{ $(call INSTALL,requirements.txt); } || { echo "$$NO_PACKAGES" >&2; exit 1; }
	@$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@pwd > $@

$(DEV_STAMP): requirements-dev.txt requirements.txt requirements-installer.txt pyproject.toml
	@echo "installing the locked requirements for tests into .venv (a minute on the first run)"
	@{ $(call INSTALL,requirements-dev.txt); } || { echo "$$NO_PACKAGES" >&2; exit 1; }
	@$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@pwd > $(RUN_STAMP)
	@pwd > $@

ifneq ($(wildcard $(RUN_STAMP)),)
ifneq ($(shell cat $(RUN_STAMP)),$(CURDIR))
$(RUN_STAMP) $(DEV_STAMP): FORCE
endif
endif

FORCE:
