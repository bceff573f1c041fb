r"""Weighted automata over the rationals, and their linear (Schuetzenberger) minimisation.

A segment of the line (`markov_lrsao.crossing.segments`) answers every word of entries by weights,
generating functions of its steps. Such a map from words to weights is all that the rest of the
line sees of it; it is *recognised* by a row `start`, a matrix for each letter, and a column `end`:

    weight of a_1 .. a_k  =  start A_1 .. A_k end.

The smallest automaton with the same weights is found linearly: keep the span of all
start A_1 .. A_k, then divide by what no word followed by `end` can tell apart. Signs of its
weights may be negative.

**Series.** Weights are truncated power series about z = 1, elements of R = Q[e]/(e^(K+1)). That
is not a field, and the reduced object need not be free over R. So a series is a vector over Q,
multiplication by e is one more letter (`shift`, nilpotent), and `end` reads the coefficient of
e^K. Then everything is linear algebra over Q; the coefficient of e^j is read after K - j shifts.

**Exactness.** A basis is a set of words. One that was found for a similar automaton may be
proposed; it is used only if all letters map its span into itself, which is checked in rationals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flint import fmpq, fmpq_mat

from markov_lrsao.exact.series import Element

__all__ = ["Automaton", "Basis", "Letter", "identity", "minimise", "scalar", "zero"]

Letter = Any
"""Anything hashable."""
Basis = tuple[tuple[int, int], ...]
"""Words: each is an earlier word (-1: none) followed by a letter's number."""


def zero(rows: int, columns: int) -> fmpq_mat:
    """Return a matrix of zeros."""
    return fmpq_mat(rows, columns)


def identity(size: int) -> fmpq_mat:
    """Return the identity."""
    found = fmpq_mat(size, size)
    for i in range(size):
        found[i, i] = 1
    return found


@dataclass(frozen=True, eq=False)
class Automaton:
    """A weighted automaton; its weights are series about z = 1 of order `order`.

    Attributes
    ----------
    start : a row
    letters : letter -> matrix, acting on rows from the right
    shift : multiplication by e; it commutes with all letters
    end : a column, the coefficient of e^order
    bases : words of the reachable span and of the dual one, as found
    """

    start: fmpq_mat
    letters: Mapping[Letter, fmpq_mat]
    shift: fmpq_mat
    end: fmpq_mat
    order: int
    bases: tuple[Basis, Basis] | None = None

    @property
    def size(self) -> int:
        """The dimension over Q."""
        return int(self.shift.nrows())

    def value(self, row: fmpq_mat) -> Element:
        """Return the series (c_0, .., c_order) that a row is worth."""
        found = [self.end]
        for _ in range(self.order):
            found.append(self.shift * found[-1])
        return tuple((row * column)[0, 0] for column in reversed(found))

    def weight(self, word: Iterable[Letter] = ()) -> Element:
        """Return the weight of a word."""
        row = self.start
        for letter in word:
            row = row * self.letters[letter]
        return self.value(row)


def scalar(order: int) -> Automaton:
    """Return the automaton of the empty segment: R itself, and no letters."""
    size = order + 1
    shift, start, end = zero(size, size), zero(1, size), zero(size, 1)
    for i in range(order):
        shift[i, i + 1] = 1
    start[0, 0] = 1
    end[order, 0] = 1
    return Automaton(start, {}, shift, end, order)


def minimise(automaton: Automaton, proposed: tuple[Basis, Basis] | None = None) -> Automaton:
    """Return the smallest automaton with the same weights.

    Parameters
    ----------
    proposed : bases to try first, those of a similar automaton
    """
    names = list(automaton.letters)
    matrices = [automaton.shift, *(automaton.letters[name] for name in names)]
    reached = _reduced(automaton.start, matrices, None if proposed is None else proposed[0])
    if reached is None:
        return _nothing(automaton, names)
    basis, rows, images = reached
    end = rows * automaton.end
    dual = _reduced(
        end.transpose(),
        [image.transpose() for image in images],
        None if proposed is None else proposed[1],
    )
    if dual is None:
        return _nothing(automaton, names)
    words, columns, images = dual
    size = columns.nrows()
    # The start is the first word of its basis, and so is the end of the dual one.
    first = zero(1, rows.nrows())
    first[0, 0] = 1
    end = zero(size, 1)
    end[0, 0] = 1
    shift, *letters = (image.transpose() for image in images)
    return replace(
        automaton,
        start=first * columns.transpose(),
        letters=dict(zip(names, letters, strict=True)),
        shift=shift,
        end=end,
        bases=(basis, words),
    )


def _nothing(automaton: Automaton, names: Sequence[Letter]) -> Automaton:
    """Return the automaton whose weights are all 0."""
    none = zero(1, 1)
    return replace(
        automaton, start=none, letters=dict.fromkeys(names, none), shift=none, end=none, bases=None
    )


Reduced = tuple[Basis, fmpq_mat, list[fmpq_mat]]
"""Words, their rows, and every letter's matrix in this basis."""


def _reduced(
    start: fmpq_mat, matrices: Sequence[fmpq_mat], proposed: Basis | None
) -> Reduced | None:
    """Return the span of all start A_1 .. A_k, by a basis of words; None: it is 0."""
    if proposed:
        found = _in_basis(proposed, _rows(start, matrices, proposed), matrices)
        if found is not None:
            return found
    basis = _search(start, matrices)
    if not basis:
        return None
    found = _in_basis(basis, _rows(start, matrices, basis), matrices)
    assert found is not None, "the span of all words is mapped into itself"
    return found


def _rows(start: fmpq_mat, matrices: Sequence[fmpq_mat], basis: Basis) -> fmpq_mat:
    """Return the rows start A_1 .. A_k of the words of a basis."""
    rows: list[fmpq_mat] = []
    for before, letter in basis:
        rows.append(start if before < 0 else rows[before] * matrices[letter])
    return fmpq_mat(len(rows), start.ncols(), [x for row in rows for x in row.entries()])


def _in_basis(basis: Basis, rows: fmpq_mat, matrices: Sequence[fmpq_mat]) -> Reduced | None:
    """Return the letters in a basis; None where it is none, or its span is not mapped into itself.

    X B = B A is solved on columns where B is regular, and then checked on all of them.
    """
    size = rows.nrows()
    if size > rows.ncols():
        return None
    echelon, rank = rows.rref()
    if rank < size:
        return None
    table = echelon.table()
    pivots = [next(j for j, x in enumerate(row) if x != 0) for row in table[:size]]
    inverse = _columns(rows, pivots).inv()
    images = []
    for matrix in matrices:
        product = rows * matrix
        image = _columns(product, pivots) * inverse
        if image * rows != product:
            return None
        images.append(image)
    return basis, rows, images


def _columns(matrix: fmpq_mat, chosen: Sequence[int]) -> fmpq_mat:
    table = matrix.table()
    return fmpq_mat(len(table), len(chosen), [row[j] for row in table for j in chosen])


def _search(start: fmpq_mat, matrices: Sequence[fmpq_mat]) -> Basis:
    """Find words whose rows are a basis of the span of all of them, short words first."""
    echelon: list[tuple[int, list[fmpq]]] = []
    kept: list[tuple[int, int]] = []
    rows: list[fmpq_mat] = []
    queue: list[tuple[int, int]] = [(-1, -1)]
    for before, letter in queue:
        row = start if before < 0 else rows[before] * matrices[letter]
        rest = row.entries()
        for pivot, known in echelon:
            factor = rest[pivot]
            if factor != 0:
                rest = [x - factor * y if y != 0 else x for x, y in zip(rest, known, strict=True)]
        pivot = next((j for j, x in enumerate(rest) if x != 0), -1)
        if pivot < 0:
            continue
        unit = 1 / rest[pivot]
        echelon.append((pivot, [x * unit if x != 0 else x for x in rest]))
        queue.extend((len(kept), a) for a in range(len(matrices)))
        kept.append((before, letter))
        rows.append(row)
    return tuple(kept)
