"""`solve` on chains of any origin: certified floats against Storm, SuperLU and BiCGSTAB."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from benchmarks import chains, models
from benchmarks.report import Section, ratio, seconds
from benchmarks.runs import Run, run_worker

__all__ = ["solving"]

_PATIENCE = 120  # seconds for one tool on one chain, all its repetitions
_LESS_PATIENCE = 40  # factors of random graphs fill up, and not every iteration ends
_WALKS = ("random 10000", "random 30000", "plane 100", "plane 300", "plane 1000")
_HEADER = (
    *("chain", "states", "read", "Storm", "solve + certificate", "certified error", "Storm"),
    *("read + solve: Storm / ours", "SuperLU", "BiCGSTAB", "solve: best peer / ours"),
)


def solving(folder: Path, quick: bool) -> Iterator[Section]:
    """Measure one row per chain."""
    rows = []
    for name in ("random 1000", "plane 30") if quick else _WALKS:
        path = chains.write(name, folder)
        rows.append(_row(name, path, "target", "time", 1 if quick or name.endswith(" 1000") else 5))
    if find_spec("stormpy") is not None:
        for name, (asked, label) in list(models.MODELS.items())[: 1 if quick else None]:
            path = models.build(name, folder)
            rows.append(_row(name, path, label, "time" if asked == "T" else "chance", 5))
    yield Section(
        "Any chain in floats, each answer with a certified error",
        _HEADER,
        rows,
        "Processor time in a process of its own, after a warm-up. Storm reads and solves the same "
        "DRN file with its default for doubles, whose answers are right to about 1e-6 and certify "
        "nothing. SuperLU (minimum degree order) and BiCGSTAB (Jacobi, 1e-13) are SciPy's, given "
        "the matrix, and certify nothing; UMFPACK has no wheel that could be installed. Which "
        "states are certain to reach the label is found beforehand for them, and by this project "
        "in its own time. plane: the walk on a square grid; random: as above; the others are "
        "model checkers' benchmarks built by Storm.",
    )


def _row(name: str, path: Path, label: str, quantity: str, repeat: int) -> list[str]:
    def run(task: str) -> Run:
        limit = _PATIENCE if task.startswith(("ours", "storm")) else _LESS_PATIENCE
        return run_worker(task, path, label, quantity, repeat=repeat, limit=limit)

    ours, storm = run("ours-float"), run("storm-double")
    peers = {task: run(task) for task in ("superlu", "bicgstab")}
    if ours.failure:
        return [name, f"{storm.states:,}", ours.failure, *[""] * (len(_HEADER) - 3)]
    solved = ours.stages["solve"]
    times = [peer.stages["solve"] for peer in peers.values() if not peer.failure]
    if not storm.failure:
        times.append(storm.stages["solve"])
    return [
        name,
        f"{ours.states:,}",
        seconds(ours.stages["load"]),
        storm.failure or seconds(storm.stages["load"]),
        seconds(solved),
        f"{ours.bound:.0e}",
        storm.failure or seconds(storm.stages["solve"]),
        "" if storm.failure else ratio(storm.total, ours.total),
        *(peer.failure or seconds(peer.stages["solve"]) for peer in peers.values()),
        ratio(min(times), solved) if times else "",
    ]
