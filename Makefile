# Two commands do everything: `make run` (the site with its demo) and `make test` (lint and tests; `CI=true make test`: all
# of them).
PYTHON ?= python3
BIN := .venv/bin
PORT ?= 8000
# Every file is known by its hash (tests/lock.py). Compiled is what is loaded, when it is loaded first: a sixth of it.
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-compile
LOCKED := $(INSTALL) --require-hashes

# A suite starts hundreds of processes: where Python is told to keep nothing compiled, each compiles the site anew, and
# each run of pytest rewrites every test.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run setup test lint browser bench reference clean lock sbom image-digests release-check

run: setup
	@exec $(BIN)/python manage.py run --port $(PORT)

# METEOR's word list: where it cannot be had, the site works without METEOR and says so.
setup: .venv/.site .venv/.itself
	@$(BIN)/python -m workers.metrics.wordnet || true

# Stages, lint among them, which of them run side by side, and with how many processes: tests/suite.py.
test: setup .venv/.dev browser
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

# PyTorch for the processor alone, a tenth of the size, is taken where pip knows a place that has it (PIP_FIND_LINKS,
# PIP_EXTRA_INDEX_URL); else the package index's.
.venv/.site: requirements.lock requirements-source.lock requirements-cpu.lock requirements-cuda.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] < (3, 11))' || { echo "dialeval needs Python 3.11 or newer" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(LOCKED) --only-binary :all: -r requirements.lock
	$(LOCKED) --no-build-isolation -r requirements-source.lock
	@$(LOCKED) --only-binary :all: -r requirements-cpu.lock 2>.venv/torch.log \
		|| { grep HASHES .venv/torch.log >&2 && exit 1; $(LOCKED) --only-binary :all: -r requirements-cuda.lock; }
	@touch $@

# The command `dialeval`. setuptools is there: PyTorch needs it.
.venv/.itself: .venv/.site pyproject.toml
	$(INSTALL) --no-build-isolation --editable .
	@touch $@

# What comes as source is built with the setuptools of the lock.
.venv/.dev: .venv/.site requirements-dev.lock
	$(LOCKED) --no-build-isolation -r requirements-dev.lock
	@touch $@

# Everything measured, one after the other; bench/README.md says what each is and how to run one alone. One needs a site
# with corpora that the project does not bring.
bench: setup .venv/.dev
	@for file in $$(grep -l __main__ bench/*.py | grep -v fewer_ratings); do \
		name=$$(basename $$file .py); echo "== $$name"; \
		$(BIN)/python -m bench.$$name $$(test $$name != mixed_load || echo --small) || exit 1; \
	done

# Pages of the functions that others may call, from their docstrings (var/reference/index.html); beside them those of
# commands, settings, addresses, formats, questions and metrics, from what each declares.
REFERENCE := annotations.agreement common.correlation annotations.formats.exporters annotations.formats.importers \
	annotations.questions leaderboard.client leaderboard.statistics workers.metrics
reference: setup .venv/.dev
	$(BIN)/pdoc --docformat google --output-directory var/reference $(REFERENCE)
	$(BIN)/python -m tests.reference var/reference

# --- a release: CONTRIBUTING.md says when ------------------------------------------------------------------------

lock: .venv/.dev
	$(BIN)/python -m tests.lock

sbom: .venv/.dev
	$(BIN)/python -m tests.sbom var/dialeval.cdx.json

image-digests: .venv/.dev
	$(BIN)/python -m tests.images --write

release-check: setup .venv/.dev
	$(BIN)/python -m pytest -q tests/deploy/test_lock.py
	$(BIN)/python -m tests.images
	AUDIT_REQUIRED=1 $(BIN)/python -m tests.audit
	$(MAKE) sbom

clean:
	rm -rf .venv
