"""Starting workers, collecting what they print, and PyDTMC's and QuantEcon's environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import venv
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

__all__ = [
    "ROOT",
    "Run",
    "alternating",
    "foreign_python",
    "in_tree",
    "run_foreign",
    "run_in",
    "run_worker",
]

ROOT = Path(__file__).resolve().parents[1]
_GLANCE = 0.5  # seconds between looks at the processor time of a process
_LIKE_A_LONG_PROCESS = {  # glibc keeps what was freed: elsewhere a fresh page costs 1 to 3 us
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "MALLOC_TOP_PAD_": str(32 << 20),
}


@dataclass(frozen=True)
class Run:
    """One tool on one chain: median seconds per stage, or why there are none."""

    tool: str
    stages: dict[str, float] = field(default_factory=dict)
    value: str = ""
    states: int = 0
    memory: float = 0.0
    failure: str = ""
    bound: float | None = None  # of the relative error, where the tool certifies one

    @property
    def total(self) -> float:
        """The sum of all stages."""
        return sum(self.stages.values())


def in_tree(tree: Path, command: list[str], limit: float) -> subprocess.CompletedProcess[str]:
    """Run a command with the packages of a checkout, on one thread.

    All tools are given the same allocator: memory that was freed is not returned to the system, so
    that no repetition pays for pages anew, depending on what the ones before left behind.
    The limit is processor time where the system tells it, else time of day. (A limit of the
    system's own, RLIMIT_CPU, would make the clock of processor time tick in steps of 4 ms.)
    """
    one = {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    begun = time.monotonic()
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **_LIKE_A_LONG_PROCESS, **one},
        cwd=tree,
    ) as process:
        while True:
            try:
                out, err = process.communicate(timeout=min(limit, _GLANCE))
                return subprocess.CompletedProcess(command, process.returncode, out, err)
            except subprocess.TimeoutExpired:
                used = _processor_time(process.pid)
                if (time.monotonic() - begun if used is None else used) >= limit:
                    process.kill()
                    raise
            except BaseException:
                process.kill()
                raise


def _processor_time(pid: int) -> float | None:
    """Return the seconds that a process has used, None where the system does not tell."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _run(tool: str, command: list[str], limit: float, tree: Path = ROOT) -> Run:
    try:
        done = in_tree(tree, command, limit)
    except subprocess.TimeoutExpired:
        return Run(tool, failure=f"over {limit:.0f} s")
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()
        return Run(tool, failure=f"failed: {lines[-1][:80]}")
    data: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return Run(
        tool,
        {name: median(times) for name, times in data["stages"].items()},
        data["value"],
        data["states"],
        data.get("memory", 0.0),
        bound=data.get("bound"),
    )


def run_in(tree: Path, task: str, *arguments: object, repeat: int = 5, limit: float = 900) -> Run:
    """Run one task of the `worker` of a checkout and return its medians."""
    command = [sys.executable, "-m", "benchmarks.worker", task, str(repeat), *map(str, arguments)]
    return _run(task, command, limit, tree)


@cache
def run_worker(task: str, *arguments: object, repeat: int = 5, limit: float = 900) -> Run:
    """Run one task of `worker` and return its medians; the same task is run only once."""
    return run_in(ROOT, task, *arguments, repeat=repeat, limit=limit)


def alternating(
    limits: Mapping[str, float], *arguments: object, repeat: int = 5, rounds: int = 3
) -> dict[str, Run]:
    """Run several tasks in turn, some rounds of them; return the medians of the rounds' medians.

    What else the machine does then disturbs all of them alike. Each task is given its limit of
    processor time per round, and is not asked again once it fails.
    """
    found: dict[str, list[Run]] = {task: [] for task in limits}
    for _ in range(rounds):
        for task, limit in limits.items():
            if any(run.failure for run in found[task]):
                continue
            found[task].append(run_in(ROOT, task, *arguments, repeat=repeat, limit=limit))
    return {task: _middle(runs) for task, runs in found.items()}


def _middle(runs: list[Run]) -> Run:
    failed = [run for run in runs if run.failure]
    if failed:
        return failed[0]
    names = runs[0].stages
    return replace(runs[0], stages={n: median(run.stages[n] for run in runs) for n in names})


def foreign_python(folder: Path) -> Path | str:
    """Make an environment with PyDTMC and QuantEcon; return its Python, or why it failed."""
    place = folder / "foreign"
    try:
        venv.create(place, with_pip=True)
        python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        done = subprocess.run(
            [str(python), "-m", "pip", "install", "-q", "PyDTMC", "quantecon"],
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"no environment for PyDTMC and QuantEcon: {type(error).__name__}"
    if done.returncode != 0:
        return "PyDTMC and QuantEcon could not be installed into an environment of their own"
    return python


def run_foreign(
    python: Path, tool: str, matrix: Path, tiny: Path, *, repeat: int = 3, limit: float = 300
) -> Run:
    """Run PyDTMC or QuantEcon on a Matrix Market file."""
    script = Path(__file__).with_name("foreign.py")
    return _run(tool, [str(python), str(script), tool, str(matrix), str(tiny), str(repeat)], limit)
