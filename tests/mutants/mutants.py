"""Small mutants of the code, drawn by a seed, and the tests that must notice them.

A mutant changes one token: a comparison, a sign, a constant, a guard, the end of an interval.
Mutants are drawn once, per group of modules, and stay in `drawn/GROUP.json`; more are drawn
than needed, and one whose line is gone is replaced by the next. A mutant runs the tests that
`groups/GROUP.toml` maps to its module, two minutes at most, in a copy of the tree.

    python tests/mutants/mutants.py draw             # once: a seeded list per group
    python tests/mutants/mutants.py run --group exchange --jobs 1 [--survivors] [--only ID ..]
    python tests/mutants/mutants.py table            # tests/mutants/table.md from all results

`groups/GROUP.toml` has `files`, `tests` (module -> test paths; "default" for the others) and
`equivalent` (mutant -> the reason why nobody can see it). A mutant that runs into the limit of
time counts as noticed only if the same tests pass without it in half of that time.
"""

from __future__ import annotations

import argparse
import ast
import csv
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = ["Mutant", "apply", "draw", "mutants_of", "run", "table"]

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SEED = 20_261_116
PER_GROUP = 25
DRAWN = 75
LIMIT = 120.0
"""Seconds of processor time of a mutant's tests; of the clock ten times as many."""
COPIED = (
    "markov_lrsao",
    "simulate",
    "proofs_check",
    "tests",
    "docs",
    "examples",
    "benchmarks",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
)
COLUMNS = ("id", "outcome", "seconds", "by", "where", "line", "old", "new")

COMPARED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: (" in ", " not in "),
    ast.NotIn: (" not in ", " in "),
    ast.Is: (" is ", " is not "),
    ast.IsNot: (" is not ", " is "),
}
COMPUTED: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "+"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.Pow: ("**", "*"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
SWAPPED = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "floor": "ceil",
    "ceil": "floor",
    "minimum": "maximum",
    "maximum": "minimum",
    "isfinite": "isnan",
    "lower": "upper",
    "upper": "lower",
    "low": "high",
    "high": "low",
}


@dataclass(frozen=True)
class Mutant:
    """One change: in function `where` of `file`, the given line (its `which`-th occurrence)."""

    group: str
    file: str
    where: str
    line: str
    which: int
    column: int
    old: str
    new: str

    @property
    def id(self) -> str:
        """Return a name that survives changes elsewhere in the file."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:8]


def _between(lines: list[str], left: ast.expr, right: ast.expr, text: str) -> tuple[int, int]:
    """Return row and column of an operator between two nodes; (-1, -1): not there."""
    first, last = (left.end_lineno or 0) - 1, right.lineno - 1
    for row in range(first, last + 1):
        begin = (left.end_col_offset or 0) - text.startswith(" ") if row == first else 0
        found = lines[row].find(text, begin, right.col_offset if row == last else None)
        if found >= 0:
            return row, found
    return -1, -1


def _changes(node: ast.AST, lines: list[str]) -> Iterator[tuple[int, int, str, str]]:
    """Yield row, column, old and new text of the changes of one node."""
    if isinstance(node, ast.Compare):
        for left, op, right in zip(
            [node.left, *node.comparators], node.ops, node.comparators, strict=False
        ):
            old, new = COMPARED[type(op)]
            yield (*_between(lines, left, right, old), old, new)
    elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        old, new = COMPUTED[type(node.op)]
        yield (*_between(lines, node.left, node.right, old), old, new)
    elif isinstance(node, ast.BoolOp):
        old, new = (" and ", " or ") if isinstance(node.op, ast.And) else (" or ", " and ")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield (*_between(lines, left, right, old), old, new)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        old = "not " if isinstance(node.op, ast.Not) else "-"
        yield node.lineno - 1, node.col_offset, old, ""
    elif isinstance(node, ast.Constant) and not isinstance(node.value, str | bytes | None):
        old = ast.get_source_segment("\n".join(lines), node) or ""
        if isinstance(node.value, bool):
            yield node.lineno - 1, node.col_offset, old, str(not node.value)
        elif isinstance(node.value, int):
            yield node.lineno - 1, node.col_offset, old, str(node.value + 1)
        elif isinstance(node.value, float):
            yield node.lineno - 1, node.col_offset, old, repr(node.value / 2)
    elif isinstance(node, ast.If | ast.While) and node.test.lineno == node.test.end_lineno:
        old = ast.get_source_segment("\n".join(lines), node.test) or ""
        yield node.test.lineno - 1, node.test.col_offset, old, "False"
        if isinstance(node, ast.If):
            yield node.test.lineno - 1, node.test.col_offset, old, "True"
    elif isinstance(node, ast.AugAssign) and type(node.op) in (ast.Add, ast.Sub):
        old, new = ("+=", "-=") if isinstance(node.op, ast.Add) else ("-=", "+=")
        row = node.lineno - 1
        yield row, lines[row].find(old, node.target.end_col_offset or 0), old, new
    elif isinstance(node, ast.Attribute) and node.attr in SWAPPED and node.end_col_offset:
        yield (
            (node.end_lineno or 0) - 1,
            node.end_col_offset - len(node.attr),
            node.attr,
            SWAPPED[node.attr],
        )
    elif isinstance(node, ast.Name) and node.id in SWAPPED and isinstance(node.ctx, ast.Load):
        yield node.lineno - 1, node.col_offset, node.id, SWAPPED[node.id]


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    def visit(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                yield prefix + child.name, child
            elif isinstance(child, ast.ClassDef):
                yield from visit(child, f"{prefix}{child.name}.")

    yield from visit(tree, "")


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes whose change can matter: no annotations, messages or decorators."""
    yield node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list") or isinstance(
            node, ast.JoinedStr | ast.Raise
        ):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _inside(child)


def mutants_of(group: str, file: str, source: str) -> list[Mutant]:
    """Return all mutants of a module, in the order of the text."""
    lines = source.split("\n")
    found: dict[Mutant, None] = {}
    for where, function in _functions(ast.parse(source)):
        first = function.lineno - 1
        for node in _inside(function):
            for row, column, old, new in _changes(node, lines):
                # Columns of `ast` count bytes; lines beyond ASCII are left out.
                if column < 0 or not lines[row].isascii() or not lines[row].startswith(old, column):
                    continue
                line = lines[row].strip()
                which = sum(other.strip() == line for other in lines[first:row])
                indent = len(lines[row]) - len(lines[row].lstrip())
                found[Mutant(group, file, where, line, which, column - indent, old, new)] = None
    return list(found)


def apply(mutant: Mutant, source: str) -> str | None:
    """Return the changed source; None where the line is not there any more."""
    lines = source.split("\n")
    function = dict(_functions(ast.parse(source))).get(mutant.where)
    if function is None:
        return None
    rows = [
        row
        for row in range(function.lineno - 1, function.end_lineno or 0)
        if lines[row].strip() == mutant.line
    ]
    if len(rows) <= mutant.which:
        return None
    text = lines[rows[mutant.which]]
    column = len(text) - len(text.lstrip()) + mutant.column
    lines[rows[mutant.which]] = text[:column] + mutant.new + text[column + len(mutant.old) :]
    return "\n".join(lines)


def _group(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / "groups" / f"{name}.toml").read_text(encoding="utf-8"))


def _groups() -> list[str]:
    return sorted(path.stem for path in (HERE / "groups").glob("*.toml"))


def draw() -> None:
    """Draw the mutants of all groups by the seed, and keep the lists."""
    for name in _groups():
        every = [
            mutant
            for file in _group(name)["files"]
            for mutant in mutants_of(name, file, (ROOT / file).read_text(encoding="utf-8"))
        ]
        chosen = random.Random(f"{SEED} {name}").sample(every, min(DRAWN, len(every)))
        path = HERE / "drawn" / f"{name}.json"
        path.write_text(json.dumps([asdict(m) for m in chosen], indent=1) + "\n", encoding="utf-8")
        print(f"{name}: {len(chosen)} of {len(every)}")


def chosen_mutants(name: str) -> list[tuple[Mutant, str]]:
    """Return the first PER_GROUP drawn mutants whose line is still there, with their sources."""
    drawn = json.loads((HERE / "drawn" / f"{name}.json").read_text(encoding="utf-8"))
    result: list[tuple[Mutant, str]] = []
    for mutant in (Mutant(**data) for data in drawn):
        path = ROOT / mutant.file
        changed = apply(mutant, path.read_text(encoding="utf-8")) if path.exists() else None
        if changed is not None and len(result) < PER_GROUP:
            result.append((mutant, changed))
    return result


def _tests(name: str, file: str) -> list[str]:
    tests: dict[str, list[str]] = _group(name)["tests"]
    return tests.get(file, tests["default"])


class _Copy:
    """A copy of the tree, in which one mutant at a time lives."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="mutant-"))
        for entry in COPIED:
            source = ROOT / entry
            if source.is_dir():
                shutil.copytree(
                    source, self.root / entry, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                shutil.copy2(source, self.root / entry)

    def test(self, tests: list[str]) -> tuple[str, float, str]:
        """Return outcome (survived, killed, timeout), seconds and the test that noticed."""
        cache = self.root / "kernels"
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.root),
            "NUMBA_CACHE_DIR": str(cache),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        began = time.perf_counter()
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "pytest",
                "-x",
                "-q",
                "--no-header",
                "--tb=no",
                "-p",
                "no:cacheprovider",
                *tests,
            ],
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=_limit,
        )
        try:
            output, _ = process.communicate(timeout=10 * LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "timeout", LIMIT, ""
        seconds = time.perf_counter() - began
        if process.returncode == 0:
            return "survived", seconds, ""
        if process.returncode == -signal.SIGXCPU:
            return "timeout", LIMIT, ""
        if process.returncode not in (1, 2):
            raise RuntimeError(f"pytest ended with {process.returncode}:\n{output}")
        failed = [
            line.split(" - ")[0].split(" ", 1)[1]
            for line in output.splitlines()
            if line.startswith(("FAILED", "ERROR"))
        ]
        return "killed", seconds, failed[0] if failed else "collection"

    def close(self) -> None:
        shutil.rmtree(self.root)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(LIMIT), int(LIMIT) + 10))


def run(name: str, jobs: int, only: list[str], survivors: bool) -> list[str]:
    """Run a group's mutants, write `results/GROUP.csv`, return the survivors without a reason."""
    path = HERE / "results" / f"{name}.csv"
    old = {}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as stream:
            old = {row["id"]: row for row in csv.DictReader(stream)}
    mutants = chosen_mutants(name)
    equivalent = _group(name).get("equivalent", {})
    wanted = [
        (m, s)
        for m, s in mutants
        if (not only or m.id in only)
        and (
            not survivors
            or old.get(m.id, {}).get("outcome", "survived") not in ("killed", "timeout")
        )
    ]
    copies = threading.local()
    made: list[_Copy] = []
    lock = threading.Lock()

    def copy() -> _Copy:
        if not hasattr(copies, "copy"):
            copies.copy = _Copy()
            with lock:
                made.append(copies.copy)
        return copies.copy  # type: ignore[no-any-return]

    def one(item: tuple[Mutant, str]) -> None:
        mutant, changed = item
        here = copy()
        target = here.root / mutant.file
        original = target.read_text(encoding="utf-8")
        target.write_text(changed, encoding="utf-8")
        try:
            outcome, seconds, by = here.test(_tests(name, mutant.file))
        finally:
            target.write_text(original, encoding="utf-8")
        if outcome == "survived" and mutant.id in equivalent:
            outcome = "equivalent"
        values = (
            mutant.id,
            outcome,
            f"{seconds:.0f}",
            by,
            f"{mutant.file}:{mutant.where}",
            mutant.line,
            mutant.old,
            mutant.new,
        )
        with lock:
            old[mutant.id] = dict(zip(COLUMNS, values, strict=True))
            _write(path, [old[m.id] for m, _ in mutants if m.id in old])
            print(*values[:5], f"{mutant.line!r}: {mutant.old!r} -> {mutant.new!r}", flush=True)

    try:
        for tests in {tuple(_tests(name, m.file)) for m, _ in wanted}:
            outcome, seconds, by = copy().test(list(tests))
            print(
                f"without a mutant: {outcome} {by} in {seconds:.0f} s: {' '.join(tests)}",
                flush=True,
            )
            if outcome != "survived":
                raise SystemExit("the tests must pass without a mutant")
            if seconds > LIMIT / 2:
                print("these tests are too slow to be mapped to a module", flush=True)
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(one, wanted))
    finally:
        for each in made:
            each.close()
    return [m.id for m, _ in mutants if old.get(m.id, {}).get("outcome") == "survived"]


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def table() -> None:
    """Write table.md: every mutant, its outcome, the test that noticed it."""
    text = [
        "# Mutants and the tests that notice them",
        "",
        f"Seed {SEED}; the first {PER_GROUP} of each group whose line still stands."
        " Made by `python tests/mutants/mutants.py table`.",
        "",
    ]
    parts = []
    summary = [
        "| group | mutants | killed | timeout | equivalent | survived |",
        "|---|" + "---:|" * 5,
    ]
    for name in _groups():
        path = HERE / "results" / f"{name}.csv"
        if not path.exists():
            continue
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        counts = [
            sum(row["outcome"] == kind for row in rows)
            for kind in ("killed", "timeout", "equivalent", "survived")
        ]
        summary.append(f"| {name} | {len(rows)} | " + " | ".join(map(str, counts)) + " |")
        equivalent = _group(name).get("equivalent", {})
        parts += [
            "",
            f"## {name}",
            "",
            "| mutant | where | change | outcome | by, or why not |",
            "|---|---|---|---|---|",
        ]
        for row in rows:
            change = f"`{row['line']}`: `{row['old'].strip()}` -> `{row['new'].strip()}`"
            by = equivalent.get(row["id"], row["by"])
            parts.append(
                f"| {row['id']} | {row['where']} | {change.replace('|', '&#124;')} "
                f"| {row['outcome']} | {by} |"
            )
    (HERE / "table.md").write_text("\n".join(text + summary + parts) + "\n", encoding="utf-8")


def main() -> None:
    """Draw, run, or tabulate."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("what", choices=["draw", "run", "table"])
    parser.add_argument("--group", choices=_groups(), action="append")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[], metavar="ID")
    parser.add_argument("--survivors", action="store_true", help="only those not noticed so far")
    options = parser.parse_args()
    if options.what == "draw":
        draw()
    elif options.what == "table":
        table()
    else:
        left = {
            name: run(name, options.jobs, options.only, options.survivors)
            for name in options.group or _groups()
        }
        print("survivors:", {name: ids for name, ids in left.items() if ids} or "none")


if __name__ == "__main__":
    main()
