"""The folder: index, files, verdicts, and what is printed."""

from __future__ import annotations

import argparse
import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .automata import check_automata, check_graph
from .basics import Failure, Unreadable, load, need, reachable
from .chains import check_chain, check_closed, check_symbolic, check_values
from .points import check_point
from .potentials import check_potential
from .queries import check_queries
from .report import Report
from .runs import check_run

__all__ = ["CHECKS", "check_folder", "main"]

SCHEMA = "markov-lrsao certificates 1"
CHECKS = {
    "automata": check_automata,
    "graph": check_graph,
    "chain": check_chain,
    "values": check_values,
    "symbolic chain": check_symbolic,
    "closed form": check_closed,
    "potential": check_potential,
    "point": check_point,
    "run": check_run,
}


def check_file(folder: Path, path: str, files: Any, report: Report) -> str:
    """Check one file; return "confirmed", "not re-checked" or "fails"."""
    about, place = files[path], folder / path
    try:
        need(folder.resolve() in place.resolve().parents, "outside the folder")
        need(place.is_file(), "missing")
        digest = hashlib.sha256(place.read_bytes()).hexdigest()
        same = digest == about["sha256"]
        if about["kind"] == "queries":
            need(same, "not the SHA-256 of the index")
            whole = check_queries(folder, path, about, report)
            return "confirmed" if whole else "not re-checked"
        document = load(place)  # a file that cannot be read says so before its digest does
        need(same, "not the SHA-256 of the index")
        need(document["kind"] == about["kind"], "of another kind than the index says")
        CHECKS[document["kind"]](folder, document, files)
        return "confirmed"
    except (KeyError, TypeError, AttributeError) as error:
        raise Unreadable(f"{path}: {type(error).__name__}: {error}") from None
    except (Failure, ValueError, IndexError, ArithmeticError) as error:
        report.fail(path, error)
        return "fails"


def check_index(folder: Path, index: Any, report: Report) -> None:
    """Check that the index is whole: names, files, dependencies, verdicts."""
    if index["schema"] != SCHEMA:
        raise Unreadable(f"index.json: schema {index['schema']!r}, {SCHEMA!r} expected")
    files, artefacts = index["files"], {a["name"]: a for a in index["artefacts"]}
    there = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    for path in sorted(there - set(files) - {"index.json"}):
        report.fail(path, "is not in the index")
    if len(artefacts) != len(index["artefacts"]):
        report.fail("index.json", "two artefacts of one name")
    named: set[str] = set()
    for artefact in artefacts.values():
        named |= set(artefact["files"])
        for other in artefact["leans_on"]:
            if other not in artefacts:
                report.fail(artefact["name"], f"leans on {other}, which is not there")
    for entry in index["statements"]:
        for evidence in entry["evidence"]:
            named |= set(evidence["files"])
            for other in evidence["artefacts"]:
                if other not in artefacts:
                    report.fail(entry["statement"], f"leans on {other}, which is not there")
            answers = [files.get(p, {}).get("expected", {}) for p in files_of([evidence], index)]
            solved = evidence["verdict"] == "PROVED" and evidence["kind"] in ("smt", "automata")
            if solved and not any(expected.get("unsat") for expected in answers):
                report.fail(entry["statement"], "PROVED by a solver, but without a query")
        check_verdict(entry, report)
    for path in sorted(named ^ set(files)):
        report.fail(path, "is named and not listed, or listed and not named")


_WIDE = {
    "sizes": ("any landscape", "all valid n, l"),
    "hyper_parameters": ("all alpha, gamma in (0, 1), r > 0", "all of (H)"),
}


def covers(scope: Any, claimed: Any) -> bool:
    """Return whether a scope reaches what is claimed: equal, wider, or nothing to speak of."""
    for key, wide in _WIDE.items():
        mine, other = scope[key], claimed[key]
        within = mine in wide and (other not in wide or wide.index(mine) <= wide.index(other))
        if not mine or not (within or mine == other or "-" in (mine, other)):
            return False
    return True


def check_verdict(entry: Any, report: Report) -> None:
    """Check that a verdict is not better than the evidence on its weakest part."""
    judged = [e for e in entry["evidence"] if e["kind"] != "lines" and not idle(e)]
    parts: dict[str, list[str]] = {}
    for evidence in judged or entry["evidence"]:
        proves = evidence["verdict"] != "PROVED" or covers(evidence["scope"], entry["scope"])
        found = parts.setdefault(evidence["part"], [])
        found.append(evidence["verdict"] if proves else "VERIFIED")
    proved = all("PROVED" in found and "REFUTED" not in found for found in parts.values())
    if entry["verdict"] == "PROVED" and not (parts and proved):
        report.fail(entry["statement"], "PROVED, but some part of it is not")
    if (entry["verdict"] == "REFUTED") != any("REFUTED" in found for found in parts.values()):
        report.fail(entry["statement"], "REFUTED, or not, against its evidence")


def idle(evidence: Any) -> bool:
    """Return whether evidence is of random runs that could not be made."""
    return bool(
        evidence["kind"] == "statistical"
        and evidence["verdict"] == "UNKNOWN"
        and not evidence["part"]
    )


def files_of(evidence: Any, index: Any) -> set[str]:
    """Return all files that pieces of evidence rest on."""
    artefacts = {a["name"]: a for a in index["artefacts"]}
    onward = {name: a["leans_on"] for name, a in artefacts.items()}
    used = reachable(onward, [a for e in evidence for a in e["artefacts"]])
    found = {path for e in evidence for path in e["files"]}
    return found.union(*(artefacts[name]["files"] for name in used if name in artefacts))


def check_folder(folder: Path, report: Report) -> list[str]:
    """Check everything in a folder; return the lines to print."""
    index = load(folder / "index.json")
    try:
        check_index(folder, index, report)
        for path in index["files"]:
            report.state[path] = check_file(folder, path, index["files"], report)
        lines = []
        for entry in index["statements"]:
            count = Counter(
                report.state.get(p, "fails") for p in files_of(entry["evidence"], index)
            )
            words = ", ".join(f"{number} {state}" for state, number in sorted(count.items()))
            missing = set(entry["dependencies"]) - {e["statement"] for e in index["statements"]}
            note = f"; not in this folder: {', '.join(sorted(missing))}" if missing else ""
            lines.append(
                f"{entry['statement']}: {entry['verdict']}; files: {words or 'none'}{note}"
            )
    except (KeyError, TypeError, AttributeError) as error:
        raise Unreadable(f"index.json: {type(error).__name__}: {error}") from None
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a folder and print what was found."""
    parser = argparse.ArgumentParser(
        prog="python -m proofs_check.checker", description="Check a folder of certificates."
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--solver",
        action="append",
        default=[],
        metavar="COMMAND",
        help='what answers an SMT-LIB file, e.g. "z3 -smt2"; may be given several times',
    )
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds per file and solver")
    parser.add_argument("--all", action="store_true", help="1 if anything is not re-checked")
    options = parser.parse_args(arguments)
    report = Report(options.solver, options.timeout)
    try:
        lines = check_folder(options.folder, report)
    except Unreadable as error:
        print(f"unreadable: {error}")
        return 2
    print("\n".join(lines))
    kinds = Counter(report.state.values())
    print("files: " + ", ".join(f"{count} {what}" for what, count in kinds.items()))
    words = ("confirmed", "not re-checked", "of no evidence")
    print("queries: " + ", ".join(f"{report.queries[word]:,} {word}" for word in words))
    for line in report.failures:
        print(f"FAILS {line}")
    return 1 if report.failures or (options.all and report.queries["not re-checked"]) else 0
