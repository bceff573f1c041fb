"""Dask clusters of a few processes on the loopback address."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

__all__ = ["Cluster", "free_port"]

COMMAND = (sys.executable, "-m", "markov_lrsao")


def free_port() -> int:
    """Return a port of the loopback address that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Cluster:
    """A scheduler and some workers, as processes of their own."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self._folder = folder
        self._started: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start(
            "dask_scheduler", "--host", self.address, "--no-dashboard", "--no-show"
        )
        self.workers = [
            self._start(
                "dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard"
            )
            for _ in range(workers)
        ]

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{name}", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            env=os.environ | {"DASK_DISTRIBUTED__WORKER__DAEMON": "False"},
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def start(self, *arguments: str | Path) -> subprocess.Popen[bytes]:
        """Start a command on the cluster; Ctrl-C reaches it even if it is ignored here."""
        process = subprocess.Popen(
            [*COMMAND, *map(str, arguments), "--scheduler", self.address],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        self._started.append(process)
        return process

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            process.kill()
            process.communicate(timeout=10)
