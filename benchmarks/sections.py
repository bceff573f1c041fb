"""What is measured: one function per table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from flint import fmpq

from benchmarks import chains, events
from benchmarks.report import Section, ratio, relative_error, seconds
from benchmarks.runs import Run, alternating, foreign_python, run_foreign, run_worker
from benchmarks.solving import solving
from markov_lrsao import MarkovChain

__all__ = ["SECTIONS"]

_GIBIBYTE = 1024
_PATIENCE = 20  # seconds of processor time for a chain of other origin
Sections = Iterator[Section]


def _storm_absent() -> bool:
    return find_spec("stormpy") is None


def _skip(title: str) -> Section:
    return Section(title, ["skipped"], [["stormpy is not installed (pip install stormpy)"]])


def _names(quick: bool) -> list[str]:
    return list(chains.OWN)[:1] if quick else list(chains.OWN)


def _repeat(name: str, quick: bool) -> int:
    return 1 if quick else 3 if "11" in name else 5


_COMPARED = ("Storm", "ratio")
_STAGES = (
    *("chain", "states", "read + build", *_COMPARED, "solve", *_COMPARED, "sum", *_COMPARED),
    *("MB", "Storm MB"),
)


def exact(folder: Path, quick: bool) -> Sections:
    """Exact solver against Storm's exact engine, same file."""
    title = "Exact solver against Storm's exact engine (same DRN file, E[T] from every state)"
    if _storm_absent():
        yield _skip(title)
        return
    rows = []
    for name in _names(quick):
        path, repeat = chains.write(name, folder), _repeat(name, quick)
        ours = run_worker("ours-exact", path, "target", "time", repeat=repeat)
        storm = run_worker("storm-exact", path, "target", "time", repeat=repeat)
        rows.append(_stages(name, ours, storm, check=True))
    yield Section(
        title,
        [*_STAGES, "same value"],
        rows,
        "Storm reads and builds in one call, so those two are one column; building from the "
        "model itself is the next table. MB is the peak of the whole process, for this project "
        "with the compiler loaded (some 150 MB). Compilation is not counted: the first use on a "
        "machine compiles for 2 to 9 s per kernel, later ones load the cache. Much of the gain "
        "of the solve comes from merging equal futures first (779,894 states become 822 at "
        "n = 11); Storm was run as it comes, without its bisimulation. Only the label of the "
        "target is in the files: with a label on most states Storm reads about five times "
        "longer.",
    )


def _stages(name: str, ours: Run, storm: Run, *, check: bool) -> list[str]:
    if ours.failure or storm.failure:
        cell = [ours.failure or seconds(ours.total), storm.failure or seconds(storm.total)]
        return [name, f"{max(ours.states, storm.states):,}", *[""] * 6, *cell, "", "", "", ""]
    row = [name, f"{ours.states:,}"]
    for stage in ("load", "solve"):
        row += [
            seconds(ours.stages[stage]),
            seconds(storm.stages[stage]),
            ratio(storm.stages[stage], ours.stages[stage]),
        ]
    row += [
        seconds(ours.total),
        seconds(storm.total),
        ratio(storm.total, ours.total),
        f"{ours.memory:.0f}",
        f"{storm.memory:.0f}",
    ]
    return [*row, ("yes" if ours.value == storm.value else "NO") if check else ""]


def enumeration(folder: Path, quick: bool) -> Sections:
    """Building from the model, against Storm building and loading it."""
    title = "From the model: enumerate and solve exactly, against Storm on the PRISM-language model"
    if _storm_absent():
        yield _skip(title)
        return
    rows = []
    for name in _names(quick):
        n, merge = chains.OWN[name]
        words, repeat = ("merged" if merge else "unmerged"), _repeat(name, quick)
        ours = run_worker("enumerate", n, words, "exact", repeat=repeat)
        storm = run_worker("storm-build", n, words, "exact", repeat=repeat)
        file = run_worker(
            "storm-exact", chains.write(name, folder), "target", "time", repeat=repeat
        )
        built = storm.stages["read"] + storm.stages["build"]
        rows.append(
            [
                name,
                f"{ours.states:,}",
                seconds(ours.stages["build"]),
                seconds(built),
                ratio(built, ours.stages["build"]),
                seconds(ours.stages["solve"]),
                seconds(storm.stages["solve"]),
                ratio(storm.stages["solve"], ours.stages["solve"]),
                seconds(ours.total),
                seconds(file.total),
                ratio(file.total, ours.total),
                "yes" if ours.value == storm.value else "NO",
            ]
        )
    yield Section(
        title,
        [
            "chain",
            "states",
            "enumerate",
            "Storm",
            "ratio",
            "solve",
            "Storm",
            "ratio",
            "enumerate + solve",
            "Storm: load DRN + solve",
            "ratio",
            "same value",
        ],
        rows,
        "Enumerating includes deriving the patterns from the update rule (the same at any n), "
        "which the PRISM-language text already contains. The last ratio is the one demanded for "
        "n = 11: deriving, enumerating and solving, against Storm loading and solving the "
        "finished chain. Here the compiler is loaded only where a chain is large enough to ask "
        "for it, so the small chains are solved without merging.",
    )


def floats(folder: Path, quick: bool) -> Sections:
    """Float solver against Storm's double engine and scipy."""
    title = "Float solver (time of the solve alone, relative error of E[T])"
    if _storm_absent():
        yield _skip(title)
        return
    tools = ("storm-double", "storm-topological", "spsolve")
    rows = []
    for name in _names(quick):
        path, repeat = chains.write(name, folder), _repeat(name, quick)
        truth = run_worker("ours-exact", path, "target", "time", repeat=repeat).value
        ours = run_worker("ours-float", path, "target", "time", repeat=repeat)
        row = [name, seconds(ours.stages["solve"]), f"{relative_error(ours, truth):.1e}"]
        for tool in tools:
            limit = 300 if tool == "spsolve" else 900
            peer = run_worker(tool, path, "target", "time", repeat=repeat, limit=limit)
            row += (
                [peer.failure, "", ""]
                if peer.failure
                else [
                    seconds(peer.stages["solve"]),
                    ratio(peer.stages["solve"], ours.stages["solve"]),
                    f"{relative_error(peer, truth):.1e}",
                ]
            )
        rows.append(row)
    yield Section(
        title,
        [
            "chain",
            "ours",
            "error",
            "Storm default",
            "ratio",
            "error",
            "Storm topological",
            "ratio",
            "error",
            "scipy spsolve",
            "ratio",
            "error",
        ],
        rows,
        "Storm's default is the environment that stormpy chooses for doubles (sound methods).",
    )


def others(folder: Path, quick: bool) -> Sections:
    """Chains that this project did not make."""
    title = "Chains of other origin"
    if _storm_absent():
        yield _skip(title)
        return
    cases: list[tuple[str, Path, str, str, str, int]] = []
    examples = chains.peer_examples(folder)
    for name, (path, label) in list(examples.items())[: 1 if quick else None]:
        cases.append((name, path, label, "chance", "exact", 5))
    wanted = (
        [("random 100", "exact", 3), ("symmetric 100", "exact", 3)]
        if quick
        else [
            ("random 300", "exact", 5),
            ("random 1000", "exact", 1),
            ("symmetric 10000", "exact", 5),
            ("stiff 1000", "exact", 5),
            ("random 1000", "float", 5),
            ("random 10000", "float", 5),
            ("symmetric 100000", "float", 1),
            ("symmetric 1000000", "float", 1),
        ]
    )
    for name, kind, repeat in wanted:
        cases.append((name, chains.write(name, folder), "target", "time", kind, repeat))
    rows = []
    for name, path, label, quantity, kind, repeat in cases:
        tools = f"ours-{kind}", "storm-exact" if kind == "exact" else "storm-double"
        limits = dict.fromkeys(tools, float(_PATIENCE))
        rounds = 1 if repeat == 1 or quick else 2
        runs = alternating(limits, path, label, quantity, repeat=repeat, rounds=rounds)
        ours, storm = (runs[tool] for tool in tools)
        agree = ""
        if not (storm.failure or ours.failure):
            agree = "yes" if ours.value == storm.value else "NO"
            if kind == "float":
                agree = f"{abs(float(ours.value) / float(storm.value) - 1):.0e} apart"
        rows.append([*_stages(f"{name} ({kind})", ours, storm, check=False)[:-1], agree])
    yield Section(
        title,
        [*_STAGES, "agree"],
        rows,
        "brp, leader, nand and crowds are examples inside the stormpy wheel (probability of "
        "reaching a label); random chains are one component with random chords; symmetric walks "
        "are birth-death chains. Both tools in turn, 2 rounds of 5 repetitions, medians of the "
        "rounds' medians; one of one where Storm takes longer than 20 s of processor time. "
        "The float rows compare this project's certified answers with Storm's default engine, "
        "whose answers are the less accurate ones.",
    )


def stiff(folder: Path, quick: bool) -> Sections:
    """The walk on which float solvers fail."""
    title = "The walk up 1/3, down 2/3 on 0..N in floats: relative error of E[T]"
    tools = ["ours-float", "spsolve"]
    if not _storm_absent():
        tools += ["storm-plain", "storm-topological"]
    rows = []
    for top in (20, 60) if quick else (20, 60, 1000):
        path = chains.write(f"stiff {top}", folder)
        truth = str(4 * 2**top - 3 * top - 4)
        row = [f"N = {top}"]
        for tool in tools:
            run = run_worker(tool, path, "target", "time", repeat=1, limit=30)
            row.append(
                run.failure or f"{relative_error(run, truth):.0e} ({seconds(run.stages['solve'])})"
            )
        rows.append(row)
    names = {
        "ours-float": "ours",
        "spsolve": "scipy spsolve",
        "storm-plain": "Storm gmm++",
        "storm-topological": "Storm topological",
    }
    yield Section(
        title,
        ["walk", *(names[tool] for tool in tools)],
        rows,
        "One repetition. Storm's default engine was not run on this walk. An error of 1 "
        "means that the answer is 0 or smaller by orders of magnitude.",
    )


def peers(folder: Path, quick: bool) -> Sections:
    """PyDTMC, QuantEcon and sympy."""
    from markov_lrsao.exchange import read_chain
    from markov_lrsao.exchange.matrix_market import write_matrix_market

    rows = []
    python: Path | str = "not tried in the quick run" if quick else foreign_python(folder)
    path = chains.write("n = 9, merged", folder)
    truth = run_worker("ours-exact", path, "target", "time", repeat=1).value
    ours = run_worker("ours-float", path, "target", "time", repeat=3)
    rows.append(
        [
            "n = 9, merged",
            "ours",
            f"{ours.states:,}",
            seconds(ours.total),
            "1x",
            f"{relative_error(ours, truth):.0e}",
        ]
    )
    if isinstance(python, str):
        rows.append(["n = 9, merged", "PyDTMC, QuantEcon", "", python, "", ""])
    else:
        single, tiny = folder / "single.mtx", folder / "tiny.mtx"
        write_matrix_market(_one_target(read_chain(path).chain), single)
        write_matrix_market(chains.stiff_walk(5), tiny)
        for tool in ("PyDTMC", "QuantEcon"):
            run = run_foreign(python, tool, single, tiny)
            rows.append(
                [
                    "n = 9, merged",
                    tool,
                    f"{run.states:,}",
                    run.failure or seconds(run.total),
                    "" if run.failure else ratio(run.total, ours.total),
                    "" if run.failure else f"{relative_error(run, truth):.0e}",
                ]
            )
    part = chains.write("right part", folder)
    ours = run_worker("ours-exact", part, "target", "time", repeat=3)
    sympy = run_worker("sympy", part, "target", "time", repeat=3, limit=60)
    rows.append(
        ["right part, exact", "ours", f"{ours.states:,}", seconds(ours.stages["solve"]), "1x", "0"]
    )
    rows.append(
        [
            "right part, exact",
            "sympy lu_solve",
            f"{sympy.states:,}",
            sympy.failure or seconds(sympy.total),
            "" if sympy.failure else ratio(sympy.total, ours.stages["solve"]),
            "0" if sympy.value == ours.value else "DIFFERENT",
        ]
    )
    yield Section(
        "PyDTMC, QuantEcon and sympy",
        ["chain", "tool", "states", "build + solve", "ratio", "error"],
        rows,
        "PyDTMC and QuantEcon run in an environment of their own on a dense matrix "
        "(their states differ: all target states are one). QuantEcon has no hitting "
        "times; its stationary distribution of the restarted chain gives them.",
    )


def _one_target(chain: MarkovChain) -> MarkovChain:
    """Merge the target states into one, the last, and let the start be the first."""
    import numpy as np

    from markov_lrsao.chains.sources import chain_from_rows

    target = chain.labelled("target")
    number = np.cumsum(~target) - 1
    number[target] = int((~target).sum())
    rows: list[dict[int, fmpq]] = []
    for i in np.flatnonzero(~target).tolist():
        row: dict[int, fmpq] = {}
        for j, p in chain.row(i):
            at = int(number[j])
            row[at] = p + row.get(at, fmpq(0))
        rows.append(row)
    return chain_from_rows([*rows, {len(rows): fmpq(1)}])


def large(folder: Path, quick: bool) -> Sections:
    """Return n = 12 in floats, crossing counts, growth exponents."""
    n = 10 if quick else 12
    run = run_worker("enumerate", n, "unmerged", "float", repeat=1)
    rows = [
        [
            f"n = {n}, unmerged, floats",
            f"{run.states:,}",
            seconds(run.stages["build"]),
            seconds(run.stages["solve"]),
            f"{run.memory / _GIBIBYTE:.2f} GiB",
        ]
    ]
    derived = run_worker("derive", 1000, 2, repeat=1 if quick else 5)
    rows.append(["patterns derived from the update rule", "", "", seconds(derived.total), ""])
    asked = [(size, kind, 3) for size in (11, 100, 1000, 10_000) for kind in ("float", "exact")]
    asked += [(100_000, "exact", 3), (1_000_000, "50", 1), (1_000_000, "exact", 1)]
    for size, kind, repeat in [(10, "float", 1), (10, "exact", 1)] if quick else asked:
        crossing = run_worker("crossing", size, 2, kind, repeat=repeat)
        name = f"{kind} certified digits" if kind.isdigit() else kind
        rows.append(
            [
                f"n = {size:,}, crossing counts, {name}",
                f"{crossing.states:,}",
                "",
                crossing.failure or seconds(crossing.stages["solve"]),
                f"{crossing.memory / _GIBIBYTE:.2f} GiB",
            ]
        )
    yield Section(
        "Large instances (l = 2): the joint chain in floats, and crossing counts",
        ["instance", "states", "enumerate", "solve", "peak memory"],
        rows,
        "Crossing counts give the same rational number as the joint chain without enumerating "
        "it; deriving the patterns takes the same time at any n. The largest joint chain that "
        "Storm's exact engine was given here is n = 11. Exact times include the exact variance, "
        "up to n = 100,000.",
    )
    yield from _growth(folder, run, quick)


def _growth(folder: Path, twelve: Run, quick: bool) -> Sections:
    """Growth of time in n, and crossing counts against the largest chain given to Storm."""
    sizes = [100, 1000] if quick else [1000, 10_000, 100_000, 1_000_000]
    runs = [run_worker("crossing", size, 2, "float", repeat=1 if quick else 3) for size in sizes]
    if any(run.failure for run in runs):
        yield Section("Growth", ["failed"], [[run.failure] for run in runs if run.failure])
        return
    constant = runs[0].total
    pairs = [
        (math.log(size), math.log(run.total - constant))
        for size, run in zip(sizes[1:], runs[1:], strict=True)
        if run.total > 1.3 * constant
    ]
    rows = [[f"n = {size:,}", seconds(run.total)] for size, run in zip(sizes, runs, strict=True)]
    if len(pairs) >= 2:
        (x0, y0), (x1, y1) = pairs[0], pairs[-1]
        rows.append(["fitted exponent beyond the constant part", f"n^{(y1 - y0) / (x1 - x0):.2f}"])
    elif pairs:
        rows.append(
            ["time per position at the largest n", seconds((runs[-1].total - constant) / sizes[-1])]
        )
    yield Section(
        "Crossing counts in floats: time over n (l = 2)",
        ["n", "time"],
        rows,
        "The constant part, about the time at n = 1000, is deriving and merging patterns and the "
        "blocks; what is beyond it is fitted where it is noticeable.",
    )
    if _storm_absent():
        return
    name = list(chains.OWN)[0 if quick else -1]
    n, merge = chains.OWN[name]
    storm = run_worker("storm-exact", chains.write(name, folder), "target", "time", repeat=1)
    ours = run_worker("crossing", n, 2, "exact", repeat=1 if quick else 3)
    rows = [
        [
            name,
            f"{storm.states:,}",
            seconds(storm.total),
            seconds(ours.total),
            ratio(storm.total, ours.total),
        ]
    ]
    if not quick:
        smaller = run_worker("enumerate", n, "merged" if merge else "unmerged", "exact", repeat=1)
        rows.append(
            [
                f"states per further site: x {twelve.states / smaller.states:.2f}",
                f"{twelve.states:,}",
                "",
                "",
                "",
            ]
        )
    yield Section(
        "Crossing counts against Storm's exact engine",
        ["chain", "states", "Storm: load + solve", "crossing counts, with variances", "ratio"],
        rows,
        "Both give the same E[T]; crossing counts also give the phases and all variances.",
    )


def simulation(folder: Path, quick: bool) -> Sections:
    """Event kernel against step kernel, one thread, per run."""
    rows = []
    for n in (100,) if quick else (100, 1000, 10_000):
        event = run_worker("simulate", n, 2, "event", 200, repeat=1 if quick else 5)
        step = run_worker("simulate", n, 2, "step", max(2, 20_000 // n), repeat=1 if quick else 3)
        if event.failure or step.failure:
            rows.append([f"n = {n}", event.failure or "", step.failure or "", ""])
            continue
        rows.append(
            [f"n = {n}", seconds(event.total), seconds(step.total), ratio(step.total, event.total)]
        )
    yield Section(
        "Simulation (l = 2): event kernel against step kernel, per run on one core",
        ["instance", "event kernel", "step kernel", "ratio"],
        rows,
    )
    for table in (events.growth, events.arithmetics, events.objectives):
        yield table(quick)


SECTIONS: dict[str, Callable[[Path, bool], Sections]] = {
    "exact": exact,
    "enumeration": enumeration,
    "floats": floats,
    "others": others,
    "solving": solving,
    "stiff": stiff,
    "peers": peers,
    "large": large,
    "simulation": simulation,
}
