"""Settings that all tests share."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from campaigns import read, rows_of, write
from hypothesis import HealthCheck, settings

# Deterministic by default, so that a red test means a change of the code. Set
# HYPOTHESIS_PROFILE=search to look for new counterexamples at random.
settings.register_profile(
    "default",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)
settings.register_profile("search", deadline=None, max_examples=500, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_configure(config: pytest.Config) -> None:
    """Compile kernels into a folder of this session: no test sees what an earlier tree left.

    Workers and commands that tests start inherit it, so that a kernel is compiled once. Who
    names a folder (NUMBA_CACHE_DIR) gets that one.
    """
    if "NUMBA_CACHE_DIR" not in os.environ:
        folder = tempfile.mkdtemp(prefix="kernels-of-tests-")
        os.environ["NUMBA_CACHE_DIR"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--campaigns", metavar="FILE", help="write a row per test into this table")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    path = config.getoption("--campaigns")
    if path:
        reports = [
            report
            for outcome in ("passed", "failed")
            for report in terminalreporter.stats.get(outcome, [])
        ]
        table = Path(path)
        write(table, {**read(table), **rows_of(reports, config.rootpath)})
