"""Chains with vectors x = c + P x, in numbers and over Q(n, l); values and closed forms."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from .basics import Failure, load, need, reachable
from .polynomials import added, polynomial, positive, times, value_at

__all__ = ["check_chain", "check_closed", "check_symbolic", "check_values"]


def check_chain(folder: Path, document: Any, files: Any) -> None:
    """Check x = c + P x for every column of a chain with numbers."""
    size = len(document["states"])
    rows = [[(j, Fraction(w)) for j, w in row] for row in document["rows"]]
    exits = [{k: Fraction(w) for k, w in row.items()} for row in document["exits"]]
    start = [(i, Fraction(w)) for i, w in document["start"]]
    need(len(rows) == len(exits) == size, "not one row per state")
    back: dict[int, list[int]] = {}
    for i, row in enumerate(rows):
        weights = [w for _, w in row] + list(exits[i].values())
        need(all(w > 0 for w in weights) and sum(weights) == 1, f"row {i} does not sum to 1")
        for j, _ in row:
            need(j in range(size), f"row {i}: no state {j}")
            back.setdefault(j, []).append(i)
    leaving = [i for i in range(size) if exits[i]]
    need(reachable(back, leaving) == set(range(size)), "a state from which no exit is reached")
    need(sum(w for _, w in start) == 1 and all(i in range(size) for i, _ in start), "no start law")
    for column in document["columns"]:
        what, _, which = column["counts"].partition(" ")
        need(what in ("steps", "phase", "exit"), f"counts {what}")
        values = [Fraction(x) for x in column["values"]]
        need(len(values) == size, f"{column['name']}: not one value per state")
        for i, row in enumerate(rows):
            counted = {
                "steps": Fraction(1),
                "phase": Fraction(what == "phase" and document["phases"][i] == int(which)),
                "exit": exits[i].get(which, Fraction(0)),
            }[what]
            good = values[i] == counted + sum(w * values[j] for j, w in row)
            need(good, f"{column['name']}: the equation of state {i} fails")
        result = sum(w * values[i] for i, w in start)
        need(result == Fraction(column["result"]), f"{column['name']}: the start has {result}")


def chain_result(folder: Path, files: Any, path: str, quantity: str, n: int, ell: int) -> Fraction:
    """Return what a chain's file says of a quantity."""
    need(path in files, f"{path} is not in the index")
    document = load(folder / path)
    need((document["n"], document["l"]) == (n, ell), f"{path} is of another instance")
    for column in document["columns"]:
        if column["name"] == quantity:
            return Fraction(column["result"])
    raise Failure(f"{path} has no {quantity}")


def check_values(folder: Path, document: Any, files: Any) -> None:
    """Check that values are those of their chains."""
    for item in document["values"]:
        quantity, n, ell = item["quantity"], item["n"], item["l"]
        value = chain_result(folder, files, item["chain"], quantity, n, ell)
        need(value == Fraction(item["value"]), f"{quantity} at ({n}, {ell}) is {value}")


def check_symbolic(folder: Path, document: Any, files: Any) -> None:
    """Check U V N_i = U D R_i + V sum_j W_ij N_j, where x = N/D, c = R/V and P = W/U."""
    where, unit = document["l"], polynomial(document["unit"])
    need(positive(unit, where), "the weights may be divided by zero")
    rows = [[(j, polynomial(w)) for j, w in row] for row in document["rows"]]
    size, leaving = len(document["states"]), []
    back: dict[int, list[int]] = {}
    need(len(rows) == size, "not one row per state")
    for i, row in enumerate(rows):
        need(all(positive(w, where) for _, w in row), f"row {i}: a chance that may be no chance")
        rest = added(unit, *(times({(0, 0, 0): Fraction(-1)}, w) for _, w in row))
        need(not rest or positive(rest, where), f"row {i}: more than 1")
        leaving += [i] * bool(rest)
        for j, _ in row:
            need(j in range(size), f"row {i}: no state {j}")
            back.setdefault(j, []).append(i)
    need(reachable(back, leaving) == set(range(size)), "a state from which no exit is reached")
    for column in document["columns"]:
        below, common = polynomial(column["below"]), polynomial(column["denominator"])
        good = positive(below, where) and positive(common, where)
        need(good, f"{column['name']}: a denominator that may be zero")
        right, values = ([polynomial(x) for x in column[k]] for k in ("right", "values"))
        need(len(right) == len(values) == size, f"{column['name']}: not one value per state")
        for i, row in enumerate(rows):
            sides = added(
                times(unit, common, right[i]),
                *(times(below, w, values[j]) for j, w in row),
            )
            good = times(unit, below, values[i]) == sides
            need(good, f"{column['name']}: the equation of state {i} fails")


def check_closed(folder: Path, document: Any, files: Any) -> None:
    """Check a closed form: an average over a solved symbolic chain; and its values at instances."""
    top, bottom = polynomial(document["top"]), polynomial(document["bottom"])
    need(document["symbolic"] in files, f"{document['symbolic']} is not in the index")
    solved = load(folder / document["symbolic"])
    need(solved["l"] == document["l"], "its symbolic chain is for other l")
    column = next(c for c in solved["columns"] if c["name"] == document["quantity"])
    common, below = polynomial(column["denominator"]), polynomial(document["below"])
    weights = [(i, polynomial(w)) for i, w in document["weights"]]
    need(added(*(w for _, w in weights)) == below, "the law of the start does not sum to 1")
    total = added(*(times(w, polynomial(column["values"][i])) for i, w in weights))
    need(times(top, below, common) == times(bottom, total), "not the solution of its chain")
    (a, b, c), (d, e, f) = document["harmonic_from"], document["harmonic_to"]
    for point in document["points"]:
        n, ell = point["n"], point["l"]
        span = range(a * n + b * ell + c + 1, d * n + e * ell + f + 1)
        h = sum((Fraction(1, k) for k in span), Fraction(0))
        value = value_at(top, n, ell, h) / value_at(bottom, n, ell, h)
        need(value == Fraction(point["value"]), f"the value at ({n}, {ell}) is {value}")
        other = chain_result(folder, files, point["chain"], document["quantity"], n, ell)
        need(value == other, f"the chain has {other} at ({n}, {ell})")
