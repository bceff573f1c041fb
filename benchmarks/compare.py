"""``python -m benchmarks compare OTHER_TREE``: our own rows in this and in another checkout.

Each row is run in both trees in turn, five times, by the worker of that tree's own `benchmarks`,
in a process of its own; medians are compared. A row of 5 ms or more that has become slower by
more than a tenth is named, and makes the exit code 1. A ratio says as much as the machine is
quiet: rows that are named deserve a second run (``--only``).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from benchmarks import chains
from benchmarks.report import Section, machine, seconds, show
from benchmarks.runs import ROOT, in_tree, run_in

__all__ = ["main"]

_ALLOWED = 1.1
_SHORT = 0.005  # seconds; what is shorter is not judged
Measure = Callable[[Path], float]


def _worker(task: str, *arguments: object) -> Measure:
    def measure(tree: Path) -> float:
        run = run_in(tree, task, *arguments, repeat=3)
        if run.failure:
            raise SystemExit(f"{task} {arguments} in {tree}: {run.failure}")
        return run.total

    return measure


def _code(text: str) -> Measure:
    """Measure what a few lines do; they print their processor time last.

    So rows can be had of trees whose own worker does not know them.
    """

    def measure(tree: Path) -> float:
        done = in_tree(tree, [sys.executable, "-c", text], 600)
        if done.returncode != 0:
            raise SystemExit(f"in {tree}: {done.stderr}")
        return float(done.stdout.split()[-1])

    return measure


_DERIVE = """
import time
from benchmarks.chains import jump_law
from markov_lrsao.rows.automata import derive_automata
derive_automata(jump_law(1000))
law = jump_law(1000)
begun = time.process_time()
derive_automata(law)
print(time.process_time() - begun)
"""
_WITH_VARIANCE = """
import importlib, time
from markov_lrsao import Algorithm, Landscape, Parameters, runtime
for name in ("expected", "counting"):  # older trees leave the variance out beyond n = 10,000
    place = importlib.import_module("markov_lrsao.answers." + name)
    if hasattr(place, "EXACT_VARIANCE_LIMIT"):
        place.EXACT_VARIANCE_LIMIT = {n}
        break
def asked(n):
    return runtime(Landscape.jump(n, 2), Algorithm.lrsao(Parameters.paper(n)), method="crossing")
asked(100)
begun = time.process_time()
found = asked({n})
took = time.process_time() - begun
assert found.total.exact and found.variance.exact
print(took)
"""


def _command(*arguments: str) -> Measure:
    """Measure a whole command: what a user waits for."""

    def measure(tree: Path) -> float:
        begun = time.perf_counter()
        done = in_tree(tree, [sys.executable, "-m", "markov_lrsao", *arguments], 600)
        if done.returncode != 0:
            raise SystemExit(f"{arguments} in {tree}: {done.stderr}")
        return time.perf_counter() - begun

    return measure


def rows(folder: Path, quick: bool) -> Iterator[tuple[str, Measure]]:
    """Yield what `sections` measures of this project, without the other tools."""
    yield "markov-lrsao --help", _command("--help")
    yield "markov-lrsao exact --n 9 --ell 2", _command("exact", "--n", "9", "--ell", "2")
    yield "patterns derived", _code(_DERIVE)
    for name in list(chains.OWN)[: 1 if quick else None]:
        n, merge = chains.OWN[name]
        path = chains.write(name, folder)
        for kind in ("exact", "float"):
            yield f"{name}: solve, {kind}", _worker(f"ours-{kind}", path, "target", "time")
        words = "merged" if merge else "unmerged"
        yield f"{name}: enumerate and solve", _worker("enumerate", n, words, "exact")
    for name in ("random 300", "symmetric 1000", "stiff 200"):
        path = chains.write(name, folder)
        yield f"{name}: solve, exact", _worker("ours-exact", path, "target", "time")
    for size in (11, 100) if quick else (11, 100, 1000, 10_000):
        for kind in ("float", "exact"):
            yield f"n = {size}: crossing, {kind}", _worker("crossing", size, 2, kind)
    for size in (1000,) if quick else (10_000, 100_000):
        yield f"n = {size}: exact mean and variance", _code(_WITH_VARIANCE.format(n=size))
    for size in (100,) if quick else (100, 1000, 10_000):
        yield f"n = {size}: simulate, event", _worker("simulate", size, 2, "event", 200)
        few = max(2, 20_000 // size)
        yield f"n = {size}: simulate, step", _worker("simulate", size, 2, "step", few)


def main(arguments: list[str]) -> int:
    """Compare and print; 1 if something is slower by more than a tenth."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks compare", description=__doc__)
    parser.add_argument("other", type=Path, help="the checkout to compare with")
    parser.add_argument("--quick", action="store_true", help="small rows only")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", help="rows whose name contains one of these texts")
    options = parser.parse_args(arguments)
    trees = (options.other.resolve(), ROOT)
    table, slower = [], []
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        for name, measure in rows(Path(folder), options.quick):
            if options.only is not None and not any(text in name for text in options.only):
                continue
            times: dict[Path, list[float]] = {tree: [] for tree in trees}
            for tree in trees:
                measure(tree)  # kernels are compiled, files are in memory
            for k in range(options.rounds):
                for tree in trees if k % 2 else trees[::-1]:
                    times[tree].append(measure(tree))
            there, here = (median(times[tree]) for tree in trees)
            table.append([name, seconds(there), seconds(here), f"{here / there:.2f}"])
            print(*table[-1], sep=" | ", flush=True)
            if here > _ALLOWED * there and here >= _SHORT:
                slower.append(name)
    title = f"This tree against {options.other}, median of {options.rounds}"
    print(show(Section(title, ["row", "there", "here", "ratio"], table)))
    print("slower by more than a tenth:", ", ".join(slower) or "nothing")
    return 1 if slower else 0
