"""Automata of rows and of phase 3: greedy, closed, complete; counts as longest walks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .basics import longest, need, reachable

__all__ = ["check_automata", "check_graph"]

_SIGNS = "-0+"
_CELLS = "-=0+"


def replaced(cells: str, at: int, cell: str) -> str:
    """Return the cells with one changed."""
    return cells[:at] + cell + cells[at + 1 :]


def check_automata(folder: Path, document: Any, files: Any) -> None:
    """Check the sign automata of the slope's rows."""
    actions = document["actions"]
    queries = (folder / document["queries"]).read_text(encoding="utf-8").split("(reset)\n")
    down = {}
    for row in document["rows"]:
        name, states = row["name"], row["states"]
        moves = {tuple(move) for move in row["moves"]}
        need(states[0] == "0" * len(actions), f"{name}: does not start with zeros")
        for source, action, direction, moved, target in moves:
            at = actions.index(action)
            need(source in states and target in states, f"{name}: {target} is no state")
            need(replaced(source, at, target[at]) == target, f"{name}: {source} to {target}")
            need(highest(source, at, _SIGNS), f"{name}: {action} is not greedy in {source}")
            step = {"action": action, "direction": direction, "moved": moved}
            need(any(step.items() <= s.items() for s in row["steps"]), f"{name}: no such step")
        onward: dict[Any, list[Any]] = {}
        for move in moves:
            onward.setdefault(move[0], []).append(move[4])
        need(reachable(onward, states[:1]) == set(states), f"{name}: a state that is not reached")
        excluded = {(s, k, cell): number for s, k, cell, number in row["excluded"]}
        for (source, k, cell), number in excluded.items():
            need(0 <= number < len(queries) - 1, f"{name}: no query {number}")
            purpose = f"; purpose: {name}: {source}, step {k} -> {cell}\n"
            good = purpose in queries[number] and "(set-info :status unsat)" in queries[number]
            need(good, f"{name}: query {number} does not exclude {source}, step {k} -> {cell}")
        for source in states:
            for k, step in enumerate(row["steps"]):
                at = actions.index(step["action"])
                head = (source, step["action"], step["direction"], step["moved"])
                for cell in _SIGNS if highest(source, at, _SIGNS) else "":
                    there = (*head, replaced(source, at, cell)) in moves
                    need(
                        there or (source, k, cell) in excluded, f"{name}: {head} to {cell} is open"
                    )
        counted = [(m[0], m[4], int(m[3] == -1)) for m in moves]
        down[name] = longest(counted, states[:1])
        need(down[name] == row["moves_down"], f"{name}: {down[name]} moves down")
    need(len(document["visits"]) == len(document["above"]), "not every pair of rows has its visits")
    for claim, pair in zip(document["visits"], document["above"], strict=True):
        need([claim["row"], claim["above"]] == pair, f"visits of {claim['row']}")
        below, above = (down[name] for name in pair)
        most = None if below is None or above is None else 1 + below + above
        need(claim["most"] == most, f"{most} visits of {claim['row']}")


def highest(cells: str, at: int, order: str) -> bool:
    """Return whether an entry is in the highest cell that occurs."""
    return order.index(cells[at]) == max(map(order.index, cells))


def check_graph(folder: Path, document: Any, files: Any) -> None:
    """Check the graph of phase 3 in cells."""
    actions, legs = document["actions"], [tuple(leg) for leg in document["legs"]]
    starts = [tuple(start) for start in document["starts"]]
    onward: dict[Any, list[Any]] = {}
    for p, cells, q, after, action, direction, accepted in legs:
        onward.setdefault((p, cells), []).append((q, after))
        if p == "n-l-1":
            need(cells == after, "row 0 changes at n-l-1")
            continue
        at = actions.index(action)
        need(replaced(cells, at, after[at]) == after, f"{cells} to {after} by {action}")
        need(highest(cells, at, _CELLS), f"{action} is not greedy in {cells}")
        need(after[at] in _CELLS and accepted in (True, False), f"{after}: no such cell")
        need(accepted or p == q, "a rejected step that moves")
        order = ["n-l-1", "n-l", "n-l+1", "beyond"]
        step = 1 if q == "n" else order.index(q) - order.index(p)
        need(abs(step) <= 1 and step * (2 * direction - 1) >= 0, f"{p} to {q}")
    for place in reachable(onward, starts):
        need(place[0] == "n" or place in onward, f"{place}: nothing follows")
    plateau = ("n-l", "n-l+1", "beyond")
    left = [((x[0], x[1]), (x[2], x[3]), x) for x in legs]
    counts = {
        "choices of L": longest([(u, v, int(x[4] == "L")) for u, v, x in left], starts),
        "moves of L inside the plateau": longest(
            [
                (u, v, int(x[4] == "L" and x[6] and x[0] in plateau and x[2] in plateau))
                for u, v, x in left
            ],
            starts,
        ),
        "failing excursions": failing_excursions(legs, starts),
    }
    need(counts == document["counts"], f"counted anew: {counts}")


def failing_excursions(legs: list[Any], starts: list[Any]) -> int | None:
    """Return the largest number of returns to n-l-1 from beyond n-l, before R+ on the plateau."""
    edges = []
    for p, cells, q, after, action, direction, _ in legs:
        for memory in ("in", "out", "over"):
            following = memory
            if memory == "over" or (action == "R" and direction == 1 and p != "n-l-1"):
                following = "over"
            elif q == "n-l-1":
                following = "in"
            elif (p, q) == ("n-l", "n-l+1"):
                following = "out"
            count = memory == "out" and (p, q) == ("n-l", "n-l-1")
            edges.append(((p, cells, memory), (q, after, following), int(count)))
    return longest(edges, [(*start, "in") for start in starts])
