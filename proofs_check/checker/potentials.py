"""Potentials of phase 3: V >= 1 + E[V after] for every decision (or <=), for all n, l and p.

V = h(p) + A X + B Y with X = n (n-l)/(l (l+1)), a function h of the position, and numbers A, B for
every place of the graph. The positions of a class are cut into regions, each the image of
u, v, k >= 0; over a common denominator the difference of the two sides is a polynomial there, and
none of its coefficients may be negative. At n-l-1 the wait is n/(l+1), or longer by what `waits`
pays for. Nothing but the graph, A, B and the waits is read; regions and h stand here.
"""

from __future__ import annotations

import ast
from fractions import Fraction
from pathlib import Path
from typing import Any

from .basics import load, need
from .polynomials import Polynomial, added, times

__all__ = ["check_potential"]

Ratio = tuple[Polynomial, Polynomial]
_NUMBER = (0, 0, 0)
_UNKNOWNS = {"u": (1, 0, 0), "v": (0, 1, 0), "k": (0, 0, 1)}
_TOP, _ENTRY, _SECOND, _BEYOND, _END = "n-l-1", "n-l", "n-l+1", "beyond", "n"

REGIONS = (
    (_ENTRY, _TOP, _SECOND, "u + 2", "n - l"),
    (_SECOND, _ENTRY, _END, "2", "n - 1"),
    (_SECOND, _ENTRY, _BEYOND, "u + 3", "n - l + 1"),
    (_BEYOND, _SECOND, _END, "3", "n - 1"),
    (_BEYOND, _SECOND, _BEYOND, "u + 4", "n - l + 2"),
    (_BEYOND, _BEYOND, _END, "u + 4", "n - 1"),
    (_BEYOND, _BEYOND, _BEYOND, "u + k + 5", "n - 2 - u"),
)
"""Classes of p, p-1, p+1, then l and p; n = 2l + 5 + v. Every valid n, l, p is in one of them."""

TIMES = {
    # Y, h(p-1) - h(p), h(p) - h(p+1), h(p): for h(p) = n H_(n-p), n/(n-p) and 0
    ("T_3", "above"): ("n", "n/(n - p + 1)", "n/(n - p)", "n/(n - p)"),
    ("T_3^1", "above"): (
        "n/l",
        "n/(n - p + 1) - n/(n - p)",
        "n/(n - p) - n/(n - p - 1)",
        "n/(n - p)",
    ),
    ("T_3^1", "below"): ("n/l", "0", "0", "0"),
}
TIMES["T_3", "below"] = TIMES["T_3", "above"]


def scaled(factor: Fraction | int, poly: Polynomial) -> Polynomial:
    """Return a multiple."""
    return times({_NUMBER: Fraction(factor)}, poly)


def formula(text: str, names: dict[str, Ratio]) -> Ratio:
    """Read +, -, *, / of names and integers as numerator and denominator."""

    def read(node: Any) -> Ratio:
        if isinstance(node, ast.Name):
            return names[node.id]
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return added({_NUMBER: Fraction(node.value)}), {_NUMBER: Fraction(1)}
        (a, b), (c, d) = read(node.left), read(node.right)
        if isinstance(node.op, ast.Mult):
            return times(a, c), times(b, d)
        if isinstance(node.op, ast.Div):
            return times(a, d), times(b, c)
        need(isinstance(node.op, ast.Add | ast.Sub), f"{text} cannot be read")
        sign = 1 if isinstance(node.op, ast.Add) else -1
        return added(times(a, d), scaled(sign, times(c, b))), times(b, d)

    return read(ast.parse(text, mode="eval").body)


class Region:
    """The terms of the inequalities of one region, polynomials over one denominator."""

    def __init__(self, region: tuple[str, ...], time: tuple[str, ...]) -> None:
        self.place, self.down, self.up, ell, position = region
        names: dict[str, Ratio] = {
            name: ({key: Fraction(1)}, {_NUMBER: Fraction(1)}) for name, key in _UNKNOWNS.items()
        }
        names["l"] = formula(ell, names)
        names["n"] = formula("2*l + 5 + v", names)
        names["p"] = formula(position, names)
        unit, fall, rise, last = time
        texts = {
            "X": "n*(n - l)/(l*(l + 1))",
            "Y": unit,
            "fall": "n/(l + 1)" if self.down == _TOP else fall,
            "rise": last if self.up == _END else rise,
            "last": last,
        }
        found = {key: formula(text, names) for key, text in texts.items()}
        common: Polynomial = {_NUMBER: Fraction(1)}
        for _, bottom in found.values():
            need(bottom and all(c > 0 for c in bottom.values()), "a denominator may be zero")
            common = times(common, bottom)
        self.n, self.p = names["n"][0], names["p"][0]
        self.terms = {"1": common}
        for key in found:
            others = [bottom for other, (_, bottom) in found.items() if other != key]
            self.terms[key] = times(found[key][0], *others)
        self.known: dict[Any, bool] = {}

    def value(self, pair: tuple[Fraction, Fraction]) -> Polynomial:
        """Return A X + B Y."""
        return added(scaled(pair[0], self.terms["X"]), scaled(pair[1], self.terms["Y"]))

    def holds(self, sign: int, key: Any) -> bool:
        """Return whether n V - n - p V(down) - (n-p) V(up), signed, has no negative coefficient."""
        if (sign, key) not in self.known:
            here, down, up, falls, rises, over = key
            below, above = self.value(down), self.value(up)
            if falls:
                below = added(below, self.terms["fall"])
            if rises:
                above = added(above, scaled(-1, self.terms["last" if over else "rise"]))
            stay = added(self.n, scaled(-1, self.p))
            gap = added(
                times(self.n, added(self.value(here), scaled(-1, self.terms["1"]))),
                scaled(-1, times(self.p, below)),
                scaled(-1, times(stay, above)),
            )
            self.known[sign, key] = all(sign * c >= 0 for c in gap.values())
        return self.known[sign, key]


def check_potential(folder: Path, document: Any, files: Any) -> None:
    """Check every inequality of a potential on the graph, and the waits at n-l-1."""
    sense = document["sense"]
    sign, first = (1 if sense == "above" else -1), document["until_right"]
    need(first == (document["time"] == "T_3^1"), "the end of another time")
    graph = load(folder / one_of("graph", files))
    held = {(p, c): (Fraction(a), Fraction(b)) for p, c, a, b in document["potential"]}
    waits = {cells: Fraction(wait) for cells, wait in document["waits"].items()}
    numbers = [x for pair in held.values() for x in pair] + list(waits.values())
    # From below V must be 0 at the end, so that nothing may be added for waits.
    need(sense == "below" or all(x >= 0 for x in numbers), "a negative potential")
    need(sense == "above" or not any(waits.values()), "a wait in a bound from below")
    legs: dict[Any, list[Any]] = {}
    for leg in graph["legs"]:
        legs.setdefault((leg[0], leg[1]), []).append(leg)
        if leg[0] == _TOP:
            same = held[leg[0], leg[1]] == held[leg[2], leg[3]]
            need(same, f"{leg[1]}: another potential after n-l-1")
    for region in (Region(r, TIMES[document["time"], sense]) for r in REGIONS):
        for place in [p for p in legs if p[0] == region.place]:
            for action in sorted({leg[4] for leg in legs[place]}):
                mine = [leg for leg in legs[place] if leg[4] == action]
                check_decisions(region, place, mine, (held, sign, first))
    check_waits(load(folder / one_of("automata", files)), waits, sign)


def check_decisions(region: Region, place: Any, legs: list[Any], told: tuple[Any, ...]) -> None:
    """Check all pairs of what may follow a step down and a step up."""
    held, sign, first = told
    nothing = (Fraction(0), Fraction(0))
    ways: list[list[Any]] = []
    for direction, near in ((0, region.down), (1, region.up)):
        ways.append([])
        for _, _, q, after, action, towards, accepted in legs:
            if towards == direction and q == (near if accepted else region.place):
                over = q == _END or (first and action == "R" and direction == 1)
                ways[-1].append((nothing if over else held[q, after], accepted, over))
    need(all(ways), f"{place}: a step that leads nowhere")
    for down, falls, _ in ways[0]:
        for up, rises, over in ways[1]:
            good = region.holds(sign, (held[place], down, up, falls, rises, over))
            need(good, f"{place}: an inequality is not settled")


def check_waits(document: Any, waits: dict[str, Fraction], sign: int) -> None:
    """Check share (1 + wait - wait after) >= 1 (or <=) for the row of n-l-1 in phase 3."""
    row = next(row for row in document["rows"] if row["name"] == "n-l-1")
    need(row["decided"], "the row of n-l-1 is not decided")
    queue = sorted({move[4] for move in row["moves"] if move[3] == 1})
    for cells in queue:
        moves = [move for move in row["moves"] if move[0] == cells]
        strange = [m for m in moves if m[3] == -1 or (m[3] == 0 and m[4] != cells)]
        need(not strange, f"n-l-1 with row {cells}: another step than up")
        up = {move[1] for move in moves if move[3] == 1}
        share = Fraction(len(up), len({move[1] for move in moves}))
        for target in {move[4] for move in moves if move[3] == 1}:
            gap = share * (1 + waits[cells] - waits[target]) - 1
            need(sign * gap >= 0, f"n-l-1 with row {cells}: the wait is not paid for")
            queue += [target] * (target not in queue)
        need(up, f"n-l-1 with row {cells}: never left")


def one_of(kind: str, files: Any) -> str:
    """Return the only file of a kind."""
    found = [path for path, about in files.items() if about["kind"] == kind]
    need(len(found) == 1, f"not one file of kind {kind}")
    return str(found[0])
