"""An explorer to ask, and a browser to open it in."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest
from browsers import chromium
from explorers import Server, start


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """One server for the tests of a module."""
    running = start()
    try:
        yield running
    finally:
        running.process.send_signal(signal.SIGINT)
        running.process.wait(20)
        assert running.process.stdout is not None
        running.process.stdout.close()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A headless Chromium."""
    with chromium(tmp_path_factory.mktemp("profile")) as session:
        yield session
