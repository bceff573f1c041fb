r"""Segments compose: the crossings of two neighbours together, as one small automaton.

X (below) and Y (above) are driven by disjoint sets of independent coin flips, so their common
memory is the tensor product. With X_ab the weights of entering X at end a and leaving at end b
(d: DOWN, u: UP), and N = Y_dd X_uu the bounce at the border between them, G = (I - N)^-1,

    du = X_du G Y_du            dd = X_dd + X_du G Y_dd X_ud
    ud = Y_ud (X_ud + X_uu G Y_dd X_ud)    uu = Y_uu + Y_ud X_uu G Y_du.

The inverse is a geometric series: nothing is cut off, however often a walk falls back. After
each region the automaton is minimised (`markov_lrsao.crossing.minimal`), and where rows settle its
dimension stays bounded, so that the time is linear in the number of regions.

Two uses. A *slope* is a segment in the middle of the line, entered from either end any number of
times: `slope_automaton` has the four letters, by which shared rows drive it. A *prefix* begins at
position 0: it is never left downwards, and one letter, a return from above, is all
(`raised`; see `markov_lrsao.crossing.line`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flint import fmpq, fmpq_mat

from markov_lrsao.crossing.minimal import Automaton, identity, minimise, scalar, zero
from markov_lrsao.crossing.segments import Crossing, Crossings, Region, regions_between
from markov_lrsao.errors import CrossingError
from markov_lrsao.exact.evaluation import Evaluation
from markov_lrsao.exact.graphs import components_of
from markov_lrsao.exact.series import Element
from markov_lrsao.model.law import DOWN, UP
from markov_lrsao.rows.automata import RowAutomata

__all__ = ["Letter", "Mark", "raised", "slope_automaton"]

Blocks = dict[tuple[int, int], fmpq_mat]
"""A matrix on the tensor product: (memory of Y before, after) -> matrix on the space of X."""
Mark = int | None
"""The pattern that the row at an end shows when the segment is left there; None: not told."""
Letter = tuple[int, int, Mark]
"""The end at which a segment is entered, the end at which it is left, and the mark."""


class _Space:
    """The tensor product of an automaton's space (of X, below) and the memory of a region (Y)."""

    def __init__(self, below: Automaton, memory: int) -> None:
        self.size, self.memory = below.size, memory
        self.powers = [identity(self.size)]
        for _ in range(below.order):
            self.powers.append(self.powers[-1] * below.shift)
        self.one: Blocks = {(i, i): self.powers[0] for i in range(memory)}

    def element(self, weight: Element) -> fmpq_mat:
        """Return a series as a matrix on the space of X."""
        terms = [power * c for power, c in zip(self.powers, weight, strict=True) if c != 0]
        return _sum(terms) if terms else zero(self.size, self.size)

    def region(self, weights: Mapping[tuple[int, int], Element]) -> Blocks:
        """Return a matrix of the region on the tensor product."""
        return {at: self.element(weight) for at, weight in weights.items()}

    def solve(self, bounce: Blocks, right: Blocks) -> Blocks:
        """Return (I - bounce)^-1 right, component by component of the region's memory."""
        successors: list[list[int]] = [[] for _ in range(self.memory)]
        for i, j in bounce:
            successors[i].append(j)
        found: Blocks = {}
        for members in components_of(successors):
            rows: dict[int, dict[int, fmpq_mat]] = {i: {} for i in members}
            for (i, j), block in right.items():
                if i in rows:
                    rows[i][j] = block
            for (i, k), block in bounce.items():
                if i in rows and k not in rows:
                    for (at, j), known in list(found.items()):
                        if at == k:
                            _add(rows[i], j, block * known)
            self._solve(members, bounce, rows)
            found.update({(i, j): block for i, row in rows.items() for j, block in row.items()})
        return found

    def _solve(
        self, members: Sequence[int], bounce: Blocks, rows: dict[int, dict[int, fmpq_mat]]
    ) -> None:
        """Eliminate within a component, in place."""
        inside = {at: b for at, b in bounce.items() if at[0] in rows and at[1] in rows}
        if not inside:
            return
        place = {i: k for k, i in enumerate(members)}
        columns = sorted({j for row in rows.values() for j in row})
        matrix = identity(len(members) * self.size) - self.dense(
            {(place[i], place[k]): b for (i, k), b in inside.items()}, len(members), len(members)
        )
        other = self.dense(
            {
                (place[i], c): rows[i][j]
                for i in members
                for c, j in enumerate(columns)
                if j in rows[i]
            },
            len(members),
            len(columns),
        )
        try:
            solved = matrix.solve(other)
        except ZeroDivisionError:
            raise CrossingError(
                "the walk can bounce between two neighbouring regions for ever; segments do not "
                "tell how often that happens"
            ) from None
        table = solved.table()
        for i, k in place.items():
            for c, j in enumerate(columns):
                part = [
                    table[k * self.size + a][c * self.size + b]
                    for a in range(self.size)
                    for b in range(self.size)
                ]
                rows[i][j] = fmpq_mat(self.size, self.size, part)

    def dense(self, blocks: Blocks, rows: int, columns: int) -> fmpq_mat:
        """Return one matrix."""
        size = self.size
        nothing = [fmpq(0)] * size
        tables = {at: block.table() for at, block in blocks.items()}
        entries: list[fmpq] = []
        for i in range(rows):
            for a in range(size):
                for j in range(columns):
                    table = tables.get((i, j))
                    entries += nothing if table is None else table[a]
        return fmpq_mat(rows * size, columns * size, entries)

    def whole(self, blocks: Blocks) -> fmpq_mat:
        """Return a matrix on the whole tensor product."""
        return self.dense(blocks, self.memory, self.memory)

    def row(self, rows: Mapping[int, fmpq_mat]) -> fmpq_mat:
        """Return a row on the tensor product from its parts per memory."""
        nothing = [fmpq(0)] * self.size
        parts = (rows[i].entries() if i in rows else nothing for i in range(self.memory))
        return fmpq_mat(1, self.memory * self.size, [x for part in parts for x in part])

    def automaton(
        self, below: Automaton, start: fmpq_mat, letters: Mapping[Any, Blocks], near: Automaton
    ) -> Automaton:
        """Return the minimal automaton; `near` is one that may have the same bases."""
        end = fmpq_mat(self.memory * self.size, 1, below.end.entries() * self.memory)
        matrices = {letter: self.whole(blocks) for letter, blocks in letters.items()}
        shift = self.whole(dict.fromkeys(self.one, below.shift))
        composed = Automaton(start, matrices, shift, end, below.order)
        return minimise(composed, near.bases if list(near.letters) == list(matrices) else None)


def _sum(terms: Sequence[fmpq_mat]) -> fmpq_mat:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _add(into: dict[int, fmpq_mat], at: int, block: fmpq_mat) -> None:
    into[at] = into[at] + block if at in into else block


def _plus(a: Blocks, b: Blocks) -> Blocks:
    total = dict(a)
    for at, block in b.items():
        total[at] = total[at] + block if at in total else block
    return total


def _times(a: Blocks, b: Blocks) -> Blocks:
    by_row: dict[int, list[tuple[int, fmpq_mat]]] = {}
    for (k, j), block in b.items():
        by_row.setdefault(k, []).append((j, block))
    total: Blocks = {}
    for (i, k), block in a.items():
        for j, other in by_row.get(k, ()):
            term = block * other
            total[i, j] = total[i, j] + term if (i, j) in total else term
    return total


def _then(a: Blocks, matrix: fmpq_mat) -> Blocks:
    """Return a (I tensor matrix)."""
    return {at: block * matrix for at, block in a.items()}


def _after(matrix: fmpq_mat, a: Blocks) -> Blocks:
    """Return (I tensor matrix) a."""
    return {at: matrix * block for at, block in a.items()}


def _marked(blocks: Blocks, memory: Sequence[int], marks: bool) -> dict[Mark, Blocks]:
    """Split a matrix by the memory that follows."""
    if not marks:
        return {None: blocks}
    found: dict[Mark, Blocks] = {pattern: {} for pattern in memory}
    for (i, j), block in blocks.items():
        found[memory[j]][i, j] = block
    return found


def slope_automaton(
    automata: RowAutomata, first: int, end: int, *, order: int = 1, marks: bool = False
) -> Automaton:
    r"""Return the minimal automaton of the positions first .. end - 1, entered from either end.

    Its rows must be met nowhere else, and it is entered at its lower end first. A letter
    (a, b, mark) is: entered at end a, left at end b (DOWN or UP); its weight is the series of
    z^steps about z = 1, up to (z - 1)^order, so that `weight(word)` is the expectation of z^steps
    over the runs that answer the entries of the word by its exits.

    Parameters
    ----------
    automata : with merged patterns, see `markov_lrsao.rows.lumping.merge_patterns`
    marks : tell the pattern (its number in `automata`) of the row at the end where the segment is
        left, at the time it is left; else marks are None

    Raises
    ------
    CrossingError
    """
    evaluation = Evaluation(exact=True, order=order)
    found: Automaton | None = None
    for region in regions_between(automata, first, end):
        crossings = region.crossings(evaluation)
        found = (
            _single(region, crossings, order, marks)
            if found is None
            else _extended(found, region, crossings, marks)
        )
    if found is None:
        raise CrossingError(f"positions {first}..{end - 1} are no segment: there are none")
    return found


def _single(region: Region, crossings: Crossings, order: int, marks: bool) -> Automaton:
    """Return the automaton of one region."""
    nothing = scalar(order)
    space = _Space(nothing, len(region.memory))
    letters = {
        (entered, left, mark): blocks
        for (entered, left), weights in crossings.items()
        for mark, blocks in _marked(space.region(weights), region.memory, marks).items()
    }
    return space.automaton(nothing, space.row({0: nothing.start}), letters, nothing)


def _extended(x: Automaton, region: Region, crossings: Crossings, marks: bool) -> Automaton:
    """Return the automaton of a segment and the region above it."""
    space = _Space(x, len(region.memory))
    y = {crossing: space.region(weights) for crossing, weights in crossings.items()}
    split: dict[Crossing, dict[Mark, fmpq_mat]] = {}
    for (entered, left, mark), matrix in x.letters.items():
        split.setdefault((entered, left), {})[mark] = matrix
    x_du, x_uu = (_sum(list(split[entered, UP].values())) for entered in (DOWN, UP))
    bounce = _then(y[DOWN, DOWN], x_uu)
    passed = space.solve(bounce, y[DOWN, UP])
    up = _plus(y[UP, UP], _times(y[UP, DOWN], _after(x_uu, passed)))
    letters: dict[Letter, Blocks] = {}
    for mark, blocks in _marked(passed, region.memory, marks).items():
        letters[DOWN, UP, mark] = _after(x_du, blocks)
    for mark, blocks in _marked(up, region.memory, marks).items():
        letters[UP, UP, mark] = blocks
    for mark, x_ud in split[UP, DOWN].items():
        back = space.solve(bounce, _then(y[DOWN, DOWN], x_ud))
        x_dd = dict.fromkeys(space.one, split[DOWN, DOWN][mark])
        letters[DOWN, DOWN, mark] = _plus(x_dd, _after(x_du, back))
        straight = dict.fromkeys(space.one, x_ud)
        letters[UP, DOWN, mark] = _times(y[UP, DOWN], _plus(straight, _after(x_uu, back)))
    return space.automaton(x, space.row({0: x.start}), letters, x)


def raised(
    x: Automaton, region: Region, crossings: Mapping[bool, Crossings], counted: bool
) -> Automaton:
    """Return the prefix together with the region above it.

    Its start is the first arrival above, whose steps count if `counted`; its letters are returns
    from above, which count (True) or do not (False).
    """
    space = _Space(x, len(region.memory))
    start = space.row({})
    letters: dict[bool, Blocks] = {}
    for flag, weights in crossings.items():
        y = {c: space.region(w) for c, w in _leading_up(weights, len(region.memory)).items()}
        returned = x.letters.get(flag)
        passed = y[DOWN, UP]
        if returned is not None:
            passed = space.solve(_then(y[DOWN, DOWN], returned), passed)
            bounced = _times(y[UP, DOWN], _after(returned, passed))
            letters[flag] = _plus(y[UP, UP], bounced)
        else:
            letters[flag] = y[UP, UP]
        if flag == counted:
            start = space.row({j: x.start * b for (i, j), b in passed.items() if i == 0})
    return space.automaton(x, start, letters, x)


def _leading_up(crossings: Crossings, memory: int) -> Crossings:
    """Leave out memories with which a region entered from below is never left upwards.

    What is below always sends the walk back, so it bounces for ever; those runs are lost.
    """
    leading = {i for i, _ in crossings[DOWN, UP]}
    while True:
        more = {i for i, j in crossings[DOWN, DOWN] if j in leading} - leading
        if not more:
            break
        leading |= more
    kept = {
        (DOWN, left): {at: w for at, w in crossings[DOWN, left].items() if at[0] in leading}
        for left in (DOWN, UP)
    }
    return {**crossings, **kept}
