"""A server of the explorer in a process of its own, as a user starts it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import markov_lrsao

LONG = {"n": "9", "ell": "2", "alpha": "1/2", "gamma": "9/10", "r": "1/10"}
"""A question whose answer takes far longer than any test waits for the end of who computes it."""
SOON = 5
"""Seconds within which who computes it has to be gone."""
ROOT = Path(markov_lrsao.__file__).resolve().parent.parent


def children(process: int) -> set[int]:
    """Return the descendants of a process."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError, ValueError):
                parents[int(entry.name)] = int(
                    (entry / "stat").read_text().rpartition(")")[2].split()[1]
                )
    found: set[int] = set()
    while more := {p for p, parent in parents.items() if parent in found | {process}} - found:
        found |= more
    return found


def alive(process: int) -> bool:
    """Whether a process runs (and is not merely waited for)."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def until(condition: Any, seconds: float = 20) -> None:
    """Wait for a condition."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.05)


@dataclass
class Server:
    """A running explorer."""

    process: subprocess.Popen[str]
    url: str

    @property
    def port(self) -> int:
        port = urlsplit(self.url).port
        assert port is not None
        return port

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.url).query)["token"][0]

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, str]:
        """Send a request with exactly these headers (and a Host, unless given)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        text = body if isinstance(body, str) else json.dumps(body)
        connection.request(method, path, None if body is None else text, headers or {})
        response = connection.getresponse()
        found = response.status, response.read().decode()
        connection.close()
        return found

    def ask(self, view: str, **settings: str) -> dict[str, Any]:
        """Ask as the page does."""
        status, text = self.request(
            "POST", "/api/ask", {"view": view, "settings": settings}, {"X-Token": self.token}
        )
        assert status == 200, text
        found: dict[str, Any] = json.loads(text)
        return found


def start() -> Server:
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "markov_lrsao", "explore", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        # Ctrl-C reaches it even if it is ignored here, as in jobs of a script's background
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:\S+", line)
    assert found is not None, line
    return Server(process, found[0])
