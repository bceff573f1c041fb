r"""Layered layouts of directed graphs, read from left to right.

The method is that of Gansner, Koutsofios, North and Vo (*A technique for drawing directed graphs*,
1993), which Graphviz's dot follows too; boxes have sizes, and the label of an arrow is a box of its
own, so that no label lies on another one or on a node:

1. arrows that close a cycle are turned round;
2. ranks minimise the sum of the arrows' lengths, each at least 1: a linear program with a totally
   unimodular matrix, so that its vertices are integral;
3. an arrow over several ranks becomes a chain of invisible nodes, one of which carries the label;
4. the order within a rank is that of the neighbours' mean places, swept to and fro, and neighbours
   change places where that saves crossings;
5. heights minimise the weighted sum of \|y_u - y_v\| over all pieces of arrows while boxes keep
   their distance: again a linear program. Long straight pieces weigh most.

Lengths are in units of the font size. The same graph gives the same layout on every machine but for
rounding: HiGHS, which scipy brings along, is deterministic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

__all__ = ["Arrow", "Curve", "Layout", "layered", "text_size"]

Point = tuple[float, float]
Size = tuple[float, float]
_CHARACTER, _LINE = 0.65, 1.25
"""Mean width of a character and height of a line."""
_LOOP = 1.5
"""Height of an arrow from a node to itself."""
_BETWEEN_RANKS, _BETWEEN_BOXES = (1.7, 4.5), 0.8
"""Least and largest distance of columns, which grows where arrows are steep; least one of boxes."""
_STEEP = 0.3
_SWEEPS = 24


def text_size(text: str, margin: float = 0.0) -> Size:
    r"""Return about how much room a text takes, in units of its font size.

    >>> text_size("0=L=J=R"), text_size("a\nbc", margin=0.5)
    ((4.55, 1.25), (2.3, 3.5))
    """
    lines = text.split("\n")
    width, height = _CHARACTER * max(map(len, lines)), _LINE * len(lines)
    return round(width + 2 * margin, 6), round(height + 2 * margin, 6)


@dataclass(frozen=True)
class Arrow:
    """An arrow between two nodes, and the size of its label."""

    source: str
    target: str
    label: Size


@dataclass(frozen=True)
class Curve:
    """How an arrow is drawn: a point, then three per cubic Bezier curve; the label's middle."""

    path: tuple[Point, ...]
    at: Point


@dataclass(frozen=True)
class Layout:
    """Middles of the nodes, and a curve for each arrow, in the arrows' order."""

    middle: Mapping[str, Point]
    curves: tuple[Curve, ...]


@dataclass
class _Vertex:
    """A node, a label, or a bend; `above` and `below` are its extents from its height.

    `room` is the width that its column must have: labels of loops may be wider than their node.
    """

    rank: int
    width: float = 0.0
    above: float = 0.0
    below: float = 0.0
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    y: float = 0.0
    room: float = 0.0


def layered(
    boxes: Mapping[str, Size], arrows: Sequence[Arrow], ranks: Mapping[str, int] | None = None
) -> Layout:
    """Lay a graph out.

    Parameters
    ----------
    boxes : node -> its size; the first one is where reading begins
    ranks : node -> its column, where columns have a meaning; no arrow may stay within one
    """
    loops: dict[str, list[int]] = {name: [] for name in boxes}
    for k, arrow in enumerate(arrows):
        if arrow.source == arrow.target:
            loops[arrow.source].append(k)
    across = [k for k, arrow in enumerate(arrows) if arrow.source != arrow.target]
    pairs = [(arrows[k].source, arrows[k].target) for k in across]
    column = dict(ranks) if ranks is not None else _ranks(list(boxes), pairs)
    if any(column[a] == column[b] for a, b in pairs):
        raise ValueError("an arrow within a rank cannot be laid out")
    vertices: list[_Vertex] = []
    number = {}
    for name, (width, height) in boxes.items():
        up, down = (_room(arrows, loops[name][side::2]) for side in (0, 1))
        number[name] = len(vertices)
        half = height / 2
        room = max([width, *(arrows[k].label[0] for k in loops[name])])
        vertices.append(_Vertex(2 * column[name], width, half + up, half + down, room=room))
    chains = {k: _chain(vertices, arrows[k], number) for k in across}
    order = _ordered(vertices)
    _heights(vertices, order)
    columns = _columns(vertices)
    middle = {name: (columns[vertices[i].rank].middle, vertices[i].y) for name, i in number.items()}
    ends = _ports(vertices, chains, {number[name]: size[1] for name, size in boxes.items()})
    curves = {
        k: _curve(vertices, chain, columns, ends[k], back=chain[0] != number[arrows[k].source])
        for k, chain in chains.items()
    }
    for name, own in loops.items():
        for turn, k in enumerate(own):
            beyond = _room(arrows, own[turn % 2 : turn : 2])
            side = -1 if turn % 2 else 1
            curves[k] = _loop(middle[name], boxes[name], arrows[k].label, side, beyond)
    return Layout(middle, tuple(curves[k] for k in range(len(arrows))))


# -- ranks ------------------------------------------------------------------------------------


def _ranks(nodes: Sequence[str], pairs: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return ranks of least total length; arrows that close a cycle count backwards."""
    from scipy.optimize import linprog

    number = {name: i for i, name in enumerate(nodes)}
    forward = sorted({(number[a], number[b]) for a, b in _acyclic(nodes, pairs)})
    if not forward:
        return dict.fromkeys(nodes, 0)
    cost = np.zeros(len(nodes))
    rows = np.zeros((len(forward), len(nodes)))
    for k, (a, b) in enumerate(forward):
        cost[b] += 1
        cost[a] -= 1
        rows[k, a], rows[k, b] = 1, -1
    found = linprog(cost, A_ub=rows, b_ub=-np.ones(len(forward)), method="highs-ds").x
    return {name: round(float(found[i] - found.min())) for name, i in number.items()}


def _acyclic(nodes: Sequence[str], pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs, those that lead back on a walk from the first nodes turned round."""
    following: dict[str, list[str]] = {name: [] for name in nodes}
    for a, b in pairs:
        following[a].append(b)
    state: dict[str, int] = {}
    back: set[tuple[str, str]] = set()

    def visit(name: str) -> None:
        state[name] = 1
        for other in following[name]:
            if state.get(other) == 1:
                back.add((name, other))
            elif other not in state:
                visit(other)
        state[name] = 2

    for name in nodes:
        if name not in state:
            visit(name)
    return [(b, a) if (a, b) in back else (a, b) for a, b in pairs]


# -- places ------------------------------------------------------------------------------------


def _room(arrows: Sequence[Arrow], loops: Sequence[int]) -> float:
    """Return the height that loops on one side of a node take."""
    return sum(_LOOP + arrows[k].label[1] for k in loops)


def _chain(vertices: list[_Vertex], arrow: Arrow, number: Mapping[str, int]) -> list[int]:
    """Put bends and the label between the ends of an arrow; return all of them from the left."""
    ends = sorted((number[arrow.source], number[arrow.target]), key=lambda i: vertices[i].rank)
    first, last = vertices[ends[0]].rank, vertices[ends[1]].rank
    labelled = (first + last) // 2 | 1  # ranks of nodes are even, those of labels odd
    chain = [ends[0]]
    for rank in range(first + 1, last):
        width, height = arrow.label if rank == labelled else (0.0, 0.0)
        chain.append(len(vertices))
        vertices.append(_Vertex(rank, width, height / 2, height / 2))
    chain.append(ends[1])
    for a, b in pairwise(chain):
        vertices[a].right.append(b)
        vertices[b].left.append(a)
    return chain


def _ordered(vertices: list[_Vertex]) -> list[list[int]]:
    """Return for each rank its vertices from the top down, with few crossings."""
    order: list[list[int]] = [[] for _ in range(1 + max(v.rank for v in vertices))]
    for i, v in enumerate(vertices):
        order[v.rank].append(i)
    best, least = [list(rank) for rank in order], _crossings(vertices, order)
    for sweep in range(_SWEEPS):
        leftwards = sweep % 2 == 1
        for rank in reversed(order) if leftwards else order:
            place = {i: k for column in order for k, i in enumerate(column)}

            def mean(i: int, place: dict[int, int] = place, side: bool = leftwards) -> float:
                near = vertices[i].right if side else vertices[i].left
                return float(np.mean([place[j] for j in near])) if near else float(place[i])

            rank.sort(key=mean)
        _transpose(vertices, order)
        if (found := _crossings(vertices, order)) < least:
            best, least = [list(rank) for rank in order], found
    return best


def _transpose(vertices: list[_Vertex], order: list[list[int]]) -> None:
    """Swap neighbours of a rank as long as that saves crossings."""
    place = {i: k for column in order for k, i in enumerate(column)}

    def crossed(upper: int, lower: int) -> int:
        return sum(
            place[a] > place[b]
            for near in ("left", "right")
            for a in getattr(vertices[upper], near)
            for b in getattr(vertices[lower], near)
        )

    improved = True
    while improved:
        improved = False
        for rank in order:
            for k in range(len(rank) - 1):
                a, b = rank[k], rank[k + 1]
                if crossed(b, a) < crossed(a, b):
                    rank[k], rank[k + 1] = b, a
                    place[a], place[b] = k + 1, k
                    improved = True


def _crossings(vertices: list[_Vertex], order: list[list[int]]) -> int:
    place = {i: k for column in order for k, i in enumerate(column)}
    total = 0
    for rank in order:
        pieces = [(place[i], place[j]) for i in rank for j in vertices[i].right]
        total += sum(
            (a[0] - b[0]) * (a[1] - b[1]) < 0 for k, a in enumerate(pieces) for b in pieces[k + 1 :]
        )
    return total


def _heights(vertices: list[_Vertex], order: list[list[int]]) -> None:
    """Set the heights of all vertices; the first rank lies highest in the order."""
    from scipy.optimize import linprog
    from scipy.sparse import lil_array

    pieces = [(i, j) for i, v in enumerate(vertices) for j in v.right]
    above = [pair for rank in order for pair in pairwise(rank)]
    size, count = len(vertices), len(pieces)
    rows = lil_array((2 * count + len(above), size + count))
    bounds = np.zeros(2 * count + len(above))
    cost = np.zeros(size + count)
    for k, (i, j) in enumerate(pieces):
        bends = (vertices[i].width == 0) + (vertices[j].width == 0)
        cost[size + k] = (1.0, 2.0, 8.0)[bends]
        for sign, row in ((1, 2 * k), (-1, 2 * k + 1)):
            rows[row, i], rows[row, j], rows[row, size + k] = sign, -sign, -1
    for k, (upper, lower) in enumerate(above, start=2 * count):
        rows[k, lower], rows[k, upper] = 1, -1
        bounds[k] = -(vertices[upper].below + vertices[lower].above + _BETWEEN_BOXES)
    free = [(None, None)] * size + [(0, None)] * count
    found = linprog(cost, A_ub=rows.tocsr(), b_ub=bounds, bounds=free, method="highs-ds").x
    for v, y in zip(vertices, found[:size] - np.median(found[:size]), strict=True):
        v.y = float(y)


@dataclass(frozen=True)
class _Column:
    """Where the vertices of a rank stand."""

    middle: float
    width: float


def _columns(vertices: list[_Vertex]) -> list[_Column]:
    """Return the column of each rank from left to right."""
    widths = [0.0] * (1 + max(v.rank for v in vertices))
    for v in vertices:
        widths[v.rank] = max(widths[v.rank], v.width, v.room)
    rise = [0.0] * len(widths)
    for v in vertices:
        for j in v.right:
            rise[v.rank] = max(rise[v.rank], abs(v.y - vertices[j].y))
    least, most = _BETWEEN_RANKS
    columns, end = [], 0.0
    for width, high in zip(widths, rise, strict=True):
        columns.append(_Column(end + width / 2, width))
        end += width + min(max(least, _STEEP * high), most)
    return columns


# -- curves ------------------------------------------------------------------------------------

Ports = tuple[float, float]
"""How far above the middles of its two boxes a chain begins and ends."""


def _ports(
    vertices: list[_Vertex], chains: Mapping[int, list[int]], height: Mapping[int, float]
) -> dict[int, Ports]:
    """Spread the arrows along the sides of their boxes, in the order of where they go."""
    sides: dict[tuple[int, int], list[int]] = {}
    for k, chain in chains.items():
        sides.setdefault((chain[0], 1), []).append(k)
        sides.setdefault((chain[-1], -1), []).append(k)
    offset: dict[tuple[int, int], float] = {}
    for (node, side), members in sides.items():
        near = {k: vertices[chains[k][side if side == 1 else -2]].y for k in members}
        members.sort(key=lambda k: -near[k])
        step = min(0.6, 0.7 * height[node] / len(members))
        for place, k in enumerate(members):
            offset[k, side] = ((len(members) - 1) / 2 - place) * step
    return {k: (offset[k, 1], offset[k, -1]) for k in chains}


def _curve(
    vertices: list[_Vertex],
    chain: Sequence[int],
    columns: Sequence[_Column],
    ports: Ports,
    back: bool,
) -> Curve:
    """Draw a chain as a smooth curve; `back`: from right to left.

    Columns are crossed straight and bends are between them, so that a curve meets neither boxes
    nor labels of others.
    """
    first, last = vertices[chain[0]], vertices[chain[-1]]
    begin, end = columns[first.rank], columns[last.rank]
    points: list[Point] = [
        (begin.middle + half, first.y + ports[0]) for half in (first.width / 2, begin.width / 2)
    ]
    at = points[0]
    for v in (vertices[i] for i in chain[1:-1]):
        column = columns[v.rank]
        points += [(column.middle + side * column.width / 2, v.y) for side in (-1, 1)]
        if v.width:
            at = (column.middle, v.y)
    points += [(end.middle - half, last.y + ports[1]) for half in (end.width / 2, last.width / 2)]
    if back:
        points.reverse()
    path = points[:1]
    for (x0, y0), (x1, y1) in pairwise(points):
        if (x0, y0) != (x1, y1):
            path += [((x0 + x1) / 2, y0), ((x0 + x1) / 2, y1), (x1, y1)]
    return Curve(tuple(path), at)


def _loop(middle: Point, box: Size, label: Size, side: int, beyond: float) -> Curve:
    """Draw an arrow from a node to itself, above (1) or below (-1) it."""
    (x, y), half = middle, min(0.9, box[0] / 4)
    edge = y + side * (box[1] / 2)
    top = edge + side * (beyond + 1.3 * _LOOP)
    path = ((x - half, edge), (x - 1.6 * half, top), (x + 1.6 * half, top), (x + half, edge))
    return Curve(path, (x, edge + side * (beyond + _LOOP + label[1] / 2)))
