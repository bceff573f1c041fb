"""`solve` on chains of any origin: certified floats against Storm, SuperLU, UMFPACK, BiCGSTAB."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from benchmarks import chains, models, umfpack
from benchmarks.report import Section, ratio, seconds
from benchmarks.runs import alternating

__all__ = ["solving"]

_PATIENCE = 120  # seconds of processor time for this project on one chain, all its repetitions
_LESS_PATIENCE = 10  # and for others: factors of random graphs fill up, not every iteration ends
_ONCE_PATIENCE = 25  # the same, for chains that are measured once
_ROUNDS, _REPEAT = 2, 5
_WALKS = ("random 10000", "random 30000", "plane 100", "plane 300", "plane 1000")
_HEADER = (
    *("chain", "states", "read", "Storm", "solve + certificate", "certified error", "Storm"),
    *("read + solve: Storm / ours", "SuperLU", "UMFPACK", "BiCGSTAB", "solve: best peer / ours"),
)


def solving(folder: Path, quick: bool) -> Iterator[Section]:
    """Measure one row per chain."""
    rows = []
    for name in ("random 1000", "plane 30") if quick else _WALKS:
        path = chains.write(name, folder)
        rows.append(
            _row(name, path, "target", "time", 1 if quick or name.endswith(" 1000") else _REPEAT)
        )
    if find_spec("stormpy") is not None:
        for name, (asked, label) in list(models.MODELS.items())[: 1 if quick else None]:
            path = models.build(name, folder)
            rows.append(_row(name, path, label, "time" if asked == "T" else "chance", _REPEAT))
    yield Section(
        "Any chain in floats, each answer with a certified error",
        _HEADER,
        rows,
        f"Processor time in processes of their own, after a warm-up. All tools are run in turn, "
        f"{_ROUNDS} rounds of {_REPEAT} repetitions (one of one for plane 1000), and numbers are "
        f"medians of the rounds' medians. Limits are processor time for all repetitions of a "
        f"round, starting included: {_PATIENCE} s, for the others {_LESS_PATIENCE} s "
        f"({_ONCE_PATIENCE} s for plane 1000). Storm reads and solves the same DRN file with its "
        "default for doubles, whose answers are right to about 1e-6 and certify "
        "nothing. SuperLU (minimum degree order) and BiCGSTAB (Jacobi, 1e-13) are SciPy's, given "
        "the matrix, as is UMFPACK (its defaults, by its C interface: PyPI has no wheel of it; "
        "left out where the library is not found), and certify nothing. Which states are certain "
        "to reach the label is found beforehand for them, and by this project in its own time. "
        "In egl that is nearly all there is to do: the linear solvers are given what is left, "
        "so that its last column compares different work; there Storm's solve is the peer. "
        "plane: the walk on a square grid; random: as above; the others are model checkers' "
        "benchmarks built by Storm.",
    )


def _row(name: str, path: Path, label: str, quantity: str, repeat: int) -> list[str]:
    linear = ("superlu", "umfpack", "bicgstab")
    tools = ["ours-float", "storm-double", *linear]
    if not umfpack.available():
        tools.remove("umfpack")
    less = _ONCE_PATIENCE if repeat == 1 else _LESS_PATIENCE
    limits = {t: _PATIENCE if t.startswith("ours") else less for t in tools}
    rounds = 1 if repeat == 1 else _ROUNDS
    runs = alternating(limits, path, label, quantity, repeat=repeat, rounds=rounds)
    ours, storm = runs["ours-float"], runs["storm-double"]
    if ours.failure:
        return [name, f"{storm.states:,}", ours.failure, *[""] * (len(_HEADER) - 3)]
    solved = ours.stages["solve"]
    times = [r.stages["solve"] for t, r in runs.items() if t != "ours-float" and not r.failure]
    peers = [runs.get(tool) for tool in linear]
    row = [
        name,
        f"{ours.states:,}",
        seconds(ours.stages["load"]),
        storm.failure or seconds(storm.stages["load"]),
        seconds(solved),
        f"{ours.bound:.0e}",
        storm.failure or seconds(storm.stages["solve"]),
        "" if storm.failure else ratio(storm.total, ours.total),
        *("" if p is None else p.failure or seconds(p.stages["solve"]) for p in peers),
        ratio(min(times), solved) if times else "",
    ]
    print("  ".join(row), file=sys.stderr, flush=True)  # it takes minutes
    return row
