# Everything happens in .venv; the system's Python is not touched.
PYTHON ?= python3
BIN := .venv/bin
# What was installed is noted under the version that did it: a .venv that another Python left, or
# one whose making failed, is made anew.
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
MADE := .venv/made-with-python-$(VERSION)

.PHONY: run test test-slow test-exhaustive check hooks bench docs clean

run: $(MADE)/installed
	$(BIN)/markov-lrsao exact --n 9 --ell 2

test: $(MADE)/installed-test
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-slow: $(MADE)/installed-test
	$(BIN)/python -m pytest -n 2 --dist loadfile -m slow --durations 40

test-exhaustive: $(MADE)/installed-test
	$(BIN)/python -m pytest -n 2 --dist load -m exhaustive --campaigns tests/campaigns.csv

check: $(MADE)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/pylint markov_lrsao simulate proofs_check

hooks: $(MADE)/installed-test
	$(BIN)/pre-commit install

bench: $(MADE)/installed-test
	$(BIN)/python -m benchmarks

docs: $(MADE)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo 'open site/index.html, or (with search): $(BIN)/python -m http.server --bind 127.0.0.1 --directory site'

$(MADE)/venv:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed, this is $(VERSION): make PYTHON=python3.11")'
	rm -rf .venv
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	mkdir -p $(MADE)
	touch $@

$(MADE)/installed: pyproject.toml | $(MADE)/venv
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(MADE)/installed-test: pyproject.toml | $(MADE)/venv
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

$(MADE)/installed-docs: pyproject.toml | $(MADE)/venv
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

clean:
	rm -rf .venv
