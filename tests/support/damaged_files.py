"""Damaged files of every format, and what the command line makes of them.

Each case takes a good file, damages it by a seed, and runs a command on it in this process. It
must end in one line and exit code 2, or in an answer that an independent reader of the damaged
file (written here, or of another library) and an independent solver confirm.

    python tests/support/damaged_files.py FIRST COUNT    # a JSON table; exit code 1 on a failure
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import scipy.io

SECONDS = 10
MEMORY = 2 * 2**30


@dataclass
class View:
    """What an independent reader sees: rows of floats, start, target, and what steps earn."""

    rows: dict[int, dict[int, float]]
    start: list[int]
    target: set[int]
    earned: Callable[[int, int], float] = field(default=lambda i, j: 1.0)


def number(text: str) -> float:
    return float(Fraction(text.strip()))


DRN = """@type: DTMC
@value_type: rational
@parameters

@reward_models
fuel
@nr_states
5
@nr_choices
5
@model
state 0 [1] init
\taction 0
\t\t1 : 1/2
\t\t2 : 1/2
state 1 [2] "half way"
\taction 0
\t\t0 : 1/4
\t\t3 : 3/4
state 2 [0]
\taction 0
\t\t2 : 1/3
\t\t3 : 1/3
\t\t4 : 1/3
state 3 [5] goal
\taction 0
\t\t3 : 1
state 4 [0]
\taction 0
\t\t4 : 1
"""
TRA = "5 8\n0 1 0.5\n0 2 0.5\n1 0 0.25\n1 3 0.75\n2 2 0.3\n2 3 0.7\n3 3 1\n4 4 1\n"
LAB = '# labels\n0="init" 1="deadlock" 2="goal" 3="half way"\n0: 0\n1: 3\n3: 2\n'
SREW = '# Reward structure "fuel"\n# State rewards\n5 3\n0 1\n1 2\n3 5\n'
TREW = '# Reward structure "fuel"\n# Transition rewards\n5 2\n0 1 3\n1 0 0.5\n'
MTX = (
    '%%MatrixMarket matrix coordinate real general\n% start: 1\n% label "goal": 4\n5 5 9\n'
    "1 2 0.5\n1 3 0.5\n2 1 0.25\n2 4 0.75\n3 3 0.25\n3 4 0.25\n3 5 0.5\n4 4 1.0\n5 5 1.0\n"
)
JSON = """{"format": "markov chain", "version": 1, "states": 5, "start": [0],
 "labels": {"goal": [3]}, "positions": [0, 1, 2, 3, 4], "names": ["0", "a", "b", "c", "d"],
 "rewards": {"fuel": ["1", "2", "0", "5", "0"]},
 "rows": [
  [[1, "1/2"], [2, "1/2"]],
  [[0, "1/4"], [3, "3/4"]],
  [[2, "1/3"], [3, "1/3"], [4, "1/3"]],
  [[3, "1"]],
  [[4, "1"]]
 ]}
"""
LANDSCAPE = """{"objectives": {"A": [0, 1, 2, 1, 3, 4], "B": [4, 3, 2, 1, 0, 0]},
 "target": "A", "name": "small"}
"""


def graphml() -> str:
    graph = nx.DiGraph()
    for i, j, p in (
        (0, 1, 0.5),
        (0, 2, 0.5),
        (1, 0, 0.25),
        (1, 3, 0.75),
        (2, 2, 0.25),
        (2, 3, 0.25),
        (2, 4, 0.5),
        (3, 3, 1.0),
        (4, 4, 1.0),
    ):
        graph.add_edge(i, j, probability=p)
    graph.nodes[0]["start"] = True
    graph.nodes[3]["labels"] = "goal"
    return "\n".join(nx.generate_graphml(graph)) + "\n"


FILES: dict[str, dict[str, str]] = {
    "drn": {"x.drn": DRN},
    "prism": {"x.tra": TRA, "x.lab": LAB, "x.srew": SREW, "x.trew": TREW},
    "storm": {
        "x.tra": "dtmc\n" + TRA.split("\n", 1)[1],
        "x.lab": "#DECLARATION\ninit goal\n#END\n0 init\n3 goal\n",
        "x.state.rew": "0 1\n1 2\n3 5\n",
        "x.trans.rew": "0 1 3\n1 0 0.5\n",
    },
    "matrix-market": {"x.mtx": MTX},
    "graphml": {"x.graphml": graphml()},
    "json": {"x.json": JSON},
    "landscape": {"x.json": LANDSCAPE},
    "gzip": {"x.drn.gz": DRN},
}
REWARDS = {"drn": "fuel", "prism": "fuel", "storm": "reward", "json": "fuel", "gzip": "fuel"}

NASTY = [
    "-1",
    "0",
    "1/0",
    "nan",
    "inf",
    "1e-399",
    "1e400",
    "1e999999",
    "9" * 19,
    "9" * 5000,
    "0x10",
    "٣",
    "1_0",
    "+1",
    "1e0",
    "0.3333333333",
    "1/3",
    ".5",
    "5.",
    "²",
    "\x1b[31m",
    "\u202e",
    "\x00",
    '"',
    "'",
    "#",
    "%",
    "\\u0000",
    "\\ud800",
    "{",
    "]]",
    "<",
    "&amp;",
    "1e-5",
    "00",
    "1.0000001",
    "0.9999999",
    "true",
    "null",
]


def damage(text: str, rng: random.Random) -> tuple[str, bytes]:
    """Return how a text was damaged, and the result."""
    kind = rng.choice(
        [
            "cut",
            "byte",
            "bits",
            "insert",
            "drop",
            "line lost",
            "line twice",
            "lines swapped",
            "number",
            "nasty",
            "word twice",
            "counts",
            "blank",
            "ends",
            "long",
        ]
    )
    data, at = text.encode(), rng.randrange(len(text.encode()) + 1)
    lines = text.split("\n")
    k, m = rng.randrange(len(lines)), rng.randrange(len(lines))
    numbers = list(re.finditer(r"[0-9]+", text))
    spot = rng.choice(numbers)
    if kind == "cut":
        return kind, data[:at]
    if kind == "byte":
        return kind, data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    if kind == "bits":
        at = min(at, len(data) - 1)
        return kind, data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
    if kind == "insert":
        return kind, data[:at] + rng.choice(NASTY).encode() + data[at:]
    if kind == "drop":
        return kind, data[:at] + data[at + rng.randrange(1, 9) :]
    if kind == "line lost":
        del lines[k]
    elif kind == "line twice":
        lines.insert(m, lines[k])
    elif kind == "lines swapped":
        lines[k], lines[m] = lines[m], lines[k]
    elif kind in ("number", "counts"):
        if kind == "counts":
            spot = numbers[rng.randrange(min(4, len(numbers)))]
        new = str(int(spot[0]) + rng.choice([-1, 1, 2, 10**6, 10**17]))
        return kind, (text[: spot.start()] + new + text[spot.end() :]).encode()
    elif kind == "nasty":
        return kind, (text[: spot.start()] + rng.choice(NASTY) + text[spot.end() :]).encode()
    elif kind == "word twice":
        words = re.split(r"(\s+)", text)
        i = rng.randrange(len(words))
        words[i] = words[i] * 2 if rng.random() < 0.5 else f"{words[i]} {words[i]}"
        return kind, "".join(words).encode()
    elif kind == "blank":
        lines.insert(k, rng.choice(["", " ", "\t", "# x", "// x", "% x", "<!-- x -->"]))
    elif kind == "ends":
        return kind, rng.choice(
            [
                text.replace("\n", "\r\n"),
                text.replace("\n", "\r"),
                "\ufeff" + text,
                text + "\x1a",
                text.replace(" ", "\u00a0"),
                text.rstrip("\n"),
            ]
        ).encode()
    else:
        lines[k] += rng.choice([" ", "9", "a", "[", "\x00"]) * rng.choice([1, 100, 10**5, 10**6])
    return kind, "\n".join(lines).encode()


def view_drn(files: dict[str, str]) -> View:
    rows: dict[int, dict[int, float]] = {}
    earned: dict[int, float] = {}
    start, target, at = [], set(), -1
    text = next(iter(files.values()))
    held = dict(re.findall(r"^(\$\S+) : (\S+)", text, re.M))
    for line in text.replace("\r\n", "\n").split("\n@model", 1)[1].split("\n"):
        state = re.fullmatch(r"\s*state ([0-9]+)(?: \[([^\]]*)\])?(.*)", line)
        move = re.fullmatch(r"[ \t]*([0-9]+) : (\S+)\s*", line)
        action = re.fullmatch(r"\s*action \S+ \[([^\]]*)\]\s*", line)
        if state:
            at = int(state[1])
            rows[at] = {}
            earned[at] = number(state[2]) if state[2] else 0.0
            labels = re.findall(r'"([^"]*)"|(\S+)', state[3])
            words = [a or b for a, b in labels]
            start += [at] if "init" in words else []
            target |= {at} if "goal" in words else set()
        elif action:
            earned[at] += number(action[1])
        elif move:
            rows[at][int(move[1])] = number(held.get(move[2]) or move[2])
    return View(rows, start, target, lambda i, j: earned[i])


def table(text: str) -> list[list[str]]:
    return [
        line.split()
        for line in text.replace("\r\n", "\n").split("\n")
        if line.strip() and not line.strip().startswith("#")
    ]


def view_prism(files: dict[str, str]) -> View:
    rows: dict[int, dict[int, float]] = {}
    storm = files["x.tra"].split()[0] == "dtmc" or "state.rew" in " ".join(files)
    for i, j, p, *_ in table(files["x.tra"])[1:]:
        rows.setdefault(int(i), {})[int(j)] = number(p)
    start: list[int] = []
    target: set[int] = set()
    if storm:
        for i, *names in table(files["x.lab"].split("#END")[1]):
            start += [int(i)] if "init" in names else []
            target |= {int(i)} if "goal" in names else set()
    else:
        lines = [
            line
            for line in files["x.lab"].split("\n")
            if line.strip() and not line.strip().startswith("#")
        ]
        numbered = {name: k for k, name in re.findall(r'([0-9]+)="([^"]+)"', lines[0])}
        for line in lines[1:]:
            i, numbers = line.split(":")
            known = {int(k) for k in numbers.split()}
            start += [int(i)] if int(numbered.get("init", -1)) in known else []
            target |= {int(i)} if int(numbered.get("goal", -1)) in known else set()
    first = 0 if storm else 1
    states = {
        int(i): number(r) for i, r in table(files["x.state.rew" if storm else "x.srew"])[first:]
    }
    moves = {
        (int(i), int(j)): number(r)
        for i, j, r, *_ in table(files["x.trans.rew" if storm else "x.trew"])[first:]
    }
    return View(rows, start, target, lambda i, j: states.get(i, 0.0) + moves.get((i, j), 0.0))


def view_mtx(files: dict[str, str]) -> View:
    text = files["x.mtx"]
    matrix = scipy.io.mmread(io.BytesIO(text.encode()), spmatrix=False).tocoo()
    rows: dict[int, dict[int, float]] = {}
    for i, j, p in zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True):
        rows.setdefault(i, {})[j] = float(p)
    start = re.search(r"^% start:([ 0-9]*)\s*$", text, re.M)
    goal = re.search(r'^% label "goal":([ 0-9]*)\s*$', text, re.M)
    return View(
        rows,
        [int(i) - 1 for i in start[1].split()] if start else [],
        {int(i) - 1 for i in goal[1].split()} if goal else set(),
    )


def view_graphml(files: dict[str, str]) -> View:
    graph = nx.parse_graphml(files["x.graphml"])
    names = list(graph)
    if set(names) == {str(i) for i in range(len(names))}:
        place = {name: int(name) for name in names}
    else:
        place = {name: i for i, name in enumerate(names)}
    rows = {
        place[a]: {
            place[b]: float(data["probability"]) for _, b, data in graph.out_edges(a, data=True)
        }
        for a in graph
    }
    start = [place[a] for a in graph if graph.nodes[a].get("start") is True]
    return View(
        rows,
        start,
        {place[a] for a in graph if "goal" in str(graph.nodes[a].get("labels", "")).split("|")},
    )


def view_json(files: dict[str, str]) -> View:
    data = json.loads(files["x.json"])
    rows = {i: {j: number(p) for j, p in row} for i, row in enumerate(data["rows"])}
    earned = [number(r) for r in data.get("rewards", {}).get("fuel", [])]
    return View(rows, data.get("start", []), set(data["labels"]["goal"]), lambda i, j: earned[i])


VIEWS = {
    "drn": view_drn,
    "gzip": view_drn,
    "prism": view_prism,
    "storm": view_prism,
    "matrix-market": view_mtx,
    "graphml": view_graphml,
    "json": view_json,
}


def expected(view: View, rewards: bool) -> dict[int, tuple[float, float]]:
    """Return start -> (probability, expected sum, infinite unless it is sure), by numpy."""
    size = len(view.rows)
    assert set(view.rows) == set(range(size)), "states are missing"
    matrix = np.zeros((size, size))
    for i, row in view.rows.items():
        for j, p in row.items():
            matrix[i, j] = p
    assert np.all(np.abs(matrix.sum(axis=1) - 1) <= 1.1e-6), "a row is not stochastic"
    inside = [i for i in range(size) if i not in view.target]
    graph = nx.DiGraph([(i, j) for i in inside for j in range(size) if matrix[i, j] > 0])
    graph.add_nodes_from(range(size))
    after = {i: nx.descendants(graph, i) | {i} for i in graph}
    can = [i for i in inside if after[i] & view.target]
    sure = {i for i in range(size) if all(after[j] & view.target for j in after[i])}
    matrix /= matrix.sum(axis=1, keepdims=True)
    chance = np.array([float(i in view.target) for i in range(size)])
    mean = np.zeros(size)
    inner = np.eye(len(can)) - matrix[np.ix_(can, can)]
    if can:
        chance[can] = np.linalg.solve(inner, matrix[np.ix_(can, sorted(view.target))].sum(axis=1))
        earn = view.earned if rewards else (lambda i, j: 1.0)
        step = [
            sum(matrix[i, j] * earn(i, j) for j in range(size) if matrix[i, j] > 0)
            for i in range(size)
        ]
        right = np.array([step[i] for i in can])
        mean[can] = np.linalg.solve(inner, right)
    return {i: (float(chance[i]), float(mean[i]) if i in sure else np.inf) for i in view.start}


def agree(view: View, answer: dict[str, Any]) -> None:
    truth = expected(view, answer["reward"] is not None)
    assert {start["state"] for start in answer["starts"]} == set(truth), "other start states"
    for start in answer["starts"]:
        chance, mean = truth[start["state"]]
        assert abs(float(start["probability"]["decimal"]) - chance) <= 1e-5, "another probability"
        assert start["finite"] == np.isfinite(mean), "finite or not"
        if start["finite"]:
            found = float(start["mean"]["decimal"])
            assert abs(found - mean) <= 1e-4 * max(abs(mean), 1e-300), "another mean"


class TooLong(Exception):
    """A case took more than its seconds."""


def _alarm(*_: object) -> None:
    raise TooLong


def run(seed: int, folder: Path) -> tuple[str, str, str]:
    """Run one case; return its format, its damage, and "refused", "answered" or what is wrong."""
    rng = random.Random(f"damaged {seed}")
    format = rng.choice(sorted(FILES))
    texts = dict(FILES[format])
    name = rng.choice(sorted(texts))
    how, data = damage(texts[name], rng)
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        try:
            again, data = damage(data.decode() or "0", rng)
            how = f"{how}, {again}"
        except (UnicodeDecodeError, IndexError):
            break
    for old in folder.iterdir():
        old.unlink()
    for other, text in texts.items():
        raw = data if other == name else text.encode()
        if other.endswith(".gz"):
            raw = gzip.compress(raw, mtime=0)
            if rng.random() < 0.5:
                how, raw = "compressed " + how, _damaged_bytes(raw, rng)
        (folder / other).write_bytes(raw)
    first = folder / sorted(texts, key=lambda n: not n.endswith(("tra", "tra.gz")))[0]
    arguments = _arguments(format, first, rng)
    out, err = io.StringIO(), io.StringIO()
    from markov_lrsao.cli import main

    signal.signal(signal.SIGALRM, _alarm)
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(arguments)
    except TooLong:
        return format, how, f"more than {SECONDS} seconds"
    except BaseException:
        return format, how, "a traceback: " + traceback.format_exc()[-600:]
    finally:
        signal.alarm(0)
    return format, how, _verdict(format, folder, code, out.getvalue(), err.getvalue())


def _damaged_bytes(raw: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(raw))
    if rng.random() < 0.3:
        return raw[:at]
    return raw[:at] + bytes([raw[at] ^ (1 << rng.randrange(8))]) + raw[at + 1 :]


def _arguments(format: str, path: Path, rng: random.Random) -> list[str]:
    if format == "landscape":
        return ["exact", "--landscape", str(path), "--outside-h", "--json"]
    arguments = ["solve", str(path), "--target", "goal", "--json"]
    if format in REWARDS and rng.random() < 0.6:
        arguments += ["--reward", REWARDS[format]]
    return arguments + (["--exact"] if rng.random() < 0.4 else [])


def _verdict(format: str, folder: Path, code: int, out: str, err: str) -> str:
    if code == 2:
        short = err.count("\n") == 1 and err[:-1].isprintable() and len(err) < 2000 and not out
        return "refused" if short else f"not one line: {err[:300]!r} {out[:100]!r}"
    if code != 0:
        return f"exit code {code}"
    texts = {}
    for path in folder.iterdir():
        raw = path.read_bytes()
        texts[path.name] = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    try:
        answer = json.loads(out)
        if format == "landscape":
            return _landscape(texts["x.json"], answer)
        agree(VIEWS[format](texts), answer)
    except Exception as error:
        return f"not confirmed: {type(error).__name__}: {error}; {out[:200]!r}"
    return "answered"


def _landscape(text: str, answer: dict[str, Any]) -> str:
    """Another method must agree on the landscape that plain JSON sees."""
    from markov_lrsao import Algorithm, Landscape, Parameters
    from markov_lrsao.answers.expected import runtime

    data = json.loads(text)
    shape = Landscape.from_arrays(data["objectives"], data["target"], data.get("milestones"))
    other = runtime(
        shape, Algorithm.lrsao(Parameters.paper(shape.n)), method="joint", outside_h=True
    ).to_dict()
    same = json.loads(json.dumps(other))["total"] == answer["total"]
    return "answered" if same else f"joint gives {other['total']}, not {answer['total']}"


def _peak() -> int:
    """Return the most memory that this process had, in bytes.

    What `getrusage` tells begins with the memory of the process that started this one.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    (line,) = [x for x in status.read_text().splitlines() if x.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def campaign(first: int, count: int) -> dict[str, Any]:
    """Run cases first..first+count-1; return counts per format and the failures."""
    table: Counter[tuple[str, str]] = Counter()
    failures = []
    longest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            begun = time.perf_counter()
            format, how, verdict = run(seed, Path(folder))
            longest = max(longest, time.perf_counter() - begun)
            known = verdict in ("refused", "answered")
            table[format, verdict if known else "wrong"] += 1
            if not known:
                failures.append([seed, format, how, verdict])
    peak = _peak()
    return {
        "table": {f"{a} {b}": table[a, b] for a, b in sorted(table)},
        "failures": failures,
        "peak": peak,
        "longest": round(longest, 1),
    }


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (4 * MEMORY, 4 * MEMORY))
    result = campaign(int(sys.argv[1]), int(sys.argv[2]))
    print(json.dumps(result, indent=1))
    sys.exit(1 if result["failures"] or result["peak"] > MEMORY else 0)
