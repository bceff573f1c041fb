"""Queries in SMT-LIB: expected answers, models put in, and what solvers say."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from .basics import Unreadable, need
from .report import Report

__all__ = ["check_queries", "holds_at", "read_terms", "value_of"]

_TOKEN = re.compile(r"[()]|[^\s()]+")
_CHAINED = {
    "=": lambda a, b: a == b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def read_terms(text: str) -> list[Any]:
    """Return the nested lists of an SMT-LIB text."""
    stack: list[list[Any]] = [[]]
    for token in _TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            last = stack.pop()
            stack[-1].append(last)
        else:
            stack[-1].append(token)
    need(len(stack) == 1, "brackets do not match")
    return stack[0]


def value_of(term: Any, names: dict[str, Any]) -> Any:
    """Return the value of a term, exactly."""
    if isinstance(term, str):
        if term in names:
            return names[term]
        return {"true": True, "false": False}[term] if term[0] in "tf" else Fraction(term)
    head, *rest = term
    if head == "let":
        return value_of(rest[1], {**names, **{n: value_of(t, names) for n, t in rest[0]}})
    values = [value_of(t, names) for t in rest]
    if head in _CHAINED:
        return all(_CHAINED[head](a, b) for a, b in pairwise(values))
    if head in ("and", "or"):
        return all(values) if head == "and" else any(values)
    if head == "not":
        return not values[0]
    if head == "=>":
        return not all(values[:-1]) or values[-1]
    if head == "distinct":
        return len(set(values)) == len(values)
    if head == "to_real":
        return values[0]
    total = values[0]
    if head == "-" and len(values) == 1:
        return -total
    for value in values[1:]:
        total = {"+": total + value, "-": total - value, "*": total * value}.get(
            head, total / value if head == "/" else None
        )
    return total


def check_queries(folder: Path, path: str, about: Any, report: Report) -> bool:
    """Check the queries of one file; hand them to the solvers."""
    text = (folder / path).read_text(encoding="utf-8")
    queries = text.split("(reset)\n")[:-1]
    found = [re.findall(r"^\(set-info :status (\w+)\)$", q, re.M) for q in queries]
    need(all(len(s) == 1 for s in found), "a query without one expected answer")
    expected = [s[0] for s in found]
    need(Counter(expected) == +Counter(about["expected"]), "not the answers that the index counts")
    need(all(q.count("(check-sat)") == 1 for q in queries), "a query that asks not once")
    done = [status == "unknown" for status in expected]  # evidence of nothing
    for number, (query, status) in enumerate(zip(queries, expected, strict=True)):
        witness = re.search(r"^; witness: (.*)$", query, re.M)
        if status == "sat" and witness:
            done[number] = holds_at(query, witness[1])
            need(done[number] is not False, f"query {number}: the model is none")
    for command in report.solvers:
        for number, answer in enumerate(ask(command, folder / path, len(expected), report)):
            need(number < len(expected), f"{command}: more answers than queries")
            need(
                {answer, expected[number]} != {"sat", "unsat"},
                f"query {number}: {answer} by {command}, {expected[number]} expected",
            )
            done[number] = done[number] or answer == expected[number]
    told = [status != "unknown" for status in expected]
    report.queries["confirmed"] += sum(d for d, t in zip(done, told, strict=True) if t)
    report.queries["not re-checked"] += sum(not d for d in done)
    report.queries["of no evidence"] += told.count(False)
    return all(done)


def holds_at(query: str, witness: str) -> bool | None:
    """Return whether all assertions hold at a point; None if one of them divides by zero."""
    point = {k: Fraction(v) for k, v in (part.split(" = ") for part in witness.split(", "))}
    body = "\n".join(line for line in query.splitlines() if not line.startswith(";"))
    names = {}
    for term in read_terms(body):
        if term[0] in ("declare-fun", "declare-const"):
            names[term[1]] = point.get(term[1], Fraction(0))
            need(term[-1] == "Real" or names[term[1]].denominator == 1, "a model of another sort")
    try:
        return all(value_of(t[1], names) is True for t in read_terms(body) if t[0] == "assert")
    except ZeroDivisionError:
        return None


def ask(command: str, path: Path, count: int, report: Report) -> list[str]:
    """Return a solver's answers to the queries of a file, in order."""
    line = [*shlex.split(command), str(path)]
    try:
        done = subprocess.run(
            line, capture_output=True, text=True, check=False, timeout=report.timeout
        )
        output, reason = done.stdout, done.stderr.strip().rpartition("\n")[2]
    except subprocess.TimeoutExpired as late:
        output, reason = (late.stdout or b"").decode(), f"stopped after {report.timeout:g} s"
    except OSError as error:
        raise Unreadable(f"solver {command!r} cannot be started: {error}") from None
    answers = [word for word in output.split() if word in ("sat", "unsat", "unknown")]
    if len(answers) < count:
        report.say(f"{path.name}: {command} gives {len(answers)} answers of {count}; {reason}")
    return answers
