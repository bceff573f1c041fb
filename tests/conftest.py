"""Settings that all tests share."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator
from hashlib import sha256
from pathlib import Path
from typing import Any

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
    """Compile once: kernels into a folder of this tree's kernels, modules beside their source.

    Kernels take a minute to compile. What another tree left is never seen: the folder is named by
    what stands in the kernels, and older ones go. Workers and commands that tests start inherit
    it. Who names a folder (NUMBA_CACHE_DIR) gets that one.

    Tests start hundreds of processes and rewrite hundreds of modules, so bytecode is kept even
    where PYTHONDONTWRITEBYTECODE asks for none: without it `exact --n 9` takes a third longer.
    """
    # A shell lets jobs in the background ignore Ctrl-C, and commands that tests start would inherit
    # that: then they do without the process that waits for them.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if "NUMBA_CACHE_DIR" not in os.environ:
        os.environ["NUMBA_CACHE_DIR"] = str(_kernel_folder(config))


def _kernel_folder(config: pytest.Config) -> Path:
    """Return the folder of the compiled kernels of this tree; a passing one without a cache."""
    cache = getattr(config, "cache", None)
    if cache is None:
        folder = Path(tempfile.mkdtemp(prefix="kernels-of-tests-"))
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        return folder
    own = sha256()
    for package in ("markov_lrsao", "simulate", "proofs_check"):
        for path in sorted((config.rootpath / package).rglob("*.py")):
            if path.parent.name == "kernels" or path.name == "compiled.py":
                own.update(path.relative_to(config.rootpath).as_posix().encode())
                own.update(path.read_bytes())
    kept: Path = cache.mkdir("kernels")
    folder = kept / own.hexdigest()[:16]
    for old in kept.iterdir():
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)
    folder.mkdir(exist_ok=True)
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Have the garbage collector pass over what thousands of tests and their modules are made of.

    It stays until the end, and was looked through again and again: one tenth of all time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out files, but those of `forward` together: they share kernels.

    Two workers that begin with two of these files compile the same kernels at once, which takes
    both of them half a minute.
    """
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file: str = super()._split_scope(nodeid)
            return "tests/forward" if file.startswith("tests/forward/") else file

    return Together(config, log)


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
