# Everything happens in .venv; the system's Python is not touched.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test test-slow test-exhaustive check bench clean

run: .venv/installed
	$(BIN)/markov-lrsao exact --n 9 --ell 2

test: .venv/installed-test
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-slow: .venv/installed-test
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "slow and not exhaustive"

test-exhaustive: .venv/installed-test
	$(BIN)/python -m pytest -n 2 --dist load -m exhaustive --campaigns tests/campaigns.csv

check: .venv/installed-test
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: .venv/installed-test
	$(BIN)/python -m benchmarks

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/installed-test: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

clean:
	rm -rf .venv
